//! What is counted when somebody asks: groups, and how far they are behind.

mod ends;
mod groups;

pub(super) use ends::ends;
pub(super) use groups::{Group, Listed, details, list};
