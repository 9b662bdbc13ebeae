//! Scene: what does not change while a shard lives.

use crate::config::{BrokerConfig, DynamicConfig};
use crate::coordinator::machine::Moment;
use crate::partition::{ACKS_ALL, Partition};
use kraft::env::Env;
use kraft::image::Image;
use protocol::error::ErrorCode;
use std::sync::Arc;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) env: Env,
    pub(super) config: DynamicConfig,
    pub(super) partition: Arc<Partition>,
    /// In which this broker leads the partition.
    pub(super) epoch: i32,
}

impl Scene {
    pub(super) fn moment<'a>(&'a self, image: &'a Image, config: &'a BrokerConfig) -> Moment<'a> {
        let Env { clock, rng, .. } = &self.env;
        Moment { wall_ms: clock.wall_ms(), now: clock.monotonic(), image, config, rng: &**rng }
    }

    /// Whether everything below `end` is committed: None while it is not yet, an error when that
    /// can no longer be known here.
    pub(super) fn committed(&self, end: i64) -> Option<Result<(), ErrorCode>> {
        if let Err(code) = self.partition.leader_epoch(self.epoch) {
            return Some(Err(code));
        }
        match self.partition.acknowledged(end, ACKS_ALL)? {
            // Enough had it when the watermark passed.
            Err(ErrorCode::NotEnoughReplicasAfterAppend) | Ok(()) => Some(Ok(())),
            Err(code) => Some(Err(code)),
        }
    }
}
