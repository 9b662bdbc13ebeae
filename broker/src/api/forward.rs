//! What the controller decides: it is asked, and the answer goes out once this broker has done what
//! the answer says.

use super::context::Ctx;
use super::handler::Handler;
use super::reply::{Handled, Reply};
use crate::error::ToCode;
use kraft::controller::Decide;
use kraft::node::{AskError, Node};
use protocol::error::ErrorCode;
use protocol::messages::{Request, StrBytes};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Has the controller answer a request as it is.
pub(super) fn forwarded<H: Handler>(ctx: &Ctx, request: H::Request) -> Handled<H::Request>
where
    H::Request: Decide,
{
    let ctx = ctx.clone();
    Ok(Reply::later(async move {
        let asked = request.clone();
        let response = ask(&ctx, request).await.unwrap_or_else(|code| H::refuse(&asked, code));
        Ok(response.into())
    }))
}

/// The same for a request that says how long it may take. With no time at all nothing is done, as
/// in Apache Kafka.
pub(super) fn forwarded_within<H: Handler>(
    ctx: &Ctx,
    request: H::Request,
    timeout_ms: i32,
) -> Handled<H::Request>
where
    H::Request: Decide,
{
    let ctx = ctx.clone();
    let deadline = Instant::now() + Duration::from_millis(u64::try_from(timeout_ms).unwrap_or(0));
    Ok(Reply::later(async move {
        let asked = request.clone();
        let response = ask_by(&ctx, request, deadline).await;
        Ok(response.unwrap_or_else(|code| H::refuse(&asked, code)).into())
    }))
}

/// What is said beside a code; Apache Kafka has no words for what is late.
pub(super) fn words(code: ErrorCode) -> Option<StrBytes> {
    (code != ErrorCode::RequestTimedOut).then(|| code.message().into())
}

/// Asks the controller. Whoever then asks this broker finds the change in force: a new topic takes
/// records, a changed config holds.
pub(super) async fn ask<Q: Decide>(
    ctx: &Ctx,
    request: Q,
) -> Result<<Q as Request>::Response, ErrorCode> {
    let response = controller(ctx)?.ask(request).await.map_err(|error| unanswered::<Q>(&error))?;
    ctx.partitions.when_applied(ctx.image().offset).await;
    Ok(response)
}

/// The same until `deadline`. What was decided by then is answered then, even if this broker has
/// not done it yet.
async fn ask_by<Q: Decide>(
    ctx: &Ctx,
    request: Q,
    deadline: Instant,
) -> Result<<Q as Request>::Response, ErrorCode> {
    let response = controller(ctx)?.ask_by(request, deadline).await;
    let response = response.map_err(|error| unanswered::<Q>(&error))?;
    let applied = ctx.partitions.when_applied(ctx.image().offset);
    let _in_time = timeout_at(deadline, applied).await.is_ok();
    Ok(response)
}

fn controller(ctx: &Ctx) -> Result<&Node, ErrorCode> {
    ctx.controller.as_ref().ok_or(ErrorCode::NotController)
}

fn unanswered<Q: Request>(error: &AskError) -> ErrorCode {
    if *error != AskError::Late {
        tracing::error!("The controller did not answer {}: {error}", Q::KEY.name());
    }
    error.code()
}
