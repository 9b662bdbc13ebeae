//! Groups whose partitions the coordinator assigns (KIP-848).

pub(super) mod assignor;
pub(super) mod group;
