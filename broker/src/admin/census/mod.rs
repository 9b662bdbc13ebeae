//! What is counted when somebody asks: groups, how far they are behind, and what goes through topics.

mod ends;
mod groups;
mod traffic;

pub(super) use ends::ends;
pub(super) use groups::{Group, Listed, details, list};
pub(super) use traffic::{total_traffic, traffic};
