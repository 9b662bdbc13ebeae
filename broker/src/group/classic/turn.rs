//! Turn: one step of one classic group, with all that it may look at and touch.

use super::group::{ClassicGroup, Phase};
use super::replies::{not_joined, not_synced};
use crate::coordinator::{Effects, Moment, Timers, Token};
use crate::group::request::Reply;
use crate::group::state::{Decision, Group, State, Timer};
use protocol::coordinator::group::{GroupId, MemberId};
use protocol::error::ErrorCode;
use std::time::Duration;

/// See the module.
pub(super) struct Turn<'a> {
    pub(super) moment: &'a Moment<'a>,
    pub(super) id: GroupId,
    pub(super) group: &'a mut ClassicGroup,
    pub(super) timers: &'a mut Timers<Timer>,
    pub(super) done: Decision,
}

/// A length of time as clients and files say it; a negative one is over at once.
fn span(ms: i32) -> Duration {
    Duration::from_millis(ms.try_into().unwrap_or(0))
}

impl State {
    /// None: there is no classic group of that name.
    pub(super) fn turn<'a>(&'a mut self, moment: &'a Moment<'a>, id: &str) -> Option<Turn<'a>> {
        let (id, _) = self.groups.get_key_value(id)?;
        let id = GroupId::clone(id);
        let Some(Group::Classic(group)) = self.groups.get_mut(&id) else { return None };
        Some(Turn { moment, id, group, timers: &mut self.timers, done: Effects::none() })
    }
}

impl Turn<'_> {
    pub(super) fn reply(&mut self, token: Token, reply: impl Into<Reply>) {
        self.done.replies.push((token, reply.into()));
    }

    /// A group's record is one, and a segment must have room for it.
    pub(super) fn record_bytes_max(&self) -> usize {
        usize::try_from(self.moment.config.values.offsets_topic.segment_bytes).unwrap_or(0)
    }

    pub(super) fn enter(&mut self, phase: Phase) {
        self.group.enter(phase, self.moment.wall_ms);
    }

    /// The member was heard of: its session begins anew.
    pub(super) fn hear(&mut self, member_id: &MemberId) {
        if let Some(member) = self.group.members.get(member_id) {
            self.expect(member_id, member.session_timeout_ms);
        }
    }

    /// The member is out unless it is heard of for so long.
    pub(super) fn expect(&mut self, member_id: &MemberId, ms: i32) {
        let timer = Timer::ClassicSession(GroupId::clone(&self.id), MemberId::clone(member_id));
        self.timers.set(timer, self.moment.now + span(ms));
    }

    pub(super) fn forget(&mut self, member_id: &MemberId) {
        let timer = Timer::ClassicSession(GroupId::clone(&self.id), MemberId::clone(member_id));
        self.timers.cancel(&timer);
    }

    pub(super) fn expect_joins(&mut self, ms: i32) {
        self.expect_joins_until(self.moment.now + span(ms));
    }

    pub(super) fn expect_joins_until(&mut self, time: Duration) {
        self.timers.set(Timer::ClassicJoin(GroupId::clone(&self.id)), time);
    }

    pub(super) fn expect_syncs(&mut self) {
        let ms = self.group.rebalance_timeout_ms();
        let timer = Timer::ClassicSync(GroupId::clone(&self.id));
        self.timers.set(timer, self.moment.now + span(ms));
    }

    pub(super) fn expect_no_joins(&mut self) {
        self.timers.cancel(&Timer::ClassicJoin(GroupId::clone(&self.id)));
    }

    pub(super) fn expect_no_syncs(&mut self) {
        self.timers.cancel(&Timer::ClassicSync(GroupId::clone(&self.id)));
    }

    /// Takes a member out. What it waits for is answered, so that a client that is still there
    /// joins anew.
    pub(super) fn remove(&mut self, member_id: &MemberId) {
        self.forget(member_id);
        let Some(removed) = self.group.remove(member_id) else { return };
        let code = ErrorCode::UnknownMemberId;
        if let Some(token) = removed.joining {
            self.reply(token, not_joined("", code));
        }
        if let Some(token) = removed.syncing {
            self.reply(token, not_synced(code));
        }
    }
}
