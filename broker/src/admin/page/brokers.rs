//! `/api/brokers`: the cluster, its brokers, and this one's directories.

use super::super::desk::Desk;
use crate::api::Ctx;
use kraft::image::Broker;
use serde_json::{Value, json};

pub(super) fn all(desk: &Desk, ctx: &Ctx) -> Value {
    let image = ctx.image();
    let brokers: Vec<_> = image.brokers().values().map(|broker| one(broker)).collect();
    let dirs = ctx.dirs.iter().map(|dir| {
        let bytes = |asked: std::io::Result<u64>| asked.ok();
        json!({
            "path": dir.path.display().to_string(),
            "failure": dir.failure(),
            "full": dir.is_full(),
            "totalBytes": bytes(dir.disk.total_bytes(&dir.path)),
            "freeBytes": bytes(dir.disk.free_bytes(&dir.path)),
        })
    });
    json!({
        "clusterId": &*ctx.cluster_id,
        "nodeId": ctx.node_id,
        "version": env!("CARGO_PKG_VERSION"),
        "state": desk.metrics.state.get().name(),
        "controllerId": ctx.controller.as_ref().map(|node| node.quorum().leader_id),
        "metadataVersion": image.metadata_version(),
        "readsMessages": desk.config.reads_messages,
        "nowMs": ctx.env.clock.wall_ms(),
        "brokers": brokers,
        "logDirs": dirs.collect::<Vec<_>>(),
    })
}

fn one(broker: &Broker) -> Value {
    let listeners = broker.end_points.iter();
    let listeners =
        listeners.map(|it| json!({ "name": it.name, "host": it.host, "port": it.port }));
    json!({
        "id": broker.broker_id,
        "rack": broker.rack,
        "fenced": broker.fenced,
        "shuttingDown": broker.in_controlled_shutdown,
        "listeners": listeners.collect::<Vec<_>>(),
    })
}
