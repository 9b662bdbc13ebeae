//! Heartbeat: a member is alive, and hears that it is to join again.

use super::group::{ClassicGroup, Phase};
use super::replies;
use crate::coordinator::{Effects, Moment, Token};
use crate::group::state::{Decision, State};
use protocol::coordinator::group::MemberId;
use protocol::error::ErrorCode;
use protocol::messages::HeartbeatRequest;

impl State {
    pub(in crate::group) fn heartbeat(
        &mut self,
        moment: &Moment<'_>,
        token: Token,
        request: &HeartbeatRequest,
    ) -> Decision {
        if let Some(decision) = self.heartbeat_in_consumer_group(moment, token, request) {
            return decision;
        }
        let code = self.beat(moment, request).err().unwrap_or(ErrorCode::None);
        Effects::reply(token, replies::heartbeat(code).into())
    }

    fn beat(&mut self, moment: &Moment<'_>, request: &HeartbeatRequest) -> Result<(), ErrorCode> {
        let turn = self.turn(moment, &request.group_id);
        let mut turn = turn.ok_or(ErrorCode::UnknownMemberId)?;
        let id = turn.group.hears(request)?;
        turn.hear(&id);
        match turn.group.phase {
            Phase::Preparing => Err(ErrorCode::RebalanceInProgress),
            Phase::Empty | Phase::Completing | Phase::Stable => Ok(()),
        }
    }

    /// A commit is a sign of life too, unless the leader is to divide.
    pub(in crate::group) fn hear_of_classic_commit(
        &mut self,
        moment: &Moment<'_>,
        group: &str,
        member: &str,
    ) {
        let Some(mut turn) = self.turn(moment, group) else { return };
        let counts = matches!(turn.group.phase, Phase::Preparing | Phase::Stable);
        if let Some(id) = turn.group.member_id(member).filter(|_| counts) {
            turn.hear(&id);
        }
    }
}

impl ClassicGroup {
    /// UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION
    fn hears(&self, request: &HeartbeatRequest) -> Result<MemberId, ErrorCode> {
        let id = self.identify(&request.member_id, request.group_instance_id.as_deref())?;
        let is_current = request.generation_id == self.generation;
        is_current.then_some(id).ok_or(ErrorCode::IllegalGeneration)
    }
}
