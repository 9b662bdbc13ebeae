//! What the record of a committed offset does to the shard.

use crate::group::classic::group::ClassicGroup;
use crate::group::state::{Group, State};
use protocol::coordinator::group::{OffsetKey, OffsetValue};
use std::sync::Arc;

impl State {
    /// Keys 0 and 1. Who commits without a group has one from then on, a classic one without
    /// members.
    pub(in crate::group) fn replay_offset(&mut self, key: OffsetKey, value: Option<OffsetValue>) {
        if value.is_some() && !self.groups.contains_key(&key.group) {
            let group = Group::Classic(ClassicGroup::default());
            self.groups.insert(Arc::clone(&key.group), group);
        }
        self.offsets.record(key, value);
    }
}
