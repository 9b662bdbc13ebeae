//! The configuration in force, which changes while the broker runs.

use super::given::Given;
use super::reread::Reread;
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
    /// taken.
    pub fn update(&self, all: &Settings, own: &Settings) -> Vec<Invalid> {
        let mut refused = Vec::new();
        self.now.rcu(|now| {
            let (next, not_taken) = now.with_dynamic(all, own);
            refused = not_taken;
            next
        });
        refused
    }

    /// Takes over what a file says that was read anew, and tells what became of it.
    pub fn reread(&self, given: &Given) -> Reread {
        // Another writer may come between, and then it is done again on what that one wrote.
        let mut last = None;
        let before = self.now.rcu(|now| {
            let reread = now.reread(given);
            let next = reread.config.clone();
            last = Some(reread);
            next
        });
        last.unwrap_or_else(|| before.reread(given))
    }
}
