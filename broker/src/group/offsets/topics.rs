//! What is committed of a topic goes with it, and not with the next one of its name.
//!
//! A topic is known by its id, which commits name. That it went is noted until all of it is gone,
//! so that it is taken away later if the log takes nothing now.

use super::delete::tombstone;
use super::store::Offsets;
use crate::coordinator::{Effects, Moment};
use crate::group::state::{Decision, State, Timer};
use kraft::image::Image;
use protocol::coordinator::group::{GroupRecord, OffsetKey};
use protocol::ids::Uuid;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Records of one batch, so that it fits a segment whatever the names.
const RECORDS_MAX: usize = 1000;
/// Who makes a topic commits before its group's shard has heard of it, but not so long before.
const STRANGE: Duration = Duration::from_secs(60);

impl State {
    /// What is committed of topics that were there in `old`, and are no more.
    pub(in crate::group) fn forget_topics(
        &mut self,
        moment: &Moment<'_>,
        old: &Image,
    ) -> Vec<Decision> {
        let id = |image: &Image, name: &str| image.topic(name).map(|topic| topic.id);
        let names = self.offsets.topics().chain(self.offsets.open().map(|key| &key.topic));
        let went: BTreeSet<_> = names
            .filter_map(|name| Some((Arc::clone(name), id(old, name)?)))
            .filter(|(name, was)| id(moment.image, name) != Some(*was))
            .collect();
        let is_strange = |it: Uuid| !it.is_zero() && moment.image.topic_by_id(it).is_none();
        let strange = went.iter().any(|(name, was)| {
            let mut ids = ids(&self.offsets, name);
            ids.any(|it| it != *was && is_strange(it))
        });
        if strange {
            self.timers.set(Timer::StrangeTopics, moment.now.saturating_add(STRANGE));
        }
        self.topics_that_went.extend(went);
        batches(self.keys_of_topics_that_went())
    }

    /// The same of topics that went while nobody was here.
    pub(in crate::group) fn forget_topics_that_went(
        &mut self,
        moment: &Moment<'_>,
    ) -> Vec<Decision> {
        self.note_topics_that_went(moment);
        batches(self.keys_of_topics_that_went())
    }

    /// Those that records name by another id than the metadata.
    pub(in crate::group) fn note_topics_that_went(&mut self, moment: &Moment<'_>) {
        for name in self.offsets.topics() {
            let now = moment.image.topic(name).map(|topic| topic.id);
            let went = ids(&self.offsets, name).filter(|id| !id.is_zero() && Some(*id) != now);
            self.topics_that_went.extend(went.map(|id| (Arc::clone(name), id)));
        }
    }

    /// One batch of what is left; the rest comes at once.
    pub(in crate::group) fn forget_more(&mut self, moment: &Moment<'_>) -> Option<Decision> {
        let mut batches = batches(self.keys_of_topics_that_went()).into_iter();
        let first = batches.next();
        if batches.next().is_some() {
            self.timers.set(Timer::TopicsWent, moment.now);
        }
        first
    }

    /// What is left to be taken away. Topics of which nothing is are not looked at again.
    fn keys_of_topics_that_went(&mut self) -> Vec<OffsetKey> {
        let offsets = &self.offsets;
        self.topics_that_went.retain(|topic| keys(offsets, topic).next().is_some());
        self.topics_that_went.iter().flat_map(|topic| keys(offsets, topic)).collect()
    }
}

/// The ids by which commits name a topic.
fn ids<'a>(offsets: &'a Offsets, name: &'a Arc<str>) -> impl Iterator<Item = Uuid> + 'a {
    offsets.keys_of_topic(name).filter_map(|key| topic_id(offsets, &key))
}

/// None: nothing is committed.
fn topic_id(offsets: &Offsets, key: &OffsetKey) -> Option<Uuid> {
    let value = offsets.get(&key.group, &key.topic, key.partition);
    value.map(|value| value.topic_id)
}

/// What is committed of that topic, or without an id, as older brokers did, and so not of another
/// that came later; and what a transaction that has not ended commits, if nothing else is.
fn keys<'a>(
    offsets: &'a Offsets,
    (name, id): &'a (Arc<str>, Uuid),
) -> impl Iterator<Item = OffsetKey> + 'a {
    let is_of_it =
        move |key: &OffsetKey| topic_id(offsets, key).is_some_and(|it| it.is_zero() || it == *id);
    let open = offsets.open().filter(move |key| key.topic == *name);
    let only_open = open.filter(move |key| topic_id(offsets, key).is_none()).cloned();
    offsets.keys_of_topic(name).filter(is_of_it).chain(only_open)
}

fn batches(keys: Vec<OffsetKey>) -> Vec<Decision> {
    let tombstones: Vec<_> = keys.into_iter().map(tombstone).collect();
    let batch = |records: &[GroupRecord]| Effects { records: records.to_vec(), replies: vec![] };
    tombstones.chunks(RECORDS_MAX).map(batch).collect()
}
