//! What each record of a consumer group does to the shard's groups.

use super::group::ConsumerGroup;
use crate::coordinator::Moment;
use crate::group::state::{Group, State};
use protocol::coordinator::group::{GroupId, GroupRecord};
use std::sync::Arc;

impl State {
    /// Keys 3 to 8 and 16. A tombstone of what is not there is no news: compaction may have taken
    /// the record before it.
    pub(in crate::group) fn replay_consumer(&mut self, moment: &Moment<'_>, record: GroupRecord) {
        match record {
            GroupRecord::Consumer(id, Some(value)) => {
                self.some_consumer(&id, |group| group.epoch_record(&value, moment.now));
            }
            GroupRecord::Consumer(id, None) => {
                if matches!(self.groups.get(&id), Some(Group::Consumer(_))) {
                    self.groups.remove(&id);
                }
            }
            GroupRecord::PartitionMetadata(id, Some(_)) => {
                self.some_consumer(&id, |group| group.partition_metadata_record(true));
            }
            GroupRecord::PartitionMetadata(id, None) => {
                self.known_consumer(&id, |group| group.partition_metadata_record(false));
            }
            GroupRecord::Member(id, member, Some(value)) => {
                self.some_consumer(&id, |group| group.member_record(&member, Some(value)));
            }
            GroupRecord::Member(id, member, None) => {
                self.known_consumer(&id, |group| group.member_record(&member, None));
            }
            GroupRecord::Target(id, Some(value)) => {
                self.some_consumer(&id, |group| group.target_record(Some(&value)));
            }
            GroupRecord::Target(id, None) => {
                self.known_consumer(&id, |group| group.target_record(None));
            }
            GroupRecord::MemberTarget(id, member, Some(value)) => {
                self.some_consumer(&id, |group| group.member_target_record(member, Some(value)));
            }
            GroupRecord::MemberTarget(id, member, None) => {
                self.known_consumer(&id, |group| group.member_target_record(member, None));
            }
            GroupRecord::Current(id, member, Some(value)) => {
                self.some_consumer(&id, |group| group.current_record(&member, Some(&value)));
            }
            GroupRecord::Current(id, member, None) => {
                self.known_consumer(&id, |group| group.current_record(&member, None));
            }
            GroupRecord::Regex(id, regex, Some(value)) => {
                self.some_consumer(&id, |group| group.regex_record(regex, Some(value)));
            }
            GroupRecord::Regex(id, regex, None) => {
                self.known_consumer(&id, |group| group.regex_record(regex, None));
            }
            GroupRecord::Offset(..) | GroupRecord::Classic(..) => {}
        }
    }

    /// Changes the consumer group that a record speaks of. Whatever had its name is no more.
    fn some_consumer(&mut self, id: &GroupId, change: impl FnOnce(&mut ConsumerGroup)) {
        if let Some(Group::Consumer(group)) = self.groups.get_mut(id) {
            return change(group);
        }
        let mut group = ConsumerGroup::default();
        change(&mut group);
        self.groups.insert(Arc::clone(id), Group::Consumer(group));
    }

    fn known_consumer(&mut self, id: &GroupId, change: impl FnOnce(&mut ConsumerGroup)) {
        if let Some(Group::Consumer(group)) = self.groups.get_mut(id) {
            change(group);
        }
    }
}
