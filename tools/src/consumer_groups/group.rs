//! A group of consumers, described by its coordinator in whichever protocol it has.

use crate::admin::text;
use crate::client::{Client, Node, Refused, To};
use protocol::coordinator::consumer_protocol::Assignment;
use protocol::error::ErrorCode;
use protocol::messages::consumer_group_describe_response::{
    Assignment as Assigned, DescribedGroup as NewGroup,
};
use protocol::messages::describe_groups_response::DescribedGroup as OldGroup;
use protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, DescribeGroupsRequest,
    DescribeGroupsResponse, GroupId,
};

/// A topic and the number of a partition.
pub(crate) type At = (String, i32);

#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) id: String,
    /// As the broker spells it.
    pub(crate) state: String,
    pub(crate) assignor: String,
    pub(crate) coordinator: Option<Node>,
    /// None with the classic protocol, as are the other epochs.
    pub(crate) epoch: Option<i32>,
    pub(crate) target_epoch: Option<i32>,
    pub(crate) members: Vec<Member>,
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) id: String,
    pub(crate) instance: String,
    pub(crate) host: String,
    pub(crate) client: String,
    pub(crate) epoch: Option<i32>,
    /// In order.
    pub(crate) assigned: Vec<At>,
    pub(crate) target: Vec<At>,
    /// Whether it speaks the new protocol, in a group that has members of both.
    pub(crate) is_upgraded: Option<bool>,
}

/// Asks about one group.
///
/// # Errors
/// `GroupIdNotFound` where there is none of consumers.
pub(crate) async fn describe(client: &mut Client, id: &str) -> Result<Group, Refused> {
    let to = client.coordinator(id).await?;
    let coordinator = match to {
        To::Node(node) => client.nodes().await?.into_iter().find(|it| it.id == node),
        To::Anyone | To::Controller => None,
    };
    let ids = vec![GroupId(text(id))];
    let request = ConsumerGroupDescribeRequest::default().with_group_ids(ids.clone());
    let judge = |answer: &ConsumerGroupDescribeResponse| {
        let mut groups = answer.groups.iter();
        groups.try_for_each(|it| Refused::check(it.error_code, it.error_message.as_deref()))
    };
    let first = match client.ask_until(to, &request, judge).await {
        Ok(answer) => {
            let group = answer.groups.into_iter().next().unwrap_or_default();
            return Ok(Group { coordinator, ..of_new(group) });
        }
        Err(refused)
            if [ErrorCode::GroupIdNotFound, ErrorCode::UnsupportedVersion]
                .contains(&refused.code) =>
        {
            refused
        }
        Err(refused) => return Err(refused),
    };
    let request = DescribeGroupsRequest::default().with_groups(ids);
    let judge = |answer: &DescribeGroupsResponse| {
        let mut groups = answer.groups.iter();
        groups.try_for_each(|it| Refused::check(it.error_code, it.error_message.as_deref()))
    };
    let answer = client.ask_until(to, &request, judge).await;
    // Where there is none of either kind, the first answer says so, as with Kafka's client.
    let answer = answer.map_err(|why| if why.code == first.code { first } else { why })?;
    let group = answer.groups.into_iter().next().unwrap_or_default();
    let kind = group.protocol_type.as_str();
    if !kind.is_empty() && kind != "consumer" {
        let text = format!("GroupId {id} is not a consumer group ({kind}).");
        return Err(Refused::of(ErrorCode::InconsistentGroupProtocol, text));
    }
    Ok(Group { coordinator, ..of_old(group) })
}

fn of_new(group: NewGroup) -> Group {
    let members = group.members.into_iter().map(|it| Member {
        id: it.member_id.to_string(),
        instance: it.instance_id.map(|id| id.to_string()).unwrap_or_default(),
        host: it.client_host.to_string(),
        client: it.client_id.to_string(),
        epoch: Some(it.member_epoch),
        assigned: partitions(&it.assignment),
        target: partitions(&it.target_assignment),
        is_upgraded: match it.member_type {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        },
    });
    Group {
        id: group.group_id.to_string(),
        state: group.group_state.to_string(),
        assignor: group.assignor_name.to_string(),
        coordinator: None,
        epoch: Some(group.group_epoch),
        target_epoch: Some(group.assignment_epoch),
        members: members.collect(),
    }
}

fn partitions(assigned: &Assigned) -> Vec<At> {
    let of_topic = assigned.topic_partitions.iter().flat_map(|topic| {
        let name = topic.topic_name.to_string();
        topic.partitions.iter().map(move |partition| (name.clone(), *partition))
    });
    let mut found: Vec<At> = of_topic.collect();
    found.sort();
    found
}

fn of_old(group: OldGroup) -> Group {
    let members = group.members.into_iter().map(|it| {
        // While the members change, nothing is assigned yet.
        let assignment = Assignment::read(&it.member_assignment).ok();
        let mut assigned: Vec<At> = (assignment.iter())
            .flat_map(|it| &it.partitions)
            .flat_map(|of| of.partitions.iter().map(|it| (of.topic.to_string(), *it)))
            .collect();
        assigned.sort();
        Member {
            id: it.member_id.to_string(),
            instance: it.group_instance_id.map(|id| id.to_string()).unwrap_or_default(),
            host: it.client_host.to_string(),
            client: it.client_id.to_string(),
            epoch: None,
            assigned,
            target: Vec::new(),
            is_upgraded: None,
        }
    });
    Group {
        id: group.group_id.to_string(),
        state: group.group_state.to_string(),
        assignor: group.protocol_data.to_string(),
        coordinator: None,
        epoch: None,
        target_epoch: None,
        members: members.collect(),
    }
}
