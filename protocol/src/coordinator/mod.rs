//! Records of the coordinators' internal topics.

mod codec;
pub mod group;
mod layout;
mod wire;

pub use wire::{Malformed, TooLong};
