//! What a broker is told: by its file, its environment, its command line, and while it runs.

pub mod admin;
mod admin_port;
pub mod dynamic;
pub mod given;
mod ignored;
pub mod image;
pub mod listeners;
pub mod load;
mod providers;
pub mod quorum;
pub mod reread;
mod settle;
pub mod snapshot;
mod supervisor;
mod wanted_topics;

pub use admin::AdminConfig;
pub use dynamic::DynamicConfig;
pub use given::{Given, Refused};
pub use listeners::{Endpoint, Listener};
pub use snapshot::BrokerConfig;
pub use supervisor::notify_socket;
