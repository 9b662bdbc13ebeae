//! Coordinators: event-sourced shards over the partitions of an internal topic, one task each.

pub mod machine;
pub mod timers;

pub use machine::{Effects, Machine, Moment, Refuse, Token};
pub use timers::Timers;
