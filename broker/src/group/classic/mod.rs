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
mod replies;
mod sessions;
mod sync;
mod turn;
mod vote;
