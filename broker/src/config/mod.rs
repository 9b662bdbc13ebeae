//! What a broker is told: by its file, by its command line, and while it runs.

pub mod admin;
pub mod dynamic;
pub mod given;
pub mod listeners;
pub mod quorum;
pub mod snapshot;

pub use admin::AdminConfig;
pub use dynamic::DynamicConfig;
pub use given::{Given, Refused};
pub use listeners::{Endpoint, Listener};
pub use snapshot::BrokerConfig;
