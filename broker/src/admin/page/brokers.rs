//! `/api/brokers`: the cluster, its brokers, and this one's directories.

use super::super::desk::Desk;
use crate::api::Ctx;
use crate::partition::Dir;
use kraft::image::Broker;
use protocol::error::ErrorCode;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::task::spawn_blocking;

pub(super) async fn all(desk: &Desk, ctx: &Ctx) -> Result<Value, ErrorCode> {
    let image = ctx.image();
    let brokers: Vec<_> = image.brokers().values().map(|broker| one(broker)).collect();
    let dirs = Arc::clone(&ctx.dirs);
    // Their file systems are asked, which may wait for the disk.
    let dirs = spawn_blocking(move || dirs.iter().map(|dir| of_dir(dir)).collect::<Vec<_>>());
    let dirs = dirs.await.map_err(|_| ErrorCode::UnknownServerError)?;
    Ok(json!({
        "clusterId": &*ctx.cluster_id,
        "nodeId": ctx.node_id,
        "version": env!("CARGO_PKG_VERSION"),
        "state": desk.metrics.state.get().name(),
        "controllerId": ctx.controller.as_ref().map(|node| node.quorum().leader_id),
        "metadataVersion": image.metadata_version(),
        "readsMessages": desk.config.reads_messages,
        "nowMs": ctx.env.clock.wall_ms(),
        "brokers": brokers,
        "logDirs": dirs,
    }))
}

fn of_dir(dir: &Dir) -> Value {
    json!({
        "path": dir.path.display().to_string(),
        "failure": dir.failure(),
        "full": dir.is_full(),
        "totalBytes": dir.disk.total_bytes(&dir.path).ok(),
        "freeBytes": dir.disk.free_bytes(&dir.path).ok(),
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
