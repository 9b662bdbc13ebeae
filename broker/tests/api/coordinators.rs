//! FindCoordinator for groups, and the topic that keeps them, on a whole broker.

use super::broker::batch;
use super::served::{Served, text};
use protocol::error::ErrorCode;
use protocol::messages::describe_configs_request::DescribeConfigsResource;
use protocol::messages::metadata_request::MetadataRequestTopic;
use protocol::messages::metadata_response::MetadataResponseTopic;
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{
    BrokerId, DeleteTopicsRequest, DescribeConfigsRequest, FindCoordinatorRequest,
    FindCoordinatorResponse, MetadataRequest, ProduceRequest,
};
use std::collections::BTreeMap;

const OFFSETS: &str = "__consumer_offsets";

fn find(version: i16, groups: &[&str]) -> FindCoordinatorRequest {
    let request = FindCoordinatorRequest::default();
    match version < 4 {
        true => request.with_key(text(groups[0])),
        false => request.with_coordinator_keys(groups.iter().map(|it| text(it)).collect()),
    }
}

/// Each key, and where it was found or why it was not.
fn found(version: i16, answer: &FindCoordinatorResponse) -> Vec<(String, i16, i32, String)> {
    if version < 4 {
        let address = format!("{}:{}", answer.host.as_str(), answer.port);
        return vec![(String::new(), answer.error_code, answer.node_id.0, address)];
    }
    let one = |it: &protocol::messages::find_coordinator_response::Coordinator| {
        let address = format!("{}:{}", it.host.as_str(), it.port);
        (it.key.to_string(), it.error_code, it.node_id.0, address)
    };
    answer.coordinators.iter().map(one).collect()
}

async fn offsets_topic(broker: &Served, create: bool) -> MetadataResponseTopic {
    let topic = MetadataRequestTopic::default().with_name(Some(text(OFFSETS).into()));
    let request = MetadataRequest::default()
        .with_topics(Some(vec![topic]))
        .with_allow_auto_topic_creation(create);
    broker.ask(&request, 12).await.topics.remove(0)
}

#[tokio::test]
async fn the_first_who_looks_for_a_group_has_its_topic_made() {
    let broker = Served::told("offsets.topic.num.partitions=3\n").await;
    assert_eq!(offsets_topic(&broker, false).await.partitions.len(), 0);
    for version in 0..=6 {
        for (listener, at) in [("INSIDE", "inside:1001"), ("OUTSIDE", "outside:1002")] {
            let answer = broker.ask_at(listener, &find(version, &["g", ""]), version).await;
            let want = |key: &str| (key.to_owned(), 0, 1, at.to_owned());
            let want = if version < 4 { vec![want("")] } else { vec![want("g"), want("")] };
            assert_eq!(found(version, &answer.unwrap()), want);
        }
    }
    let topic = offsets_topic(&broker, false).await;
    assert_eq!((topic.is_internal, topic.partitions.len()), (true, 3));
    broker.stop().await;
}

#[tokio::test]
async fn the_topic_of_groups_has_no_more_replicas_than_there_are_brokers() {
    let broker = Served::told("offsets.topic.replication.factor=3\n").await;
    broker.ask(&find(4, &["g"]), 4).await;
    let topic = offsets_topic(&broker, false).await;
    assert!(topic.partitions.iter().all(|it| it.replica_nodes == [BrokerId(1)]));
    broker.stop().await;
}

#[tokio::test]
async fn the_topic_of_groups_is_compacted_and_its_segments_are_small() {
    let broker = Served::told("offsets.topic.segment.bytes=20000000\n").await;
    broker.ask(&find(4, &["g"]), 4).await;
    let resource = DescribeConfigsResource::default()
        .with_resource_type(2)
        .with_resource_name(text(OFFSETS))
        .with_configuration_keys(None);
    let request = DescribeConfigsRequest::default().with_resources(vec![resource]);
    let answer = broker.ask(&request, 4).await;
    let overrides: BTreeMap<_, _> = (answer.results[0].configs.iter())
        .filter(|it| it.config_source == 1)
        .map(|it| (it.name.to_string(), it.value.as_ref().unwrap().to_string()))
        .collect();
    let want = [
        ("cleanup.policy", "compact"),
        ("compression.type", "producer"),
        ("segment.bytes", "20000000"),
    ];
    assert_eq!(overrides, want.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
    broker.stop().await;
}

#[tokio::test]
async fn metadata_makes_the_topic_of_groups_as_find_coordinator_does() {
    let broker = Served::told("offsets.topic.num.partitions=4\n").await;
    let unknown = ErrorCode::UnknownTopicOrPartition.code();
    let topic = offsets_topic(&broker, true).await;
    assert_eq!((topic.error_code, topic.is_internal), (unknown, true));
    assert_eq!(offsets_topic(&broker, false).await.partitions.len(), 4);
    broker.stop().await;
}

#[tokio::test]
async fn many_may_look_for_groups_at_once() {
    let broker = Served::start().await;
    let looks = (0..20).map(|_| async { found(4, &broker.ask(&find(4, &["g"]), 4).await) });
    for found in futures_util::future::join_all(looks).await {
        assert_eq!((found[0].1, found[0].2), (0, 1));
    }
    assert_eq!(offsets_topic(&broker, false).await.partitions.len(), 50);
    broker.stop().await;
}

#[tokio::test]
async fn the_topic_of_groups_can_be_deleted_and_comes_again() {
    let broker = Served::told("offsets.topic.num.partitions=2\n").await;
    broker.ask(&find(4, &["g"]), 4).await;
    let before = offsets_topic(&broker, false).await;
    let request = DeleteTopicsRequest::default()
        .with_topic_names(vec![text(OFFSETS).into()])
        .with_timeout_ms(10_000);
    assert_eq!(broker.ask(&request, 5).await.responses[0].error_code, 0);
    assert_eq!(found(4, &broker.ask(&find(4, &["g"]), 4).await)[0].1, 0);
    assert_ne!(offsets_topic(&broker, false).await.topic_id, before.topic_id);
    broker.stop().await;
}

#[tokio::test]
async fn clients_do_not_write_into_the_topic_of_groups() {
    let broker = Served::told("offsets.topic.num.partitions=1\n").await;
    broker.ask(&find(4, &["g"]), 4).await;
    let data = PartitionProduceData::default().with_records(Some(batch(&["v"])));
    let topic =
        TopicProduceData::default().with_name(text(OFFSETS).into()).with_partition_data(vec![data]);
    let request = ProduceRequest::default().with_acks(-1).with_topic_data(vec![topic]);
    let answer = broker.ask(&request, 9).await;
    let code = answer.responses[0].partition_responses[0].error_code;
    assert_eq!(code, ErrorCode::InvalidTopicException.code());
    broker.stop().await;
}
