//! LeaveGroup: members that go, or are made to go by their instance.

use super::turn::Turn;
use crate::coordinator::{Effects, Moment, Token};
use crate::group::request::Client;
use crate::group::state::{Decision, State};
use protocol::coordinator::group::MemberId;
use protocol::error::ErrorCode;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::leave_group_response::MemberResponse;
use protocol::messages::{LeaveGroupRequest, LeaveGroupResponse};

/// From this version on a request names many members; before it one, whose code is the response's.
const MANY_SINCE: i16 = 3;

impl State {
    pub(in crate::group) fn leave(
        &mut self,
        moment: &Moment<'_>,
        token: Token,
        client: &Client,
        request: &LeaveGroupRequest,
    ) -> Decision {
        let alone = [MemberIdentity::default().with_member_id(request.member_id.clone())];
        let leaving = if client.version < MANY_SINCE { &alone } else { &*request.members };
        if let Some((left, mut done)) =
            self.leave_consumer_group(moment, &request.group_id, leaving)
        {
            let responses = leaving.iter().zip(left).map(|(it, left)| response(it, left));
            done.replies.push((token, told(client, responses.collect()).into()));
            return done;
        }
        let Some(mut turn) = self.turn(moment, &request.group_id) else {
            let unknown = leaving.iter().map(|it| response(it, Err(ErrorCode::UnknownMemberId)));
            return Effects::reply(token, told(client, unknown.collect()).into());
        };
        let responses: Vec<_> = leaving.iter().map(|it| response(it, turn.leave(it))).collect();
        if responses.iter().any(|it| it.error_code == ErrorCode::None.code()) {
            turn.rebalance_without();
        }
        turn.reply(token, told(client, responses));
        turn.done
    }
}

fn response(of: &MemberIdentity, left: Result<(), ErrorCode>) -> MemberResponse {
    MemberResponse::default()
        .with_member_id(of.member_id.clone())
        .with_group_instance_id(of.group_instance_id.clone())
        .with_error_code(left.err().unwrap_or(ErrorCode::None).code())
}

fn told(client: &Client, members: Vec<MemberResponse>) -> LeaveGroupResponse {
    let response = LeaveGroupResponse::default();
    match members.first() {
        Some(alone) if client.version < MANY_SINCE => response.with_error_code(alone.error_code),
        _ => response.with_members(members),
    }
}

impl Turn<'_> {
    /// UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID
    fn leave(&mut self, leaving: &MemberIdentity) -> Result<(), ErrorCode> {
        let id = &*leaving.member_id;
        let instance = leaving.group_instance_id.as_deref();
        if let Some((pending, _)) = self.group.pending.remove_entry(id) {
            self.forget(&pending);
            return Ok(());
        }
        let id: MemberId = match instance {
            // An administrator knows the instance only.
            Some(instance) if id.is_empty() => {
                let current = self.group.by_instance.get(instance);
                current.cloned().ok_or(ErrorCode::UnknownMemberId)?
            }
            _ => self.group.identify(id, instance)?,
        };
        self.remove(&id);
        Ok(())
    }
}
