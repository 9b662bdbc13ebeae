//! Starts the built broker, and Apache Kafka beside it, and talks to them as a client would.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "this crate stands outside the broker, and stops at the first surprise"
)]

pub mod admin;
pub mod broker;
pub mod clients;
pub mod docker;
pub mod home;
pub mod http;
pub mod java_tools;
pub mod kafka;
pub mod lines;
pub mod member;
pub mod network;
pub mod ownership;
pub mod process;
pub mod wire;
