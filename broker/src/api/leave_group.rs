//! LeaveGroup (key 13): members of a classic group go.

use super::context::{Ctx, RequestContext};
use super::grouped::{client, grouped};
use super::handler::Handler;
use super::reply::{Handled, Reply};
use protocol::error::ErrorCode;
use protocol::messages::{LeaveGroupRequest, LeaveGroupResponse, Versions};

pub(super) struct LeaveGroup;

impl Handler for LeaveGroup {
    type Request = LeaveGroupRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 5 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: LeaveGroupRequest,
        version: i16,
    ) -> Handled<LeaveGroupRequest> {
        if request.group_id.is_empty() {
            return Ok(Reply::Now(Self::refuse(&request, ErrorCode::InvalidGroupId).into()));
        }
        let group = request.group_id.to_string();
        grouped::<Self>(ctx, client(from, version), &group, request)
    }

    fn refuse(_request: &LeaveGroupRequest, code: ErrorCode) -> LeaveGroupResponse {
        LeaveGroupResponse::default().with_error_code(code.code())
    }
}
