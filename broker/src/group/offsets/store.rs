//! The offsets that groups have committed, by group and partition.

use protocol::coordinator::group::{GroupId, OffsetKey, OffsetValue};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// For a record's `expire_timestamp_ms`: it does not say.
pub(super) const NO_EXPIRY: i64 = -1;

/// Of one group: by topic and partition.
pub(in crate::group) type OffsetsOfGroup = BTreeMap<Arc<str>, BTreeMap<i32, OffsetValue>>;

/// See the module.
#[derive(Debug, Default)]
pub(in crate::group) struct Offsets {
    by_group: BTreeMap<GroupId, OffsetsOfGroup>,
    /// The groups that have any of a topic.
    by_topic: BTreeMap<Arc<str>, BTreeSet<GroupId>>,
    /// What is committed in transactions that have not ended. Hardly ever anything.
    open: BTreeSet<OffsetKey>,
}

impl Offsets {
    /// What a record says: a commit, or (None) that it is no more.
    pub(super) fn record(&mut self, key: OffsetKey, value: Option<OffsetValue>) {
        match value {
            Some(value) => self.insert(key, value),
            None => self.remove(&key),
        }
    }

    fn insert(&mut self, key: OffsetKey, value: OffsetValue) {
        let topics = self.by_group.entry(Arc::clone(&key.group)).or_default();
        if let Some(partitions) = topics.get_mut(&key.topic) {
            partitions.insert(key.partition, value);
            return;
        }
        // One copy of a name for all groups.
        let known = self.by_topic.get_key_value(&key.topic).map(|(name, _)| Arc::clone(name));
        let topic = known.unwrap_or(key.topic);
        self.by_topic.entry(Arc::clone(&topic)).or_default().insert(key.group);
        topics.insert(topic, BTreeMap::from([(key.partition, value)]));
    }

    fn remove(&mut self, key: &OffsetKey) {
        self.open.remove(key);
        let Some(topics) = self.by_group.get_mut(&key.group) else { return };
        let Some(partitions) = topics.get_mut(&key.topic) else { return };
        partitions.remove(&key.partition);
        if !partitions.is_empty() {
            return;
        }
        topics.remove(&key.topic);
        if topics.is_empty() {
            self.by_group.remove(&key.group);
        }
        if let Some(groups) = self.by_topic.get_mut(&key.topic) {
            groups.remove(&key.group);
            if groups.is_empty() {
                self.by_topic.remove(&key.topic);
            }
        }
    }

    /// A transaction that has not ended commits an offset of the partition.
    pub(super) fn leave_open(&mut self, key: OffsetKey) {
        self.open.insert(key);
    }

    pub(super) fn is_open(&self, group: &str, topic: &str, partition: i32) -> bool {
        self.open
            .iter()
            .any(|it| *it.group == *group && *it.topic == *topic && it.partition == partition)
    }

    /// The keys of what transactions that have not ended commit.
    pub(in crate::group) fn open(&self) -> impl Iterator<Item = &OffsetKey> {
        self.open.iter()
    }

    /// All that a group has committed; None: nothing.
    pub(in crate::group) fn of_group(&self, group: &str) -> Option<&OffsetsOfGroup> {
        self.by_group.get(group)
    }

    pub(super) fn get(&self, group: &str, topic: &str, partition: i32) -> Option<&OffsetValue> {
        self.by_group.get(group)?.get(topic)?.get(&partition)
    }

    /// The name of a topic, as it is held here already: one copy for all commits.
    pub(super) fn topic_name(&self, topic: &str) -> Arc<str> {
        self.by_topic
            .get_key_value(topic)
            .map_or_else(|| topic.into(), |(name, _)| Arc::clone(name))
    }

    /// The topics of which anything is committed.
    pub(super) fn topics(&self) -> impl Iterator<Item = &Arc<str>> {
        self.by_topic.keys()
    }

    /// The keys of all that is committed of a topic.
    pub(super) fn keys_of_topic(&self, topic: &Arc<str>) -> impl Iterator<Item = OffsetKey> {
        let groups = self.by_topic.get(topic).into_iter().flatten();
        groups.flat_map(move |group| {
            let partitions = self.by_group.get(group).and_then(|topics| topics.get(topic));
            let numbers = partitions.into_iter().flat_map(BTreeMap::keys);
            numbers.map(move |number| key(group, topic, *number))
        })
    }
}

/// The key of a partition's offset.
pub(in crate::group) fn key(group: &GroupId, topic: &Arc<str>, partition: i32) -> OffsetKey {
    OffsetKey { group: Arc::clone(group), topic: Arc::clone(topic), partition }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::ids::Uuid;

    fn value(offset: i64) -> OffsetValue {
        OffsetValue {
            offset,
            leader_epoch: -1,
            metadata: Arc::default(),
            commit_timestamp_ms: 0,
            expire_timestamp_ms: -1,
            topic_id: Uuid::ZERO,
        }
    }

    #[test]
    fn what_is_removed_leaves_nothing_behind() {
        let mut offsets = Offsets::default();
        let (group, topic): (GroupId, Arc<str>) = ("g".into(), "t".into());
        offsets.record(key(&group, &topic, 0), Some(value(1)));
        offsets.record(key(&group, &topic, 1), Some(value(2)));
        offsets.record(key(&group, &topic, 1), Some(value(3)));
        assert_eq!(offsets.get("g", "t", 1), Some(&value(3)));
        assert_eq!(offsets.keys_of_topic(&topic).count(), 2);
        offsets.record(key(&group, &topic, 0), None);
        offsets.record(key(&group, &topic, 9), None);
        assert_eq!(offsets.keys_of_topic(&topic).count(), 1);
        offsets.record(key(&group, &topic, 1), None);
        assert!(offsets.of_group("g").is_none());
        assert_eq!(offsets.topics().count(), 0);
    }
}
