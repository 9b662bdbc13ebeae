//! CreateTopics, CreatePartitions, DeleteTopics: made, grown, gone, and what stands at once.

use super::broker::batch;
use super::served::{Served, create, text, topic, with_config};
use protocol::error::ErrorCode::{
    self, InvalidConfig, InvalidPartitions, InvalidRequest, InvalidTopicException, None as Fine,
    RequestTimedOut, TopicAlreadyExists, TopicDeletionDisabled, UnknownTopicId,
    UnknownTopicOrPartition,
};
use protocol::ids::Uuid;
use protocol::messages::create_partitions_request::CreatePartitionsTopic;
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{
    CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest,
    ListPartitionReassignmentsRequest, ProduceRequest,
};

async fn produce(broker: &Served, name: &str, partition: i32) -> i16 {
    let data =
        PartitionProduceData::default().with_index(partition).with_records(Some(batch(&["v"])));
    let topic =
        TopicProduceData::default().with_name(text(name).into()).with_partition_data(vec![data]);
    let request = ProduceRequest::default().with_acks(-1).with_topic_data(vec![topic]);
    let answer = broker.ask(&request, 9).await;
    answer.responses[0].partition_responses[0].error_code
}

#[tokio::test]
async fn a_new_topic_takes_records_at_once() {
    let broker = Served::start().await;
    for version in 2..=7 {
        let name = format!("v{version}");
        let answer = broker.ask(&create(vec![topic(&name, 3)]), version).await;
        let created = &answer.topics[0];
        assert_eq!((created.name.as_str(), created.error_code), (name.as_str(), 0));
        assert_eq!(Uuid::from(created.topic_id).is_zero(), version < 7);
        assert_eq!(created.num_partitions, if version < 5 { -1 } else { 3 });
        assert_eq!(produce(&broker, &name, 2).await, 0);
        assert_eq!(produce(&broker, &name, 3).await, UnknownTopicOrPartition.code());
    }
    broker.stop().await;
}

#[tokio::test]
async fn what_cannot_be_created_says_why() {
    let broker = Served::start().await;
    broker.create("t", 1).await;
    let check = async |request: CreateTopicsRequest, want: ErrorCode| {
        for version in 2..=7 {
            let answer = broker.ask(&request, version).await;
            assert_eq!(answer.topics[0].error_code, want.code(), "{request:?}");
            assert_eq!(answer.topics[0].error_message.is_some(), want != Fine);
        }
    };
    check(create(vec![topic("t", 1)]), TopicAlreadyExists).await;
    check(create(vec![topic("a b", 1)]), InvalidTopicException).await;
    check(create(vec![topic("u", 0)]), InvalidPartitions).await;
    check(create(vec![with_config(topic("u", 1), "retention.ms", "x")]), InvalidConfig).await;
    check(create(vec![topic("u", 1)]).with_validate_only(true), Fine).await;
    assert_eq!(produce(&broker, "u", 0).await, UnknownTopicOrPartition.code());
    broker.stop().await;
}

#[tokio::test]
async fn a_topic_grows_and_its_new_partitions_take_records_at_once() {
    let broker = Served::start().await;
    broker.create("t", 1).await;
    let grow = |count: i32| {
        let topic = CreatePartitionsTopic::default()
            .with_name(text("t").into())
            .with_count(count)
            .with_assignments(None);
        CreatePartitionsRequest::default().with_topics(vec![topic]).with_timeout_ms(10_000)
    };
    for version in 0..=3 {
        let count = i32::from(version) + 2;
        assert_eq!(broker.ask(&grow(count), version).await.results[0].error_code, 0);
        assert_eq!(produce(&broker, "t", count - 1).await, 0);
        let again = broker.ask(&grow(count), version).await;
        assert_eq!(again.results[0].error_code, InvalidPartitions.code());
    }
    broker.stop().await;
}

#[tokio::test]
async fn a_deleted_topic_is_gone_at_once() {
    let broker = Served::start().await;
    for version in 1..=6 {
        broker.create("t", 1).await;
        let request = DeleteTopicsRequest::default().with_timeout_ms(10_000);
        let request = if version < 6 {
            request.with_topic_names(vec![text("t").into()])
        } else {
            let state = DeleteTopicState::default().with_name(Some(text("t").into()));
            request.with_topics(vec![state])
        };
        assert_eq!(broker.ask(&request, version).await.responses[0].error_code, 0);
        assert_eq!(produce(&broker, "t", 0).await, UnknownTopicOrPartition.code());
        let again = broker.ask(&request, version).await;
        assert_eq!(again.responses[0].error_code, UnknownTopicOrPartition.code());
    }
    let by_id = DeleteTopicState::default().with_name(None).with_topic_id(Uuid([7; 16]).into());
    let request = DeleteTopicsRequest::default().with_topics(vec![by_id]).with_timeout_ms(10_000);
    let answer = broker.ask(&request, 6).await;
    assert_eq!(answer.responses[0].error_code, UnknownTopicId.code());
    broker.stop().await;
}

#[tokio::test]
async fn an_operator_can_forbid_deletions() {
    let broker = Served::told("delete.topic.enable=false\n").await;
    broker.create("t", 1).await;
    let request = DeleteTopicsRequest::default()
        .with_topic_names(vec![text("t").into()])
        .with_timeout_ms(10_000);
    let answer = broker.ask(&request, 5).await;
    assert_eq!(answer.responses[0].error_code, TopicDeletionDisabled.code());
    let answer = broker.ask(&request, 2).await;
    assert_eq!(answer.responses[0].error_code, InvalidRequest.code());
    assert_eq!(produce(&broker, "t", 0).await, 0);
    broker.stop().await;
}

#[tokio::test]
async fn what_shall_take_no_time_is_not_done() {
    let broker = Served::start().await;
    broker.create("t", 1).await;
    let late = RequestTimedOut.code();
    for timeout_ms in [0, -1, i32::MIN] {
        let request = create(vec![topic("u", 1)]).with_timeout_ms(timeout_ms);
        let answer = broker.ask(&request, 7).await;
        assert_eq!((answer.topics[0].error_code, &answer.topics[0].error_message), (late, &None));
        let more = CreatePartitionsTopic::default().with_name(text("t").into()).with_count(2);
        let more =
            CreatePartitionsRequest::default().with_topics(vec![more.with_assignments(None)]);
        let answer = broker.ask(&more.with_timeout_ms(timeout_ms), 3).await;
        assert_eq!(answer.results[0].error_code, late);
        let request = DeleteTopicsRequest::default().with_topic_names(vec![text("t").into()]);
        let answer = broker.ask(&request.with_timeout_ms(timeout_ms), 5).await;
        assert_eq!(answer.responses[0].error_code, late);
    }
    assert_eq!(produce(&broker, "u", 0).await, UnknownTopicOrPartition.code());
    assert_eq!(produce(&broker, "t", 1).await, UnknownTopicOrPartition.code());
    assert_eq!(produce(&broker, "t", 0).await, 0);
    broker.stop().await;
}

#[tokio::test]
async fn topics_are_made_over_the_controllers_listener_too() {
    let broker = Served::start().await;
    let request = create(vec![topic("t", 1)]);
    let answer = broker.ask_at("CONTROLLER", &request, 7).await.unwrap();
    assert_eq!(answer.topics[0].error_code, 0);
    assert_eq!(produce(&broker, "t", 0).await, 0);
    let request = ListPartitionReassignmentsRequest::default().with_topics(None);
    let answer = broker.ask_at("CONTROLLER", &request, 0).await.unwrap();
    assert_eq!((answer.error_code, answer.topics.len()), (0, 0));
    broker.stop().await;
}
