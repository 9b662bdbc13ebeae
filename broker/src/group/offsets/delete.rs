//! OffsetDelete (KIP-496): a group forgets how far it has come.

use super::store::key;
use crate::coordinator::{Effects, Token};
use crate::group::state::{Decision, State};
use protocol::coordinator::group::{GroupRecord, OffsetKey};
use protocol::error::ErrorCode;
use protocol::messages::offset_delete_response::{
    OffsetDeleteResponsePartition, OffsetDeleteResponseTopic,
};
use protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse};
use std::collections::BTreeMap;

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
}

pub(super) fn tombstone(key: OffsetKey) -> GroupRecord {
    GroupRecord::Offset(key, None)
}
