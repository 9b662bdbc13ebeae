//! Groups whose partitions the coordinator assigns (KIP-848).

mod about;
mod advance;
pub(super) mod assignor;
pub(super) mod commits;
mod describe;
pub(super) mod group;
mod heartbeat;
mod image;
mod leave;
pub(super) mod member;
mod metadata_hash;
pub(super) mod outlook;
mod pace;
mod patterns;
mod reconcile;
mod regex;
mod replay;
mod rules;
mod seat;
mod target;

pub use rules::fault;
