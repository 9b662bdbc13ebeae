//! DeleteTopics.

use super::{Decide, Decision, Now, Refusal, State};
use crate::image::{Image, Topic};
use crate::record::{Record, RemoveTopicRecord};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::delete_topics_response::DeletableTopicResult;
use protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse};
use std::collections::BTreeMap;

impl Decide for DeleteTopicsRequest {
    fn decide(
        self,
        image: &Image,
        state: &mut State,
        _: &Now<'_>,
    ) -> Decision<DeleteTopicsResponse> {
        // Up to version 5 there are names only, in a list of their own.
        let named = self.topic_names.iter();
        let named = named.map(|name| DeleteTopicState::default().with_name(Some(name.clone())));
        let asked: Vec<DeleteTopicState> = named.chain(self.topics.iter().cloned()).collect();

        let mut seen = BTreeMap::<(Option<&str>, Uuid), usize>::new();
        let mut topics_named = BTreeMap::<Uuid, usize>::new();
        for it in &asked {
            *seen
                .entry((it.name.as_deref().map(|name| &**name), it.topic_id.into()))
                .or_default() += 1;
            if let Ok(topic) = find(image, it) {
                *topics_named.entry(topic.id).or_default() += 1;
            }
        }
        let decide = |it: &DeleteTopicState| {
            if !state.creation.delete_topic_enable {
                let why = "topics cannot be deleted: delete.topic.enable is false";
                return Err(Refusal::new(ErrorCode::TopicDeletionDisabled, why));
            }
            let topic = find(image, it);
            let is_repeated = match &topic {
                Ok(topic) => topics_named.get(&topic.id).is_some_and(|count| 1 < *count),
                Err(_) => {
                    let key = (it.name.as_deref().map(|name| &**name), it.topic_id.into());
                    seen.get(&key).is_some_and(|count| 1 < *count)
                }
            };
            if is_repeated && !is_ill_formed(it) {
                let why = "the topic is in the request more than once";
                return Err(Refusal::new(ErrorCode::InvalidRequest, why));
            }
            topic
        };
        let (mut records, mut responses) = (Vec::new(), Vec::new());
        for it in &asked {
            responses.push(match decide(it) {
                Ok(topic) => {
                    let record = RemoveTopicRecord { topic_id: topic.id, ..Default::default() };
                    records.push(Record::from(record));
                    DeletableTopicResult::default()
                        .with_name(Some(topic.name.to_message()))
                        .with_topic_id(topic.id.into())
                        .with_error_message(None)
                }
                Err(refusal) => DeletableTopicResult::default()
                    .with_name(it.name.clone())
                    .with_topic_id(it.topic_id)
                    .with_error_code(refusal.code.code())
                    .with_error_message(Some(refusal.text())),
            });
        }
        Decision::append(records, DeleteTopicsResponse::default().with_responses(responses))
    }
}

/// Neither name nor id, or both.
fn is_ill_formed(it: &DeleteTopicState) -> bool {
    it.name.is_some() != Uuid::from(it.topic_id).is_zero()
}

fn find<'a>(image: &'a Image, it: &DeleteTopicState) -> Result<&'a Topic, Refusal> {
    let id = Uuid::from(it.topic_id);
    match &it.name {
        None if id.is_zero() => {
            let why = "the request names a topic neither by name nor by id";
            Err(Refusal::new(ErrorCode::InvalidRequest, why))
        }
        Some(_) if !id.is_zero() => {
            let why = "the request names a topic both by name and by id";
            Err(Refusal::new(ErrorCode::InvalidRequest, why))
        }
        None => image.topic_by_id(id).ok_or_else(|| {
            Refusal::new(ErrorCode::UnknownTopicId, format!("there is no topic with id {id}"))
        }),
        Some(name) => image.topic(name).ok_or_else(|| {
            let why = format!("there is no topic {}", &**name);
            Refusal::new(ErrorCode::UnknownTopicOrPartition, why)
        }),
    }
}
