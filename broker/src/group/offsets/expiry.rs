//! Expiry: offsets that are old enough go, and then groups that have nothing left.

use super::delete::tombstone;
use super::store::{NO_EXPIRY, key};
use crate::coordinator::{Effects, Moment};
use crate::group::state::{Decision, Group, State, Timer};
use protocol::coordinator::group::{GroupId, GroupRecord, OffsetValue};
use std::time::Duration;

/// Records after which no more is looked at, so that a batch fits a segment.
const RECORDS_MAX: usize = 1000;
/// Between two batches of one look.
const PAUSE: Duration = Duration::from_millis(100);
const MS_PER_MINUTE: i64 = 60_000;

impl State {
    /// The first look comes an interval after the load, as Kafka's.
    pub(in crate::group) fn schedule_expiry(&mut self, moment: &Moment<'_>) {
        let interval_ms = moment.config.values.coordinator.offsets_retention_check_interval_ms;
        let interval = Duration::from_millis(interval_ms.try_into().unwrap_or(0));
        self.timers.set(Timer::OffsetsExpiry, moment.now.saturating_add(interval));
    }

    /// Looks at every group, as Kafka's `GroupCoordinatorShard.cleanupGroupMetadata`.
    pub(in crate::group) fn expire_offsets(&mut self, moment: &Moment<'_>) -> Decision {
        let mut records = Vec::new();
        let mut is_whole = true;
        for (id, group) in &self.groups {
            self.expire_group(moment, id, group, &mut records);
            if RECORDS_MAX <= records.len() {
                is_whole = false;
                break;
            }
        }
        self.schedule_expiry(moment);
        if !is_whole {
            self.timers.set(Timer::OffsetsExpiry, moment.now.saturating_add(PAUSE));
        }
        Effects { records, replies: Vec::new() }
    }

    fn expire_group(
        &self,
        moment: &Moment<'_>,
        id: &GroupId,
        group: &Group,
        records: &mut Vec<GroupRecord>,
    ) {
        let minutes = moment.config.values.coordinator.offsets_retention_minutes;
        let retention_ms = i64::from(minutes) * MS_PER_MINUTE;
        let mut are_all_over = true;
        for (topic, partitions) in self.offsets.of_group(id).into_iter().flatten() {
            if group.is_subscribed(topic) {
                are_all_over = false;
                continue;
            }
            for (number, value) in partitions {
                if RECORDS_MAX <= records.len() {
                    return;
                }
                let since = group.offset_ages_since(value.commit_timestamp_ms);
                let is_over = since
                    .is_some_and(|since| is_over(value, since, moment.wall_ms, retention_ms))
                    && !self.offsets.is_open(id, topic, *number);
                are_all_over &= is_over;
                records.extend(is_over.then(|| tombstone(key(id, topic, *number))));
            }
        }
        let is_open = self.offsets.open().any(|key| key.group == *id);
        if are_all_over && !is_open && group.is_empty() {
            records.extend(group.tombstones(id));
        }
    }
}

/// Whether an offset that grows old since then has been kept for long enough (KIP-211). One that
/// says itself when it expires, as old clients could, is taken at its word.
fn is_over(value: &OffsetValue, since_ms: i64, wall_ms: i64, retention_ms: i64) -> bool {
    match value.expire_timestamp_ms {
        NO_EXPIRY => retention_ms <= wall_ms.saturating_sub(since_ms),
        expires_ms => expires_ms <= wall_ms,
    }
}
