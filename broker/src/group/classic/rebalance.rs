//! A rebalance: from the first reason for it to the next generation.

use super::group::{Delay, Phase};
use super::member::ClassicMember;
use super::replies::not_synced;
use super::turn::Turn;
use crate::coordinator::Moment;
use crate::group::state::{Decision, State};
use bytes::Bytes;
use protocol::coordinator::group::MemberId;
use protocol::error::ErrorCode;

/// So long, at least, a group waits for somebody who can lead it: members may have said that they
/// take no time at all.
const NOBODY_LEADS_MS: i32 = 1000;

impl State {
    /// The members have had their time to join.
    pub(in crate::group) fn classic_joins_are_due(
        &mut self,
        moment: &Moment<'_>,
        id: &str,
    ) -> Option<Decision> {
        let mut turn = self.turn(moment, id)?;
        if turn.group.phase != Phase::Preparing {
            // It was set for another group of that name.
            return None;
        }
        match turn.group.delay {
            Some(delay) => turn.end_delay(delay),
            None => turn.complete_join(),
        }
        Some(turn.done)
    }

    /// That the last member went could not be written when it did.
    pub(in crate::group) fn classic_group_was_left(
        &mut self,
        moment: &Moment<'_>,
        id: &str,
    ) -> Option<Decision> {
        let mut turn = self.turn(moment, id)?;
        if turn.group.is_empty() {
            turn.done.records.push(turn.group.record(&turn.id, |_| Bytes::new()));
        }
        Some(turn.done)
    }

    /// The members have had their time to ask for their assignments. Who did not is out, and the
    /// rest joins anew: what the leader divided is not what there is.
    pub(in crate::group) fn classic_syncs_are_due(
        &mut self,
        moment: &Moment<'_>,
        id: &str,
    ) -> Option<Decision> {
        let mut turn = self.turn(moment, id)?;
        let is_late = matches!(turn.group.phase, Phase::Completing | Phase::Stable);
        if is_late && !turn.group.unsynced.is_empty() {
            for member in turn.group.unsynced.clone() {
                turn.remove(&member);
            }
            turn.prepare();
        }
        Some(turn.done)
    }
}

impl Turn<'_> {
    /// Something changed: begins a rebalance, or ends the one that waited for just this.
    pub(super) fn rebalance(&mut self) {
        match self.group.phase {
            Phase::Preparing => self.complete_if_all_joined(),
            Phase::Empty | Phase::Completing | Phase::Stable => self.prepare(),
        }
    }

    pub(super) fn prepare(&mut self) {
        self.withdraw_assignments();
        self.expect_no_syncs();
        let is_first = self.group.is_empty();
        self.enter(Phase::Preparing);
        if is_first {
            self.begin_delay();
        } else if self.group.all_have_joined() {
            self.complete_join();
        } else {
            self.expect_joins(self.group.rebalance_timeout_ms());
        }
    }

    /// Members that wait for their assignments are to join again.
    fn withdraw_assignments(&mut self) {
        if self.group.phase == Phase::Completing {
            self.group.members.values_mut().for_each(|member| member.assignment = Bytes::new());
        }
        self.lose_patience();
        for (id, token) in self.group.take_syncs() {
            self.reply(token, not_synced(ErrorCode::RebalanceInProgress));
            self.hear(&id);
        }
    }

    fn begin_delay(&mut self) {
        let ms = self.moment.config.values.coordinator.initial_rebalance_delay_ms;
        let remaining_ms = self.group.rebalance_timeout_ms().saturating_sub(ms).max(0);
        self.group.delay = Some(Delay { ms, remaining_ms });
        self.expect_joins(ms);
    }

    /// Waits on when somebody came meanwhile, but not longer than members allow for a rebalance.
    fn end_delay(&mut self, delay: Delay) {
        if !self.group.has_newcomer || delay.remaining_ms == 0 {
            self.group.delay = None;
            return match self.group.arrivals_end(self.moment.now) {
                Some(until) => self.expect_joins_until(until),
                None => self.complete_join(),
            };
        }
        self.group.has_newcomer = false;
        let ms = self.moment.config.values.coordinator.initial_rebalance_delay_ms;
        let ms = ms.min(delay.remaining_ms);
        let remaining_ms = delay.remaining_ms.saturating_sub(delay.ms).max(0);
        self.group.delay = Some(Delay { ms, remaining_ms });
        self.expect_joins(ms);
    }

    /// The first rebalance of a group does not end before its delay.
    pub(super) fn complete_if_all_joined(&mut self) {
        let is_delayed = self.group.delay.is_some();
        if self.group.phase == Phase::Preparing && !is_delayed && self.group.all_have_joined() {
            self.complete_join();
        }
    }

    /// Begins the next generation with those who have joined. Static members stay in without:
    /// they are given their time to come back.
    pub(super) fn complete_join(&mut self) {
        self.expect_no_joins();
        self.group.delay = None;
        let is_gone = |member: &ClassicMember| member.joining.is_none() && !member.is_static();
        let gone = self.group.members.iter().filter(|(_, member)| is_gone(member));
        let gone: Vec<_> = gone.map(|(id, _)| MemberId::clone(id)).collect();
        gone.iter().for_each(|id| self.remove(id));
        if !self.group.elect_leader() && !self.group.members.is_empty() {
            // Nobody could lead. Sessions end who does not come back.
            let ms = self.group.rebalance_timeout_ms();
            return self.expect_joins(ms.max(NOBODY_LEADS_MS));
        }
        self.group.begin_generation(self.moment.wall_ms);
        if self.group.is_empty() {
            self.done.records.push(self.group.record(&self.id, |_| Bytes::new()));
        } else {
            self.tell_generation();
        }
    }

    fn tell_generation(&mut self) {
        let ids: Vec<_> = self.group.members.keys().cloned().collect();
        for id in &ids {
            let response = self.group.joined(id);
            let Some(member) = self.group.members.get_mut(id) else { continue };
            member.is_new = false;
            if let Some(token) = member.joining.take() {
                self.reply(token, response);
            }
            self.hear(id);
        }
        self.group.unsynced.extend(ids);
        self.expect_syncs();
    }
}
