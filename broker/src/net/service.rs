//! What a connection asks of those who answer its requests.

use crate::api::{Answer, Close, Ctx, Overlap, RequestContext, dispatch, find};
use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::messages::ApiKey;

/// Whoever answers. Called in a connection's own task: what waits, waits in its answer.
pub trait Service: Send + Sync {
    /// When a request of this kind may start; None if this connection may not ask for it.
    fn overlap(&self, from: &RequestContext, key: ApiKey) -> Option<Overlap>;

    /// Starts a request: its kind, its version, and what follows its header.
    fn call(&self, from: &RequestContext, what: (ApiKey, i16), body: Bytes) -> Answer;
}

impl Service for Ctx {
    fn overlap(&self, from: &RequestContext, key: ApiKey) -> Option<Overlap> {
        find(self, from, key.code()).map(|entry| entry.served.overlap)
    }

    fn call(&self, from: &RequestContext, (key, version): (ApiKey, i16), body: Bytes) -> Answer {
        self.metrics.requests.began(key, version);
        let answer = dispatch(self, from, key.code(), version, body);
        if matches!(answer, Err(Close(ErrorCode::UnknownServerError))) {
            self.metrics.unknown_server_errors.count();
        }
        answer
    }
}
