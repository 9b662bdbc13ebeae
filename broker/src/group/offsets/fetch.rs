//! OffsetFetch: how far a group has come.

use super::store::OffsetsOfGroup;
use crate::coordinator::{Effects, Token};
use crate::group::state::{Decision, Group, State};
use protocol::coordinator::group::OffsetValue;
use protocol::error::ErrorCode;
use protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use protocol::messages::offset_fetch_response::{
    OffsetFetchResponseGroup, OffsetFetchResponsePartitions, OffsetFetchResponseTopics,
};
use protocol::messages::{OffsetFetchRequest, OffsetFetchResponse, StrBytes, TopicName};
use std::sync::Arc;

/// In place of an offset: none is committed.
const NO_OFFSET: i64 = -1;

impl State {
    /// Answers about each group of a request of version 8 or later, which is how all versions are
    /// asked here. Nothing here is uncommitted: a reply leaves after what it has seen.
    pub(in crate::group) fn fetch_offsets(
        &self,
        token: Token,
        request: &OffsetFetchRequest,
    ) -> Decision {
        let stable = request.require_stable;
        let groups = request.groups.iter().map(|group| self.fetch_group(group, stable)).collect();
        Effects::reply(token, OffsetFetchResponse::default().with_groups(groups).into())
    }

    fn fetch_group(
        &self,
        request: &OffsetFetchRequestGroup,
        stable: bool,
    ) -> OffsetFetchResponseGroup {
        let said = OffsetFetchResponseGroup::default().with_group_id(request.group_id.clone());
        if let Err(code) = self.may_fetch(request) {
            return said.with_error_code(code.code());
        }
        let offsets = self.offsets.of_group(request.group_id.as_str());
        let mut topics = match &request.topics {
            Some(topics) => topics.iter().map(|topic| asked(topic, offsets)).collect(),
            None => offsets.map(all).unwrap_or_default(),
        };
        if stable {
            self.withhold_open(request.group_id.as_str(), &mut topics);
        }
        said.with_topics(topics)
    }

    /// Where a transaction that has not ended commits another offset, nothing can be told yet.
    fn withhold_open(&self, group: &str, topics: &mut [OffsetFetchResponseTopics]) {
        for topic in topics {
            let name = topic.name.as_str();
            for partition in &mut topic.partitions {
                let number = partition.partition_index;
                if self.offsets.is_open(group, name, number) {
                    let code = ErrorCode::UnstableOffsetCommit.code();
                    *partition = said(number, None).with_error_code(code);
                }
            }
        }
    }

    /// A group that is not there has no offsets, and who asks is told just that.
    fn may_fetch(&self, request: &OffsetFetchRequestGroup) -> Result<(), ErrorCode> {
        match self.groups.get(request.group_id.as_str()) {
            Some(Group::Consumer(group)) => {
                group.may_fetch_offsets(request.member_id.as_deref(), request.member_epoch)
            }
            Some(Group::Classic(_)) | None => Ok(()),
        }
    }
}

fn asked(
    request: &OffsetFetchRequestTopics,
    offsets: Option<&OffsetsOfGroup>,
) -> OffsetFetchResponseTopics {
    let known = offsets.and_then(|offsets| offsets.get(request.name.as_str()));
    let partition = |number: &i32| said(*number, known.and_then(|known| known.get(number)));
    OffsetFetchResponseTopics::default()
        .with_name(request.name.clone())
        .with_partitions(request.partition_indexes.iter().map(partition).collect())
}

fn all(offsets: &OffsetsOfGroup) -> Vec<OffsetFetchResponseTopics> {
    let topic = |(name, partitions): (&Arc<str>, &std::collections::BTreeMap<i32, OffsetValue>)| {
        let partitions = partitions.iter().map(|(number, value)| said(*number, Some(value)));
        OffsetFetchResponseTopics::default()
            .with_name(TopicName(StrBytes::from_string(name.to_string())))
            .with_partitions(partitions.collect())
    };
    offsets.iter().map(topic).collect()
}

fn said(number: i32, value: Option<&OffsetValue>) -> OffsetFetchResponsePartitions {
    let said = OffsetFetchResponsePartitions::default().with_partition_index(number);
    let Some(value) = value else { return said.with_committed_offset(NO_OFFSET) };
    said.with_committed_offset(value.offset)
        .with_committed_leader_epoch(value.leader_epoch)
        .with_metadata(Some(StrBytes::from_string(value.metadata.to_string())))
}
