//! Groups whose members assign their partitions themselves: JoinGroup and SyncGroup.

mod commits;
mod describe;
pub(super) mod group;
mod heartbeat;
mod instances;
mod join;
mod leave;
mod member;
pub(super) mod migration;
mod patience;
mod rebalance;
mod replay;
pub(super) mod replies;
mod sessions;
mod skills;
mod sync;
mod turn;
pub(super) mod versions;
mod vote;
