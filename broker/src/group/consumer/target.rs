//! The next target assignment of a group (Kafka's `TargetAssignmentBuilder`).

use super::assignor::{Assignor, Partitions};
use super::group::ConsumerGroup;
use super::outlook::Outlook;
use crate::coordinator::Moment;
use protocol::config::group::ConsumerGroupConfig;
use protocol::coordinator::group::{
    GroupId, GroupRecord, MemberId, MemberTargetValue, TargetValue, TopicPartitions,
};
use std::borrow::Cow;
use std::sync::Arc;

/// A target assignment, as far as one member is concerned.
#[derive(Clone, Debug)]
pub(super) struct Target<'a> {
    pub(super) epoch: i32,
    pub(super) partitions: Cow<'a, Partitions>,
}

/// The target of member `id` in a group that is to be in `epoch`. It is computed anew where the
/// last one is older than that and `consumer.assignment.interval.ms` allows it; then its records
/// are put behind `records`.
pub(super) fn target<'a>(
    (moment, config): (&Moment<'_>, &ConsumerGroupConfig),
    (group_id, group): (&GroupId, &ConsumerGroup),
    outlook: &Outlook<'a>,
    (id, epoch): (&MemberId, i32),
    records: &mut Vec<GroupRecord>,
) -> Target<'a> {
    if epoch <= group.assignment_epoch() || !may_assign(moment, config, group) {
        let partitions = Cow::Borrowed(outlook.target(id));
        return Target { epoch: group.assignment_epoch(), partitions };
    }
    let mut assignment = assignor(moment, outlook).assign(&outlook.spec(moment.image));
    let none = Partitions::new();
    for (member, _) in outlook.members() {
        let new = assignment.get(member).unwrap_or(&none);
        // A member has a record even if it has nothing, so its absence is a difference too.
        if outlook.known_target(member) != Some(new) {
            records.push(member_target(group_id, member, new));
        }
    }
    let value = TargetValue { epoch, timestamp_ms: moment.wall_ms };
    records.push(GroupRecord::Target(Arc::clone(group_id), Some(value)));
    Target { epoch, partitions: Cow::Owned(assignment.remove(id).unwrap_or_default()) }
}

/// Whether enough time has passed since the last assignment.
fn may_assign(moment: &Moment<'_>, config: &ConsumerGroupConfig, group: &ConsumerGroup) -> bool {
    let (last, interval) = (group.assigned_at_ms(), i64::from(config.assignment_interval_ms));
    last == 0 || interval == 0 || last.saturating_add(interval) <= moment.wall_ms
}

/// The one that most members want, or else the broker's first.
fn assignor(moment: &Moment<'_>, outlook: &Outlook<'_>) -> Assignor {
    let offered = &moment.config.values.coordinator.consumer_assignors;
    let wanted = outlook.assignor();
    let named = |name: &str| Assignor::named(name);
    let default = || offered.first().and_then(|it| named(it)).unwrap_or(Assignor::Uniform);
    wanted.as_deref().and_then(named).unwrap_or_else(default)
}

/// The record of what a member should have.
pub(super) fn member_target(
    group: &GroupId,
    member: &MemberId,
    target: &Partitions,
) -> GroupRecord {
    let partitions = target.iter().map(|(topic_id, partitions)| TopicPartitions {
        topic_id: *topic_id,
        partitions: partitions.clone(),
        epochs: Vec::new(),
    });
    let value = MemberTargetValue { partitions: partitions.collect() };
    GroupRecord::MemberTarget(Arc::clone(group), Arc::clone(member), Some(value))
}
