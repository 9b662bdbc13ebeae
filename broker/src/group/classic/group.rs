//! A classic group: its members, its generation, and where in a rebalance it is.

/// See the module.
#[derive(Debug)]
pub(in crate::group) struct ClassicGroup {}
