//! What differs between two images: what a broker must act on when it moves from one to the other.
//!
//! It is computed from the images and not collected while applying, so that a reader who skipped
//! some in between sees every difference once.

use super::config_resource::ConfigResource;
use super::map::Change;
use super::topic::{Partition, Topic};
use protocol::ids::{TopicName, Uuid};
use std::sync::Arc;

/// Everything that differs, each list in order of its keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delta {
    /// By name and id. A topic that was deleted and created again is in both lists.
    pub topics_deleted: Vec<(TopicName, Uuid)>,
    pub topics_created: Vec<(TopicName, Uuid)>,
    /// Those of deleted and created topics too.
    pub partitions: Vec<PartitionDelta>,
    /// Resources with an override set, changed or taken away.
    pub configs: Vec<ConfigResource>,
    /// Brokers that registered, changed or went.
    pub brokers: Vec<i32>,
    pub controllers: Vec<i32>,
    /// Features by name.
    pub features: Vec<Arc<str>>,
}

/// One partition's difference.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionDelta {
    pub topic: TopicName,
    pub topic_id: Uuid,
    pub partition: i32,
    /// None: it is new.
    pub old: Option<Arc<Partition>>,
    /// None: it is gone.
    pub new: Option<Arc<Partition>>,
}

impl Delta {
    pub fn is_empty(&self) -> bool {
        *self == Delta::default()
    }

    pub(super) fn created(&mut self, topic: &Topic) {
        self.topics_created.push((topic.name.clone(), topic.id));
        for (number, partition) in topic.partitions.iter() {
            self.push(topic, *number, (None, Some(partition)));
        }
    }

    pub(super) fn deleted(&mut self, topic: &Topic) {
        self.topics_deleted.push((topic.name.clone(), topic.id));
        for (number, partition) in topic.partitions.iter() {
            self.push(topic, *number, (Some(partition), None));
        }
    }

    pub(super) fn changed(&mut self, old: &Topic, new: &Topic) {
        for change in old.partitions.changes_to(&new.partitions) {
            let (number, states) = match change {
                Change::Added(number, new) => (number, (None, Some(new))),
                Change::Removed(number, old) => (number, (Some(old), None)),
                Change::Changed(number, old, new) => (number, (Some(old), Some(new))),
            };
            self.push(new, *number, states);
        }
    }

    fn push(
        &mut self,
        topic: &Topic,
        partition: i32,
        (old, new): (Option<&Arc<Partition>>, Option<&Arc<Partition>>),
    ) {
        self.partitions.push(PartitionDelta {
            topic: topic.name.clone(),
            topic_id: topic.id,
            partition,
            old: old.cloned(),
            new: new.cloned(),
        });
    }
}
