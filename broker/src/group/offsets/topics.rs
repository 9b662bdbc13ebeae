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
use protocol::messages::OffsetCommitRequest;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Records of one batch, so that it fits a segment whatever the names.
const RECORDS_MAX: usize = 1000;
/// In the place of an id.
const WITHOUT_ID: Uuid = Uuid::ZERO;
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
        for (name, id) in went {
            self.topics_that_went.insert((Arc::clone(&name), WITHOUT_ID));
            self.topics_that_went.insert((name, id));
        }
        batches(self.keys_of_topics_that_went(moment))
    }

    /// The same of topics that went while nobody was here.
    pub(in crate::group) fn forget_topics_that_went(
        &mut self,
        moment: &Moment<'_>,
    ) -> Vec<Decision> {
        for name in self.offsets.topics() {
            let now = moment.image.topic(name).map(|topic| topic.id);
            let went = ids(&self.offsets, name).filter(|id| !id.is_zero() && Some(*id) != now);
            self.topics_that_went.extend(went.map(|id| (Arc::clone(name), id)));
        }
        batches(self.keys_of_topics_that_went(moment))
    }

    /// Somebody commits of a topic of which this shard has not heard: it is to come, or it went
    /// already.
    pub(super) fn wait_for_strange_topics(
        &mut self,
        moment: &Moment<'_>,
        request: &OffsetCommitRequest,
    ) {
        for topic in &request.topics {
            let id = Uuid::from(topic.topic_id);
            if !id.is_zero() && moment.image.topic_by_id(id).is_none() {
                let timer = Timer::StrangeTopic(self.offsets.topic_name(topic.name.as_str()), id);
                if self.timers.deadline(&timer).is_none() {
                    self.timers.set(timer, moment.now.saturating_add(STRANGE));
                }
            }
        }
    }

    /// What was waited for is there, or never will be.
    pub(in crate::group) fn strange_topic_is_due(
        &mut self,
        moment: &Moment<'_>,
        name: Arc<str>,
        id: Uuid,
    ) -> Option<Decision> {
        self.topics_that_went.insert((name, id));
        self.forget_more(moment)
    }

    /// One batch of what is left; the rest comes at once.
    pub(in crate::group) fn forget_more(&mut self, moment: &Moment<'_>) -> Option<Decision> {
        let mut batches = batches(self.keys_of_topics_that_went(moment)).into_iter();
        let first = batches.next();
        if batches.next().is_some() {
            self.timers.set(Timer::TopicsWent, moment.now);
        }
        first
    }

    /// What is left to be taken away. Topics of which nothing is, or which came after all, are not
    /// looked at again.
    fn keys_of_topics_that_went(&mut self, moment: &Moment<'_>) -> Vec<OffsetKey> {
        let offsets = &self.offsets;
        self.topics_that_went.retain(|topic| {
            moment.image.topic_by_id(topic.1).is_none() && keys(offsets, topic).next().is_some()
        });
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

/// What is committed of that topic. [`WITHOUT_ID`]: what names no id, as older brokers did, and so
/// not another topic that came later; and what a transaction that has not ended commits, if nothing
/// else is.
fn keys<'a>(
    offsets: &'a Offsets,
    (name, id): &'a (Arc<str>, Uuid),
) -> impl Iterator<Item = OffsetKey> + 'a {
    let of_it = move |key: &OffsetKey| topic_id(offsets, key) == Some(*id);
    let open = offsets.open().filter(move |key| id.is_zero() && key.topic == *name);
    let only_open = open.filter(move |key| topic_id(offsets, key).is_none()).cloned();
    offsets.keys_of_topic(name).filter(of_it).chain(only_open)
}

fn batches(keys: Vec<OffsetKey>) -> Vec<Decision> {
    let tombstones: Vec<_> = keys.into_iter().map(tombstone).collect();
    let batch = |records: &[GroupRecord]| Effects { records: records.to_vec(), replies: vec![] };
    tombstones.chunks(RECORDS_MAX).map(batch).collect()
}
