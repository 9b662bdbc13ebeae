//! A consumer group: its members, its epochs, and who has which partition.

use super::assignor::Partitions;
use super::member::{LEFT, Member};
use protocol::coordinator::group::{
    ConsumerGroupValue, CurrentValue, GroupId, GroupRecord, MemberId, MemberTargetValue,
    MemberValue, RegexValue, TargetValue,
};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// What members say they are, and what the group is to those who list groups.
pub(in crate::group) const PROTOCOL_TYPE: &str = "consumer";

/// See the module. But for what is told at the fields, it is what the group's records say; only
/// the functions named after records change it.
#[derive(Clone, Debug)]
pub(in crate::group) struct ConsumerGroup {
    /// Raised by all that may change who should have what.
    epoch: i32,
    /// Of the topics that the members subscribe to, when the epoch was raised last.
    metadata_hash: i64,
    /// The epoch that the target assignment was computed for.
    assignment_epoch: i32,
    /// When it was computed; 0: the next one need not wait.
    assigned_at_ms: i64,
    members: BTreeMap<MemberId, Member>,
    targets: BTreeMap<MemberId, Partitions>,
    /// What each pattern stands for.
    regexes: BTreeMap<Arc<str>, RegexValue>,
    /// Whether there is a record of key 4, which brokers before 4.0 wrote.
    has_partition_metadata: bool,

    // Follows from the members.
    static_members: BTreeMap<Arc<str>, MemberId>,
    owners: BTreeMap<Uuid, BTreeMap<i32, MemberId>>,

    // In no record.
    /// The epoch in which the topics were looked at last; None: they may have changed since. An
    /// epoch beyond the group's was never written, so its look does not count.
    looked_in: Option<i32>,
    /// When this broker saw the epoch raised.
    raised_at: Duration,
    /// When this broker saw any of it change.
    moved_at: Duration,
}

impl Default for ConsumerGroup {
    /// Epochs begin at 1, so that the first member never gets 0, which would mean joining.
    fn default() -> ConsumerGroup {
        ConsumerGroup {
            epoch: 1,
            metadata_hash: 0,
            assignment_epoch: 1,
            assigned_at_ms: 0,
            members: BTreeMap::new(),
            targets: BTreeMap::new(),
            regexes: BTreeMap::new(),
            has_partition_metadata: false,
            static_members: BTreeMap::new(),
            owners: BTreeMap::new(),
            looked_in: None,
            raised_at: Duration::ZERO,
            moved_at: Duration::ZERO,
        }
    }
}

/// What the group is.
impl ConsumerGroup {
    pub(in crate::group) fn epoch(&self) -> i32 {
        self.epoch
    }

    pub(in crate::group) fn metadata_hash(&self) -> i64 {
        self.metadata_hash
    }

    pub(in crate::group) fn assignment_epoch(&self) -> i32 {
        self.assignment_epoch
    }

    /// In milliseconds of the day; 0: the next assignment need not wait.
    pub(in crate::group) fn assigned_at_ms(&self) -> i64 {
        self.assigned_at_ms
    }

    pub(in crate::group) fn members(&self) -> &BTreeMap<MemberId, Member> {
        &self.members
    }

    pub(in crate::group) fn member(&self, id: &str) -> Option<&Member> {
        self.members.get(id)
    }

    /// The member that has an instance id.
    pub(in crate::group) fn static_member(&self, instance: &str) -> Option<(&MemberId, &Member)> {
        self.members.get_key_value(self.static_members.get(instance)?)
    }

    /// What a member should have; None: it was never given a target.
    pub(in crate::group) fn target(&self, id: &str) -> Option<&Partitions> {
        self.targets.get(id)
    }

    pub(in crate::group) fn regexes(&self) -> &BTreeMap<Arc<str>, RegexValue> {
        &self.regexes
    }

    pub(in crate::group) fn has_partition_metadata(&self) -> bool {
        self.has_partition_metadata
    }

    /// The member that has a partition, or has not given it up yet.
    pub(in crate::group) fn owner(&self, topic: Uuid, partition: i32) -> Option<&MemberId> {
        self.owners.get(&topic)?.get(&partition)
    }

    /// When this broker saw the epoch raised.
    pub(in crate::group) fn raised_at(&self) -> Duration {
        self.raised_at
    }

    /// When this broker saw any of it change.
    pub(in crate::group) fn moved_at(&self) -> Duration {
        self.moved_at
    }

    pub(in crate::group) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Whether every member has what it should have.
    pub(in crate::group) fn is_settled(&self) -> bool {
        self.epoch <= self.assignment_epoch
            && self.members.values().all(|it| it.is_reconciled_to(self.assignment_epoch))
    }

    /// Kafka's name of the state (`ConsumerGroupState`).
    pub(in crate::group) fn state_name(&self) -> &'static str {
        if self.is_empty() {
            "Empty"
        } else if self.assignment_epoch < self.epoch {
            "Assigning"
        } else if !self.is_settled() {
            "Reconciling"
        } else {
            "Stable"
        }
    }

    pub(in crate::group) fn protocol_type(&self) -> &'static str {
        PROTOCOL_TYPE
    }

    /// Whether any member subscribes to a topic, by name or by a pattern that stands for it.
    pub(in crate::group) fn is_subscribed(&self, topic: &str) -> bool {
        let by_name = |it: &Member| it.about.subscribed_topics.iter().any(|it| **it == *topic);
        let by_regex = |it: &RegexValue| it.topics.iter().any(|it| **it == *topic);
        self.members.values().any(by_name) || self.regexes.values().any(by_regex)
    }

    /// The same of any of these topics.
    pub(in crate::group) fn is_subscribed_to_any(&self, topics: &BTreeSet<&str>) -> bool {
        let by_name = named_topics(self.members.values().map(|it| &it.about));
        let by_regex = self.regexes.values().flat_map(|it| &it.topics);
        by_name.chain(by_regex).any(|it| topics.contains(&**it))
    }

    /// Whether DeleteGroups may take it away.
    pub(in crate::group) fn may_delete(&self) -> Result<(), ErrorCode> {
        if self.is_empty() { Ok(()) } else { Err(ErrorCode::NonEmptyGroup) }
    }

    /// Whether the topics must be looked at before the group's epoch can be trusted.
    pub(in crate::group) fn must_look(&self) -> bool {
        self.looked_in.is_none_or(|epoch| self.epoch < epoch)
    }

    /// What takes the group away, its members too, in the order in which Kafka writes it.
    pub(in crate::group) fn tombstones(&self, id: &GroupId) -> Vec<GroupRecord> {
        let id = || Arc::clone(id);
        let members = || self.members.keys().cloned();
        let regexes = self.regexes.keys().cloned();
        (members().map(|member| GroupRecord::Current(id(), member, None)))
            .chain(members().map(|member| GroupRecord::MemberTarget(id(), member, None)))
            .chain([GroupRecord::Target(id(), None)])
            .chain(members().map(|member| GroupRecord::Member(id(), member, None)))
            .chain(regexes.map(|regex| GroupRecord::Regex(id(), regex, None)))
            .chain([GroupRecord::PartitionMetadata(id(), None), GroupRecord::Consumer(id(), None)])
            .collect()
    }
}

/// The topics that members name. Mostly all name the same, and that list is gone through once.
pub(super) fn named_topics<'a>(
    members: impl Iterator<Item = &'a MemberValue>,
) -> impl Iterator<Item = &'a Arc<str>> {
    let lists: BTreeSet<&[Arc<str>]> = members.map(|it| &*it.subscribed_topics).collect();
    lists.into_iter().flatten()
}

/// What is in no record.
impl ConsumerGroup {
    /// A topic that the group may subscribe to has changed.
    pub(in crate::group) fn look_again(&mut self) {
        self.looked_in = None;
    }

    pub(super) fn moved(&mut self, now: Duration) {
        self.moved_at = now;
    }

    /// The topics were looked at, and `epoch` is what the group's became by that.
    pub(in crate::group) fn looked(&mut self, epoch: i32) {
        self.looked_in = Some(epoch);
    }
}

/// The group's records.
impl ConsumerGroup {
    pub(super) fn epoch_record(&mut self, value: &ConsumerGroupValue, now: Duration) {
        self.epoch = value.epoch;
        self.metadata_hash = value.metadata_hash;
        self.raised_at = now;
    }

    pub(super) fn partition_metadata_record(&mut self, is_there: bool) {
        self.has_partition_metadata = is_there;
    }

    /// None: the group has no target any more.
    pub(super) fn target_record(&mut self, value: Option<&TargetValue>) {
        let (epoch, at) = value.map_or((-1, 0), |it| (it.epoch, it.timestamp_ms));
        self.assignment_epoch = epoch;
        self.assigned_at_ms = at;
    }

    pub(super) fn member_target_record(&mut self, id: MemberId, value: Option<MemberTargetValue>) {
        let Some(value) = value else {
            self.targets.remove(&id);
            return;
        };
        let topics = value.partitions.into_iter().filter(|topic| !topic.partitions.is_empty());
        let sorted = topics.map(|mut topic| {
            topic.partitions.sort_unstable();
            (topic.topic_id, topic.partitions)
        });
        self.targets.insert(id, sorted.collect());
    }

    pub(super) fn member_record(&mut self, id: &MemberId, value: Option<MemberValue>) {
        let old = self.members.get(id).and_then(|member| member.about.instance_id.clone());
        if let Some(instance) = old.filter(|it| self.static_members.get(it) == Some(id)) {
            self.static_members.remove(&instance);
        }
        let Some(value) = value else {
            self.disown(id);
            self.members.remove(id);
            return;
        };
        if let Some(instance) = &value.instance_id {
            self.static_members.insert(Arc::clone(instance), Arc::clone(id));
        }
        self.members.entry(Arc::clone(id)).or_default().about = value;
    }

    /// None: the member is about to be removed, and has nothing any more.
    pub(super) fn current_record(&mut self, id: &MemberId, value: Option<&CurrentValue>) {
        if value.is_none() && !self.members.contains_key(id) {
            return;
        }
        self.disown(id);
        let member = self.members.entry(Arc::clone(id)).or_default();
        match value {
            Some(value) => member.set_current(value),
            None => {
                member.epoch = LEFT;
                member.previous_epoch = LEFT;
                member.assigned.clear();
                member.revoking.clear();
            }
        }
        for (topic, partition) in member.holds() {
            self.owners.entry(topic).or_default().insert(partition, Arc::clone(id));
        }
    }

    /// Takes away what a member has; nothing that another one has by now.
    fn disown(&mut self, id: &MemberId) {
        let Some(member) = self.members.get(id) else { return };
        for (topic, partition) in member.holds() {
            let Some(owners) = self.owners.get_mut(&topic) else { continue };
            if owners.get(&partition) == Some(id) {
                owners.remove(&partition);
            }
            if owners.is_empty() {
                self.owners.remove(&topic);
            }
        }
    }

    pub(super) fn regex_record(&mut self, regex: Arc<str>, value: Option<RegexValue>) {
        match value {
            Some(value) => drop(self.regexes.insert(regex, value)),
            None => drop(self.regexes.remove(&regex)),
        }
    }
}
