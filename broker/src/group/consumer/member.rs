//! A member of a consumer group: what it said of itself, and what it has.

use protocol::coordinator::group::{CurrentValue, MemberValue, TopicPartitions};
use protocol::ids::Uuid;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Partitions by topic, each with the epoch in which the member was given it. No topic without any.
pub(in crate::group) type Owned = BTreeMap<Uuid, BTreeMap<i32, i32>>;

/// In place of an epoch: the member is about to be removed.
pub(in crate::group) const LEFT: i32 = -1;
/// In place of an epoch: a static member that may come back within its session.
pub(in crate::group) const AWAY: i32 = -2;

/// See the module. It is what its records (keys 5 and 8) say, no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::group) struct Member {
    pub(in crate::group) about: MemberValue,
    pub(in crate::group) epoch: i32,
    pub(in crate::group) previous_epoch: i32,
    pub(in crate::group) progress: Progress,
    /// What it may work on.
    pub(in crate::group) assigned: Owned,
    /// What it must give up; nobody else is given it before that.
    pub(in crate::group) revoking: Owned,
}

/// How far a member is on its way to its target assignment (Kafka's `MemberState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::group) enum Progress {
    /// At its target, or at that of its epoch.
    Stable,
    /// It has to give up partitions first.
    Unrevoked,
    /// Others have to give up partitions that it should have.
    Unreleased,
    /// Written by a broker that knows more.
    Unknown,
}

impl Progress {
    /// The number in the record.
    pub(in crate::group) const fn code(self) -> i8 {
        match self {
            Progress::Stable => 0,
            Progress::Unrevoked => 1,
            Progress::Unreleased => 2,
            Progress::Unknown => 127,
        }
    }

    const fn from_code(code: i8) -> Progress {
        match code {
            0 => Progress::Stable,
            1 => Progress::Unrevoked,
            2 => Progress::Unreleased,
            _ => Progress::Unknown,
        }
    }
}

impl Default for Member {
    /// One that has said nothing yet, as Kafka's `ConsumerGroupMember.Builder` begins.
    fn default() -> Member {
        let nothing: Arc<str> = Arc::default();
        Member {
            about: MemberValue {
                instance_id: None,
                rack_id: None,
                client_id: Arc::clone(&nothing),
                client_host: Arc::clone(&nothing),
                subscribed_topics: Vec::new(),
                subscribed_regex: Some(nothing),
                rebalance_timeout_ms: -1,
                server_assignor: None,
                classic: None,
            },
            epoch: 0,
            previous_epoch: -1,
            progress: Progress::Stable,
            assigned: Owned::new(),
            revoking: Owned::new(),
        }
    }
}

impl Member {
    /// Whether it has all that the target assignment of that epoch gives it.
    pub(in crate::group) fn is_reconciled_to(&self, epoch: i32) -> bool {
        self.progress == Progress::Stable && self.epoch == epoch
    }

    /// Whether it speaks the classic protocol.
    pub(in crate::group) fn is_classic(&self) -> bool {
        self.about.classic.is_some()
    }

    /// The pattern it subscribes to. An empty one is none.
    pub(in crate::group) fn regex(&self) -> Option<&Arc<str>> {
        regex(&self.about)
    }

    /// Takes over what a record says that it has.
    pub(in crate::group) fn set_current(&mut self, value: &CurrentValue) {
        self.epoch = value.member_epoch;
        self.previous_epoch = value.previous_member_epoch;
        self.progress = Progress::from_code(value.state);
        self.assigned = owned(&value.assigned, value.member_epoch);
        self.revoking = owned(&value.pending_revocation, value.member_epoch);
    }

    /// The record that says what it has.
    pub(in crate::group) fn to_current(&self) -> CurrentValue {
        CurrentValue {
            member_epoch: self.epoch,
            previous_member_epoch: self.previous_epoch,
            state: self.progress.code(),
            assigned: listed(&self.assigned),
            pending_revocation: listed(&self.revoking),
        }
    }

    /// Every partition that nobody else may be given.
    pub(super) fn holds(&self) -> impl Iterator<Item = (Uuid, i32)> + '_ {
        [&self.assigned, &self.revoking].into_iter().flatten().flat_map(|(topic, partitions)| {
            partitions.keys().map(move |partition| (*topic, *partition))
        })
    }

    /// The epoch in which it was given a partition that it has not given up yet.
    pub(super) fn given_in(&self, topic: Uuid, partition: i32) -> Option<i32> {
        let find = |owned: &Owned| owned.get(&topic)?.get(&partition).copied();
        find(&self.assigned).or_else(|| find(&self.revoking))
    }
}

/// The pattern in what a member says of itself. An empty one is none.
pub(in crate::group) fn regex(about: &MemberValue) -> Option<&Arc<str>> {
    about.subscribed_regex.as_ref().filter(|regex| !regex.is_empty())
}

/// A record's partitions. Where it does not give each its epoch, as older brokers do not, the
/// member's epoch counts.
fn owned(topics: &[TopicPartitions], member_epoch: i32) -> Owned {
    let partitions = |topic: &TopicPartitions| {
        let is_told = topic.epochs.len() == topic.partitions.len();
        let told = topic.epochs.iter().copied().take_while(|_| is_told);
        let epochs = told.chain(std::iter::repeat(member_epoch.max(0)));
        topic.partitions.iter().copied().zip(epochs).collect()
    };
    let topics = topics.iter().filter(|topic| !topic.partitions.is_empty());
    topics.map(|topic| (topic.topic_id, partitions(topic))).collect()
}

fn listed(owned: &Owned) -> Vec<TopicPartitions> {
    let topics = owned.iter().map(|(topic_id, partitions)| TopicPartitions {
        topic_id: *topic_id,
        partitions: partitions.keys().copied().collect(),
        epochs: partitions.values().copied().collect(),
    });
    topics.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_what_its_record_says() {
        let topic = Uuid([7; 16]);
        let member = Member {
            epoch: 9,
            previous_epoch: 8,
            progress: Progress::Unrevoked,
            assigned: BTreeMap::from([(topic, BTreeMap::from([(0, 3), (4, 9)]))]),
            revoking: BTreeMap::from([(topic, BTreeMap::from([(1, 2)]))]),
            ..Member::default()
        };
        let mut again = Member::default();
        again.set_current(&member.to_current());
        assert_eq!(again, member);
        let given = [0, 1, 2, 4].map(|partition| member.given_in(topic, partition));
        assert_eq!(given, [Some(3), Some(2), None, Some(9)]);
    }

    #[test]
    fn without_epochs_a_partition_was_given_in_the_members_epoch() {
        let partitions = TopicPartitions { partitions: vec![5], ..TopicPartitions::default() };
        assert_eq!(owned(&[partitions], 4), BTreeMap::from([(Uuid::ZERO, [(5, 4)].into())]));
    }
}
