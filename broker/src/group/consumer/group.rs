//! A consumer group: its members, its epochs, and who has which partition.

/// See the module.
#[derive(Debug)]
pub(in crate::group) struct ConsumerGroup {}
