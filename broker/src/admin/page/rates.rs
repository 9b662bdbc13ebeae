//! `/api/rates`: counters, of which two readings make a rate.

use super::super::census;
use crate::api::Ctx;
use serde_json::{Map, Value, json};
use std::time::Duration;

pub(super) fn all(ctx: &Ctx) -> Value {
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let topics = ctx.partitions.topics();
    let topics = topics.iter().map(|topic| {
        let sum = census::traffic(topic);
        let counted = json!({
            "messagesIn": sum.messages_in, "bytesIn": sum.bytes_in, "bytesOut": sum.bytes_out,
        });
        (topic.name.to_string(), counted)
    });
    let all = census::total_traffic(ctx);
    let connections = ctx.metrics.connections.all();
    let connections: u64 = connections.iter().map(|(_, listener)| listener.open()).sum();
    json!({
        "nowMs": ctx.env.clock.wall_ms(),
        "monotonicMs": ms(ctx.env.clock.monotonic()),
        "connections": connections,
        "requests": ctx.metrics.requests.get(),
        "messagesIn": all.messages_in,
        "bytesIn": all.bytes_in,
        "bytesOut": all.bytes_out,
        "topics": topics.collect::<Map<String, Value>>(),
    })
}
