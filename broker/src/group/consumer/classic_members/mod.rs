//! Members of a consumer group that speak the classic protocol (KIP-848, "Migration"): JoinGroup,
//! SyncGroup, Heartbeat and LeaveGroup, served by the group's own assignment.
//!
//! A member's epoch is its generation. Nobody waits for others: a member that must give up
//! partitions, or may have more, hears REBALANCE_IN_PROGRESS from its heartbeat, joins, and syncs.

mod heartbeat;
mod identity;
mod join;
mod leave;
mod sync;
mod timers;
