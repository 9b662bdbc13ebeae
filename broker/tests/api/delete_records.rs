//! DeleteRecords: a log's start moves, and stays where it was moved.

use crate::broker::{Broker, batch};
use crate::fetch::{append, bases, of, said};
use protocol::error::ErrorCode;
use protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use protocol::messages::{DeleteRecordsRequest, StrBytes};
use std::sync::Arc;
use storage::disk::sim::{Fault, Operation};

fn before(topic: &'static str, number: i32, offset: i64) -> DeleteRecordsRequest {
    let partition =
        DeleteRecordsPartition::default().with_partition_index(number).with_offset(offset);
    let topic = DeleteRecordsTopic::default()
        .with_name(StrBytes::from_static_str(topic).into())
        .with_partitions(vec![partition]);
    DeleteRecordsRequest::default().with_topics(vec![topic]).with_timeout_ms(1000)
}

async fn ask(broker: &Broker, request: DeleteRecordsRequest) -> (i16, i64) {
    let response = broker.wait(&request, 2).await;
    let said = &response.topics[0].partitions[0];
    (said.error_code, said.low_watermark)
}

/// Has the partition 0 of a topic begin at `offset`; code and where it begins.
pub(crate) async fn delete(broker: &Broker, topic: &'static str, offset: i64) -> (i16, i64) {
    ask(broker, before(topic, 0, offset)).await
}

#[tokio::test]
async fn records_are_gone_and_stay_gone_after_a_crash() {
    let broker = Broker::with_topic(1);
    append(&broker, "t", 0, batch(&["a", "b", "c"]));
    append(&broker, "t", 0, batch(&["d"]));
    for version in 0..=2 {
        let response = broker.wait(&before("t", 0, 1), version).await;
        assert_eq!(response.topics[0].partitions[0].low_watermark, 1);
    }
    let response = broker.ask(&of("t", 0, 0), 12);
    assert_eq!(said(&response).error_code, ErrorCode::OffsetOutOfRange.code());
    let response = broker.ask(&of("t", 0, 1), 12);
    assert_eq!((said(&response).log_start_offset, bases(said(&response))), (1, vec![0, 3]));
    let disk = Arc::new(broker.disk.fork());
    let broker = broker.restart(disk);
    assert_eq!(broker.partition("t", 0).log().log_start(), 1);
}

#[tokio::test]
async fn what_is_not_on_disk_is_not_acknowledged() {
    let broker = Broker::with_topic(1);
    append(&broker, "t", 0, batch(&["a", "b"]));
    // No space; then a broken disk.
    for (os_error, is_broken) in [(28, false), (5, true)] {
        let below = "/data/log-start-offset-checkpoint.tmp".into();
        broker.disk.fail(Fault { operation: Operation::Rename, below, after: 0, os_error });
        let code = ErrorCode::KafkaStorageError.code();
        assert_eq!(ask(&broker, before("t", 0, 1)).await, (code, -1));
        assert_eq!(broker.ctx.dirs[0].failure().is_some(), is_broken);
        if !is_broken {
            assert_eq!(ask(&broker, before("t", 0, 1)).await, (0, 1), "asked again, it is done");
            assert_eq!(ask(&broker, before("t", 0, 0)).await, (0, 1));
            append(&broker, "t", 0, batch(&["c"]));
            broker.partition("t", 0).log().delete_records_before(2).unwrap();
        }
    }
}

#[tokio::test]
async fn minus_one_is_all_that_is_promised() {
    let broker = Broker::with_topic(1);
    append(&broker, "t", 0, batch(&["a", "b", "c"]));
    assert_eq!(ask(&broker, before("t", 0, -1)).await, (0, 3));
    assert_eq!(ask(&broker, before("t", 0, 1)).await, (0, 3), "a start never goes back");
}

#[tokio::test]
async fn what_cannot_be_deleted_is_refused() {
    let mut broker = Broker::with_topic(1);
    broker.create("compacted", 1, &[("cleanup.policy", "compact")]);
    broker.create("__consumer_offsets", 1, &[]);
    append(&broker, "t", 0, batch(&["a"]));
    for (request, code) in [
        (before("t", 0, 2), ErrorCode::OffsetOutOfRange),
        (before("t", 0, -2), ErrorCode::OffsetOutOfRange),
        (before("t", 1, 0), ErrorCode::UnknownTopicOrPartition),
        (before("u", 0, 0), ErrorCode::UnknownTopicOrPartition),
        (before("compacted", 0, 0), ErrorCode::PolicyViolation),
        (before("__consumer_offsets", 0, 0), ErrorCode::InvalidTopicException),
    ] {
        assert_eq!(ask(&broker, request).await, (code.code(), -1));
    }
}
