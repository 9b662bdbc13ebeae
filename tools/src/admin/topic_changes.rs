//! Topics, made, grown and deleted.

use super::topics::name_of;
use crate::client::{Client, Refused, To};
use protocol::error::ErrorCode;
use protocol::messages::create_partitions_request::CreatePartitionsTopic;
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreateTopicsRequest, CreateTopicsResponse,
    DeleteTopicsRequest, DeleteTopicsResponse,
};

pub(crate) async fn create(client: &mut Client, topic: CreatableTopic) -> Result<(), Refused> {
    let request = CreateTopicsRequest::default()
        .with_topics(vec![topic])
        .with_timeout_ms(client.request_timeout_ms());
    let judge = |answer: &CreateTopicsResponse| {
        let mut results = answer.topics.iter();
        results.try_for_each(|it| Refused::check(it.error_code, it.error_message.as_deref()))
    };
    client.ask_until(To::Controller, &request, judge).await.map(drop)
}

pub(crate) async fn grow(
    client: &mut Client,
    topics: Vec<CreatePartitionsTopic>,
) -> Result<(), Refused> {
    let request = CreatePartitionsRequest::default()
        .with_topics(topics)
        .with_timeout_ms(client.request_timeout_ms());
    let judge = |answer: &CreatePartitionsResponse| {
        let mut results = answer.results.iter();
        results.try_for_each(|it| Refused::check(it.error_code, it.error_message.as_deref()))
    };
    client.ask_until(To::Controller, &request, judge).await.map(drop)
}

pub(crate) async fn delete(client: &mut Client, names: &[String]) -> Result<(), Refused> {
    let states = names.iter().map(|it| DeleteTopicState::default().with_name(Some(name_of(it))));
    let empty = DeleteTopicsRequest::default().with_timeout_ms(client.request_timeout_ms());
    let request = empty.clone().with_topics(states.collect());
    let judge = |answer: &DeleteTopicsResponse| {
        let mut results = answer.responses.iter();
        results.try_for_each(|it| Refused::check(it.error_code, it.error_message.as_deref()))
    };
    match client.ask_until(To::Controller, &request, judge).await {
        // Before version 6 there are only names.
        Err(refused) if refused.code == ErrorCode::UnsupportedVersion => {
            let names = names.iter().map(|name| name_of(name)).collect();
            client.ask_until(To::Controller, &empty.with_topic_names(names), judge).await
        }
        done => done,
    }
    .map(drop)
}
