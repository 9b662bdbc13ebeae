//! What each record of a consumer group does to the shard's groups.

use super::group::ConsumerGroup;
use crate::coordinator::Moment;
use crate::group::state::{Group, State};
use protocol::coordinator::group::{GroupId, GroupRecord};
use std::sync::Arc;
use std::time::Duration;

impl State {
    /// Keys 3 to 8 and 16. A tombstone of what is not there is no news: compaction may have taken
    /// the record before it. Whatever else had the group's name is no more.
    pub(in crate::group) fn replay_consumer(&mut self, moment: &Moment<'_>, record: GroupRecord) {
        let Some((id, is_tombstone)) = address(&record) else { return };
        if let GroupRecord::Consumer(_, None) = record {
            if matches!(self.groups.get(&id), Some(Group::Consumer(_))) {
                self.groups.remove(&id);
            }
            return;
        }
        let (is_member, is_regex) =
            (matches!(record, GroupRecord::Member(..)), matches!(record, GroupRecord::Regex(..)));
        match self.groups.get_mut(&id) {
            Some(Group::Consumer(group)) => group.replay(record, moment.now),
            _ if is_tombstone => return,
            _ => {
                let mut group = ConsumerGroup::default();
                group.replay(record, moment.now);
                self.groups.insert(Arc::clone(&id), Group::Consumer(group));
            }
        }
        if is_member {
            self.look_up_new_patterns(moment, &id);
        } else if is_regex {
            self.look_up_old_patterns(moment, &id);
        }
    }
}

/// Of which group a record speaks, and whether it takes something away.
fn address(record: &GroupRecord) -> Option<(GroupId, bool)> {
    let (id, is_tombstone) = match record {
        GroupRecord::Consumer(id, value) => (id, value.is_none()),
        GroupRecord::PartitionMetadata(id, value) => (id, value.is_none()),
        GroupRecord::Member(id, _, value) => (id, value.is_none()),
        GroupRecord::Target(id, value) => (id, value.is_none()),
        GroupRecord::MemberTarget(id, _, value) => (id, value.is_none()),
        GroupRecord::Current(id, _, value) => (id, value.is_none()),
        GroupRecord::Regex(id, _, value) => (id, value.is_none()),
        GroupRecord::Offset(..) | GroupRecord::Classic(..) => return None,
    };
    Some((Arc::clone(id), is_tombstone))
}

impl ConsumerGroup {
    /// Takes what a record of this group says.
    pub(super) fn replay(&mut self, record: GroupRecord, now: Duration) {
        self.moved(now);
        match record {
            GroupRecord::Consumer(_, Some(value)) => self.epoch_record(&value, now),
            GroupRecord::PartitionMetadata(_, value) => {
                self.partition_metadata_record(value.is_some());
            }
            GroupRecord::Member(_, member, value) => self.member_record(&member, value),
            GroupRecord::Target(_, value) => self.target_record(value.as_ref()),
            GroupRecord::MemberTarget(_, member, value) => self.member_target_record(member, value),
            GroupRecord::Current(_, member, value) => self.current_record(&member, value.as_ref()),
            GroupRecord::Regex(_, regex, value) => self.regex_record(regex, value),
            GroupRecord::Consumer(_, None) | GroupRecord::Offset(..) | GroupRecord::Classic(..) => {
            }
        }
    }
}
