//! Committed offsets.

mod commit;
mod delete;
mod expiry;
mod fetch;
mod replay;
pub(super) mod store;
mod topics;
