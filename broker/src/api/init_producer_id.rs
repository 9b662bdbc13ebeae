//! InitProducerId (key 22): an id under which a producer's repeated sends are recognised.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::reply::{Handled, Reply};
use protocol::error::ErrorCode;
use protocol::messages::{InitProducerIdRequest, InitProducerIdResponse, Versions};
use std::sync::Arc;

pub(super) struct InitProducerId;

impl Handler for InitProducerId {
    type Request = InitProducerIdRequest;
    const VERSIONS: Versions = Versions { min: 0, max: 5 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: InitProducerIdRequest,
        _version: i16,
    ) -> Handled<InitProducerIdRequest> {
        if let Err(code) = check(&request) {
            return Ok(Reply::Now(failed(code).into()));
        }
        if let Some(id) = ctx.producer_ids.take_now() {
            return Ok(Reply::Now(given(id).into()));
        }
        let ids = Arc::clone(&ctx.producer_ids);
        Ok(Reply::later(async move { Ok(ids.take().await.map_or_else(failed, given).into()) }))
    }

    fn refuse(_request: &InitProducerIdRequest, code: ErrorCode) -> InitProducerIdResponse {
        failed(code)
    }
}

fn check(request: &InitProducerIdRequest) -> Result<(), ErrorCode> {
    match request.transactional_id.as_ref().map(|id| id.as_str()) {
        Some("") => return Err(ErrorCode::InvalidRequest),
        // No transaction coordinator is served here.
        Some(_) => return Err(ErrorCode::CoordinatorNotAvailable),
        None => {}
    }
    // An id without its epoch, or the other way round, names no producer.
    if (request.producer_id.0 == -1) != (request.producer_epoch == -1) {
        return Err(ErrorCode::InvalidRequest);
    }
    Ok(())
}

fn given(id: i64) -> InitProducerIdResponse {
    InitProducerIdResponse::default().with_producer_id(id.into()).with_producer_epoch(0)
}

fn failed(code: ErrorCode) -> InitProducerIdResponse {
    InitProducerIdResponse::default()
        .with_error_code(code.code())
        .with_producer_id((-1).into())
        .with_producer_epoch(-1)
}
