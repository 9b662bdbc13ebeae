//! The groups of this broker, asked of their coordinator as a client asks.

use crate::api::Ctx;
use crate::group::{Client, Reply, Request};
use protocol::coordinator::consumer_protocol::Assignment;
use protocol::error::ErrorCode;
use protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use protocol::messages::{
    ConsumerGroupDescribeRequest, DescribeGroupsRequest, GroupId, ListGroupsRequest,
    OffsetFetchRequest, StrBytes,
};
use std::collections::BTreeMap;

/// A group, as the list of groups tells it.
#[derive(Clone, Debug)]
pub(in crate::admin) struct Listed {
    pub(in crate::admin) id: String,
    /// `classic` or `consumer`
    pub(in crate::admin) kind: String,
    pub(in crate::admin) state: String,
    pub(in crate::admin) protocol_type: String,
}

/// Who is in a group, and how far it has come.
#[derive(Clone, Debug, Default)]
pub(in crate::admin) struct Group {
    /// The assignor, or the protocol that the members agreed on.
    pub(in crate::admin) assignor: String,
    pub(in crate::admin) members: Vec<Member>,
    /// What is committed, by topic and partition.
    pub(in crate::admin) committed: BTreeMap<String, BTreeMap<i32, i64>>,
}

#[derive(Clone, Debug)]
pub(in crate::admin) struct Member {
    pub(in crate::admin) id: String,
    pub(in crate::admin) instance_id: Option<String>,
    pub(in crate::admin) client_id: String,
    pub(in crate::admin) host: String,
    /// What it has, by topic.
    pub(in crate::admin) assigned: BTreeMap<String, Vec<i32>>,
}

impl Group {
    /// How far it is behind `end`; None where nothing is committed.
    pub(in crate::admin) fn lag(&self, topic: &str, partition: i32, end: i64) -> Option<i64> {
        Some(end.saturating_sub(*self.committed.get(topic)?.get(&partition)?))
    }
}

/// We, in the words of a client of the newest version.
fn client(version: i16) -> Client {
    Client { id: "admin".into(), host: "/127.0.0.1".into(), version }
}

/// All groups, by name. An error while any of them is being loaded.
pub(in crate::admin) async fn list(ctx: &Ctx) -> Result<Vec<Listed>, ErrorCode> {
    let said =
        ctx.groups.ask_all(|| Request::List(client(5), ListGroupsRequest::default())).await?;
    let mut listed = Vec::new();
    for reply in said {
        let Reply::List(response) = reply else { continue };
        listed.extend(response.groups.into_iter().map(|it| Listed {
            id: it.group_id.to_string(),
            kind: it.group_type.to_string(),
            state: it.group_state.to_string(),
            protocol_type: it.protocol_type.to_string(),
        }));
    }
    listed.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(listed)
}

/// The rest of a group. One that went meanwhile has nothing.
pub(in crate::admin) async fn details(ctx: &Ctx, listed: &Listed) -> Result<Group, ErrorCode> {
    let id = GroupId(StrBytes::from_string(listed.id.clone()));
    let committed = committed(ctx, &id).await?;
    let described = match listed.kind.as_str() {
        "consumer" => consumer(ctx, &id).await?,
        _ => classic(ctx, &id).await?,
    };
    Ok(Group { committed, ..described })
}

async fn committed(
    ctx: &Ctx,
    id: &GroupId,
) -> Result<BTreeMap<String, BTreeMap<i32, i64>>, ErrorCode> {
    let group = OffsetFetchRequestGroup::default()
        .with_group_id(id.clone())
        .with_member_epoch(-1)
        .with_topics(None);
    let request = OffsetFetchRequest::default().with_groups(vec![group]);
    let said =
        ctx.groups.ask(id.as_str(), Request::OffsetFetch(client(9), request)).reply().await?;
    let Reply::OffsetFetch(said) = said else { return Err(ErrorCode::UnknownServerError) };
    let topics = said.groups.into_iter().flat_map(|group| group.topics);
    let known = topics.map(|topic| {
        let offsets = topic.partitions.iter().filter(|it| it.error_code == 0);
        let offsets = offsets.map(|it| (it.partition_index, it.committed_offset));
        (topic.name.to_string(), offsets.filter(|(_, offset)| 0 <= *offset).collect())
    });
    Ok(known.collect())
}

async fn classic(ctx: &Ctx, id: &GroupId) -> Result<Group, ErrorCode> {
    let request = DescribeGroupsRequest::default().with_groups(vec![id.clone()]);
    let said = ctx.groups.ask(id.as_str(), Request::Describe(client(6), request)).reply().await?;
    let Reply::Describe(mut said) = said else { return Err(ErrorCode::UnknownServerError) };
    let Some(described) = said.groups.pop() else { return Ok(Group::default()) };
    let members = described.members.into_iter().map(|it| Member {
        id: it.member_id.to_string(),
        instance_id: it.group_instance_id.map(|id| id.to_string()),
        client_id: it.client_id.to_string(),
        host: it.client_host.to_string(),
        assigned: assigned(&it.member_assignment),
    });
    let members = members.collect();
    let assignor = described.protocol_data.to_string();
    Ok(Group { assignor, members, committed: BTreeMap::new() })
}

/// Members of other protocols than the consumers' say it in words of their own.
fn assigned(assignment: &[u8]) -> BTreeMap<String, Vec<i32>> {
    let read = Assignment::read(assignment).unwrap_or_default();
    read.partitions.into_iter().map(|it| (it.topic.to_string(), it.partitions)).collect()
}

async fn consumer(ctx: &Ctx, id: &GroupId) -> Result<Group, ErrorCode> {
    let request = ConsumerGroupDescribeRequest::default().with_group_ids(vec![id.clone()]);
    let asked = Request::ConsumerDescribe(client(1), request);
    let said = ctx.groups.ask(id.as_str(), asked).reply().await?;
    let Reply::ConsumerDescribe(mut said) = said else { return Err(ErrorCode::UnknownServerError) };
    let Some(described) = said.groups.pop() else { return Ok(Group::default()) };
    let members = described.members.into_iter().map(|it| Member {
        id: it.member_id.to_string(),
        instance_id: it.instance_id.map(|id| id.to_string()),
        client_id: it.client_id.to_string(),
        host: it.client_host.to_string(),
        assigned: (it.assignment.topic_partitions.into_iter())
            .map(|topic| (topic.topic_name.to_string(), topic.partitions))
            .collect(),
    });
    let members = members.collect();
    let assignor = described.assignor_name.to_string();
    Ok(Group { assignor, members, committed: BTreeMap::new() })
}
