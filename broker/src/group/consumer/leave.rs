//! Members that go: of themselves, for a while, or because they were not heard of in time.

use super::downgrade::downgrade;
use super::group::ConsumerGroup;
use super::member::{AWAY, Member, Owned, Progress};
use super::outlook::Outlook;
use super::pace::millis;
use super::rules::Refusal;
use super::seat::member_tombstones;
use crate::coordinator::{Effects, Moment};
use crate::group::config::group_config;
use crate::group::state::{Decision, Group, State, Timer};
use protocol::coordinator::group::{
    ConsumerGroupValue, GroupId, GroupRecord, MemberId, TargetValue,
};
use protocol::error::ErrorCode;
use protocol::messages::{ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, StrBytes};
use std::collections::BTreeSet;
use std::sync::Arc;

impl State {
    /// A member says that it goes: for good, or as a static one that may come back in its session.
    pub(in crate::group) fn consumer_leave(
        &mut self,
        moment: &Moment<'_>,
        request: &ConsumerGroupHeartbeatRequest,
    ) -> Result<(Vec<GroupRecord>, ConsumerGroupHeartbeatResponse), Refusal> {
        let found = self.groups.get_key_value(request.group_id.as_str());
        let Some((group_id, Group::Consumer(group))) = found else {
            return Err(ErrorCode::GroupIdNotFound.into());
        };
        let (id, member) = leaving(group, request)?;
        let response = ConsumerGroupHeartbeatResponse::default()
            .with_member_id(Some(StrBytes::from_string(id.to_string())))
            .with_member_epoch(request.member_epoch);
        if request.member_epoch == AWAY {
            let value = away(member).to_current();
            let record = GroupRecord::Current(Arc::clone(group_id), Arc::clone(id), Some(value));
            return Ok((vec![record], response));
        }
        let gone = BTreeSet::from([Arc::clone(id)]);
        Ok((removal(moment, group_id, group, &gone), response))
    }

    /// A member's session is over.
    pub(in crate::group) fn consumer_session_over(
        &self,
        moment: &Moment<'_>,
        group_id: &GroupId,
        id: &MemberId,
    ) -> Option<Decision> {
        self.expel(moment, (group_id, id), |_| true)
    }

    /// A member has had its time to give up partitions.
    pub(in crate::group) fn consumer_rebalance_over(
        &self,
        moment: &Moment<'_>,
        group_id: &GroupId,
        id: &MemberId,
    ) -> Option<Decision> {
        self.expel(moment, (group_id, id), |it| {
            it.progress == Progress::Unrevoked && it.epoch != AWAY
        })
    }

    /// Removes a member whose time is over, if it is what the timer was set for.
    pub(super) fn expel(
        &self,
        moment: &Moment<'_>,
        (group_id, id): (&GroupId, &MemberId),
        is_due: impl Fn(&Member) -> bool,
    ) -> Option<Decision> {
        let Some(Group::Consumer(group)) = self.groups.get(group_id) else { return None };
        group.member(id).filter(|member| is_due(member))?;
        let gone = BTreeSet::from([Arc::clone(id)]);
        let records = removal(moment, group_id, group, &gone);
        Some(Effects { records, replies: Vec::new() })
    }

    /// The group's records are read: the time of every member begins now.
    pub(in crate::group) fn start_consumer_timers(&mut self, moment: &Moment<'_>) {
        for (group_id, group) in &self.groups {
            let Group::Consumer(group) = group else { continue };
            let session = millis(group_config(moment, group_id).session_timeout_ms);
            for (id, member) in group.members() {
                let key = || (Arc::clone(group_id), Arc::clone(id));
                let (group_key, member_key) = key();
                let timer = Timer::ConsumerSession(group_key, member_key);
                self.timers.set(timer, moment.now + session);
                if member.progress == Progress::Unrevoked {
                    let (group_key, member_key) = key();
                    let timer = Timer::ConsumerRebalance(group_key, member_key);
                    self.timers.set(timer, moment.now + millis(member.about.rebalance_timeout_ms));
                }
            }
        }
    }
}

/// UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID where the instance id is another member's by now.
fn leaving<'a>(
    group: &'a ConsumerGroup,
    request: &ConsumerGroupHeartbeatRequest,
) -> Result<(&'a MemberId, &'a Member), Refusal> {
    let Some(instance) = &request.instance_id else {
        let found = group.members().get_key_value(request.member_id.as_str());
        return found.ok_or_else(|| ErrorCode::UnknownMemberId.into());
    };
    let found = group.static_member(instance).ok_or(ErrorCode::UnknownMemberId)?;
    if **found.0 != *request.member_id {
        return Err(ErrorCode::FencedInstanceId.into());
    }
    Ok(found)
}

/// A static member that is away keeps its partitions; whoever takes its place may commit them from
/// the first epoch on.
fn away(member: &Member) -> Member {
    let mut assigned = member.assigned.clone();
    assigned.values_mut().flat_map(|it| it.values_mut()).for_each(|epoch| *epoch = 0);
    Member { epoch: AWAY, assigned, revoking: Owned::new(), ..member.clone() }
}

/// What takes members away and raises the group's epoch, or makes a classic group of those that
/// stay (Kafka's `consumerGroupFenceMembers`).
/// Patterns go with the last member that subscribes to them.
pub(in crate::group) fn removal(
    moment: &Moment<'_>,
    group_id: &GroupId,
    group: &ConsumerGroup,
    gone: &BTreeSet<MemberId>,
) -> Vec<GroupRecord> {
    if let Some(records) = downgrade(moment, (group_id, group), gone, None) {
        return records;
    }
    let outlook = Outlook::without(group, gone);
    let mut records: Vec<GroupRecord> =
        gone.iter().flat_map(|member| member_tombstones(group_id, member)).collect();
    let wanted = outlook.regexes();
    let unwanted = group.regexes().keys().filter(|regex| !wanted.contains(*regex));
    let forget =
        |regex: &Arc<str>| GroupRecord::Regex(Arc::clone(group_id), Arc::clone(regex), None);
    records.extend(unwanted.map(forget));
    let epoch = group.epoch().saturating_add(1);
    let value = ConsumerGroupValue { epoch, metadata_hash: outlook.metadata_hash(moment.image) };
    records.push(GroupRecord::Consumer(Arc::clone(group_id), Some(value)));
    if outlook.members().next().is_none() {
        // Whoever comes next need not wait for its assignment.
        let value = TargetValue { epoch, timestamp_ms: 0 };
        records.push(GroupRecord::Target(Arc::clone(group_id), Some(value)));
    }
    records
}
