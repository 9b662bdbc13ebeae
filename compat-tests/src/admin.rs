//! Topics made, and committed offsets read, over a plain connection: no client stands between.

use crate::process::until;
use crate::wire::Connection;
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use protocol::messages::{
    CreateTopicsRequest, FindCoordinatorRequest, GroupId, OffsetCommitRequest, OffsetFetchRequest,
    StrBytes, TopicName,
};
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// Makes a topic with one replica a partition.
///
/// # Panics
/// When the broker refuses.
#[track_caller]
pub fn create_topic(port: u16, topic: &str, partitions: usize) {
    let topic = CreatableTopic::default()
        .with_name(TopicName(text(topic)))
        .with_num_partitions(i32::try_from(partitions).expect("a small number"))
        .with_replication_factor(1);
    let request = CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(60_000);
    let response =
        Connection::open(port).and_then(|mut it| it.ask(&request, 5)).expect("an answer");
    let refused = response.topics.iter().find(|topic| topic.error_code != 0);
    assert!(refused.is_none(), "{refused:?}");
}

/// Asks where a group's coordinator is until there is one, which makes the topic of the offsets.
///
/// # Panics
/// When there is none within 30 seconds.
#[track_caller]
pub fn await_coordinator(port: u16, group: &str) {
    let request = FindCoordinatorRequest::default().with_coordinator_keys(vec![text(group)]);
    until("there is a coordinator", Duration::from_secs(30), || {
        let response = Connection::open(port).ok()?.ask(&request, 4).ok()?;
        response.coordinators.iter().all(|it| it.error_code == 0).then_some(())
    });
}

/// What a group has committed, by topic and partition, once its coordinator is ready.
///
/// # Panics
/// When there is no answer without an error within 30 seconds.
#[track_caller]
pub fn committed(port: u16, group: &str) -> BTreeMap<(String, i32), i64> {
    let wanted =
        OffsetFetchRequestGroup::default().with_group_id(GroupId(text(group))).with_topics(None);
    let request = OffsetFetchRequest::default().with_groups(vec![wanted]);
    let group = until("the coordinator answers", Duration::from_secs(30), || {
        let response = Connection::open(port).ok()?.ask(&request, 8).ok()?;
        response.groups.into_iter().find(|group| group.error_code == 0)
    });
    let topics = group.topics.into_iter().flat_map(|topic| {
        let name = topic.name.0.to_string();
        topic
            .partitions
            .into_iter()
            .map(move |it| ((name.clone(), it.partition_index), it.committed_offset))
    });
    topics.filter(|(_, offset)| 0 <= *offset).collect()
}

/// Commits one offset of a group without members, as a consumer that assigns itself does.
///
/// # Errors
/// The connection is gone, or the coordinator refuses; the commit may be kept all the same.
pub fn commit(
    it: &mut Connection,
    group: &str,
    topic: &str,
    partition: i32,
    offset: i64,
) -> io::Result<()> {
    let partition = OffsetCommitRequestPartition::default()
        .with_partition_index(partition)
        .with_committed_offset(offset);
    let topic = OffsetCommitRequestTopic::default()
        .with_name(TopicName(text(topic)))
        .with_partitions(vec![partition]);
    let request = OffsetCommitRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic]);
    let response = it.ask(&request, 8)?;
    let mut codes = response.topics.iter().flat_map(|topic| &topic.partitions);
    match codes.next().map(|it| it.error_code) {
        Some(0) => Ok(()),
        code => Err(io::Error::other(format!("refused: {code:?}"))),
    }
}
