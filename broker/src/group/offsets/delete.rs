//! OffsetDelete (KIP-496), and the removal of offsets with their topic.

use super::store::key;
use crate::coordinator::{Effects, Moment, Token};
use crate::group::state::{Decision, State};
use kraft::image::Image;
use protocol::coordinator::group::{GroupRecord, OffsetKey};
use protocol::error::ErrorCode;
use protocol::messages::offset_delete_response::{
    OffsetDeleteResponsePartition, OffsetDeleteResponseTopic,
};
use protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse};
use std::collections::BTreeMap;

/// Records of one batch, so that it fits a segment whatever the names.
const RECORDS_MAX: usize = 1000;

impl State {
    /// Judges as Kafka's `OffsetMetadataManager.deleteOffsets`: the offsets of a topic that the
    /// group subscribes to stay.
    pub(in crate::group) fn delete_offsets(
        &self,
        token: Token,
        request: &OffsetDeleteRequest,
    ) -> Decision {
        let name = request.group_id.as_str();
        let group = match self.groups.get(name).ok_or(ErrorCode::GroupIdNotFound) {
            Ok(group) => group.may_delete_offsets().map(|()| group),
            Err(code) => Err(code),
        };
        let group = match group {
            Ok(group) => group,
            Err(code) => {
                let response = OffsetDeleteResponse::default().with_error_code(code.code());
                return Effects::reply(token, response.into());
            }
        };
        let (mut records, mut topics) = (Vec::new(), Vec::new());
        let mut judged = BTreeMap::new();
        for topic in &request.topics {
            let named = topic.name.as_str();
            let judged = judged.entry(named).or_insert_with(|| group.is_subscribed(named));
            let is_subscribed = *judged;
            let code =
                if is_subscribed { ErrorCode::GroupSubscribedToTopic } else { ErrorCode::None };
            let mut partitions = Vec::new();
            for partition in &topic.partitions {
                let number = partition.partition_index;
                partitions.push(
                    OffsetDeleteResponsePartition::default()
                        .with_partition_index(number)
                        .with_error_code(code.code()),
                );
                let topic = topic.name.as_str();
                let is_there = self.offsets.get(name, topic, number).is_some()
                    || self.offsets.is_open(name, topic, number);
                if !is_subscribed && is_there {
                    let topic = self.offsets.topic_name(topic);
                    records.push(tombstone(key(&self.group_name(name), &topic, number)));
                }
            }
            let said = OffsetDeleteResponseTopic::default().with_name(topic.name.clone());
            topics.push(said.with_partitions(partitions));
        }
        let response = OffsetDeleteResponse::default().with_topics(topics);
        Effects { records, replies: vec![(token, response.into())] }
    }

    /// What is committed of topics that were there in `old`, and are no more. Of a topic that was
    /// made again at once something may be committed already: whoever made it heard of it first.
    pub(in crate::group) fn forget_topics(
        &self,
        moment: &Moment<'_>,
        old: &Image,
    ) -> Vec<Decision> {
        let id = |image: &Image, name: &str| image.topic(name).map(|topic| topic.id);
        let is_gone =
            |name: &str| id(old, name).is_some_and(|it| id(moment.image, name) != Some(it));
        let is_of_the_next = |key: &OffsetKey| {
            let value = self.offsets.get(&key.group, &key.topic, key.partition);
            value.is_some_and(|it| id(moment.image, &key.topic) == Some(it.topic_id))
        };
        let gone = self.offsets.topics().filter(|name| is_gone(name));
        let committed = gone.flat_map(|name| self.offsets.keys_of_topic(name));
        let committed = committed.filter(|key| !is_of_the_next(key));
        let open = self.offsets.open().filter(|key| is_gone(&key.topic)).cloned();
        batches(committed.chain(open).collect())
    }

    /// What is committed of topics that went while nobody was here: those that its records name
    /// by another id.
    pub(in crate::group) fn forget_topics_that_went(&self, moment: &Moment<'_>) -> Vec<Decision> {
        let is_of_another = |key: &OffsetKey| {
            let id = self.offsets.get(&key.group, &key.topic, key.partition);
            let id = id.map(|value| value.topic_id).filter(|id| !id.is_zero());
            let now = moment.image.topic(&key.topic).map(|topic| topic.id);
            id.is_some() && id != now
        };
        let keys = self.offsets.topics().flat_map(|name| self.offsets.keys_of_topic(name));
        batches(keys.filter(is_of_another).collect())
    }
}

pub(super) fn tombstone(key: OffsetKey) -> GroupRecord {
    GroupRecord::Offset(key, None)
}

fn batches(keys: Vec<OffsetKey>) -> Vec<Decision> {
    let tombstones: Vec<_> = keys.into_iter().map(tombstone).collect();
    let batch = |records: &[GroupRecord]| Effects { records: records.to_vec(), replies: vec![] };
    tombstones.chunks(RECORDS_MAX).map(batch).collect()
}
