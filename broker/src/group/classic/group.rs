//! A classic group: its members, its generation, and where in a rebalance it is.

use super::member::ClassicMember;
use super::skills::Skills;
use super::vote;
use crate::coordinator::Token;
use bytes::Bytes;
use indexmap::IndexMap;
use protocol::coordinator::consumer_protocol::Subscription;
use protocol::coordinator::group::MemberId;
use protocol::error::ErrorCode;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// What consumers call their kind.
pub(super) const CONSUMER: &str = "consumer";

/// Where in a rebalance a group is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::group) enum Phase {
    /// Nobody is in.
    #[default]
    Empty,
    /// Members are to join.
    Preparing,
    /// They have joined, and the leader is to say who gets what.
    Completing,
    Stable,
}

/// What a leader gives to whom.
pub(super) type Division = BTreeMap<Box<str>, Bytes>;

/// The first rebalance of a group waits for more members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delay {
    /// What runs now.
    pub(super) ms: i32,
    /// What may follow when more members came meanwhile.
    pub(super) remaining_ms: i32,
}

/// See the module. Records tell the outcome of a rebalance, not its course, so all of this moves
/// while requests are answered; a group that was loaded is [`Phase::Empty`] or [`Phase::Stable`].
#[derive(Debug, Default)]
pub(in crate::group) struct ClassicGroup {
    pub(super) phase: Phase,
    pub(super) previous: Phase,
    /// When the phase began; None: older brokers did not say.
    pub(super) since_ms: Option<i64>,
    pub(super) generation: i32,
    /// None until somebody joins: such a group only commits.
    pub(super) protocol_type: Option<Arc<str>>,
    pub(super) protocol: Option<Arc<str>>,
    pub(super) leader: Option<MemberId>,
    /// In the order in which they came.
    pub(super) members: IndexMap<MemberId, ClassicMember>,
    /// Of the members.
    pub(super) skills: Skills,
    pub(super) by_instance: BTreeMap<Arc<str>, MemberId>,
    /// Ids that were given out and have not joined, and until when they are on their way in.
    pub(super) pending: BTreeMap<MemberId, Duration>,
    /// Members that have not asked for their assignment.
    pub(super) unsynced: BTreeSet<MemberId>,
    /// What the leader said, if it was put off to write it.
    pub(super) division: Option<Division>,
    /// Members that are not told yet that nothing changes for them.
    pub(super) unconcerned: BTreeSet<MemberId>,
    /// What the members consume; None: they are no consumers, or speak differently.
    pub(super) topics: Option<BTreeSet<Arc<str>>>,
    pub(super) delay: Option<Delay>,
    /// Since the last delay began.
    pub(super) has_newcomer: bool,
}

/// What others ask of a group.
impl ClassicGroup {
    /// One that nobody has joined, since that moment of the day.
    pub(in crate::group) fn new(wall_ms: i64) -> ClassicGroup {
        ClassicGroup { since_ms: Some(wall_ms), ..ClassicGroup::default() }
    }

    pub(in crate::group) fn is_empty(&self) -> bool {
        self.phase == Phase::Empty
    }

    pub(in crate::group) fn generation(&self) -> i32 {
        self.generation
    }

    /// As DescribeGroups and ListGroups call it.
    pub(in crate::group) fn state_name(&self) -> &'static str {
        match self.phase {
            Phase::Empty => "Empty",
            Phase::Preparing => "PreparingRebalance",
            Phase::Completing => "CompletingRebalance",
            Phase::Stable => "Stable",
        }
    }

    /// Empty for a group that only commits.
    pub(in crate::group) fn protocol_type(&self) -> &str {
        self.protocol_type.as_deref().unwrap_or_default()
    }

    pub(in crate::group) fn size(&self) -> usize {
        self.members.len()
    }

    pub(in crate::group) fn is_of_consumers(&self) -> bool {
        self.protocol_type.as_deref() == Some(CONSUMER)
    }

    pub(super) fn is_leader(&self, id: &str) -> bool {
        self.leader.as_deref() == Some(id)
    }

    /// The id as it is kept here, of a member.
    pub(super) fn member_id(&self, id: &str) -> Option<MemberId> {
        self.members.get_key_value(id).map(|(id, _)| MemberId::clone(id))
    }

    /// UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID when another id stands for the instance.
    pub(super) fn identify(&self, id: &str, instance: Option<&str>) -> Result<MemberId, ErrorCode> {
        if let Some(instance) = instance {
            let current = self.by_instance.get(instance).ok_or(ErrorCode::UnknownMemberId)?;
            if **current != *id {
                return Err(ErrorCode::FencedInstanceId);
            }
        }
        self.member_id(id).ok_or(ErrorCode::UnknownMemberId)
    }

    /// Whether somebody who can do this may join.
    pub(super) fn accepts(&self, kind: &str, protocols: &[JoinGroupRequestProtocol]) -> bool {
        if self.is_empty() {
            return !kind.is_empty() && !protocols.is_empty();
        }
        self.protocol_type() == kind && protocols.iter().any(|it| self.skills.all_can(&it.name))
    }

    /// The longest that a member asked for.
    pub(super) fn rebalance_timeout_ms(&self) -> i32 {
        self.members.values().map(|member| member.rebalance_timeout_ms).max().unwrap_or(0)
    }

    /// How much the members say of themselves, but for that one.
    pub(super) fn say_bytes_but(&self, id: &str) -> usize {
        let others = self.members.iter().filter(|(it, _)| ***it != *id);
        others.map(|(_, member)| member.says_bytes()).sum()
    }

    pub(super) fn joining(&self) -> usize {
        self.members.values().filter(|member| member.joining.is_some()).count()
    }

    pub(super) fn all_have_joined(&self) -> bool {
        self.pending.is_empty() && self.members.values().all(|member| member.joining.is_some())
    }
}

/// How it moves.
impl ClassicGroup {
    pub(super) fn enter(&mut self, phase: Phase, wall_ms: i64) {
        self.previous = std::mem::replace(&mut self.phase, phase);
        self.since_ms = Some(wall_ms);
    }

    /// The first one says what kind of group it is, and leads.
    pub(super) fn add(&mut self, id: MemberId, kind: &str, member: ClassicMember) {
        if self.members.is_empty() {
            self.protocol_type = Some(kind.into());
        }
        if let Some(instance) = &member.instance {
            self.by_instance.insert(Arc::clone(instance), MemberId::clone(&id));
        }
        self.pending.remove(&id);
        self.leader.get_or_insert_with(|| MemberId::clone(&id));
        self.skills.add(&member);
        if let Some(old) = self.members.insert(id, member) {
            self.skills.remove(&old);
        }
    }

    /// A member says what it can do now.
    pub(super) fn learn(&mut self, id: &str, protocols: Vec<(Arc<str>, Bytes)>) {
        let Some(member) = self.members.get_mut(id) else { return };
        self.skills.remove(member);
        member.protocols = protocols;
        self.skills.add(member);
    }

    /// A member, or an id that has not joined.
    pub(super) fn remove(&mut self, id: &str) -> Option<ClassicMember> {
        self.pending.remove(id);
        self.unsynced.remove(id);
        self.unconcerned.remove(id);
        let removed = self.members.shift_remove(id)?;
        self.skills.remove(&removed);
        if let Some(instance) = &removed.instance {
            self.by_instance.remove(instance);
        }
        if self.is_leader(id) {
            self.leader = self.members.keys().next().cloned();
        }
        Some(removed)
    }

    /// Members that wait for their assignments wait no more, but for the unconcerned.
    pub(super) fn take_syncs(&mut self) -> Vec<(MemberId, Token)> {
        let waits = |(id, member): (&MemberId, &mut ClassicMember)| {
            Some((MemberId::clone(id), member.syncing.take()?))
        };
        let told = self.members.iter_mut().filter(|(id, _)| !self.unconcerned.contains(*id));
        told.filter_map(waits).collect()
    }

    /// Whether the leader has joined, or somebody who has leads now.
    pub(super) fn elect_leader(&mut self) -> bool {
        let Some(leader) = &self.leader else { return false };
        let has_joined = |member: &ClassicMember| member.joining.is_some();
        if !self.members.get(leader).is_some_and(has_joined) {
            let other = self.members.iter().find(|(_, member)| has_joined(member));
            let Some((other, _)) = other else { return false };
            self.leader = Some(MemberId::clone(other));
        }
        true
    }

    pub(super) fn begin_generation(&mut self, wall_ms: i64) {
        self.generation = self.generation.saturating_add(1);
        self.protocol = vote::elect(self.members.values());
        self.topics = self.topics_of_members();
        let phase = if self.members.is_empty() { Phase::Empty } else { Phase::Completing };
        self.enter(phase, wall_ms);
        self.unsynced.clear();
    }

    pub(super) fn topics_of_members(&self) -> Option<BTreeSet<Arc<str>>> {
        if !self.is_of_consumers() {
            return None;
        }
        let mut topics = BTreeSet::new();
        for member in self.members.values() {
            let metadata = member.metadata(self.protocol.as_deref()?)?;
            topics.extend(Subscription::topics(metadata).ok()?);
        }
        Some(topics)
    }
}
