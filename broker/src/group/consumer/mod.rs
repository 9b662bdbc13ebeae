//! Groups whose partitions the coordinator assigns (KIP-848).

mod about;
mod advance;
pub(super) mod assignor;
mod classic_members;
pub(super) mod commits;
mod describe;
mod downgrade;
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
mod upgrade;

pub use rules::fault;
