//! Fetches whose answer depends on more than one partition or request: limits, order, sessions.

use super::data::{at, batch, fetch_of, name, produce_to, time};
use super::{Pair, Side};
use compat_tests::wire::Connection;
use protocol::compression::Codec;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic, ForgottenTopic};
use protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use protocol::messages::{FetchRequest, FetchResponse, ListOffsetsRequest};
use protocol::records::builder::BatchBuilder;
use uuid::Uuid;

const DATA: &str = "data";
const ABSENT: &str = "absent";

fn asked(version: i16, side: &Side, topic: &str, partitions: Vec<FetchPartition>) -> FetchTopic {
    let asked = FetchTopic::default().with_partitions(partitions);
    match version {
        13.. if topic == ABSENT => asked.with_topic_id(Uuid::from_u128(9)),
        13.. => asked.with_topic_id(side.topic_id(topic)),
        _ => asked.with_topic(name(topic).into()),
    }
}

/// From offset 0 of each.
fn several(version: i16, side: &Side, wanted: &[(&str, i32)]) -> FetchRequest {
    let topics = wanted.iter().map(|(topic, partition)| {
        asked(version, side, topic, vec![at(0).with_partition(*partition)])
    });
    fetch_of(version, side, DATA, at(0)).with_topics(topics.collect())
}

fn end(side: &Side, partition: i32) -> i64 {
    let partition = ListOffsetsPartition::default()
        .with_partition_index(partition)
        .with_timestamp(-1)
        .with_current_leader_epoch(-1);
    let topic =
        ListOffsetsTopic::default().with_name(name(DATA).into()).with_partitions(vec![partition]);
    let request =
        ListOffsetsRequest::default().with_replica_id((-1).into()).with_topics(vec![topic]);
    let answer = Connection::open(side.port).unwrap().ask(&request, 5).unwrap();
    answer.topics[0].partitions[0].offset
}

fn answered(side: &Side, version: i16, request: &FetchRequest) -> FetchResponse {
    Connection::open(side.port).unwrap().ask(request, version).unwrap()
}

pub(super) fn limits(pair: &mut Pair) {
    // Batches of several sizes: a limit falls in the middle of one, at its end, behind it.
    for bytes in [0, 60, 61, 100, 101, 102, 150, 204, 205, 300] {
        pair.each(&format!("{bytes} bytes of a partition"), 4..=18, |version, side| {
            fetch_of(version, side, DATA, at(3).with_partition_max_bytes(bytes))
        });
    }
    for offset in [1, 2, 5, 34, 35, 69] {
        pair.each(&format!("from offset {offset} inside a batch"), 4..=18, |version, side| {
            fetch_of(version, side, DATA, at(offset).with_partition_max_bytes(300))
        });
    }
    for bytes in [-1, 0, 1, 101, 150, 3300, 3400] {
        pair.each(&format!("{bytes} bytes of three partitions"), 17..=18, |version, side| {
            several(version, side, &[(DATA, 1), ("compacted", 0), (DATA, 0)]).with_max_bytes(bytes)
        });
    }
    for (case, bytes_min, bytes_max) in
        [("1 byte", 1, 1 << 20), ("more than there is", 1 << 20, 1 << 20), ("a cut", 500, 300)]
    {
        pair.each(&format!("waiting for {case}"), 17..=18, |version, side| {
            fetch_of(version, side, DATA, at(0))
                .with_max_wait_ms(200)
                .with_min_bytes(bytes_min)
                .with_max_bytes(bytes_max)
        });
        pair.each(&format!("waiting for {case} at the end"), 17..=18, |version, side| {
            fetch_of(version, side, DATA, at(end(side, 0)))
                .with_max_wait_ms(200)
                .with_min_bytes(bytes_min)
                .with_max_bytes(bytes_max)
        });
    }
}

pub(super) fn orders(pair: &mut Pair) {
    let cases: [(&str, &[(&str, i32)]); 7] = [
        ("three partitions", &[(DATA, 0), (DATA, 1), (DATA, 2)]),
        ("backwards", &[(DATA, 2), (DATA, 1), (DATA, 0)]),
        ("between topics", &[(DATA, 0), ("compacted", 0), (DATA, 1)]),
        ("an unknown partition first", &[(DATA, 9), (DATA, 1)]),
        ("an unknown topic first", &[(ABSENT, 0), (DATA, 1), (ABSENT, 1)]),
        ("the same twice", &[(DATA, 1), (DATA, 2), (DATA, 1)]),
        ("nothing", &[]),
    ];
    for (case, wanted) in cases {
        pair.each(&format!("{case} in order"), 4..=18, |version, side| {
            several(version, side, wanted)
        });
        pair.each(&format!("{case} in order, a few bytes"), 16..=18, |version, side| {
            several(version, side, wanted).with_max_bytes(10)
        });
    }
    pair.each("a failed one before a wait", 16..=18, |version, side| {
        several(version, side, &[(DATA, 2), (DATA, 9)]).with_max_wait_ms(3000).with_min_bytes(1)
    });
}

/// A session over `wanted`, and a request that continues it and says nothing new.
fn session(version: i16, side: &Side, wanted: &[(&str, i32)]) -> FetchRequest {
    let request = several(version, side, wanted).with_session_epoch(0);
    let id = answered(side, version, &request).session_id;
    request.with_session_id(id).with_session_epoch(1).with_topics(Vec::new())
}

/// The request after `request`, which is asked.
fn next(version: i16, side: &Side, request: FetchRequest) -> FetchRequest {
    answered(side, version, &request);
    let epoch = request.session_epoch + 1;
    request.with_session_epoch(epoch).with_topics(Vec::new()).with_forgotten_topics_data(Vec::new())
}

fn forgotten(version: i16, side: &Side, partitions: &[i32]) -> ForgottenTopic {
    let topic = ForgottenTopic::default().with_partitions(partitions.to_vec());
    if 13 <= version {
        topic.with_topic_id(side.topic_id(DATA))
    } else {
        topic.with_topic(name(DATA).into())
    }
}

/// The end of a partition, asked for in a session of its own and the empty partition.
fn at_the_end(version: i16, side: &Side) -> FetchRequest {
    let partitions = vec![at(end(side, 1)).with_partition(1), at(0).with_partition(2)];
    let request = fetch_of(version, side, DATA, at(0))
        .with_session_epoch(0)
        .with_topics(vec![asked(version, side, DATA, partitions)]);
    let id = answered(side, version, &request).session_id;
    request.with_session_id(id).with_session_epoch(1).with_topics(Vec::new())
}

#[expect(clippy::too_many_lines, reason = "a list of requests, each a line of the story")]
pub(super) fn sessions(pair: &mut Pair) {
    pair.each("a session said again", 7..=18, |version, side| {
        session(version, side, &[(DATA, 0), (DATA, 2)])
    });
    pair.each("a session with nothing new", 7..=18, at_the_end);
    pair.each("a session with nothing new, twice", 7..=18, |version, side| {
        next(version, side, at_the_end(version, side))
    });
    pair.each("a session with new records", 7..=18, |version, side| {
        let request = at_the_end(version, side);
        let records = Some(batch(Codec::None));
        let produced = produce_to(12, side, DATA, 1, records);
        Connection::open(side.port).unwrap().ask(&produced, 12).unwrap();
        request
    });
    pair.each("a session that waits", 16..=18, |version, side| {
        at_the_end(version, side).with_max_wait_ms(200).with_min_bytes(1)
    });
    for (case, wanted) in [("one", &[2][..]), ("all", &[0, 2]), ("an unknown", &[9])] {
        pair.each(&format!("a session that forgets {case}"), 7..=18, |version, side| {
            let topics = vec![forgotten(version, side, wanted)];
            session(version, side, &[(DATA, 0), (DATA, 2)]).with_forgotten_topics_data(topics)
        });
    }
    pair.each("a session after all was forgotten", 7..=18, |version, side| {
        let topics = vec![forgotten(version, side, &[0, 2])];
        let request =
            session(version, side, &[(DATA, 0), (DATA, 2)]).with_forgotten_topics_data(topics);
        next(version, side, request)
    });
    pair.each("a session that forgets and asks the same", 7..=18, |version, side| {
        let topics = vec![asked(version, side, DATA, vec![at(0).with_partition(1)])];
        session(version, side, &[(DATA, 0), (DATA, 1)])
            .with_topics(topics)
            .with_forgotten_topics_data(vec![forgotten(version, side, &[1])])
    });
    pair.each("a session that grows", 7..=18, |version, side| {
        let more = [at(0).with_partition(1), at(0).with_partition(0)];
        let topics = vec![asked(version, side, DATA, more.to_vec())];
        session(version, side, &[(DATA, 2)]).with_topics(topics)
    });
    pair.each("a session that moves on", 7..=18, |version, side| {
        let topics = vec![asked(version, side, DATA, vec![at(3)])];
        session(version, side, &[(DATA, 0), (DATA, 1)]).with_topics(topics)
    });
    pair.each("a session that is fair", 7..=18, |version, side| {
        let first = session(version, side, &[(DATA, 0), (DATA, 1), ("compacted", 0)]);
        next(version, side, first.with_max_bytes(150)).with_max_bytes(150)
    });
    pair.each("a session that is fair, once more", 7..=18, |version, side| {
        let first = session(version, side, &[(DATA, 0), (DATA, 1), ("compacted", 0)]);
        let second = next(version, side, first.with_max_bytes(150));
        next(version, side, second)
    });
    for wanted in [(DATA, 9), (ABSENT, 0)] {
        pair.each(&format!("a session with {wanted:?}"), 7..=18, |version, side| {
            several(version, side, &[wanted, (DATA, 1)]).with_session_epoch(0)
        });
        pair.each(&format!("a session again with {wanted:?}"), 7..=18, |version, side| {
            session(version, side, &[wanted, (DATA, 1)])
        });
    }
    pair.each("a session of nothing", 7..=18, |version, side| {
        several(version, side, &[]).with_session_epoch(0)
    });
    for epoch in [2, i32::MAX, -2] {
        pair.each(&format!("a session at epoch {epoch}"), 7..=18, |version, side| {
            session(version, side, &[(DATA, 1)]).with_session_epoch(epoch)
        });
    }
    pair.each("a session whose epoch comes twice", 7..=18, |version, side| {
        let request = session(version, side, &[(DATA, 1)]);
        answered(side, version, &request);
        request
    });
    pair.each("a session that ends", 7..=18, |version, side| {
        let request = session(version, side, &[(DATA, 1)]).with_session_epoch(-1);
        request.with_topics(vec![asked(version, side, DATA, vec![at(0)])])
    });
    pair.each("a session after its end", 7..=18, |version, side| {
        let request = session(version, side, &[(DATA, 1)]);
        answered(side, version, &request.clone().with_session_epoch(-1));
        request
    });
    pair.each("a session that begins anew", 7..=18, |version, side| {
        session(version, side, &[(DATA, 1)]).with_session_epoch(0).with_topics(vec![asked(
            version,
            side,
            DATA,
            vec![at(0)],
        )])
    });
    pair.each("a session by name asked by id", 13..=18, |version, side| {
        session(12, side, &[(DATA, 1)]).with_topics(several(version, side, &[(DATA, 1)]).topics)
    });
    pair.each("a session by id asked by name", 7..=12, |version, side| {
        session(13, side, &[(DATA, 1)]).with_topics(several(version, side, &[(DATA, 1)]).topics)
    });
}

/// What follows a Produce that asks for no answer: the next answer, or the end.
pub(super) fn unacknowledged(pair: &mut Pair) {
    let good = batch(Codec::None);
    let future = BatchBuilder::new(0).key_value(time() + (1 << 42), b"k", b"v").build().unwrap();
    let cases = [
        ("well", DATA, 1, good.clone()),
        ("half a batch", DATA, 1, good.slice(..70)),
        ("a future time", DATA, 1, future),
        ("an unknown partition", DATA, 9, good.clone()),
        ("an unknown topic", ABSENT, 0, good),
    ];
    for (case, topic, partition, records) in cases {
        for version in 3..=13 {
            let [theirs, ours] = [&pair.theirs, &pair.ours].map(|side| {
                let produced =
                    produce_to(version, side, topic, partition, Some(records.clone())).with_acks(0);
                after_silence(side, &produced, version)
            });
            pair.compare(&format!("Produce\tv{version} acks=0: {case}"), &theirs, &ours);
        }
    }
}

fn after_silence(
    side: &Side,
    produced: &protocol::messages::ProduceRequest,
    version: i16,
) -> String {
    use protocol::messages::{ApiVersionsRequest, Request};
    let mut connection = Connection::open(side.port).unwrap();
    connection.send(&produced.frame(version, 1, "compat").unwrap()).unwrap();
    match connection.ask(&ApiVersionsRequest::default(), 0) {
        Ok(answer) => format!("answered with code {}", answer.error_code),
        Err(_) => "closed".to_owned(),
    }
}
