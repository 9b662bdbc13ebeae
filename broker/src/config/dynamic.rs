//! The configuration in force, which changes while the broker runs.

use super::snapshot::BrokerConfig;
use arc_swap::ArcSwap;
use protocol::config::describe::Settings;
use protocol::config::key::Invalid;
use std::sync::Arc;

/// Cheap to clone; every reader sees a change at once, and none waits.
#[derive(Clone, Debug)]
pub struct DynamicConfig {
    now: Arc<ArcSwap<BrokerConfig>>,
}

impl DynamicConfig {
    pub fn new(config: BrokerConfig) -> DynamicConfig {
        DynamicConfig { now: Arc::new(ArcSwap::from_pointee(config)) }
    }

    /// The configuration of this moment. Whoever needs two values that agree asks once.
    pub fn load(&self) -> Arc<BrokerConfig> {
        self.now.load_full()
    }

    /// Takes over what the metadata says of all brokers and of this one. Returns what was not
    /// taken. Only the task that follows the metadata calls this: there is one writer.
    pub fn update(&self, all: &Settings, own: &Settings) -> Vec<Invalid> {
        let (next, refused) = self.load().with_dynamic(all, own);
        self.now.store(Arc::new(next));
        refused
    }
}
