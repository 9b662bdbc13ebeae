//! Real clients and tools against the real binary. One binary, so that it links once.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_possible_truncation,
    clippy::expect_used,
    reason = "a test stands outside the broker, and stops at the first surprise"
)]

mod addresses;
mod adopt;
mod cli;
mod doctor;
mod dump;
mod faults;
mod groups;
mod hostile;
mod librdkafka;
mod main_job;
mod old_clients;
mod packaging;
mod page;
mod prometheus;
mod service;
mod storage;
mod tools;
mod verbs;
mod wire;
