//! What the controller decides: it is asked, and the answer goes out once this broker has done what
//! the answer says.

use super::context::Ctx;
use super::handler::Handler;
use super::reply::{Handled, Reply};
use crate::error::ToCode;
use kraft::controller::Decide;
use protocol::error::ErrorCode;
use protocol::messages::Request;

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

/// Asks the controller. Whoever then asks this broker finds the change in force: a new topic takes
/// records, a changed config holds.
pub(super) async fn ask<Q: Decide>(
    ctx: &Ctx,
    request: Q,
) -> Result<<Q as Request>::Response, ErrorCode> {
    let Some(controller) = &ctx.controller else { return Err(ErrorCode::NotController) };
    let response = controller.ask(request).await.map_err(|error| {
        tracing::error!("The controller did not answer {}: {error}", Q::KEY.name());
        error.code()
    })?;
    ctx.partitions.when_applied(ctx.image().offset).await;
    Ok(response)
}
