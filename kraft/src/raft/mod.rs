//! Agreement on the metadata log: openraft on a log that is Apache Kafka's.

pub mod types;
