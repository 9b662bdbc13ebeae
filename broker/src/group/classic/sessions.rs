//! Members that were not heard of for their session.

use super::group::Phase;
use super::turn::Turn;
use crate::coordinator::Moment;
use crate::group::state::{Decision, State};
use protocol::coordinator::group::MemberId;

impl State {
    pub(in crate::group) fn classic_session_is_over(
        &mut self,
        moment: &Moment<'_>,
        group: &str,
        member: &MemberId,
    ) -> Option<Decision> {
        let mut turn = self.turn(moment, group)?;
        if turn.group.pending.contains_key(member) {
            turn.group.remove(member);
            turn.complete_if_all_joined();
        } else if turn.group.members.get(member).is_some_and(|it| !it.is_excused()) {
            turn.remove(member);
            // A first rebalance too ends here, if nobody is left to be waited for.
            if turn.group.phase == Phase::Preparing && turn.group.all_have_joined() {
                turn.complete_join();
            } else {
                turn.rebalance_without();
            }
        }
        Some(turn.done)
    }
}

impl Turn<'_> {
    /// Somebody is out.
    pub(super) fn rebalance_without(&mut self) {
        match self.group.phase {
            Phase::Stable | Phase::Completing => self.prepare(),
            Phase::Preparing => self.complete_if_all_joined(),
            Phase::Empty => {}
        }
    }
}
