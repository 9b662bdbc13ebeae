//! ListOffsets and OffsetForLeaderEpoch: offsets by time, by end, by epoch.

use crate::broker::{Broker, NOW_MS, batch};
use crate::fetch::append;
use protocol::error::ErrorCode;
use protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use protocol::messages::offset_for_leader_epoch_request::{
    OffsetForLeaderPartition, OffsetForLeaderTopic,
};
use protocol::messages::{ListOffsetsRequest, OffsetForLeaderEpochRequest, StrBytes};

fn request(number: i32, timestamp: i64) -> ListOffsetsRequest {
    let partition =
        ListOffsetsPartition::default().with_partition_index(number).with_timestamp(timestamp);
    let topic = ListOffsetsTopic::default()
        .with_name(StrBytes::from_static_str("t").into())
        .with_partitions(vec![partition]);
    ListOffsetsRequest::default().with_replica_id((-1).into()).with_topics(vec![topic])
}

/// Compares error, offset, timestamp and epoch at one version.
#[track_caller]
fn check(broker: &Broker, timestamp: i64, version: i16, want: (ErrorCode, i64, i64, i32)) {
    let request = request(0, timestamp);
    let reads_batches = 0 <= timestamp || timestamp == -3;
    let response = match reads_batches {
        true => broker.ask_disk(&request, version),
        false => broker.ask(&request, version),
    };
    let said = &response.topics[0].partitions[0];
    let epoch = if 4 <= version { want.3 } else { -1 };
    let got = (said.error_code, said.offset, said.timestamp, said.leader_epoch);
    assert_eq!(got, (want.0.code(), want.1, want.2, epoch), "{timestamp} at version {version}");
}

/// Batches at 0 and 2; the last record at 3 is one millisecond younger than the one before.
fn with_two_batches() -> Broker {
    let broker = Broker::with_topic(1);
    append(&broker, "t", 0, batch(&["a", "b"]));
    append(&broker, "t", 0, batch(&["c", "d", "e"]));
    broker
}

const NONE: ErrorCode = ErrorCode::None;

#[test]
fn the_ends_and_the_times_are_found_at_every_version() {
    let broker = with_two_batches();
    for version in 1..=10 {
        check(&broker, -1, version, (NONE, 5, -1, 0));
        check(&broker, -2, version, (NONE, 0, -1, 0));
        check(&broker, 0, version, (NONE, 0, NOW_MS, 0));
        check(&broker, NOW_MS + 1, version, (NONE, 1, NOW_MS + 1, 0));
        check(&broker, NOW_MS + 2, version, (NONE, 4, NOW_MS + 2, 0));
        check(&broker, NOW_MS + 3, version, (NONE, -1, -1, -1));
    }
}

#[test]
fn special_times_are_known_since_their_version() {
    let broker = with_two_batches();
    let unsupported = (ErrorCode::UnsupportedVersion, -1, -1, -1);
    check(&broker, -3, 6, unsupported);
    check(&broker, -3, 7, (NONE, 4, NOW_MS + 2, 0));
    check(&broker, -4, 7, unsupported);
    check(&broker, -4, 8, (NONE, 0, -1, 0));
    check(&broker, -5, 8, unsupported);
    check(&broker, -5, 9, (NONE, -1, -1, -1));
    check(&broker, -6, 10, unsupported);
    check(&broker, -7, 10, unsupported);
}

#[test]
fn an_empty_log_has_ends_and_no_times() {
    let broker = Broker::with_topic(1);
    check(&broker, -1, 7, (NONE, 0, -1, 0));
    check(&broker, -2, 7, (NONE, 0, -1, 0));
    check(&broker, -3, 7, (NONE, -1, -1, -1));
    check(&broker, 0, 7, (NONE, -1, -1, -1));
}

#[test]
fn what_is_wrong_with_the_request_is_said() {
    let broker = with_two_batches();
    let code =
        |request: &ListOffsetsRequest| broker.ask(request, 7).topics[0].partitions[0].error_code;
    assert_eq!(code(&request(1, -1)), ErrorCode::UnknownTopicOrPartition.code());
    let mut twice = request(0, -1);
    let again = twice.topics[0].partitions[0].clone();
    twice.topics[0].partitions.push(again);
    assert_eq!(code(&twice), ErrorCode::InvalidRequest.code());
    let mut ahead = request(0, -1);
    ahead.topics[0].partitions[0].current_leader_epoch = 4;
    assert_eq!(code(&ahead), ErrorCode::UnknownLeaderEpoch.code());
}

#[test]
fn the_end_of_an_epoch_is_known_to_its_leader() {
    let broker = with_two_batches();
    let ask = |number: i32, current, epoch, version| {
        let partition = OffsetForLeaderPartition::default()
            .with_partition(number)
            .with_current_leader_epoch(current)
            .with_leader_epoch(epoch);
        let topic = OffsetForLeaderTopic::default()
            .with_topic(StrBytes::from_static_str("t").into())
            .with_partitions(vec![partition]);
        let request = OffsetForLeaderEpochRequest::default().with_topics(vec![topic]);
        let response = broker.ask(&request, version);
        let said = &response.topics[0].partitions[0];
        (said.error_code, said.leader_epoch, said.end_offset)
    };
    for version in 2..=4 {
        assert_eq!(ask(0, -1, 0, version), (0, 0, 5));
        assert_eq!(ask(0, 0, 0, version), (0, 0, 5));
        assert_eq!(ask(0, -1, 3, version), (0, -1, -1));
        assert_eq!(ask(0, 3, 0, version), (ErrorCode::UnknownLeaderEpoch.code(), -1, -1));
        assert_eq!(ask(9, -1, 0, version), (ErrorCode::UnknownTopicOrPartition.code(), -1, -1));
    }
}
