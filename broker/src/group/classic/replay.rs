//! A classic group in its record, and out of it.

use super::group::{ClassicGroup, Phase};
use super::member::ClassicMember;
use crate::coordinator::Moment;
use crate::group::state::{Decision, Group, State, Timer};
use bytes::Bytes;
use protocol::coordinator::group::{
    ClassicGroupValue, ClassicMemberValue, GroupId, GroupRecord, MemberId,
};
use std::sync::Arc;

/// Where a record does not say when something was.
const UNKNOWN: i64 = -1;

impl State {
    /// Takes what the log says.
    pub(in crate::group) fn replay_classic(
        &mut self,
        moment: &Moment<'_>,
        id: GroupId,
        value: Option<ClassicGroupValue>,
    ) {
        let is_loaded = self.is_loaded;
        match (self.groups.get_mut(&id), value) {
            (Some(Group::Classic(_)), None) => drop(self.groups.remove(&id)),
            (_, None) => {}
            // This group's own step wrote it, and knows more.
            (Some(Group::Classic(group)), Some(value))
                if is_loaded && group.generation == value.generation =>
            {
                group.take(value, moment.wall_ms);
            }
            (_, Some(value)) => {
                let timer = Timer::ClassicBegins(GroupId::clone(&id));
                if value.leader.is_none() && !value.members.is_empty() {
                    // It was a consumer group until now.
                    self.timers.set(timer, moment.now);
                } else {
                    self.timers.cancel(&timer);
                }
                self.groups.insert(id, Group::Classic(ClassicGroup::of(value)));
            }
        }
    }

    /// The log was read: every member has a new session to be heard of.
    pub(in crate::group) fn classic_groups_loaded(&mut self, moment: &Moment<'_>) -> Vec<Decision> {
        let size_max = moment.config.values.coordinator.max_size;
        let mut decisions = Vec::new();
        for id in self.groups.keys().cloned().collect::<Vec<_>>() {
            let Some(mut turn) = self.turn(moment, &id) else { continue };
            let members: Vec<_> = turn.group.members.keys().cloned().collect();
            members.iter().for_each(|member| turn.hear(member));
            // The limit may be lower than it was. Who joins first stays.
            if usize::try_from(size_max).is_ok_and(|max| max < members.len()) {
                turn.prepare();
                decisions.push(turn.done);
            }
        }
        decisions
    }
}

impl ClassicGroup {
    /// The record of the group with these assignments.
    pub(super) fn record(
        &self,
        id: &GroupId,
        assignment: impl Fn(&MemberId) -> Bytes,
    ) -> GroupRecord {
        let protocol = self.protocol.as_deref().unwrap_or_default();
        let member = |(id, member): (&MemberId, &ClassicMember)| ClassicMemberValue {
            member_id: MemberId::clone(id),
            group_instance_id: member.instance.clone(),
            client_id: Arc::clone(&member.client_id),
            client_host: Arc::clone(&member.client_host),
            rebalance_timeout_ms: member.rebalance_timeout_ms,
            session_timeout_ms: member.session_timeout_ms,
            subscription: member.metadata(protocol).cloned().unwrap_or_default(),
            assignment: assignment(id),
        };
        let value = ClassicGroupValue {
            protocol_type: self.protocol_type().into(),
            generation: self.generation,
            protocol: self.protocol.clone(),
            leader: self.leader.clone(),
            current_state_timestamp_ms: self.since_ms.unwrap_or(UNKNOWN),
            members: self.members.iter().map(member).collect(),
        };
        GroupRecord::Classic(GroupId::clone(id), Some(value))
    }

    /// The record of a group that nobody has joined yet.
    pub(super) fn founding_record(&self, id: &GroupId) -> GroupRecord {
        ClassicGroup { since_ms: self.since_ms, ..ClassicGroup::default() }
            .record(id, |_| Bytes::new())
    }

    /// What a step decided is in the log: the assignments, if there are members.
    fn take(&mut self, value: ClassicGroupValue, wall_ms: i64) {
        if self.phase == Phase::Completing && !value.members.is_empty() {
            self.enter(Phase::Stable, wall_ms);
        }
        for said in value.members {
            if let Some(member) = self.members.get_mut(&said.member_id) {
                member.assignment = said.assignment;
            }
        }
    }

    /// A group as the log knows it: with members it is stable, whatever it was.
    fn of(value: ClassicGroupValue) -> ClassicGroup {
        let since = value.current_state_timestamp_ms;
        let phase = if value.members.is_empty() { Phase::Empty } else { Phase::Stable };
        let mut group = ClassicGroup {
            phase,
            previous: phase,
            since_ms: (since != UNKNOWN).then_some(since),
            generation: value.generation,
            protocol_type: Some(value.protocol_type.clone()).filter(|kind| !kind.is_empty()),
            protocol: value.protocol,
            leader: value.leader,
            ..ClassicGroup::default()
        };
        for said in value.members {
            let id = MemberId::clone(&said.member_id);
            let member = ClassicMember::of(said, group.protocol.as_ref());
            group.add(id, &value.protocol_type, member);
        }
        group.topics = group.topics_of_members();
        group
    }
}

impl ClassicMember {
    /// Of what it can do, only what the group took is in the log.
    fn of(said: ClassicMemberValue, protocol: Option<&Arc<str>>) -> ClassicMember {
        // Brokers of old knew one time-out.
        let rebalance_timeout_ms = match said.rebalance_timeout_ms {
            -1 => said.session_timeout_ms,
            ms => ms,
        };
        let protocols = protocol.map(|name| (Arc::clone(name), said.subscription));
        ClassicMember {
            instance: said.group_instance_id,
            client_id: said.client_id,
            client_host: said.client_host,
            rebalance_timeout_ms,
            session_timeout_ms: said.session_timeout_ms,
            protocols: protocols.into_iter().collect(),
            assignment: said.assignment,
            joining: None,
            syncing: None,
            is_new: false,
        }
    }
}
