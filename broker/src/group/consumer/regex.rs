//! When the patterns of a consumer group are looked up, and what that does to the group.
//!
//! As Kafka's `GroupMetadataManager.maybeUpdateRegularExpressions` and what it starts: beside the
//! heartbeats, all patterns of a group at a time, each with a record of key 16; the group's epoch is
//! raised where they stand for other topics than before. Kafka looks at most every 10 seconds and
//! only while members heartbeat; here it is at most every second, by a timer, so that a member does
//! not wait for partitions because another came just before it.

use super::group::{ConsumerGroup, named_topics};
use super::member::Member;
use super::metadata_hash::metadata_hash;
use super::pace::millis;
use super::patterns::{check, resolve};
use super::rules::Refusal;
use crate::coordinator::{Effects, Moment};
use crate::group::state::{Decision, Group, State, Timer};
use kraft::image::Image;
use protocol::coordinator::group::{ConsumerGroupValue, GroupId, GroupRecord, RegexValue};
use protocol::error::ErrorCode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Milliseconds between two look-ups for one group, at least.
const LOOKUP_INTERVAL_MS: i64 = 1000;

impl State {
    /// A member's record was applied: a pattern that is new is looked up soon.
    pub(super) fn look_up_new_patterns(&mut self, moment: &Moment<'_>, id: &GroupId) {
        let Some(Group::Consumer(group)) = self.groups.get(id) else { return };
        let is_new = |it: &Arc<str>| !group.regexes().contains_key(it);
        if patterns(group).any(is_new) {
            let at = soonest(moment, group);
            self.look_up_patterns_at(id, at);
        }
    }

    /// A pattern's record was applied: it is looked up again when it has grown old.
    pub(super) fn look_up_old_patterns(&mut self, moment: &Moment<'_>, id: &GroupId) {
        let interval = moment.config.values.coordinator.consumer_regex_refresh_interval_ms;
        self.look_up_patterns_at(id, moment.now + millis(interval));
    }

    /// Topics came or went, and patterns may stand for others than before.
    pub(in crate::group) fn patterns_image_changed(&mut self, moment: &Moment<'_>, old: &Image) {
        let delta = old.delta_to(moment.image);
        if !delta.topics_created.is_empty() || !delta.topics_deleted.is_empty() {
            self.look_up_stale_patterns(moment);
        }
    }

    /// The patterns that were looked up in an older image, as all are that another broker left.
    pub(in crate::group) fn look_up_stale_patterns(&mut self, moment: &Moment<'_>) {
        let is_stale = |it: &RegexValue| it.version < moment.image.offset;
        let consumer_groups = self.groups.iter().filter_map(|(id, group)| match group {
            Group::Consumer(group) => Some((id, group)),
            Group::Classic(_) => None,
        });
        let stale = consumer_groups.filter(|(_, group)| group.regexes().values().any(is_stale));
        let stale: Vec<_> =
            stale.map(|(id, group)| (Arc::clone(id), soonest(moment, group))).collect();
        for (id, at) in stale {
            self.look_up_patterns_at(&id, at);
        }
    }

    /// Or before that, if that is said already.
    fn look_up_patterns_at(&mut self, id: &GroupId, at: Duration) {
        let timer = Timer::ConsumerRegex(Arc::clone(id));
        if self.timers.deadline(&timer).is_none_or(|deadline| at < deadline) {
            self.timers.set(timer, at);
        }
    }

    /// The timer's step.
    pub(in crate::group) fn look_up_patterns(
        &mut self,
        moment: &Moment<'_>,
        id: &GroupId,
    ) -> Decision {
        match self.groups.get(id) {
            Some(Group::Consumer(group)) => {
                Effects { records: looked_up(group, id, moment), replies: Vec::new() }
            }
            Some(Group::Classic(_)) | None => Effects::none(),
        }
    }
}

/// What follows from a member's pattern being another one; whether the group's epoch must be raised
/// for it at once. INVALID_REGULAR_EXPRESSION for what is no pattern.
pub(super) fn pattern_records(
    (id, group): (&GroupId, &ConsumerGroup),
    (old, new): (Option<&Arc<str>>, Option<&Arc<str>>),
    records: &mut Vec<GroupRecord>,
) -> Result<bool, Refusal> {
    let subscribers = |it: &Arc<str>| patterns(group).filter(|other| *other == it).count();
    if let Some(old) = old.filter(|it| subscribers(it) == 1) {
        records.push(GroupRecord::Regex(Arc::clone(id), Arc::clone(old), None));
    }
    let Some(new) = new else { return Ok(true) };
    if subscribers(new) == 0 {
        let refusal = |why| Refusal::new(ErrorCode::InvalidRegularExpression, why);
        check(new).map_err(refusal)?;
    }
    Ok(group.regexes().contains_key(new))
}

/// Those that members subscribe to.
fn patterns(group: &ConsumerGroup) -> impl Iterator<Item = &Arc<str>> {
    group.members().values().filter_map(Member::regex)
}

/// When the patterns of a group may be looked up next.
fn soonest(moment: &Moment<'_>, group: &ConsumerGroup) -> Duration {
    let last = group.regexes().values().map(|it| it.timestamp_ms).max().unwrap_or(0);
    // A clock that was put back must not stop the look-ups.
    let wait = last.saturating_add(LOOKUP_INTERVAL_MS).saturating_sub(moment.wall_ms);
    let wait = wait.clamp(0, LOOKUP_INTERVAL_MS);
    moment.now + Duration::from_millis(u64::try_from(wait).unwrap_or(0))
}

/// A record for each pattern, and the group's new epoch if anything became of it.
fn looked_up(group: &ConsumerGroup, id: &GroupId, moment: &Moment<'_>) -> Vec<GroupRecord> {
    let resolved = resolve(&patterns(group).cloned().collect(), moment.image);
    let was = |pattern| group.regexes().get(pattern).map_or(&[][..], |it| &it.topics);
    let has_changed = resolved.iter().any(|(pattern, topics)| was(pattern) != *topics);
    let hash = metadata_hash(&topics(group, &resolved), moment.image);
    let record = |(pattern, topics)| {
        let value =
            RegexValue { topics, version: moment.image.offset, timestamp_ms: moment.wall_ms };
        GroupRecord::Regex(Arc::clone(id), pattern, Some(value))
    };
    let mut records: Vec<_> = resolved.into_iter().map(record).collect();
    if !records.is_empty() && (has_changed || hash != group.metadata_hash()) {
        let value = ConsumerGroupValue { epoch: group.epoch() + 1, metadata_hash: hash };
        records.push(GroupRecord::Consumer(Arc::clone(id), Some(value)));
    }
    records
}

/// All that the members subscribe to, by name or by a pattern.
fn topics(
    group: &ConsumerGroup,
    resolved: &BTreeMap<Arc<str>, Vec<Arc<str>>>,
) -> BTreeSet<Arc<str>> {
    let by_name = named_topics(group.members().values().map(|member| &member.about));
    by_name.chain(resolved.values().flatten()).cloned().collect()
}
