//! FindCoordinator (key 10): who keeps a group. The first one who asks has the topic made that keeps
//! them. Nobody keeps transactional ids and share groups so far, and that is what clients are told.

use super::context::{Ctx, RequestContext};
use super::grouped::check_named;
use super::handler::Handler;
use super::hosted::{self, Address};
use super::internal_topics::{OFFSETS, create, on_demand};
use super::reply::{Handled, Reply};
use crate::coordinator::partition_of;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::find_coordinator_response::Coordinator;
use protocol::messages::{
    BrokerId, FindCoordinatorRequest, FindCoordinatorResponse, StrBytes, Versions,
};
use std::time::Duration;
use tokio::time::timeout;

/// From this version on a request asks for many, in fields of their own.
const BATCH_SINCE: i16 = 4;

/// The kinds of coordinators.
const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;
const SHARE: i8 = 2;
/// The version that knows [`SHARE`].
const SHARE_SINCE: i16 = 6;

/// A client waits no longer for the topic to be made: it asks again anyhow.
const CREATION_WAIT: Duration = Duration::from_secs(5);

pub(super) struct FindCoordinator;

impl Handler for FindCoordinator {
    type Request = FindCoordinatorRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 6 };

    fn handle(
        ctx: &Ctx,
        from: &RequestContext,
        request: FindCoordinatorRequest,
        version: i16,
    ) -> Handled<FindCoordinatorRequest> {
        check_named(&request.coordinator_keys)?;
        if request.key_type != GROUP || ctx.image().topic(OFFSETS).is_some() {
            return Ok(Reply::Now(answer(ctx, from, &request, version).into()));
        }
        let (ctx, from) = (ctx.clone(), from.clone());
        Ok(Reply::later(async move {
            if timeout(CREATION_WAIT, create_offsets(&ctx)).await.is_err() {
                tracing::warn!("The controller has not made {OFFSETS} within {CREATION_WAIT:?}");
            }
            Ok(answer(&ctx, &from, &request, version).into())
        }))
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

/// Makes the topic of groups, and comes back when they can be joined.
async fn create_offsets(ctx: &Ctx) {
    let topic = on_demand(ctx, StrBytes::from_static_str(OFFSETS).into());
    if !create(ctx, vec![topic]).await {
        return;
    }
    let mut images = ctx.images.clone();
    let made = images.wait_for(|image| image.topic(OFFSETS).is_some()).await;
    let Ok(offset) = made.map(|image| image.offset) else { return };
    ctx.groups.when_followed(offset).await;
}

fn answer(
    ctx: &Ctx,
    from: &RequestContext,
    request: &FindCoordinatorRequest,
    version: i16,
) -> FindCoordinatorResponse {
    let kind = request.key_type;
    if version < BATCH_SINCE {
        return match find(ctx, from, kind, &request.key, version) {
            Ok(found) => one(ErrorCode::None)
                .with_node_id(BrokerId(found.node))
                .with_host(found.host)
                .with_port(found.port),
            Err(code) => one(code),
        };
    }
    // A kind that there is not is an error of the request, told with a text even in a batch.
    let is_known = [GROUP, TRANSACTION, SHARE].contains(&kind);
    let each = |key: &StrBytes| match find(ctx, from, kind, key, version) {
        Ok(found) => Coordinator::default()
            .with_key(key.clone())
            .with_node_id(BrokerId(found.node))
            .with_host(found.host)
            .with_port(found.port),
        Err(code) if is_known => nobody(key, code),
        Err(code) => nobody(key, code).with_error_message(Some(code.message().into())),
    };
    let each = request.coordinator_keys.iter().map(each);
    FindCoordinatorResponse::default().with_coordinators(each.collect())
}

/// The broker that keeps `key`.
fn find(
    ctx: &Ctx,
    from: &RequestContext,
    kind: i8,
    key: &str,
    version: i16,
) -> Result<Address, ErrorCode> {
    match kind {
        GROUP => leader(ctx, from, key).ok_or(ErrorCode::CoordinatorNotAvailable),
        TRANSACTION => Err(ErrorCode::CoordinatorNotAvailable),
        SHARE if SHARE_SINCE <= version && is_share_key(key) => {
            Err(ErrorCode::CoordinatorNotAvailable)
        }
        _ => Err(ErrorCode::InvalidRequest),
    }
}

/// Whoever leads the partition that keeps a group, if clients of this listener reach it.
fn leader(ctx: &Ctx, from: &RequestContext, group: &str) -> Option<Address> {
    let image = ctx.image();
    let topic = image.topic(OFFSETS)?;
    let number = partition_of(group, i32::try_from(topic.partitions.len()).ok()?)?;
    hosted::address(ctx, from, topic.partition(number)?.leader)
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
