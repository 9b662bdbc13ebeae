//! Compaction seen from outside: what a consumer reads before, during and after it, and what a power
//! failure at any of its steps leaves.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod consumer;
mod crash;
mod model;
mod rules;
mod world;
