//! The offsets that groups have committed, by group and partition.

/// See the module.
#[derive(Debug, Default)]
pub(in crate::group) struct Offsets {}
