//! The APIs end to end, on a broker in this process and a disk in memory; a file a family.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod acls;
mod broker;
mod compaction;
mod config_resources;
mod configs;
mod consumer_groups;
mod coordinators;
mod delete_records;
mod describe;
mod fetch;
mod fetch_sessions;
mod large_groups;
mod list_offsets;
mod log_dirs;
mod lookup;
mod membership;
mod offsets;
mod produce;
mod producer_ids;
mod restart;
mod served;
mod table;
mod topics;
