//! SyncGroup: the leader says who gets what, and everybody asks for its own.

use super::group::{ClassicGroup, Phase};
use super::member::ClassicMember;
use super::replies::not_synced;
use super::turn::Turn;
use crate::coordinator::{Effects, Moment, Token};
use crate::group::state::{Decision, State};
use bytes::Bytes;
use protocol::coordinator::group::MemberId;
use protocol::error::ErrorCode;
use protocol::messages::{StrBytes, SyncGroupRequest};
use std::collections::BTreeMap;

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
    fn sync(&mut self, token: Token, id: MemberId, request: &SyncGroupRequest) {
        self.group.unsynced.remove(&id);
        if self.group.unsynced.is_empty() {
            self.expect_no_syncs();
        }
        let is_leader = self.group.is_leader(&id);
        let Some(member) = self.group.members.get_mut(&id) else { return };
        if self.group.phase == Phase::Stable {
            let assignment = member.assignment.clone();
            return self.reply(token, self.group.synced(assignment));
        }
        if let Some(given_up) = member.syncing.replace(token) {
            self.reply(given_up, not_synced(ErrorCode::RebalanceInProgress));
        }
        if is_leader {
            self.assign(request);
        }
    }

    /// What the leader says is written. The phase moves when it is in the log; until then a leader
    /// that could not be heard may say it again.
    fn assign(&mut self, request: &SyncGroupRequest) {
        let said = request.assignments.iter();
        let said: BTreeMap<&str, &Bytes> =
            said.map(|it| (it.member_id.as_str(), &it.assignment)).collect();
        let assignment = |id: &MemberId| match said.get(&**id) {
            Some(assignment) => Bytes::copy_from_slice(assignment),
            None => Bytes::new(),
        };
        self.done.records.push(self.group.record(&self.id, assignment));
        let waits = |(id, member): (&MemberId, &mut ClassicMember)| {
            Some((MemberId::clone(id), member.syncing.take()?))
        };
        let waiting: Vec<_> = self.group.members.iter_mut().filter_map(waits).collect();
        for (id, token) in waiting {
            self.reply(token, self.group.synced(assignment(&id)));
            self.hear(&id);
        }
    }
}
