//! What the pages are made from: the broker, once it is there.

use super::readings::Readings;
use crate::api::Ctx;
use crate::config::AdminConfig;
use crate::metrics::Metrics;
use arc_swap::ArcSwapOption;
use kraft::env::Env;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Pages of messages that are read at a time.
const READERS_MAX: usize = 2;

/// See the module.
pub(super) struct Desk {
    pub(super) config: AdminConfig,
    pub(super) metrics: Arc<Metrics>,
    pub(super) env: Env,
    /// When the broker began to start, in milliseconds since 1970.
    pub(super) started_ms: i64,
    pub(super) readings: Readings,
    /// Who reads messages, which may wait for a disk.
    pub(super) readers: Semaphore,
    /// None while the broker starts, and again when it stops: its directories are held no longer
    /// than it needs.
    broker: ArcSwapOption<Ctx>,
}

impl Desk {
    pub(super) fn new(config: AdminConfig, metrics: Arc<Metrics>, env: &Env) -> Desk {
        Desk {
            config,
            metrics,
            env: env.clone(),
            started_ms: env.clock.wall_ms(),
            readings: Readings::default(),
            readers: Semaphore::new(READERS_MAX),
            broker: ArcSwapOption::empty(),
        }
    }

    pub(super) fn broker(&self) -> Option<Arc<Ctx>> {
        self.broker.load_full()
    }

    pub(super) fn set_broker(&self, broker: Option<Arc<Ctx>>) {
        self.broker.store(broker);
    }
}
