//! What a classic member of a consumer group has time for: to be heard of, to join, to sync.

use crate::coordinator::Moment;
use crate::group::consumer::pace::millis;
use crate::group::state::{Decision, State, Timer};
use protocol::coordinator::group::{GroupId, MemberId};
use std::sync::Arc;

/// A member, and its group.
pub(super) type Key = (GroupId, MemberId);

fn join((group, member): &Key) -> Timer {
    Timer::ConsumerJoin(Arc::clone(group), Arc::clone(member))
}

fn sync((group, member): &Key) -> Timer {
    Timer::ConsumerSync(Arc::clone(group), Arc::clone(member))
}

impl State {
    /// It was heard of: its session begins anew.
    pub(super) fn hear_classic(&mut self, moment: &Moment<'_>, key: &Key, session_ms: i32) {
        let timer = Timer::ConsumerSession(Arc::clone(&key.0), Arc::clone(&key.1));
        self.timers.set(timer, moment.now + millis(session_ms));
    }

    /// It is in from now on. What it had to do before the group was a classic one is void.
    pub(in crate::group::consumer) fn begin_classic(
        &mut self,
        moment: &Moment<'_>,
        key: &Key,
        session_ms: i32,
    ) {
        self.timers.cancel(&join(key));
        self.timers.cancel(&sync(key));
        self.hear_classic(moment, key, session_ms);
    }

    /// It was told to join. When it was told so first counts.
    pub(super) fn expect_join(&mut self, moment: &Moment<'_>, key: &Key, rebalance_ms: i32) {
        if self.timers.deadline(&join(key)).is_none() {
            self.timers.set(join(key), moment.now + millis(rebalance_ms));
        }
    }

    /// It has joined, and is to sync.
    pub(super) fn expect_sync(&mut self, moment: &Moment<'_>, key: &Key, rebalance_ms: i32) {
        self.timers.cancel(&join(key));
        self.timers.set(sync(key), moment.now + millis(rebalance_ms));
    }

    pub(super) fn expect_no_sync(&mut self, key: &Key) {
        self.timers.cancel(&sync(key));
    }

    /// It did not join, or did not sync, in its time: it is out.
    pub(in crate::group) fn classic_member_is_late(
        &self,
        moment: &Moment<'_>,
        (group, member): (&GroupId, &MemberId),
    ) -> Option<Decision> {
        self.expel(moment, (group, member), |it| it.is_classic())
    }
}
