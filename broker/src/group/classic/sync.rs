//! SyncGroup: the leader says who gets what, and everybody asks for its own.

use super::group::{ClassicGroup, Phase};
use super::replies::not_synced;
use super::turn::Turn;
use crate::coordinator::{Effects, Moment, Token};
use crate::group::state::{Decision, State};
use bytes::Bytes;
use protocol::coordinator::group::MemberId;
use protocol::error::ErrorCode;
use protocol::messages::{StrBytes, SyncGroupRequest};

impl State {
    pub(in crate::group) fn sync(
        &mut self,
        moment: &Moment<'_>,
        token: Token,
        request: &SyncGroupRequest,
    ) -> Decision {
        if let Some(decision) = self.sync_in_consumer_group(moment, token, request) {
            return decision;
        }
        let refused = |code| Effects::reply(token, not_synced(code).into());
        let Some(mut turn) = self.turn(moment, &request.group_id) else {
            return refused(ErrorCode::UnknownMemberId);
        };
        match turn.group.may_sync(request) {
            Ok(id) if turn.divides_too_much(&id, request) => {
                return refused(ErrorCode::RecordListTooLarge);
            }
            Ok(id) => turn.sync(token, id, request),
            Err(code) => return refused(code),
        }
        turn.done
    }
}

impl ClassicGroup {
    /// UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL, or
    /// REBALANCE_IN_PROGRESS when it is time to join, not to sync.
    fn may_sync(&self, request: &SyncGroupRequest) -> Result<MemberId, ErrorCode> {
        if self.is_empty() {
            return Err(ErrorCode::UnknownMemberId);
        }
        let id = self.identify(&request.member_id, request.group_instance_id.as_deref())?;
        if request.generation_id != self.generation {
            return Err(ErrorCode::IllegalGeneration);
        }
        let differs = |said: &Option<StrBytes>, is: Option<&str>| {
            said.as_ref().is_some_and(|said| Some(said.as_str()) != is)
        };
        if differs(&request.protocol_type, self.protocol_type.as_deref())
            || differs(&request.protocol_name, self.protocol.as_deref())
        {
            return Err(ErrorCode::InconsistentGroupProtocol);
        }
        if self.phase == Phase::Preparing {
            return Err(ErrorCode::RebalanceInProgress);
        }
        Ok(id)
    }
}

impl Turn<'_> {
    /// Whether there can be no record of what the leader says.
    fn divides_too_much(&self, id: &MemberId, request: &SyncGroupRequest) -> bool {
        let given = request.assignments.iter().map(|it| it.assignment.len()).sum::<usize>();
        let is_to_divide = self.group.phase == Phase::Completing && self.group.is_leader(id);
        is_to_divide && self.record_bytes_max() < given + self.group.say_bytes_but("")
    }

    fn sync(&mut self, token: Token, id: MemberId, request: &SyncGroupRequest) {
        self.group.unsynced.remove(&id);
        if self.group.unsynced.is_empty() {
            self.expect_no_syncs();
        }
        let is_leader = self.group.is_leader(&id);
        let Some(member) = self.group.members.get_mut(&id) else { return };
        if let Some(given_up) = member.syncing.replace(token) {
            self.reply(given_up, not_synced(ErrorCode::RebalanceInProgress));
        }
        if self.group.phase == Phase::Stable {
            self.answer_syncs();
        } else if is_leader {
            let said = request.assignments.iter();
            let said = said
                .map(|it| (it.member_id.as_str().into(), Bytes::copy_from_slice(&it.assignment)));
            self.group.division = Some(said.collect());
            if !self.awaits_arrivals() {
                self.assign();
            }
        }
    }

    /// What the leader said is written. The phase moves when it is in the log; until then a leader
    /// that could not be heard may say it again.
    pub(super) fn assign(&mut self) {
        let Some(said) = self.group.division.take() else { return };
        let given = |id: &MemberId| said.get(&**id).cloned().unwrap_or_default();
        self.done.records.push(self.group.record(&self.id, given));
        self.await_handover(given);
        for (id, token) in self.group.take_syncs() {
            self.reply(token, self.group.synced(given(&id)));
            self.hear(&id);
        }
    }
}
