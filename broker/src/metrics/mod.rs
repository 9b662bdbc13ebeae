//! What the broker counts about itself.

pub mod connections;
pub mod counter;
pub mod histogram;
pub mod requests;
pub mod state;
pub mod traffic;

pub use connections::{Connections, ListenerConnections, Open};
pub use counter::{Counter, Gauge, OneMore};
pub use histogram::Histogram;
pub use requests::Requests;
pub use state::{BrokerState, State};
pub use traffic::{PartitionTraffic, TotalTraffic, Traffic};

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
    pub waiting_fetches: Gauge,
    pub waiting_produces: Gauge,
    /// Requests that ended with UNKNOWN_SERVER_ERROR, as an answer that could not be written: each
    /// is a bug.
    pub unknown_server_errors: Counter,
}
