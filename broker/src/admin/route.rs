//! Which page answers which path.

use super::body::{Body, text};
use super::desk::Desk;
use super::{exposition, guard, health, page, web};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use std::sync::Arc;

/// Answers a request whose head is `request`.
pub(super) async fn answer(desk: &Arc<Desk>, request: &Parts) -> Response<Body> {
    match guard::refusal(&desk.config, request) {
        Some(refusal) => refusal,
        None => routed(desk, request).await,
    }
}

async fn routed(desk: &Arc<Desk>, request: &Parts) -> Response<Body> {
    let state = desk.metrics.state.get();
    match request.uri.path() {
        "/health/live" => health::live(state),
        // The other spellings are those that health checks of other images ask for.
        "/health/ready" | "/v1/status/ready" | "/v1/ready" | "/v1/ready/" => health::ready(desk),
        "/metrics" => exposition::page(desk).await,
        "/v1/broker-state" | "/v1/broker-state/" => health::broker_state(state),
        path => match path.strip_prefix("/api/") {
            Some(path) => page::answer(desk, path, request.uri.query().unwrap_or_default()).await,
            None => web::file(path)
                .unwrap_or_else(|| text(StatusCode::NOT_FOUND, "There is no such page.")),
        },
    }
}
