//! A whole broker in this process: its start, its stop, and what strangers send to its sockets.
#![expect(clippy::disallowed_methods, reason = "clients are not part of the broker's world")]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test")]

mod addresses;
mod admin;
mod compaction;
mod config;
mod groups;
mod hostile;
mod limits;
mod lives;
mod scarce_files;
mod world;

/// What strangers send is answered by the production allocator too: another one may abort where
/// this one refuses.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
