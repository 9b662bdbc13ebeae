//! Groups whose members assign their partitions themselves: JoinGroup and SyncGroup.

pub(super) mod group;
