//! Whether the broker lives, and whether it serves.

use super::body::{Body, json};
use crate::metrics::State;
use hyper::{Response, StatusCode};
use serde_json::json;

/// Whoever gets an answer knows that the process lives.
pub(super) fn live(state: State) -> Response<Body> {
    json(StatusCode::OK, &json!({ "status": "live", "state": state.name() }))
}

/// Whether clients are served.
pub(super) fn ready(state: State) -> Response<Body> {
    if state == State::Running {
        return json(StatusCode::OK, &json!({ "status": "ready", "state": state.name() }));
    }
    let why = json!({ "status": "not ready", "state": state.name(), "reason": state.in_words() });
    json(StatusCode::SERVICE_UNAVAILABLE, &why)
}

/// The state by its number, as an operator asks for it in a container.
pub(super) fn broker_state(state: State) -> Response<Body> {
    json(StatusCode::OK, &json!({ "brokerState": state.number() }))
}
