//! Groups whose partitions the coordinator assigns (KIP-848).

mod about;
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
mod reconcile;
mod replay;
mod rules;
mod seat;
mod target;
