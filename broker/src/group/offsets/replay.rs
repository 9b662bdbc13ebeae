//! What the record of a committed offset does to the shard.

use crate::group::classic::group::ClassicGroup;
use crate::group::state::{Group, State};
use protocol::coordinator::group::{OffsetKey, OffsetValue};
use std::sync::Arc;

impl State {
    /// Keys 0 and 1. Who commits without a group has one from then on, a classic one without
    /// members.
    pub(in crate::group) fn replay_offset(&mut self, key: OffsetKey, value: Option<OffsetValue>) {
        if value.is_some() {
            self.some_group(&key);
        }
        self.offsets.record(key, value);
    }

    /// A commit in a transaction that has not ended: whoever must not read what may be taken back
    /// has to wait.
    pub(in crate::group) fn leave_offset_open(&mut self, key: OffsetKey) {
        self.some_group(&key);
        self.offsets.leave_open(key);
    }

    fn some_group(&mut self, key: &OffsetKey) {
        if !self.groups.contains_key(&key.group) {
            let group = Group::Classic(ClassicGroup::default());
            self.groups.insert(Arc::clone(&key.group), group);
        }
    }
}
