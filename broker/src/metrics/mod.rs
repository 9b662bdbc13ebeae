//! What the broker counts about itself.

pub mod connections;
pub mod counter;
pub mod histogram;
pub mod requests;
pub mod software;
pub mod state;
pub mod timer;
pub mod traffic;

pub use connections::{Connections, ListenerConnections, Open};
pub use counter::{Counter, Gauge, OneMore};
pub use requests::Requests;
pub use software::Said;
pub use state::{BrokerState, State};
pub use timer::Timer;
pub use traffic::{PartitionTraffic, TotalTraffic, Traffic};

use kraft::node::Elected;
use std::time::Duration;

/// The counters of one broker.
#[derive(Debug, Default)]
pub struct Metrics {
    /// How far the broker is between its start and its stop.
    pub state: BrokerState,
    pub connections: Connections,
    /// By their API.
    pub requests: Requests,
    /// Requests that are read and may not start yet.
    pub parked: Gauge,
    /// Answers that are there and may not leave yet.
    pub early_answers: Gauge,
    pub waiting_fetches: Gauge,
    pub waiting_produces: Gauge,
    /// Requests that ended with UNKNOWN_SERVER_ERROR, as an answer that could not be written: each
    /// is a bug.
    pub unknown_server_errors: Counter,
    /// Decisions of the controller that gave partitions another leader, until their commit.
    pub elections: Timer,
    /// Leaders that may lack what was acknowledged.
    pub unclean_elections: Counter,
}

impl Elected for Metrics {
    fn elected(&self, unclean: u64, took: Duration) {
        self.elections.record(took);
        self.unclean_elections.add(unclean);
    }
}
