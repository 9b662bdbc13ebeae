//! Whether the broker lives, and whether it serves.
//!
//! Ready is who serves all that clients ask for. A disk that is full refuses records and committed
//! offsets, though it is read and deleted from as ever, so a broker without any other directory is
//! not ready until there is room: Apache Kafka would have stopped. It is ready while one directory
//! of several takes records, as Apache Kafka lives on with one, and says what is wrong with the
//! others.

use super::body::{Body, json};
use super::desk::Desk;
use crate::metrics::State;
use hyper::{Response, StatusCode};
use serde_json::json;

/// Whoever gets an answer knows that the process lives.
pub(super) fn live(state: State) -> Response<Body> {
    json(StatusCode::OK, &json!({ "status": "live", "state": state.name() }))
}

/// Whether clients are served.
pub(super) fn ready(desk: &Desk) -> Response<Body> {
    let state = desk.metrics.state.get();
    if state != State::Running {
        return not_ready(state, state.in_words());
    }
    let broker = desk.broker();
    let dirs = broker.as_ref().map(|ctx| &*ctx.dirs).unwrap_or_default();
    let refusals: Vec<String> = dirs.iter().filter_map(|dir| dir.refusal()).collect();
    if !refusals.is_empty() && refusals.len() == dirs.len() {
        let refusals = refusals.join("; ");
        let reason = format!("{refusals}: produce and commits are refused, reads are served");
        return not_ready(state, &reason);
    }
    let page = json!({ "status": "ready", "state": state.name(), "warnings": refusals });
    json(StatusCode::OK, &page)
}

fn not_ready(state: State, reason: &str) -> Response<Body> {
    let page = json!({ "status": "not ready", "state": state.name(), "reason": reason });
    json(StatusCode::SERVICE_UNAVAILABLE, &page)
}

/// The state by its number, as an operator asks for it in a container.
pub(super) fn broker_state(state: State) -> Response<Body> {
    json(StatusCode::OK, &json!({ "brokerState": state.number() }))
}
