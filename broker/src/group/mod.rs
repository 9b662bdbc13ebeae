//! Groups: their members, their assignments and their offsets, as one machine for each partition
//! of `__consumer_offsets`.

mod classic;
mod config;
mod consumer;
mod deletion;
mod kind;
mod listing;
mod machine;
mod offsets;
mod record;
mod request;
mod state;

pub use consumer::fault;
pub use machine::GroupMachine;
pub use request::{Client, GROUP_ID_LEN_MAX, Reply, Request};
