//! Committed offsets.

pub(super) mod store;
