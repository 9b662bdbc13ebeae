//! The controller's decisions: what to append to the metadata log for a request, and what to
//! answer once that is committed. Pure: the world is in the arguments.

mod bootstrap;
mod broker_heartbeat;
mod broker_registration;
mod configs;
mod controller_registration;
mod create_partitions;
mod create_topics;
mod decision;
mod delete_topics;
mod draft;
mod election;
mod expiry;
mod placement;
mod producer_ids;
mod reassignments;
mod refusal;
mod state;
mod topic_name;

#[cfg(test)]
mod tests;

pub use bootstrap::bootstrap_records;
pub use create_topics::NEW_PARTITIONS_MAX;
pub use decision::{Decide, Decision, Now};
pub use producer_ids::PRODUCER_ID_BLOCK_LEN;
pub use state::{Session, State};
pub use topic_name::{check_topic_name, collide};
