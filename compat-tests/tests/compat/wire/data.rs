//! Produce, Fetch, ListOffsets and what else touches records.

use super::{Pair, Side};
use bytes::Bytes;
use protocol::compression::Codec;
use protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use protocol::messages::describe_producers_request::TopicRequest;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use protocol::messages::offset_for_leader_epoch_request::{
    OffsetForLeaderPartition, OffsetForLeaderTopic,
};
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{
    DeleteRecordsRequest, DescribeProducersRequest, FetchRequest, InitProducerIdRequest,
    ListOffsetsRequest, OffsetForLeaderEpochRequest, ProduceRequest, StrBytes,
};
use protocol::records::builder::{BatchBuilder, NewRecord};
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// Some moments ago, the same for both brokers: neither too old for retention nor too new.
pub(super) fn time() -> i64 {
    static TIME: LazyLock<i64> = LazyLock::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        i64::try_from(since.as_millis()).unwrap() - 60_000
    });
    *TIME
}

pub(super) fn name(text: &str) -> StrBytes {
    StrBytes::from(text.to_owned())
}

pub(super) fn batch(codec: Codec) -> Bytes {
    let mut builder = BatchBuilder::new(0).codec(codec, None);
    for number in 0..3 {
        builder = builder.key_value(time() + number, b"key", b"value");
    }
    builder.build().unwrap()
}

/// The batch with one byte changed.
fn with(at: usize, byte: u8) -> Bytes {
    let mut bytes = batch(Codec::None).to_vec();
    bytes[at] = byte;
    bytes.into()
}

pub(super) fn produce_to(
    version: i16,
    side: &Side,
    topic: &str,
    partition: i32,
    records: Option<Bytes>,
) -> ProduceRequest {
    let data = PartitionProduceData::default().with_index(partition).with_records(records);
    let topic_data = TopicProduceData::default().with_partition_data(vec![data]);
    let topic_data = match version {
        13 if topic == "absent" => topic_data.with_topic_id(Uuid::from_u128(9)),
        13 => topic_data.with_topic_id(side.topic_id(topic)),
        _ => topic_data.with_name(name(topic).into()),
    };
    ProduceRequest::default().with_acks(-1).with_timeout_ms(5000).with_topic_data(vec![topic_data])
}

#[expect(clippy::too_many_lines, reason = "a list of requests, each a line of the story")]
pub(super) fn produce(pair: &mut Pair) {
    for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        pair.each(&format!("three records in {codec:?}"), 3..=13, |version, side| {
            produce_to(version, side, "data", 0, Some(batch(codec)))
        });
    }
    pair.each("acks=1", 3..=13, |version, side| {
        produce_to(version, side, "data", 1, Some(batch(Codec::None))).with_acks(1)
    });
    pair.each("an unknown topic", 3..=13, |version, side| {
        produce_to(version, side, "absent", 0, Some(batch(Codec::None)))
    });
    for partition in [7, -1] {
        pair.each(&format!("partition {partition}"), 3..=13, |version, side| {
            produce_to(version, side, "data", partition, Some(batch(Codec::None)))
        });
    }
    pair.each("acks=2", 3..=13, |version, side| {
        produce_to(version, side, "data", 0, Some(batch(Codec::None))).with_acks(2)
    });
    let two = || [batch(Codec::None), batch(Codec::None)].concat();
    let cases: [(&str, Option<Bytes>); 11] = [
        ("empty records", Some(Bytes::new())),
        ("two batches", Some(two().into())),
        ("half a batch", Some(batch(Codec::None).slice(..70))),
        ("a header alone", Some(batch(Codec::None).slice(..61))),
        ("a wrong checksum", Some(with(70, 7))),
        ("magic 1", Some(with(16, 1))),
        ("magic 3", Some(with(16, 3))),
        ("a wrong length", Some(with(11, 255))),
        ("a negative length", Some(with(8, 255))),
        ("twelve bytes", Some(batch(Codec::None).slice(..12))),
        (
            "a control batch",
            Some(
                BatchBuilder::new(0)
                    .attributes(0x20)
                    .key_value(time(), b"\0\0\0\x01", b"\0\0\0\0\0\0")
                    .build()
                    .unwrap(),
            ),
        ),
    ];
    pair.each("no records", 13..=13, |version, side| produce_to(version, side, "data", 0, None));
    for (case, records) in cases {
        pair.each(case, 3..=13, |version, side| {
            produce_to(version, side, "data", 0, records.clone())
        });
    }
    let old = || BatchBuilder::new(0).key_value(time(), b"k", b"v");
    pair.each("a base offset", 13..=13, |version, side| {
        produce_to(
            version,
            side,
            "data",
            0,
            Some(BatchBuilder::new(5).key_value(time(), b"k", b"v").build().unwrap()),
        )
    });
    pair.each("a time in the future", 12..=13, |version, side| {
        let records =
            BatchBuilder::new(0).key_value(time() + (1 << 42), b"k", b"v").build().unwrap();
        produce_to(version, side, "data", 0, Some(records))
    });
    pair.each("the bit of log append time", 12..=13, |version, side| {
        produce_to(version, side, "data", 0, Some(old().attributes(0x08).build().unwrap()))
    });
    pair.each("an idempotent producer", 13..=13, |version, side| {
        produce_to(version, side, "data", 0, Some(old().producer(500, 0, 0).build().unwrap()))
    });
    pair.each("the same again", 13..=13, |version, side| {
        produce_to(version, side, "data", 0, Some(old().producer(500, 0, 0).build().unwrap()))
    });
    for (case, epoch, sequence) in
        [("a gap", 0, 7), ("a new epoch at 1", 1, 1), ("a new epoch", 1, 0), ("an old epoch", 0, 1)]
    {
        pair.each(&format!("{case} in the sequence"), 13..=13, |version, side| {
            produce_to(
                version,
                side,
                "data",
                0,
                Some(old().producer(500, epoch, sequence).build().unwrap()),
            )
        });
    }
    pair.each("a null key to a compacted topic", 3..=13, |version, side| {
        let record = NewRecord { timestamp_ms: time(), key: None, value: Some(b"v"), headers: &[] };
        produce_to(
            version,
            side,
            "compacted",
            0,
            Some(BatchBuilder::new(0).record(record).build().unwrap()),
        )
    });
    pair.each("too large", 12..=13, |version, side| {
        let records = BatchBuilder::new(0).key_value(time(), b"k", &[0; 3000]).build().unwrap();
        produce_to(version, side, "small", 0, Some(records))
    });
    pair.each("log append time", 3..=13, |version, side| {
        produce_to(version, side, "appended", 0, Some(batch(Codec::None)))
    });
    faults_in_part(pair);
    pair.await_producer_ids();
    pair.each("a producer id", 0..=5, |version, _| {
        let request = InitProducerIdRequest::default()
            .with_transactional_id(None)
            .with_transaction_timeout_ms(1000);
        if 3 <= version {
            request.with_producer_id((-1).into()).with_producer_epoch(-1)
        } else {
            request
        }
    });
    pair.each("an empty transactional id", 0..=5, |_, _| {
        InitProducerIdRequest::default()
            .with_transactional_id(Some(name("").into()))
            .with_transaction_timeout_ms(1000)
    });
}

/// Batches and requests of which only some is wrong.
fn faults_in_part(pair: &mut Pair) {
    let keyless = || NewRecord { timestamp_ms: time(), key: None, value: Some(b"v"), headers: &[] };
    let good = || BatchBuilder::new(0).key_value(time(), b"k", b"v");
    for codec in [Codec::None, Codec::Gzip] {
        let produced = |topic: &'static str, builder: BatchBuilder| {
            let records = builder.codec(codec, None).build().unwrap();
            move |version: i16, side: &Side| {
                produce_to(version, side, topic, 0, Some(records.clone()))
            }
        };
        let keys = good().record(keyless()).key_value(time(), b"k", b"v").record(keyless());
        pair.each(
            &format!("two keyless records of four in {codec:?}"),
            7..=13,
            produced("compacted", keys),
        );
        let times = good().key_value(time() + (1 << 42), b"k", b"v").key_value(time(), b"k", b"v");
        pair.each(&format!("a future time in {codec:?}"), 7..=13, produced("data", times.clone()));
        let both = times.record(keyless());
        pair.each(
            &format!("a future time and no key in {codec:?}"),
            7..=13,
            produced("compacted", both),
        );
        for topic in ["data", "appended", "compacted"] {
            let claims = good().key_value(time(), b"k", b"v").attributes(0x08);
            pair.each(
                &format!("a claim of append time to {topic} in {codec:?}"),
                7..=13,
                produced(topic, claims),
            );
        }
        let timeless = BatchBuilder::new(0).key_value(-1, b"k", b"v");
        pair.each(&format!("no time in {codec:?}"), 12..=13, produced("data", timeless.clone()));
        pair.each(
            &format!("no time and a claim in {codec:?}"),
            12..=13,
            produced("data", timeless.attributes(0x08)),
        );
        let mut holes = good();
        holes.push_at(5, keyless());
        pair.each(&format!("a hole in {codec:?}"), 12..=13, produced("data", holes));
    }
    // Nothing reads this topic: what only one of the brokers takes shifts no other answer.
    let apart = "v7";
    let bad = [
        ("no batch", Bytes::new()),
        ("a wrong checksum", with(70, 7)),
        ("two batches", [batch(Codec::None), batch(Codec::None)].concat().into()),
        ("magic 3", with(16, 3)),
    ];
    for (case, bad) in bad {
        pair.each(&format!("{case} beside a good batch"), 12..=13, |version, side| {
            let mut request = produce_to(version, side, apart, 1, Some(batch(Codec::None)));
            let data = PartitionProduceData::default().with_records(Some(bad.clone()));
            request.topic_data[0].partition_data.push(data);
            request
        });
    }
    pair.each("the same partition twice", 12..=13, |version, side| {
        let mut request = produce_to(version, side, apart, 1, Some(batch(Codec::None)));
        let again = request.topic_data[0].partition_data[0].clone();
        request.topic_data[0].partition_data.push(again);
        request
    });
    pair.each("no topic", 3..=13, |version, side| {
        produce_to(version, side, "data", 0, None).with_topic_data(Vec::new())
    });
}

pub(super) fn fetch_of(
    version: i16,
    side: &Side,
    topic: &str,
    partition: FetchPartition,
) -> FetchRequest {
    let asked = FetchTopic::default().with_partitions(vec![partition]);
    let asked = match version {
        13.. if topic == "absent" => asked.with_topic_id(Uuid::from_u128(9)),
        13.. => asked.with_topic_id(side.topic_id(topic)),
        _ => asked.with_topic(name(topic).into()),
    };
    let request = FetchRequest::default()
        .with_max_wait_ms(0)
        .with_min_bytes(0)
        .with_max_bytes(1 << 20)
        .with_topics(vec![asked]);
    if 7 <= version { request.with_session_epoch(-1) } else { request }
}

pub(super) fn at(offset: i64) -> FetchPartition {
    FetchPartition::default()
        .with_fetch_offset(offset)
        .with_partition_max_bytes(1 << 20)
        .with_current_leader_epoch(-1)
        .with_last_fetched_epoch(-1)
}

pub(super) fn fetch(pair: &mut Pair) {
    for offset in [0, 1, 4, 160, 1_000_000, -1] {
        pair.each(&format!("from offset {offset}"), 4..=18, |version, side| {
            fetch_of(version, side, "data", at(offset))
        });
    }
    pair.each("a few bytes", 4..=18, |version, side| {
        fetch_of(version, side, "data", at(0).with_partition_max_bytes(10))
    });
    pair.each("a few bytes of all", 4..=18, |version, side| {
        fetch_of(version, side, "data", at(0)).with_max_bytes(10)
    });
    pair.each("committed only", 4..=18, |version, side| {
        fetch_of(version, side, "data", at(0)).with_isolation_level(1)
    });
    pair.each("an unknown topic", 4..=18, |version, side| fetch_of(version, side, "absent", at(0)));
    pair.each("an unknown partition", 4..=18, |version, side| {
        fetch_of(version, side, "data", at(0).with_partition(9))
    });
    pair.each("an empty partition", 4..=18, |version, side| {
        fetch_of(version, side, "data", at(0).with_partition(2))
    });
    for epoch in [0, 5] {
        pair.each(&format!("at leader epoch {epoch}"), 9..=18, |version, side| {
            fetch_of(version, side, "data", at(0).with_current_leader_epoch(epoch))
        });
    }
    pair.each("an unknown session", 7..=18, |version, side| {
        fetch_of(version, side, "data", at(0)).with_session_id(77).with_session_epoch(1)
    });
    pair.each("a new session", 7..=18, |version, side| {
        fetch_of(version, side, "data", at(0)).with_session_epoch(0)
    });
}

/// A case's name is the same in every run.
fn said(timestamp: i64) -> String {
    if (0..4).contains(&(timestamp - time())) {
        format!("now+{}", timestamp - time())
    } else {
        timestamp.to_string()
    }
}

pub(super) fn offsets(pair: &mut Pair) {
    let ask = |version: i16, topic: &str, partition: i32, timestamp: i64| {
        let partition = ListOffsetsPartition::default()
            .with_partition_index(partition)
            .with_timestamp(timestamp)
            .with_current_leader_epoch(-1);
        let topic = ListOffsetsTopic::default()
            .with_name(name(topic).into())
            .with_partitions(vec![partition]);
        let request =
            ListOffsetsRequest::default().with_replica_id((-1).into()).with_topics(vec![topic]);
        if version == 10 { request.with_timeout_ms(1000) } else { request }
    };
    for timestamp in
        [-1, -2, -3, -4, -5, -6, -7, 0, time(), time() + 1, time() + 2, time() + 3, 1 << 50]
    {
        pair.each(&format!("timestamp {}", said(timestamp)), 1..=10, |version, _| {
            ask(version, "data", 0, timestamp)
        });
        pair.each(
            &format!("timestamp {} of an empty partition", said(timestamp)),
            1..=10,
            |version, _| ask(version, "data", 2, timestamp),
        );
    }
    pair.each("an unknown topic", 1..=10, |version, _| ask(version, "absent", 0, -1));
    pair.each("an unknown partition", 1..=10, |version, _| ask(version, "data", 9, -1));
    pair.each("committed only", 2..=10, |version, _| {
        ask(version, "data", 0, -1).with_isolation_level(1)
    });
    for (epoch, current) in [(0, -1), (0, 0), (5, -1), (0, 5), (-1, -1)] {
        pair.each(&format!("epoch {epoch} at {current}"), 2..=4, |version, _| {
            let partition = OffsetForLeaderPartition::default()
                .with_leader_epoch(epoch)
                .with_current_leader_epoch(current);
            let topic = OffsetForLeaderTopic::default()
                .with_topic(name("data").into())
                .with_partitions(vec![partition]);
            let request = OffsetForLeaderEpochRequest::default().with_topics(vec![topic]);
            if version < 3 { request } else { request.with_replica_id((-1).into()) }
        });
    }
    for topic in ["data", "absent"] {
        pair.each(&format!("producers of {topic}"), 0..=0, |_, _| {
            let topic = TopicRequest::default()
                .with_name(name(topic).into())
                .with_partition_indexes(vec![0, 1, 9]);
            DescribeProducersRequest::default().with_topics(vec![topic])
        });
    }
}

pub(super) fn delete_records(pair: &mut Pair) {
    for (case, topic, partition, offset) in [
        ("to offset 4", "data", 0, 4),
        ("to the same again", "data", 0, 4),
        ("backwards", "data", 0, 1),
        ("beyond the end", "data", 0, 1_000_000),
        ("to -2", "data", 0, -2),
        ("an unknown partition", "data", 9, 0),
        ("an unknown topic", "absent", 0, 0),
        ("all", "data", 0, -1),
    ] {
        pair.each(case, 0..=2, |_, _| {
            let partition = DeleteRecordsPartition::default()
                .with_partition_index(partition)
                .with_offset(offset);
            let topic = DeleteRecordsTopic::default()
                .with_name(name(topic).into())
                .with_partitions(vec![partition]);
            DeleteRecordsRequest::default().with_topics(vec![topic]).with_timeout_ms(5000)
        });
    }
}
