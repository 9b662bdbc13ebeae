//! Outlook: the members of a group as they will be once a step's records are applied, and what
//! follows from that.

use super::assignor::{Assignor, Partitions, Spec, Subscriber};
use super::group::{ConsumerGroup, named_topics};
use super::member::regex;
use super::metadata_hash::metadata_hash;
use kraft::image::Image;
use protocol::coordinator::group::{MemberId, MemberValue};
use protocol::ids::Uuid;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

static NOTHING: Partitions = Partitions::new();

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(in crate::group) struct Outlook<'a> {
    group: &'a ConsumerGroup,
    /// A member that is new, or that says other things than before.
    changed: Option<(&'a MemberId, &'a MemberValue)>,
    /// Members that will be gone.
    gone: &'a BTreeSet<MemberId>,
    /// Of those, the one whose place the changed member takes.
    replaced: Option<&'a MemberId>,
}

impl<'a> Outlook<'a> {
    /// With one member that is new or changed, and in place of `replaced`, if that is told.
    pub(super) fn with(
        group: &'a ConsumerGroup,
        changed: (&'a MemberId, &'a MemberValue),
        replaced: Option<&'a MemberId>,
    ) -> Outlook<'a> {
        Outlook { group, changed: Some(changed), gone: &NOBODY, replaced }
    }

    pub(in crate::group) fn without(
        group: &'a ConsumerGroup,
        gone: &'a BTreeSet<MemberId>,
    ) -> Outlook<'a> {
        Outlook { group, changed: None, gone, replaced: None }
    }

    pub(in crate::group) fn members(
        &self,
    ) -> impl Iterator<Item = (&'a MemberId, &'a MemberValue)> {
        let Outlook { group, changed, gone, replaced } = *self;
        let stays = move |id: &MemberId| {
            !gone.contains(id) && replaced != Some(id) && changed.is_none_or(|(it, _)| it != id)
        };
        let others = group.members().iter().filter(move |(id, _)| stays(id));
        others.map(|(id, member)| (id, &member.about)).chain(changed)
    }

    /// The patterns that somebody subscribes to.
    pub(in crate::group) fn regexes(&self) -> BTreeSet<Arc<str>> {
        self.members().filter_map(|(_, about)| regex(about).cloned()).collect()
    }

    /// The names of all topics that somebody subscribes to, whether they exist or not.
    pub(in crate::group) fn topics(&self) -> BTreeSet<Arc<str>> {
        let by_name = named_topics(self.members().map(|(_, about)| about));
        let regexes = self.regexes();
        let resolved = regexes.iter().filter_map(|regex| self.group.regexes().get(regex));
        by_name.chain(resolved.flat_map(|it| &it.topics)).cloned().collect()
    }

    /// Of all those topics.
    pub(in crate::group) fn metadata_hash(&self, image: &Image) -> i64 {
        metadata_hash(&self.topics(), image)
    }

    /// The assignor that most members want, of two the one that Kafka would take; None: none
    /// wants a certain one.
    pub(super) fn assignor(&self) -> Option<Arc<str>> {
        preferred(self.members().map(|(_, about)| about))
    }

    /// What the assignor is told.
    pub(super) fn spec(&self, image: &Image) -> Spec<'a> {
        let mut shared = BTreeMap::new();
        let mut spec = Spec::default();
        for (id, about) in self.members() {
            let key = (&about.subscribed_topics, regex(about));
            let topics = shared
                .entry(key)
                .or_insert_with(|| Arc::new(subscribed_ids(self.group, about, image)));
            for topic in topics.iter() {
                let count = image.topic_by_id(*topic).map_or(0, |it| it.partitions.len());
                spec.topics.insert(*topic, i32::try_from(count).unwrap_or(i32::MAX));
            }
            let subscriber = Subscriber {
                instance_id: about.instance_id.as_deref(),
                topics: Arc::clone(topics),
                target: self.target(id),
            };
            spec.members.insert(Arc::clone(id), subscriber);
        }
        spec
    }

    /// What a member should have had until now; one that takes another's place, what that had.
    /// None: it was never given a target.
    pub(super) fn known_target(&self, id: &MemberId) -> Option<&'a Partitions> {
        let is_changed = self.changed.is_some_and(|(it, _)| it == id);
        self.group.target(self.replaced.filter(|_| is_changed).unwrap_or(id))
    }

    /// The same, where none is nothing.
    pub(super) fn target(&self, id: &MemberId) -> &'a Partitions {
        self.known_target(id).unwrap_or(&NOTHING)
    }
}

static NOBODY: BTreeSet<MemberId> = BTreeSet::new();

/// The assignor that most of `members` want. Of two that are wanted alike, the one that Kafka's
/// own map (`ConsumerGroup.preferredServerAssignor`) has first.
pub(super) fn preferred<'a>(members: impl Iterator<Item = &'a MemberValue>) -> Option<Arc<str>> {
    let mut votes: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
    for assignor in members.filter_map(|about| about.server_assignor.as_ref()) {
        *votes.entry(assignor).or_default() += 1;
    }
    let is_first = |name: &str| name == Assignor::Uniform.name();
    let most = votes.into_iter().max_by_key(|(name, votes)| (*votes, is_first(name)));
    most.map(|(name, _)| Arc::clone(name))
}

/// The ids of the topics that a member subscribes to and that exist. A pattern that was not
/// resolved yet stands for none.
pub(super) fn subscribed_ids(
    group: &ConsumerGroup,
    about: &MemberValue,
    image: &Image,
) -> BTreeSet<Uuid> {
    let resolved = regex(about).and_then(|regex| group.regexes().get(regex));
    let names =
        about.subscribed_topics.iter().chain(resolved.into_iter().flat_map(|it| &it.topics));
    names.filter_map(|name| image.topic(name)).map(|topic| topic.id).collect()
}
