//! What the pages are made from: the broker, once it is there.

use crate::api::Ctx;
use crate::config::AdminConfig;
use crate::metrics::Metrics;
use arc_swap::ArcSwapOption;
use std::sync::Arc;

/// See the module.
pub(super) struct Desk {
    pub(super) config: AdminConfig,
    pub(super) metrics: Arc<Metrics>,
    /// None while the broker starts, and again when it stops: its directories are held no longer
    /// than it needs.
    broker: ArcSwapOption<Ctx>,
}

impl Desk {
    pub(super) fn new(config: AdminConfig, metrics: Arc<Metrics>) -> Desk {
        Desk { config, metrics, broker: ArcSwapOption::empty() }
    }

    pub(super) fn broker(&self) -> Option<Arc<Ctx>> {
        self.broker.load_full()
    }

    pub(super) fn set_broker(&self, broker: Option<Arc<Ctx>>) {
        self.broker.store(broker);
    }
}
