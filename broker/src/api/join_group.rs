//! JoinGroup (key 11): a member of a classic group comes, and hears of the next generation.

use super::context::{Ctx, RequestContext};
use super::grouped::{client, grouped};
use super::handler::Handler;
use super::reply::{Handled, Reply, Response};
use crate::group::GROUP_ID_LEN_MAX;
use protocol::config::coordinator::CoordinatorConfig;
use protocol::error::ErrorCode;
use protocol::messages::{JoinGroupRequest, JoinGroupResponse, Versions};

/// Before this version the protocol's name cannot be null.
const NULL_PROTOCOL_SINCE: i16 = 7;

/// Protocols that a member may speak: what all can do is looked for again with every member.
const PROTOCOLS_MAX: usize = 100;

/// Bytes of a name, behind which an id is put: a record's string has at most 32767.
const NAME_LEN_MAX: usize = GROUP_ID_LEN_MAX - 64;

pub(super) struct JoinGroup;

impl Handler for JoinGroup {
    type Request = JoinGroupRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 9 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: JoinGroupRequest,
        version: i16,
    ) -> Handled<JoinGroupRequest> {
        let checked = check(&request, &ctx.config.load().values.coordinator)
            .and_then(|()| check_names(&request, &from.client_id));
        let reply = match checked {
            Err(code) => Reply::Now(Self::refuse(&request, code).into()),
            Ok(()) => {
                let group = request.group_id.to_string();
                grouped::<Self>(ctx, client(from, version), &group, request)?
            }
        };
        reply.and_then(move |response| Ok(spelled_for(version, response)))
    }

    fn refuse(request: &JoinGroupRequest, code: ErrorCode) -> JoinGroupResponse {
        JoinGroupResponse::default()
            .with_error_code(code.code())
            .with_generation_id(-1)
            .with_protocol_name(None)
            .with_member_id(request.member_id.clone())
    }
}

/// Of what no group needs to be asked for. INVALID_GROUP_ID, INVALID_SESSION_TIMEOUT,
/// INCONSISTENT_GROUP_PROTOCOL
fn check(request: &JoinGroupRequest, config: &CoordinatorConfig) -> Result<(), ErrorCode> {
    if request.group_id.is_empty() || GROUP_ID_LEN_MAX < request.group_id.len() {
        return Err(ErrorCode::InvalidGroupId);
    }
    let sessions = config.min_session_timeout_ms..=config.max_session_timeout_ms;
    if !sessions.contains(&request.session_timeout_ms) {
        return Err(ErrorCode::InvalidSessionTimeout);
    }
    if PROTOCOLS_MAX < request.protocols.len() {
        return Err(ErrorCode::InconsistentGroupProtocol);
    }
    Ok(())
}

/// INVALID_REQUEST for names that no record can hold, of which an id may be made first. Its group
/// could never be written.
fn check_names(request: &JoinGroupRequest, client_id: &str) -> Result<(), ErrorCode> {
    let instance = request.group_instance_id.as_deref().unwrap_or_default();
    let said = [client_id, instance, &request.protocol_type];
    let protocols = request.protocols.iter().map(|it| it.name.as_str());
    let mut names = said.into_iter().chain(protocols);
    // An id was made of one of these names, and nothing is put behind it.
    let is_sound =
        request.member_id.len() <= GROUP_ID_LEN_MAX && names.all(|name| name.len() <= NAME_LEN_MAX);
    is_sound.then_some(()).ok_or(ErrorCode::InvalidRequest)
}

fn spelled_for(
    version: i16,
    mut response: Response<JoinGroupResponse>,
) -> Response<JoinGroupResponse> {
    if version < NULL_PROTOCOL_SINCE {
        response.message.protocol_name.get_or_insert_default();
    }
    response
}
