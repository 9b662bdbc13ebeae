//! FindCoordinator (key 10): who keeps a group or a transactional id. Nobody does so far, and that is
//! what clients are told; they read from this API that there is compression with LZ4.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::reply::{Handled, Reply};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::find_coordinator_response::Coordinator;
use protocol::messages::{
    BrokerId, FindCoordinatorRequest, FindCoordinatorResponse, StrBytes, Versions,
};

/// From this version on a request asks for many, in fields of their own.
const BATCH_SINCE: i16 = 4;

/// The kinds of coordinators.
const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;
const SHARE: i8 = 2;
/// The version that knows [`SHARE`].
const SHARE_SINCE: i16 = 6;

pub(super) struct FindCoordinator;

impl Handler for FindCoordinator {
    type Request = FindCoordinatorRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 6 };

    fn handle(
        _ctx: &Ctx,
        _from: &RequestContext,
        request: FindCoordinatorRequest,
        version: i16,
    ) -> Handled<FindCoordinatorRequest> {
        let kind = request.key_type;
        // A kind that there is not is an error of the request, told with a text even in a batch.
        let is_known = [GROUP, TRANSACTION, SHARE].contains(&kind);
        let response = if version < BATCH_SINCE {
            one(code(kind, &request.key, version))
        } else {
            let keys = request.coordinator_keys.iter();
            let one = |key: &StrBytes| {
                let code = code(kind, key, version);
                let said = nobody(key, code);
                if is_known { said } else { said.with_error_message(Some(code.message().into())) }
            };
            FindCoordinatorResponse::default().with_coordinators(keys.map(one).collect())
        };
        Ok(Reply::Now(response.into()))
    }

    /// In the fields that the request used.
    fn refuse(request: &FindCoordinatorRequest, code: ErrorCode) -> FindCoordinatorResponse {
        if request.coordinator_keys.is_empty() {
            return one(code);
        }
        let keys = request.coordinator_keys.iter().map(|key| nobody(key, code));
        FindCoordinatorResponse::default().with_coordinators(keys.collect())
    }
}

fn code(kind: i8, key: &str, version: i16) -> ErrorCode {
    match kind {
        GROUP | TRANSACTION => ErrorCode::CoordinatorNotAvailable,
        SHARE if SHARE_SINCE <= version && is_share_key(key) => ErrorCode::CoordinatorNotAvailable,
        _ => ErrorCode::InvalidRequest,
    }
}

/// `group:topic id:partition`
fn is_share_key(key: &str) -> bool {
    let mut parts = key.split(':');
    let (Some(group), Some(topic), Some(partition)) = (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let is_id = topic.parse::<Uuid>().is_ok();
    !group.trim().is_empty() && is_id && partition.parse::<i32>().is_ok() && parts.next().is_none()
}

fn one(code: ErrorCode) -> FindCoordinatorResponse {
    FindCoordinatorResponse::default()
        .with_error_code(code.code())
        .with_error_message(Some(code.message().into()))
        .with_node_id(BrokerId(-1))
        .with_port(-1)
}

fn nobody(key: &StrBytes, code: ErrorCode) -> Coordinator {
    Coordinator::default()
        .with_key(key.clone())
        .with_error_code(code.code())
        .with_node_id(BrokerId(-1))
        .with_port(-1)
}
