//! Fetch: what is read, how much of it, how far, and when it is answered.

use crate::broker::{Broker, NODE, batch, builder};
use crate::produce;
use broker::api::Reply;
use broker::partition::dir::Syncs;
use broker::partition::upkeep::Chore;
use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::messages::fetch_response::PartitionData;
use protocol::messages::{FetchRequest, FetchResponse, StrBytes};
use protocol::records::batches;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A sessionless fetch of one partition that does not wait.
pub(crate) fn of(topic: &str, number: i32, offset: i64) -> FetchRequest {
    let partition = FetchPartition::default()
        .with_partition(number)
        .with_fetch_offset(offset)
        .with_partition_max_bytes(1 << 20);
    let topic = FetchTopic::default()
        .with_topic(StrBytes::from_string(topic.to_owned()).into())
        .with_partitions(vec![partition]);
    FetchRequest::default()
        .with_replica_id((-1).into())
        .with_max_bytes(1 << 20)
        .with_session_epoch(-1)
        .with_topics(vec![topic])
}

pub(crate) fn said(response: &FetchResponse) -> &PartitionData {
    &response.responses[0].partitions[0]
}

/// The base offsets of the whole batches that came.
pub(crate) fn bases(said: &PartitionData) -> Vec<i64> {
    let records = said.records.clone().unwrap();
    batches(records).map_while(Result::ok).map(|batch| batch.header.base_offset).collect()
}

pub(crate) fn append(broker: &Broker, topic: &str, number: i32, records: Bytes) {
    let response = broker.ask(&produce::to(topic, number, 1, records), 9);
    assert_eq!(response.responses[0].partition_responses[0].error_code, 0);
}

/// Three batches at 0, 2 and 4 in `t-0`.
fn with_three_batches() -> Broker {
    let broker = Broker::with_topic(2);
    for values in [["a", "b"], ["c", "d"], ["e", "f"]] {
        append(&broker, "t", 0, batch(&values));
    }
    broker
}

fn size() -> i32 {
    batch(&["a", "b"]).len().try_into().unwrap()
}

#[test]
fn what_was_produced_is_read_at_every_version() {
    let mut broker = Broker::new();
    let id = broker.create("t", 1, &[]);
    append(&broker, "t", 0, batch(&["a", "b"]));
    for version in 4..=18 {
        let mut request = of("t", 0, 0);
        if 13 <= version {
            request.topics[0].topic = StrBytes::default().into();
            request.topics[0].topic_id = id.into();
        }
        if 15 <= version {
            request.replica_id = (-1).into();
        }
        let response = broker.ask(&request, version);
        let said = said(&response);
        assert_eq!((said.error_code, bases(said)), (0, vec![0]), "version {version}");
        assert_eq!((said.high_watermark, said.last_stable_offset), (2, 2));
        assert_eq!(said.aborted_transactions, None, "null under read_uncommitted");
    }
}

#[test]
fn a_read_starts_with_the_batch_that_holds_the_offset() {
    let broker = with_three_batches();
    for (offset, want) in [(0, vec![0, 2, 4]), (3, vec![2, 4]), (5, vec![4]), (6, vec![])] {
        let response = broker.ask(&of("t", 0, offset), 12);
        assert_eq!(bases(said(&response)), want, "{offset}");
        assert!(said(&response).records.is_some(), "empty, never null");
    }
}

#[test]
fn an_offset_outside_the_log_is_out_of_range() {
    let broker = with_three_batches();
    for offset in [-1, 7, i64::MAX] {
        let response = broker.ask(&of("t", 0, offset), 12);
        let said = said(&response);
        assert_eq!(said.error_code, ErrorCode::OffsetOutOfRange.code(), "{offset}");
        assert_eq!(said.high_watermark, -1);
    }
}

#[test]
fn the_first_batch_is_whole_whatever_the_limits_and_the_rest_is_cut_by_them() {
    let broker = with_three_batches();
    let read = |partition_max: i32, max: i32| {
        let mut request = of("t", 0, 0).with_max_bytes(max);
        request.topics[0].partitions[0].partition_max_bytes = partition_max;
        let response = broker.ask(&request, 12);
        said(&response).records.as_ref().unwrap().len()
    };
    let one = usize::try_from(size()).unwrap();
    assert_eq!(read(1, 1 << 20), one);
    assert_eq!(read(1 << 20, 1), one);
    assert_eq!(read(size() + 5, 1 << 20), one + 5, "a slice may end inside a batch");
    assert_eq!(read(1 << 20, size() + 5), one + 5);
}

#[test]
fn later_partitions_get_what_the_first_left() {
    let broker = with_three_batches();
    append(&broker, "t", 1, batch(&["a", "b"]));
    let mut request = of("t", 0, 0).with_max_bytes(size());
    let other = request.topics[0].partitions[0].clone().with_partition(1);
    request.topics[0].partitions.push(other);
    let response = broker.ask(&request, 12);
    let got: Vec<_> = response.responses[0].partitions.iter().map(bases).collect();
    assert_eq!(got, [vec![0], vec![]]);
}

#[test]
fn a_leader_epoch_is_compared() {
    let broker = with_three_batches();
    for (epoch, code) in
        [(-1, ErrorCode::None), (0, ErrorCode::None), (1, ErrorCode::UnknownLeaderEpoch)]
    {
        let mut request = of("t", 0, 0);
        request.topics[0].partitions[0].current_leader_epoch = epoch;
        assert_eq!(said(&broker.ask(&request, 12)).error_code, code.code(), "{epoch}");
    }
}

#[test]
fn what_is_not_here_stands_last_in_the_answer() {
    let broker = with_three_batches();
    let mut request = of("u", 0, 0);
    request.topics.extend(of("t", 0, 0).topics);
    let response = broker.ask(&request, 12);
    let got: Vec<_> = response.responses.iter().map(|it| it.topic.as_str()).collect();
    assert_eq!(got, ["t", "u"]);
    let unknown = &response.responses[1].partitions[0];
    assert_eq!(unknown.error_code, ErrorCode::UnknownTopicOrPartition.code());
    let mut request = of("", 0, 0);
    request.topics[0].topic_id = Uuid::from_random(9, 9).into();
    assert_eq!(said(&broker.ask(&request, 13)).error_code, ErrorCode::UnknownTopicId.code());
}

#[test]
fn a_stranger_who_says_it_is_a_replica_reads_nothing() {
    let broker = with_three_batches();
    let code = |replica: i32, epoch| {
        let mut request = of("t", 0, 0).with_replica_id(replica.into());
        request.topics[0].partitions[0].current_leader_epoch = epoch;
        said(&broker.ask(&request, 12)).error_code
    };
    assert_eq!(code(5, -1), ErrorCode::NotLeaderOrFollower.code());
    assert_eq!(code(5, 0), ErrorCode::UnknownLeaderEpoch.code());
    assert_eq!(code(NODE, 0), ErrorCode::UnknownLeaderEpoch.code());
    assert_eq!(code(-2, -1), 0, "the debugging consumer is a consumer");
}

#[test]
fn read_committed_has_a_list_of_what_was_aborted() {
    let broker = with_three_batches();
    let response = broker.ask(&of("t", 0, 0).with_isolation_level(1), 12);
    assert_eq!(said(&response).aborted_transactions, Some(vec![]));
    assert_eq!(bases(said(&response)), [0, 2, 4]);
}

#[test]
fn a_batch_that_is_damaged_on_the_disk_is_said_to_be() {
    let broker = with_three_batches();
    broker.partition("t", 0).sync();
    broker.ctx.upkeep.run(Chore::RecoveryPoints);
    let disk = Arc::new(broker.disk.fork());
    let broker = broker.restart(disk);
    let path = Path::new("/data/t-0/00000000000000000000.log");
    let second = u64::try_from(size()).unwrap();
    broker.disk.rot(path, second + 16, 0xFF).unwrap();
    let code = |offset| said(&broker.ask(&of("t", 0, offset), 12)).error_code;
    assert_eq!(code(2), ErrorCode::CorruptMessage.code());
    assert_eq!((code(4), code(6)), (0, 0), "what stands behind it is readable");
}

#[test]
fn what_is_cold_is_looked_up_by_another_thread() {
    let broker = with_three_batches();
    // The last few batches are found without the disk.
    broker.disk.set_cold(true);
    assert_eq!(bases(said(&broker.ask(&of("t", 0, 2), 12))), [2, 4]);
    for _ in 0..20 {
        append(&broker, "t", 0, batch(&["a", "b"]));
    }
    let cold = of("t", 0, 2);
    assert_eq!(bases(said(&broker.ask_disk(&cold, 12))).len(), 22);
    assert_eq!(bases(said(&broker.ask(&of("t", 0, 45), 12))), [44]);
    let code = |response: &FetchResponse| said(response).error_code;
    let beyond = broker.ask(&of("t", 0, 47), 12);
    assert_eq!(code(&beyond), ErrorCode::OffsetOutOfRange.code());
    broker.disk.set_cold(false);
    assert_eq!(bases(said(&broker.ask(&cold, 12))).len(), 22);
}

#[tokio::test(start_paused = true)]
async fn a_cold_fetch_that_finds_too_little_waits_for_more() {
    let broker = with_three_batches();
    for _ in 0..20 {
        append(&broker, "t", 0, batch(&["a", "b"]));
    }
    broker.disk.set_cold(true);
    let request = of("t", 0, 2).with_min_bytes(1 << 20).with_max_wait_ms(500);
    let before = Instant::now();
    let response = broker.wait(&request, 12).await;
    assert_eq!(bases(said(&response)).len(), 22);
    assert_eq!(before.elapsed().as_millis(), 500);
}

#[tokio::test(start_paused = true)]
async fn a_fetch_with_nothing_to_read_waits_as_long_as_it_said() {
    let broker = Broker::with_topic(1);
    let begin = Instant::now();
    let request = of("t", 0, 0).with_max_wait_ms(500).with_min_bytes(1);
    let response = broker.wait(&request, 12).await;
    assert_eq!(begin.elapsed().as_millis(), 500);
    assert_eq!((said(&response).error_code, bases(said(&response))), (0, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_fetch_is_answered_by_the_append_that_brings_enough() {
    let broker = Broker::with_topic(2);
    let begin = Instant::now();
    let mut request = of("t", 0, 0).with_max_wait_ms(500).with_min_bytes(size() + 1);
    let other = request.topics[0].partitions[0].clone().with_partition(1);
    request.topics[0].partitions.push(other);
    let waiting = broker.wait(&request, 12);
    let producing = async {
        append(&broker, "t", 0, batch(&["a", "b"]));
        tokio::time::advance(Duration::from_millis(100)).await;
        append(&broker, "t", 1, batch(&["a", "b"]));
    };
    let (response, ()) = tokio::join!(biased; waiting, producing);
    assert_eq!(begin.elapsed().as_millis(), 100);
    let got: Vec<_> = response.responses[0].partitions.iter().map(bases).collect();
    assert_eq!(got, [vec![0], vec![0]]);
}

#[test]
fn an_error_and_a_wish_not_to_wait_are_answered_at_once() {
    let broker = Broker::with_topic(1);
    let waits = |request: &FetchRequest| matches!(broker.send(request, 12), Ok(Reply::Later(_)));
    let patient = |offset| of("t", 0, offset).with_max_wait_ms(500).with_min_bytes(1);
    assert!(waits(&patient(0)));
    assert!(!waits(&patient(0).with_max_wait_ms(0)));
    assert!(!waits(&patient(0).with_min_bytes(0)));
    assert!(!waits(&patient(5)), "out of range");
    let beside = |topics: [&str; 2]| topics.map(|it| of(it, 0, 0).topics.remove(0)).to_vec();
    assert!(!waits(&patient(0).with_topics(beside(["u", "v"]))), "nothing of it is there");
    assert!(waits(&patient(0).with_topics(beside(["u", "t"]))), "as in Apache Kafka");
    assert!(!waits(&patient(0).with_topics(vec![])), "nothing is asked for");
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_is_told_when_the_topic_goes() {
    let mut broker = Broker::new();
    let id = broker.create("t", 1, &[]);
    let request = of("t", 0, 0).with_max_wait_ms(500).with_min_bytes(1);
    let Ok(Reply::Later(waiting)) = broker.send(&request, 12) else { panic!("it waits") };
    let deleting = async {
        broker.delete(id);
    };
    let (pieces, ()) = tokio::join!(biased; waiting, deleting);
    let response = crate::broker::response::<FetchRequest>(pieces.unwrap(), 12);
    assert_eq!(said(&response).error_code, ErrorCode::NotLeaderOrFollower.code());
}

#[test]
fn compressed_batches_are_given_as_they_came() {
    let broker = Broker::with_topic(1);
    for codec in protocol::compression::Codec::ALL {
        append(&broker, "t", 0, builder(&["a", "b"]).codec(codec, None).build().unwrap());
    }
    let response = broker.ask(&of("t", 0, 0), 12);
    assert_eq!(bases(said(&response)), [0, 2, 4, 6, 8]);
}

#[test]
fn who_does_not_lead_says_who_does() {
    let mut broker = Broker::new();
    let id = broker.create("t", 1, &[]);
    broker.hand_over(id, 0, 2);
    for version in [12, 15, 16, 18] {
        let mut request = of(if version < 13 { "t" } else { "" }, 0, 0);
        if 13 <= version {
            request.topics[0].topic_id = id.into();
        }
        if 15 <= version {
            request.replica_id = (-1).into();
        }
        let response = broker.ask(&request, version);
        let said = said(&response);
        assert_eq!(said.error_code, ErrorCode::NotLeaderOrFollower.code());
        let hint = (said.current_leader.leader_id.0, said.current_leader.leader_epoch);
        let want = if version < 16 { (-1, -1) } else { (2, 1) };
        assert_eq!((hint, response.node_endpoints.len()), (want, usize::from(16 <= version)));
    }
}
