//! Reconcile: the partitions on this broker are made what the metadata says, image after image.

mod assign;
mod follow;
mod open;
mod parts;
mod reconciler;
mod renamed;

pub use follow::follow;
pub use parts::Parts;
pub use reconciler::Reconciler;
