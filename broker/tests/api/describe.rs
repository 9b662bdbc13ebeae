//! DescribeProducers: who has written lately.

use crate::broker::{Broker, NOW_MS, builder};
use crate::fetch::append;
use protocol::error::ErrorCode;
use protocol::messages::describe_producers_request::TopicRequest;
use protocol::messages::{DescribeProducersRequest, StrBytes};

#[test]
fn each_producer_is_described_by_its_last_batch() {
    let broker = Broker::with_topic(1);
    append(&broker, "t", 0, builder(&["a", "b"]).producer(7, 3, 0).build().unwrap());
    append(&broker, "t", 0, builder(&["a"]).build().unwrap());
    let ask = |topic: &'static str, number| {
        let topic = TopicRequest::default()
            .with_name(StrBytes::from_static_str(topic).into())
            .with_partition_indexes(vec![number]);
        let request = DescribeProducersRequest::default().with_topics(vec![topic]);
        broker.ask(&request, 0).topics.remove(0).partitions.remove(0)
    };
    let said = ask("t", 0);
    assert_eq!(said.active_producers.len(), 1);
    let producer = &said.active_producers[0];
    assert_eq!((producer.producer_id.0, producer.producer_epoch), (7, 3));
    assert_eq!((producer.last_sequence, producer.last_timestamp), (1, NOW_MS + 1));
    assert_eq!((producer.coordinator_epoch, producer.current_txn_start_offset), (-1, -1));
    let unknown = ErrorCode::UnknownTopicOrPartition.code();
    let (topic, partition) = (ask("u", 0), ask("t", 4));
    assert_eq!((topic.error_code, topic.error_message.is_some()), (unknown, true));
    assert_eq!((partition.error_code, partition.error_message.is_some()), (unknown, false));
}
