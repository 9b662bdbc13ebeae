//! DeleteTopics.

use super::decision::{Decide, Decision, Now};
use super::refusal::Refusal;
use super::state::State;
use crate::image::{Image, Topic};
use crate::record::{Record, RemoveTopicRecord};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::delete_topics_response::DeletableTopicResult;
use protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse};
use std::collections::{BTreeMap, BTreeSet};

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

        // However it is named, a topic is one.
        let identity = |it| find(image, it).map_or_else(|_| key(it), |topic| (None, topic.id));
        let mut seen = BTreeMap::<Key<'_>, usize>::new();
        for it in &asked {
            *seen.entry(identity(it)).or_default() += 1;
        }
        let decide = |it| {
            if !state.creation.delete_topic_enable {
                let why = "topics cannot be deleted: delete.topic.enable is false";
                return Err(Refusal::new(ErrorCode::TopicDeletionDisabled, why));
            }
            if !is_ill_formed(it) && seen.get(&identity(it)).is_some_and(|count| 1 < *count) {
                let why = "the topic is in the request more than once";
                return Err(Refusal::new(ErrorCode::InvalidRequest, why));
            }
            find(image, it)
        };
        let (mut records, mut responses) = (Vec::new(), Vec::new());
        let mut answered = BTreeSet::new();
        for it in &asked {
            if !is_ill_formed(it) && !answered.insert(key(it)) {
                continue;
            }
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

/// A topic as a request names it.
type Key<'a> = (Option<&'a str>, Uuid);

fn key(it: &DeleteTopicState) -> Key<'_> {
    (it.name.as_deref().map(|name| &**name), it.topic_id.into())
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
