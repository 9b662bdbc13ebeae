//! ConsumerGroupDescribe (Kafka's `ConsumerGroup.asDescribedGroup`).

use super::group::ConsumerGroup;
use super::member::Member;
use super::outlook::preferred;
use crate::coordinator::Moment;
use crate::group::state::{Group, State};
use kraft::image::Image;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::consumer_group_describe_response::{
    Assignment, DescribedGroup, Member as DescribedMember, TopicPartitions,
};
use protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, GroupId, StrBytes, TopicName,
};
use std::collections::{BTreeMap, BTreeSet};

/// What a member speaks.
const CLASSIC: i8 = 0;
const CONSUMER: i8 = 1;

impl State {
    /// GROUP_ID_NOT_FOUND for a group that is not there, or is of another kind.
    pub(in crate::group) fn consumer_describe(
        &self,
        moment: &Moment<'_>,
        request: &ConsumerGroupDescribeRequest,
    ) -> ConsumerGroupDescribeResponse {
        let describe = |id: &GroupId| match self.groups.get(id.as_str()) {
            Some(Group::Consumer(group)) => described(id, group, moment),
            Some(Group::Classic(_)) => not_found(id, "it is not a consumer group"),
            None => not_found(id, "there is no such group"),
        };
        let groups = request.group_ids.iter().map(describe).collect();
        ConsumerGroupDescribeResponse::default().with_groups(groups)
    }
}

fn not_found(id: &GroupId, why: &'static str) -> DescribedGroup {
    DescribedGroup::default()
        .with_group_id(id.clone())
        .with_error_code(ErrorCode::GroupIdNotFound.code())
        .with_error_message(Some(StrBytes::from_static_str(why)))
}

fn described(id: &GroupId, group: &ConsumerGroup, moment: &Moment<'_>) -> DescribedGroup {
    let offered = &moment.config.values.coordinator.consumer_assignors;
    let wanted = preferred(group.members().values().map(|member| &member.about));
    let assignor = wanted.or_else(|| offered.first().map(|it| it.as_str().into()));
    let members = group.members().iter().map(|(id, member)| {
        let target = group.target(id).into_iter().flatten();
        let target = target.map(|(topic, partitions)| (*topic, partitions.iter().copied()));
        described_member(id, member, moment.image)
            .with_target_assignment(assignment(moment.image, target))
    });
    DescribedGroup::default()
        .with_group_id(id.clone())
        .with_group_state(StrBytes::from_static_str(group.state_name()))
        .with_group_epoch(group.epoch())
        .with_assignment_epoch(group.assignment_epoch())
        .with_assignor_name(text(assignor.unwrap_or_default()))
        .with_members(members.collect())
}

/// All but its target.
fn described_member(id: &str, member: &Member, image: &Image) -> DescribedMember {
    let about = &member.about;
    let held = member.assigned.iter().chain(&member.revoking);
    let held = held.map(|(topic, partitions)| (*topic, partitions.keys().copied()));
    let names = about.subscribed_topics.iter().map(|name| TopicName(text(name)));
    DescribedMember::default()
        .with_member_id(text(id))
        .with_instance_id(about.instance_id.as_deref().map(text))
        .with_rack_id(about.rack_id.as_deref().map(text))
        .with_member_epoch(member.epoch)
        .with_client_id(text(&about.client_id))
        .with_client_host(text(&about.client_host))
        .with_subscribed_topic_names(names.collect())
        .with_subscribed_topic_regex(about.subscribed_regex.as_deref().map(text))
        .with_assignment(assignment(image, held))
        .with_member_type(if member.is_classic() { CLASSIC } else { CONSUMER })
}

/// Of the topics that exist.
fn assignment(
    image: &Image,
    held: impl Iterator<Item = (Uuid, impl Iterator<Item = i32>)>,
) -> Assignment {
    let mut topics: BTreeMap<Uuid, BTreeSet<i32>> = BTreeMap::new();
    for (topic, partitions) in held {
        topics.entry(topic).or_default().extend(partitions);
    }
    let told = topics.into_iter().filter_map(|(id, partitions)| {
        let name = image.topic_name(id)?.to_message();
        let partitions = partitions.into_iter().collect();
        let topic = TopicPartitions::default().with_topic_id(id.into());
        Some(topic.with_topic_name(name).with_partitions(partitions))
    });
    Assignment::default().with_topic_partitions(told.collect())
}

fn text(text: impl AsRef<str>) -> StrBytes {
    StrBytes::from_string(text.as_ref().to_owned())
}
