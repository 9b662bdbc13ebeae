//! An event: when, what, and then its own members.

use crate::json::Json;
use kraft::env::Clock;

pub(super) fn event(clock: &dyn Clock, name: &str, more: Vec<(&str, Json)>) -> Json {
    let front = vec![("timestamp", clock.wall_ms().into()), ("name", name.into())];
    let members = front.into_iter().chain(more);
    Json::Object(members.map(|(name, value)| (name.to_owned(), value)).collect())
}
