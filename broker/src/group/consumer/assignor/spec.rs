//! Spec: what an assignor is told of a group, and what it answers.

use protocol::coordinator::group::MemberId;
use protocol::ids::Uuid;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Partitions by topic, each topic's ascending, and no topic without any.
pub(in crate::group) type Partitions = BTreeMap<Uuid, Vec<i32>>;

/// What each member should have.
pub(in crate::group) type Assignment = BTreeMap<MemberId, Partitions>;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(in crate::group) struct Spec<'a> {
    /// How many partitions each topic has. What is not in here does not exist.
    pub(in crate::group) topics: BTreeMap<Uuid, i32>,
    pub(in crate::group) members: BTreeMap<MemberId, Subscriber<'a>>,
}

#[derive(Clone, Debug)]
pub(in crate::group) struct Subscriber<'a> {
    /// Of a static member.
    pub(in crate::group) instance_id: Option<&'a str>,
    /// Shared by those who want the same: that makes it quick to see.
    pub(in crate::group) topics: Arc<BTreeSet<Uuid>>,
    /// What it should have had until now.
    pub(in crate::group) target: &'a Partitions,
}

impl Spec<'_> {
    /// Whether all members want the same topics.
    pub(super) fn is_homogeneous(&self) -> bool {
        let mut wants = self.members.values().map(|member| &member.topics);
        let Some(first) = wants.next() else { return true };
        wants.all(|it| Arc::ptr_eq(it, first) || it == first)
    }
}
