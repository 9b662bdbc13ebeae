//! What the broker counts about itself.

pub mod state;

pub use state::{BrokerState, State};

use std::sync::atomic::{AtomicU64, Ordering};

/// Something that happened so often.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn count(&self) {
        self.add(1);
    }

    pub fn add(&self, many: u64) {
        self.0.fetch_add(many, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one broker.
#[derive(Debug, Default)]
pub struct Metrics {
    /// How far the broker is between its start and its stop.
    pub state: BrokerState,
    /// Connections that were taken in.
    pub connections: Counter,
    /// Frames that were read.
    pub requests: Counter,
    /// Requests that ended with UNKNOWN_SERVER_ERROR, as an answer that could not be written: each
    /// is a bug.
    pub unknown_server_errors: Counter,
}
