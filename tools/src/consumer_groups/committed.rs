//! The offsets that a group has committed: read, and committed in its place.

use super::group::At;
use crate::admin::text;
use crate::admin::topics::name_of;
use crate::client::{Client, Refused};
use protocol::error::ErrorCode;
use protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use protocol::messages::{
    GroupId, OffsetCommitRequest, OffsetCommitResponse, OffsetFetchRequest, OffsetFetchResponse,
};
use std::collections::BTreeMap;

/// An offset, and the epoch of the leader that was read from, if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Committed {
    pub(crate) offset: i64,
    pub(crate) leader_epoch: Option<i32>,
}

/// All that the group has committed.
pub(super) async fn fetch(
    client: &mut Client,
    group: &str,
) -> Result<BTreeMap<At, Committed>, Refused> {
    let to = client.coordinator(group).await?;
    let id = GroupId(text(group));
    let wanted = OffsetFetchRequestGroup::default()
        .with_group_id(id.clone())
        .with_member_epoch(-1)
        .with_topics(None);
    let request = OffsetFetchRequest::default().with_groups(vec![wanted]);
    let judge = |answer: &OffsetFetchResponse| {
        Refused::check(answer.error_code, None)?;
        answer.groups.iter().try_for_each(|it| Refused::check(it.error_code, None))
    };
    let answer = match client.ask_until(to, &request, judge).await {
        // Before version 8 there is one group.
        Err(refused) if refused.code == ErrorCode::UnsupportedVersion => {
            let old = OffsetFetchRequest::default().with_group_id(id).with_topics(None);
            client.ask_until(to, &old, judge).await?
        }
        answer => answer?,
    };
    let of = |partition, offset, epoch: i32| {
        let leader_epoch = Some(epoch).filter(|epoch| 0 <= *epoch);
        (partition, Committed { offset, leader_epoch })
    };
    let mut found = BTreeMap::new();
    for topic in answer.groups.iter().flat_map(|group| &group.topics) {
        for it in &topic.partitions {
            let (index, committed) =
                of(it.partition_index, it.committed_offset, it.committed_leader_epoch);
            found.insert((topic.name.to_string(), index), committed);
        }
    }
    for topic in &answer.topics {
        for it in &topic.partitions {
            let (index, committed) =
                of(it.partition_index, it.committed_offset, it.committed_leader_epoch);
            found.insert((topic.name.to_string(), index), committed);
        }
    }
    found.retain(|_, committed| 0 <= committed.offset);
    Ok(found)
}

/// Commits for a group without members.
pub(super) async fn commit(
    client: &mut Client,
    group: &str,
    offsets: &BTreeMap<At, i64>,
) -> Result<(), Refused> {
    if offsets.is_empty() {
        return Ok(());
    }
    let to = client.coordinator(group).await?;
    let mut topics: BTreeMap<&str, Vec<OffsetCommitRequestPartition>> = BTreeMap::new();
    for ((topic, partition), offset) in offsets {
        topics.entry(topic).or_default().push(
            OffsetCommitRequestPartition::default()
                .with_partition_index(*partition)
                .with_committed_offset(*offset)
                .with_committed_leader_epoch(-1)
                .with_committed_metadata(Some(text(""))),
        );
    }
    let topics = topics.into_iter().map(|(name, partitions)| {
        OffsetCommitRequestTopic::default().with_name(name_of(name)).with_partitions(partitions)
    });
    let request = OffsetCommitRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(topics.collect());
    let judge = |answer: &OffsetCommitResponse| {
        let mut partitions = answer.topics.iter().flat_map(|topic| &topic.partitions);
        partitions.try_for_each(|it| Refused::check(it.error_code, None))
    };
    client.ask_until(to, &request, judge).await.map(drop)
}
