//! A classic group of consumers becomes a consumer group, its members in it as they are (Kafka's
//! `GroupMetadataManager.convertToConsumerGroup`).

use super::group::ConsumerGroup;
use super::member::{Member, Owned, Progress};
use super::metadata_hash::metadata_hash;
use super::rules::Refusal;
use super::target::member_target;
use crate::coordinator::{Effects, Moment};
use crate::group::classic::group::ClassicGroup;
use crate::group::classic::migration::Migrant;
use crate::group::state::{Decision, Group, State};
use kraft::image::Image;
use protocol::coordinator::consumer_protocol::{Assignment, NamedPartitions, Subscription};
use protocol::coordinator::group::{
    ConsumerGroupValue, GroupId, GroupRecord, MemberId, MemberValue, TargetValue,
};
use protocol::error::ErrorCode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What becomes of a classic group; of none, nothing.
#[derive(Debug, Default)]
pub(super) struct Upgrade {
    /// As it will be.
    pub(super) group: ConsumerGroup,
    pub(super) records: Vec<GroupRecord>,
}

impl State {
    /// The upgrade goes ahead: its members have their sessions to join the new group, and whoever
    /// waits in the old one is told so. Nothing happens without one.
    pub(super) fn upgraded(
        &mut self,
        moment: &Moment<'_>,
        id: &GroupId,
        upgrade: Upgrade,
    ) -> Decision {
        for (member, it) in upgrade.group.members() {
            if let Some(classic) = &it.about.classic {
                let key = (Arc::clone(id), Arc::clone(member));
                self.begin_classic(moment, &key, classic.session_timeout_ms);
            }
        }
        let replies = match self.groups.get_mut(id) {
            Some(Group::Classic(group)) => group.dismiss(),
            Some(Group::Consumer(_)) | None => Vec::new(),
        };
        Effects { records: upgrade.records, replies }
    }
}

/// GROUP_ID_NOT_FOUND where the group has members and must, or can, not be upgraded.
pub(super) fn upgrade(
    moment: &Moment<'_>,
    id: &GroupId,
    classic: &ClassicGroup,
) -> Result<Upgrade, Refusal> {
    let mut upgrade = Upgrade {
        group: ConsumerGroup::default(),
        records: vec![GroupRecord::Classic(Arc::clone(id), None)],
    };
    if classic.is_empty() {
        return Ok(upgrade);
    }
    check(moment, classic)?;
    let migrants =
        classic.emigrants().ok_or_else(|| refusal("its members have no common protocol"))?;
    let members = migrants.into_iter().map(|migrant| {
        let id = Arc::clone(&migrant.value.member_id);
        Ok((id, member(migrant, classic.generation(), moment.image)?))
    });
    let members: BTreeMap<MemberId, Member> = members.collect::<Result<_, Refusal>>()?;
    for record in records(id, classic.generation(), &members, moment.image) {
        upgrade.group.replay(record.clone(), moment.now);
        upgrade.records.push(record);
    }
    Ok(upgrade)
}

fn refusal(why: &str) -> Refusal {
    let why = format!("the classic group cannot become a consumer group: {why}");
    Refusal::new(ErrorCode::GroupIdNotFound, why)
}

fn check(moment: &Moment<'_>, classic: &ClassicGroup) -> Result<(), Refusal> {
    let config = &moment.config.values.coordinator;
    let max = usize::try_from(config.consumer_max_size).unwrap_or(usize::MAX);
    if !config.consumer_migration_policy.allows_upgrade() {
        Err(refusal("group.consumer.migration.policy does not allow it"))
    } else if !classic.is_of_consumers() {
        Err(refusal("its members are no consumers"))
    } else if max < classic.size() {
        Err(refusal("it has more members than group.consumer.max.size"))
    } else {
        Ok(())
    }
}

/// The member with what the classic group's leader gave it last. Metadata of other assignors than
/// Kafka's own would be lost, so those must be given up first.
fn member(migrant: Migrant, generation: i32, image: &Image) -> Result<Member, Refusal> {
    let Migrant { value, metadata } = migrant;
    let malformed = |_| refusal("a member's metadata is malformed");
    let subscription = Subscription::read(&value.subscription).map_err(malformed)?;
    let assigned = if value.assignment.is_empty() {
        // It has joined, and has not asked for its assignment yet.
        Owned::new()
    } else {
        let assignment = Assignment::read(&value.assignment).map_err(malformed)?;
        if assignment.user_data.is_some_and(|it| !it.is_empty()) {
            return Err(refusal("its assignor has data of its own, which would be lost"));
        }
        owned(&assignment.partitions, generation, image)
    };
    let topics: BTreeSet<Arc<str>> = subscription.topics.into_iter().collect();
    let member = Member::default();
    let about = MemberValue {
        instance_id: value.group_instance_id,
        rack_id: subscription.rack.filter(|rack| !rack.is_empty()),
        client_id: value.client_id,
        client_host: value.client_host,
        subscribed_topics: topics.into_iter().collect(),
        rebalance_timeout_ms: value.rebalance_timeout_ms,
        classic: Some(metadata),
        ..member.about
    };
    Ok(Member {
        about,
        epoch: generation,
        previous_epoch: generation,
        progress: Progress::Stable,
        assigned,
        ..member
    })
}

/// What exists of it; each given in that epoch.
fn owned(partitions: &[NamedPartitions], epoch: i32, image: &Image) -> Owned {
    let mut owned = Owned::new();
    for named in partitions {
        let Some(topic) = image.topic(&named.topic) else { continue };
        let numbers = named.partitions.iter().map(|number| (*number, epoch));
        owned.entry(topic.id).or_default().extend(numbers);
    }
    owned.retain(|_, partitions| !partitions.is_empty());
    owned
}

/// The whole group, in the order in which Kafka writes it.
fn records(
    id: &GroupId,
    epoch: i32,
    members: &BTreeMap<MemberId, Member>,
    image: &Image,
) -> Vec<GroupRecord> {
    let key = |member: &MemberId| (Arc::clone(id), Arc::clone(member));
    let topics = members.values().flat_map(|member| member.about.subscribed_topics.iter().cloned());
    let hash = metadata_hash(&topics.collect(), image);
    let about = members.iter().map(|(member, it)| {
        let (id, member) = key(member);
        GroupRecord::Member(id, member, Some(it.about.clone()))
    });
    let value = ConsumerGroupValue { epoch, metadata_hash: hash };
    let group = GroupRecord::Consumer(Arc::clone(id), Some(value));
    let targets = members.iter().map(|(member, it)| {
        let partitions =
            it.assigned.iter().map(|(topic, of)| (*topic, of.keys().copied().collect()));
        member_target(id, member, &partitions.collect())
    });
    // Zero: the next assignment need not wait.
    let target = TargetValue { epoch, timestamp_ms: 0 };
    let target = GroupRecord::Target(Arc::clone(id), Some(target));
    let current = members.iter().map(|(member, it)| {
        let (id, member) = key(member);
        GroupRecord::Current(id, member, Some(it.to_current()))
    });
    about.chain([group]).chain(targets).chain([target]).chain(current).collect()
}
