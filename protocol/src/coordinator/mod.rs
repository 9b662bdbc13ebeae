//! Records of the coordinators' internal topics, and what group members say through a coordinator.

mod codec;
pub mod consumer_protocol;
pub mod group;
mod layout;
mod wire;

pub use wire::{Field, Malformed, Reader, TooLong};
