//! Coordinators: event-sourced shards over the partitions of an internal topic, one machine each.

mod active;
mod alarm;
pub mod asked;
mod load;
pub mod machine;
pub mod placement;
pub mod record;
mod refusal;
pub mod registry;
mod scene;
mod shard;
pub mod timers;

pub use asked::Asked;
pub use machine::{Effects, Machine, Moment, Refuse, Token, Tuning};
pub use placement::partition_of;
pub use record::Record;
pub use registry::{Coordinator, World};
pub use timers::Timers;

#[cfg(test)]
mod tests;
