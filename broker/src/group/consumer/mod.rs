//! Groups whose partitions the coordinator assigns (KIP-848).

pub(super) mod assignor;
pub(super) mod commits;
pub(super) mod group;
pub(super) mod member;
mod metadata_hash;
pub(super) mod outlook;
mod replay;
