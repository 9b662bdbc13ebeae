//! JoinGroup: who may be in, and what it changes that somebody comes or comes again.

use super::group::{ClassicGroup, Phase};
use super::member::{ClassicMember, protocols};
use super::patience::ARRIVAL;
use super::replies::not_joined;
use super::turn::Turn;
use super::versions::{rebalance_timeout_ms, takes_id_first};
use crate::coordinator::{Effects, Moment, Token};
use crate::group::request::Client;
use crate::group::state::{Decision, Group, State};
use bytes::Bytes;
use protocol::coordinator::group::MemberId;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::JoinGroupRequest;
use std::sync::Arc;

/// How long a new member waits for a rebalance. It has no session yet, and a client that was lost
/// would be waited for in every rebalance.
const NEW_MEMBER_TIMEOUT_MS: i32 = 5 * 60 * 1000;

/// A JoinGroup.
pub(super) struct Join<'a> {
    pub(super) token: Token,
    pub(super) client: &'a Client,
    pub(super) request: &'a JoinGroupRequest,
}

impl Join<'_> {
    pub(super) fn instance(&self) -> Option<&str> {
        self.request.group_instance_id.as_deref()
    }

    pub(super) fn rebalance_timeout_ms(&self) -> i32 {
        rebalance_timeout_ms(self.client, self.request)
    }
}

impl State {
    pub(in crate::group) fn join(
        &mut self,
        moment: &Moment<'_>,
        token: Token,
        client: &Client,
        request: &JoinGroupRequest,
    ) -> Decision {
        if let Some(decision) = self.join_consumer_group(moment, token, client, request) {
            return decision;
        }
        let refused = |code| Effects::reply(token, not_joined(&request.member_id, code).into());
        let name: &str = &request.group_id;
        let mut records = Vec::new();
        let is_new = match self.groups.get_key_value(name) {
            Some((_, Group::Classic(_))) => false,
            _ if !request.member_id.is_empty() => return refused(ErrorCode::UnknownMemberId),
            // It has no members, or would have answered itself, and makes room.
            Some((id, Group::Consumer(group))) => {
                records = group.tombstones(id);
                true
            }
            None => true,
        };
        if is_new {
            let group = Group::Classic(ClassicGroup::new(moment.wall_ms));
            self.groups.insert(name.into(), group);
        }
        let Some(mut turn) = self.turn(moment, name) else {
            return refused(ErrorCode::UnknownMemberId);
        };
        turn.join(&Join { token, client, request });
        if is_new && turn.done.records.is_empty() {
            turn.done.records.push(turn.group.founding_record(&turn.id));
        }
        records.append(&mut turn.done.records);
        Effects { records, ..turn.done }
    }
}

impl Turn<'_> {
    fn join(&mut self, join: &Join<'_>) {
        let request = join.request;
        let id = &*request.member_id;
        if !self.has_room_for(id) {
            if let Some(id) = self.group.member_id(id) {
                self.remove(&id);
            }
            self.group.remove(id);
            return self.reply(join.token, not_joined("", ErrorCode::GroupMaxSizeReached));
        }
        if !self.has_room_to_say(join) {
            return self.reply(join.token, not_joined(id, ErrorCode::GroupMaxSizeReached));
        }
        if !self.group.accepts(&request.protocol_type, &request.protocols) {
            return self.reply(join.token, not_joined(id, ErrorCode::InconsistentGroupProtocol));
        }
        if id.is_empty() { self.join_new(join) } else { self.join_known(join, id) }
    }

    /// While members join, those who came first are in; at other times, those who are members.
    fn has_room_for(&self, id: &str) -> bool {
        let max = self.moment.config.values.coordinator.max_size;
        let max = usize::try_from(max).unwrap_or(0);
        let known = self.group.members.get(id);
        match self.group.phase {
            Phase::Empty => true,
            Phase::Preparing => {
                known.is_some_and(|member| member.joining.is_some()) || self.group.joining() < max
            }
            Phase::Completing | Phase::Stable => known.is_some() || self.group.members.len() < max,
        }
    }

    /// Whether what all members say of themselves can be in one record.
    fn has_room_to_say(&self, join: &Join<'_>) -> bool {
        // A static member that comes back takes its own place.
        let old = join.instance().and_then(|it| self.group.by_instance.get(it));
        let id = old.map_or(&*join.request.member_id, |id| &**id);
        let others = self.group.say_bytes_but(id);
        let says = join.request.protocols.iter().map(|it| it.name.len() + it.metadata.len());
        others + says.sum::<usize>() <= self.record_bytes_max()
    }

    fn join_new(&mut self, join: &Join<'_>) {
        let prefix = join.instance().unwrap_or(&join.client.id);
        let random = Uuid(self.moment.rng.next_uuid_bytes());
        let id: MemberId = format!("{prefix}-{}", random.hyphenated()).into();
        match join.instance() {
            Some(instance) => match self.group.by_instance.get(instance).cloned() {
                Some(old) => self.replace(join, &old, id),
                None => self.add(join, id),
            },
            None if takes_id_first(join.client) => {
                self.expect(&id, join.request.session_timeout_ms);
                self.reply(join.token, not_joined(&id, ErrorCode::MemberIdRequired));
                self.group.pending.insert(id, self.moment.now.saturating_add(ARRIVAL));
            }
            None => self.add(join, id),
        }
    }

    fn join_known(&mut self, join: &Join<'_>, id: &str) {
        match self.group.pending.get_key_value(id).map(|(id, _)| MemberId::clone(id)) {
            Some(pending) if join.instance().is_none() => return self.add(join, pending),
            // The id was given to a dynamic member. A static one is to ask for its own.
            Some(_) => {
                return self.reply(join.token, not_joined(id, ErrorCode::UnknownMemberId));
            }
            None => {}
        }
        let id = match self.group.identify(id, join.instance()) {
            Ok(id) => id,
            Err(code) => return self.reply(join.token, not_joined(id, code)),
        };
        let has_news = (self.group.members.get(&id))
            .is_some_and(|member| !member.says(&join.request.protocols));
        match self.group.phase {
            // Whoever finds itself in such a group has slept through its end.
            Phase::Empty => self.reply(join.token, not_joined(&id, ErrorCode::UnknownMemberId)),
            Phase::Preparing => self.join_again(join, &id),
            // With the same words it only missed its reply.
            Phase::Completing if !has_news => self.reply(join.token, self.group.joined(&id)),
            // The leader may know of changes that no metadata tells, such as new partitions.
            Phase::Stable if !has_news && !self.group.is_leader(&id) => {
                self.reply(join.token, self.group.joined(&id));
            }
            Phase::Completing | Phase::Stable => self.join_again(join, &id),
        }
    }

    fn join_again(&mut self, join: &Join<'_>, id: &MemberId) {
        self.update(join, id);
        self.rebalance();
    }

    /// The member waits with what it says now.
    pub(super) fn update(&mut self, join: &Join<'_>, id: &MemberId) {
        self.group.learn(id, protocols(&join.request.protocols));
        let Some(member) = self.group.members.get_mut(id) else { return };
        member.rebalance_timeout_ms = join.rebalance_timeout_ms();
        member.session_timeout_ms = join.request.session_timeout_ms;
        // A client waits for one of its requests at a time: whoever sent the last one is gone.
        if let Some(given_up) = member.joining.replace(join.token) {
            self.reply(given_up, not_joined(id, ErrorCode::RebalanceInProgress));
        }
    }

    fn add(&mut self, join: &Join<'_>, id: MemberId) {
        if self.group.phase == Phase::Preparing && self.group.previous == Phase::Empty {
            self.group.has_newcomer = true;
        }
        let member = ClassicMember {
            instance: join.instance().map(Arc::from),
            client_id: Arc::clone(&join.client.id),
            client_host: Arc::clone(&join.client.host),
            rebalance_timeout_ms: join.rebalance_timeout_ms(),
            session_timeout_ms: join.request.session_timeout_ms,
            protocols: protocols(&join.request.protocols),
            assignment: Bytes::new(),
            joining: Some(join.token),
            syncing: None,
            is_new: true,
        };
        self.group.add(MemberId::clone(&id), &join.request.protocol_type, member);
        self.expect(&id, NEW_MEMBER_TIMEOUT_MS);
        self.rebalance();
    }
}
