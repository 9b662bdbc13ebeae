//! Seat: the member on whose behalf a heartbeat speaks, found, made, or taken over from the static
//! member that was there before it.

use super::group::ConsumerGroup;
use super::member::{AWAY, Member};
use super::rules::{JOINING, Refusal};
use protocol::coordinator::group::{
    GroupId, GroupRecord, MemberId, MemberTargetValue, TopicPartitions,
};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::ConsumerGroupHeartbeatRequest;
use std::borrow::Cow;
use std::sync::Arc;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Seat<'a> {
    pub(super) id: MemberId,
    /// As it was before the request.
    pub(super) member: Cow<'a, Member>,
    /// The static member whose place it takes.
    pub(super) replaces: Option<&'a MemberId>,
    /// Whether there is no record of it yet.
    pub(super) is_new: bool,
}

/// UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID where somebody has the instance
/// id and did not go, FENCED_MEMBER_EPOCH for an epoch that is not the member's.
pub(super) fn take_seat<'a>(
    group: &'a ConsumerGroup,
    id: MemberId,
    request: &ConsumerGroupHeartbeatRequest,
) -> Result<Seat<'a>, Refusal> {
    match (&request.instance_id, request.member_epoch == JOINING) {
        (None, true) => Ok(found_or_new(group, id)),
        (None, false) => {
            let member = group.member(&id).ok_or(ErrorCode::UnknownMemberId)?;
            check_epoch(member, request)?;
            Ok(found(id, member))
        }
        (Some(instance), true) => match group.static_member(instance) {
            Some((old, member)) => take_over(id, old, member),
            None => Ok(found_or_new(group, id)),
        },
        (Some(instance), false) => {
            let (owner, member) =
                group.static_member(instance).ok_or(ErrorCode::UnknownMemberId)?;
            if *owner != id {
                return Err(ErrorCode::FencedInstanceId.into());
            }
            check_epoch(member, request)?;
            Ok(found(id, member))
        }
    }
}

fn found(id: MemberId, member: &Member) -> Seat<'_> {
    Seat { id, member: Cow::Borrowed(member), replaces: None, is_new: false }
}

/// A member that joins again under its id keeps what it had.
fn found_or_new(group: &ConsumerGroup, id: MemberId) -> Seat<'_> {
    match group.member(&id) {
        Some(member) => found(id, member),
        None => Seat { id, member: Cow::Owned(Member::default()), replaces: None, is_new: true },
    }
}

/// A static member that went for a while, or that spoke the classic protocol, is followed by
/// whoever comes with its instance id, and that one goes on with what it had.
fn take_over<'a>(id: MemberId, old: &'a MemberId, member: &Member) -> Result<Seat<'a>, Refusal> {
    if member.epoch != AWAY && !member.is_classic() {
        return Err(ErrorCode::UnreleasedInstanceId.into());
    }
    Ok(heir(id, old, member))
}

fn heir<'a>(id: MemberId, old: &'a MemberId, member: &Member) -> Seat<'a> {
    let heir = Member { epoch: JOINING, previous_epoch: JOINING, ..member.clone() };
    Seat { id, member: Cow::Owned(heir), replaces: Some(old), is_new: false }
}

/// The same for a member that comes with JoinGroup: it says no epoch, and takes over from a static
/// member at any time. `instance` goes with whether its member id is made up here.
///
/// UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID
pub(super) fn take_classic_seat<'a>(
    group: &'a ConsumerGroup,
    id: MemberId,
    instance: Option<(&str, bool)>,
) -> Result<Seat<'a>, Refusal> {
    let Some((instance, is_nameless)) = instance else { return Ok(found_or_new(group, id)) };
    match (group.static_member(instance), is_nameless) {
        (Some((old, member)), true) => Ok(heir(id, old, member)),
        (None, true) => Ok(found_or_new(group, id)),
        (Some((old, member)), false) if *old == id => Ok(found(id, member)),
        (Some(_), false) => Err(ErrorCode::FencedInstanceId.into()),
        (None, false) => Err(ErrorCode::UnknownMemberId.into()),
    }
}

/// The epoch must be the member's. The one before is good too when the member owns no more than
/// it may: then only the last answer to it was lost.
fn check_epoch(member: &Member, request: &ConsumerGroupHeartbeatRequest) -> Result<(), Refusal> {
    let epoch = request.member_epoch;
    let is_late =
        epoch < member.epoch && epoch == member.previous_epoch && claims_its_own(member, request);
    if epoch == member.epoch || is_late {
        return Ok(());
    }
    let why =
        format!("the member is in epoch {}, not in {epoch}; it must join again", member.epoch);
    Err(Refusal::new(ErrorCode::FencedMemberEpoch, why))
}

fn claims_its_own(member: &Member, request: &ConsumerGroupHeartbeatRequest) -> bool {
    let Some(claimed) = &request.topic_partitions else { return false };
    claimed.iter().all(|topic| {
        let assigned = member.assigned.get(&Uuid::from(topic.topic_id));
        assigned.is_some_and(|it| topic.partitions.iter().all(|number| it.contains_key(number)))
    })
}

impl Seat<'_> {
    /// The records that put it in the place of the member that it replaces.
    pub(super) fn take_over_records(
        &self,
        id: &GroupId,
        group: &ConsumerGroup,
    ) -> Vec<GroupRecord> {
        let Some(old) = self.replaces else { return Vec::new() };
        let (group_id, member) = (|| Arc::clone(id), || Arc::clone(&self.id));
        let target =
            group.target(old).into_iter().flatten().map(|(topic_id, partitions)| TopicPartitions {
                topic_id: *topic_id,
                partitions: partitions.clone(),
                epochs: Vec::new(),
            });
        let target = MemberTargetValue { partitions: target.collect() };
        let mut records = member_tombstones(id, old);
        records.extend([
            GroupRecord::Member(group_id(), member(), Some(self.member.about.clone())),
            GroupRecord::MemberTarget(group_id(), member(), Some(target)),
            GroupRecord::Current(group_id(), member(), Some(self.member.to_current())),
        ]);
        records
    }
}

/// What takes one member away, in the order in which Kafka writes it.
pub(super) fn member_tombstones(id: &GroupId, member: &MemberId) -> Vec<GroupRecord> {
    let key = || (Arc::clone(id), Arc::clone(member));
    let ((a, x), (b, y), (c, z)) = (key(), key(), key());
    vec![
        GroupRecord::Current(a, x, None),
        GroupRecord::MemberTarget(b, y, None),
        GroupRecord::Member(c, z, None),
    ]
}
