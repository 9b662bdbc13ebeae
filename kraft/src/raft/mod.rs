//! Agreement on the metadata log: openraft on a log that is Apache Kafka's.

pub mod batch;
pub mod log;
mod machine;
mod network;
pub mod open;
pub mod quorum;
mod retention;
pub mod shared;
pub mod snapshot;
mod store;
pub mod types;
mod vote;
mod window;

#[cfg(test)]
mod tests;
