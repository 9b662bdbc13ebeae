//! What a member says of itself, kept up to date: a heartbeat repeats only what has changed.

use crate::group::request::Client;
use protocol::coordinator::group::MemberValue;
use protocol::messages::{ConsumerGroupHeartbeatRequest, StrBytes, TopicName};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the member says with this request; None: the same as before.
pub(super) fn news(
    old: &MemberValue,
    client: &Client,
    request: &ConsumerGroupHeartbeatRequest,
) -> Option<MemberValue> {
    let is_old = old.client_id == client.id
        && old.client_host == client.host
        && old.classic.is_none()
        && repeats(old.instance_id.as_ref(), request.instance_id.as_ref())
        && repeats(old.rack_id.as_ref(), request.rack_id.as_ref())
        && repeats(old.server_assignor.as_ref(), request.server_assignor.as_ref())
        && repeats(old.subscribed_regex.as_ref(), request.subscribed_topic_regex.as_ref())
        && [-1, old.rebalance_timeout_ms].contains(&request.rebalance_timeout_ms)
        && request.subscribed_topic_names.is_none();
    if is_old {
        return None;
    }
    let names = request.subscribed_topic_names.as_deref();
    let new = MemberValue {
        instance_id: newer(old.instance_id.as_ref(), request.instance_id.as_ref()),
        rack_id: newer(old.rack_id.as_ref(), request.rack_id.as_ref()),
        client_id: Arc::clone(&client.id),
        client_host: Arc::clone(&client.host),
        subscribed_topics: names.map_or_else(|| old.subscribed_topics.clone(), sorted),
        subscribed_regex: newer(
            old.subscribed_regex.as_ref(),
            request.subscribed_topic_regex.as_ref(),
        ),
        rebalance_timeout_ms: Some(request.rebalance_timeout_ms)
            .filter(|it| *it != -1)
            .unwrap_or(old.rebalance_timeout_ms),
        server_assignor: newer(old.server_assignor.as_ref(), request.server_assignor.as_ref()),
        classic: None,
    };
    (new != *old).then_some(new)
}

fn repeats(old: Option<&Arc<str>>, new: Option<&StrBytes>) -> bool {
    new.is_none_or(|new| old.is_some_and(|old| **old == **new))
}

fn newer(old: Option<&Arc<str>>, new: Option<&StrBytes>) -> Option<Arc<str>> {
    new.map(|it| Arc::from(it.as_str())).or_else(|| old.cloned())
}

/// In order, each once.
fn sorted(names: &[TopicName]) -> Vec<Arc<str>> {
    let names: BTreeSet<&str> = names.iter().map(|name| name.as_str()).collect();
    names.into_iter().map(Arc::from).collect()
}
