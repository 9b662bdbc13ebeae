//! SyncGroup (key 14): the leader of a classic group says who gets what, and each member hears it.

use super::context::{Ctx, RequestContext};
use super::grouped::{client, grouped};
use super::handler::Handler;
use super::reply::{Handled, Reply};
use protocol::error::ErrorCode;
use protocol::messages::{SyncGroupRequest, SyncGroupResponse, Versions};

/// From this version on a request says which protocol it is of, and must.
const PROTOCOL_SINCE: i16 = 5;

pub(super) struct SyncGroup;

impl Handler for SyncGroup {
    type Request = SyncGroupRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 5 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: SyncGroupRequest,
        version: i16,
    ) -> Handled<SyncGroupRequest> {
        if let Err(code) = check(&request, version) {
            return Ok(Reply::Now(Self::refuse(&request, code).into()));
        }
        let group = request.group_id.to_string();
        grouped::<Self>(ctx, client(from, version), &group, request)
    }

    fn refuse(_request: &SyncGroupRequest, code: ErrorCode) -> SyncGroupResponse {
        SyncGroupResponse::default().with_error_code(code.code())
    }
}

/// Of what no group needs to be asked for. INCONSISTENT_GROUP_PROTOCOL, INVALID_GROUP_ID
fn check(request: &SyncGroupRequest, version: i16) -> Result<(), ErrorCode> {
    let says_protocol = request.protocol_type.is_some() && request.protocol_name.is_some();
    if PROTOCOL_SINCE <= version && !says_protocol {
        return Err(ErrorCode::InconsistentGroupProtocol);
    }
    if request.group_id.is_empty() {
        return Err(ErrorCode::InvalidGroupId);
    }
    Ok(())
}
