//! Requests about offsets, and about groups of any kind, in a story.
//!
//! `a commit g t/0=5 t/1=7@2+note`: an offset, the leader's epoch behind `@`, a text behind `+`;
//! `retention=1000` as old clients say it. `a fetch g t/0 t/1 stable=yes`, `a fetch g`
//! for all.
//! `a forget g t/0`. `a describe g h`, `a list states=Empty types=classic`, `a delete g h`.

use super::{Ask, Make};
use broker::group::{Reply, Request};
use protocol::coordinator::group::{GroupRecord, OffsetKey, OffsetValue};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use protocol::messages::offset_commit_response::OffsetCommitResponsePartition;
use protocol::messages::offset_delete_request::{
    OffsetDeleteRequestPartition, OffsetDeleteRequestTopic,
};
use protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use protocol::messages::offset_fetch_response::OffsetFetchResponseGroup;
use protocol::messages::{
    DeleteGroupsRequest, DescribeGroupsRequest, GroupId, ListGroupsRequest, OffsetCommitRequest,
    OffsetDeleteRequest, OffsetFetchRequest, StrBytes, TopicName,
};
use std::collections::BTreeMap;
use std::fmt::Display;

fn text(text: impl Into<String>) -> StrBytes {
    StrBytes::from_string(text.into())
}

pub(crate) fn request(ask: &Ask<'_>) -> Option<(i16, Make)> {
    let make: (i16, Make) = match ask.words.plain(1) {
        "commit" => {
            let it = commit(ask);
            (9, Box::new(|client| Request::OffsetCommit(client.clone(), it)))
        }
        "fetch" => {
            let it = fetch(ask);
            (9, Box::new(|client| Request::OffsetFetch(client.clone(), it)))
        }
        "forget" => {
            let it = forget(ask);
            (0, Box::new(|client| Request::OffsetDelete(client.clone(), it)))
        }
        "describe" => {
            let it = DescribeGroupsRequest::default().with_groups(groups(ask));
            (6, Box::new(|client| Request::Describe(client.clone(), it)))
        }
        "list" => {
            let filter = |key| ask.words.list(key).into_iter().map(text).collect();
            let it = ListGroupsRequest::default()
                .with_states_filter(filter("states"))
                .with_types_filter(filter("types"));
            (5, Box::new(|client| Request::List(client.clone(), it)))
        }
        "delete" => {
            let it = DeleteGroupsRequest::default().with_groups_names(groups(ask));
            (2, Box::new(|client| Request::Delete(client.clone(), it)))
        }
        _ => return None,
    };
    Some(make)
}

fn groups(ask: &Ask<'_>) -> Vec<GroupId> {
    ask.words
        .plain_from(2)
        .filter(|word| !word.contains('='))
        .map(|name| GroupId(text(name)))
        .collect()
}

fn group(ask: &Ask<'_>) -> GroupId {
    GroupId(text(ask.words.plain(2)))
}

/// By topic: the number of each `topic/number`, and what is said of it behind `=`.
fn partitions<'a>(ask: &Ask<'a>) -> BTreeMap<&'a str, Vec<(i32, &'a str)>> {
    let mut by_topic: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for word in ask.words.plain_from(3) {
        let (partition, said) = word.split_once('=').unwrap_or((word, ""));
        if let Some((topic, number)) = partition.split_once('/') {
            by_topic.entry(topic).or_default().push((number.parse().unwrap(), said));
        }
    }
    by_topic
}

fn commit(ask: &Ask<'_>) -> OffsetCommitRequest {
    let partition = |(number, said): (i32, &str)| {
        let (said, metadata) = said.split_once('+').unwrap_or((said, ""));
        let (offset, epoch) = said.split_once('@').unwrap_or((said, "-1"));
        OffsetCommitRequestPartition::default()
            .with_partition_index(number)
            .with_committed_offset(offset.parse().unwrap())
            .with_committed_leader_epoch(epoch.parse().unwrap())
            .with_committed_metadata(Some(text(metadata)))
    };
    let topic = |(name, said): (&str, Vec<(i32, &str)>)| {
        let id: Uuid = ask.names.full(name).parse().unwrap_or(Uuid::ZERO);
        OffsetCommitRequestTopic::default()
            .with_name(TopicName(text(name)))
            .with_topic_id(id.into())
            .with_partitions(said.into_iter().map(partition).collect())
    };
    OffsetCommitRequest::default()
        .with_group_id(group(ask))
        .with_generation_id_or_member_epoch(ask.generation())
        .with_member_id(text(ask.member()))
        .with_group_instance_id(ask.words.get("instance").map(text))
        .with_retention_time_ms(ask.words.number_or("retention", -1))
        .with_topics(partitions(ask).into_iter().map(topic).collect())
}

fn fetch(ask: &Ask<'_>) -> OffsetFetchRequest {
    let topic = |(name, said): (&str, Vec<(i32, &str)>)| {
        OffsetFetchRequestTopics::default()
            .with_name(TopicName(text(name)))
            .with_partition_indexes(said.into_iter().map(|(number, _)| number).collect())
    };
    let topics: Vec<_> = partitions(ask).into_iter().map(topic).collect();
    let member = ask.member();
    let group = OffsetFetchRequestGroup::default()
        .with_group_id(group(ask))
        .with_member_id((!member.is_empty()).then(|| text(member)))
        .with_member_epoch(ask.generation())
        .with_topics((!topics.is_empty()).then_some(topics));
    OffsetFetchRequest::default()
        .with_groups(vec![group])
        .with_require_stable(ask.words.get("stable").is_some())
}

fn forget(ask: &Ask<'_>) -> OffsetDeleteRequest {
    let partition = |(number, _): (i32, &str)| {
        OffsetDeleteRequestPartition::default().with_partition_index(number)
    };
    let topic = |(name, said): (&str, Vec<(i32, &str)>)| {
        OffsetDeleteRequestTopic::default()
            .with_name(TopicName(text(name)))
            .with_partitions(said.into_iter().map(partition).collect())
    };
    let topics = partitions(ask).into_iter().map(topic).collect();
    OffsetDeleteRequest::default().with_group_id(group(ask)).with_topics(topics)
}

/// A commit.
pub(crate) fn record(group: &str, topic: &str, partition: i32) -> GroupRecord {
    let key = OffsetKey { group: group.into(), topic: topic.into(), partition };
    let value = OffsetValue {
        offset: 1,
        leader_epoch: -1,
        metadata: "".into(),
        commit_timestamp_ms: 0,
        expire_timestamp_ms: -1,
        topic_id: Uuid::ZERO,
    };
    GroupRecord::Offset(key, Some(value))
}

pub(crate) fn spell(reply: &Reply) -> Option<String> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are told elsewhere")]
    Some(match reply {
        Reply::OffsetCommit(it) => {
            let said = it
                .topics
                .iter()
                .flat_map(|topic| topic.partitions.iter().map(|it| commit_said(&topic.name, it)));
            format!("OffsetCommit {}", joined(said))
        }
        Reply::OffsetFetch(it) => format!("OffsetFetch {}", joined(it.groups.iter().map(fetched))),
        Reply::OffsetDelete(it) => {
            let said = it.topics.iter().flat_map(|topic| {
                let name = topic.name.as_str();
                topic
                    .partitions
                    .iter()
                    .map(move |it| format!("{name}/{} {}", it.partition_index, code(it.error_code)))
            });
            format!("OffsetDelete {} {}", code(it.error_code), joined(said)).trim_end().to_owned()
        }
        Reply::Describe(it) => {
            let said = it.groups.iter().map(|it| {
                let members = it.members.iter().map(|it| it.member_id.as_str());
                format!(
                    "{} {} {:?} {:?} [{}] {}",
                    it.group_id.as_str(),
                    it.group_state.as_str(),
                    it.protocol_type.as_str(),
                    it.protocol_data.as_str(),
                    joined(members),
                    it.error_message.as_deref().unwrap_or(code(it.error_code)),
                )
            });
            format!("DescribeGroups {}", joined(said))
        }
        Reply::List(it) => {
            let said = it.groups.iter().map(|it| {
                let (state, kind) = (it.group_state.as_str(), it.group_type.as_str());
                format!("{} {state} {kind} {:?}", it.group_id.as_str(), it.protocol_type.as_str())
            });
            format!("ListGroups {} {}", code(it.error_code), joined(said)).trim_end().to_owned()
        }
        Reply::Delete(it) => {
            let said = it.results.iter();
            let said = said.map(|it| format!("{} {}", it.group_id.as_str(), code(it.error_code)));
            format!("DeleteGroups {}", joined(said))
        }
        _ => return None,
    })
}

fn commit_said(topic: &TopicName, it: &OffsetCommitResponsePartition) -> String {
    format!("{}/{} {}", topic.as_str(), it.partition_index, code(it.error_code))
}

fn fetched(group: &OffsetFetchResponseGroup) -> String {
    if group.error_code != 0 {
        return format!("{} {}", group.group_id.as_str(), code(group.error_code));
    }
    let said = group.topics.iter().flat_map(|topic| {
        let name = topic.name.as_str();
        topic.partitions.iter().map(move |it| {
            let metadata = it.metadata.as_deref().unwrap_or("null");
            let note = if metadata.is_empty() { String::new() } else { format!("+{metadata}") };
            let failed = if it.error_code == 0 { "" } else { code(it.error_code) };
            let (number, offset, epoch) =
                (it.partition_index, it.committed_offset, it.committed_leader_epoch);
            format!("{name}/{number}={offset}@{epoch}{note}{failed}")
        })
    });
    format!("{}: {}", group.group_id.as_str(), joined(said)).trim_end().to_owned()
}

fn joined(parts: impl Iterator<Item = impl Display>) -> String {
    parts.map(|part| part.to_string()).collect::<Vec<_>>().join(", ")
}

fn code(code: i16) -> &'static str {
    ErrorCode::from_code(code).unwrap().name()
}
