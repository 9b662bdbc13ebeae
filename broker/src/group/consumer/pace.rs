//! Pace: when a member should be heard of next. Ours, not Kafka's, which always answers the
//! configured interval and so needs several of them to bring a group from one assignment to the
//! next.
//!
//! While a group is on its way to a new assignment, its members come soon, because only the answer
//! to a heartbeat tells them what to give up and what they have got. How soon follows from what
//! it costs: a group causes at most 500 heartbeats a second, and who has waited long already can
//! wait a tenth of that time again. Those who have what they should have come soon too, until all
//! have: whoever is sent away for long meanwhile is the one that the next newcomer waits for. The
//! session time-out stays what it is.

use super::group::ConsumerGroup;
use super::member::{Member, Progress};
use std::time::Duration;

/// The soonest that a member is asked to come back.
const SOONEST_MS: u64 = 100;
/// Milliseconds for each member of the group: 500 heartbeats a second are one every two.
const SPREAD_MS: u64 = 2;
/// A group that moves will often move again at once: members start one after the other.
const RESTLESS_MS: u64 = 3000;
/// The part of the time waited so far that a member can wait again.
const PATIENCE: u64 = 10;

/// Milliseconds until the next heartbeat of `member`, as it is after a step that moves the group or
/// not; `epoch` and `assignment_epoch` are the group's after it, `usual_ms` what is configured.
pub(super) fn interval_ms(
    (group, moves): (&ConsumerGroup, bool),
    member: &Member,
    (epoch, assignment_epoch): (i32, i32),
    now: Duration,
    usual_ms: i32,
) -> i32 {
    let since_ms =
        |at: Duration| u64::try_from(now.saturating_sub(at).as_millis()).unwrap_or(u64::MAX);
    let is_raised = epoch != group.epoch();
    let raised_ms = if is_raised { 0 } else { since_ms(group.raised_at()) };
    let waits = member.progress != Progress::Stable || assignment_epoch < epoch;
    // Within an interval all are heard of whom it may wait for.
    let usual = u64::try_from(usual_ms).unwrap_or(0);
    let waited_ms = if waits { raised_ms.saturating_sub(usual) } else { raised_ms };
    let members = u64::try_from(group.members().len()).unwrap_or(u64::MAX);
    let soon = SOONEST_MS.max(members.saturating_mul(SPREAD_MS)).max(waited_ms / PATIENCE);
    let is_restless = || moves || is_raised || since_ms(group.moved_at()) < RESTLESS_MS;
    if usual <= soon || !(waits || is_restless() || !group.is_settled()) {
        return usual_ms;
    }
    i32::try_from(soon).unwrap_or(i32::MAX).min(usual_ms)
}

/// Of a config or a request; what is negative is no time.
pub(super) fn millis(ms: i32) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_soon_while_something_is_under_way() {
        let check = |members, progress, assigned, since, want| {
            check(&group(members, Progress::Stable), progress, assigned, since, want);
        };
        check(10, Progress::Stable, 1, (0, 0), 100);
        check(10, Progress::Stable, 1, (2999, 2999), 299);
        check(10, Progress::Stable, 1, (9000, 2999), 900);
        check(10, Progress::Stable, 1, (3000, 3000), 5000);
        check(10, Progress::Stable, 0, (5000, 4000), 100);
        check(10, Progress::Stable, 0, (7000, 4000), 200);
        check(10, Progress::Unreleased, 1, (25_000, 9000), 2000);
        check(10, Progress::Unrevoked, 1, (100_000, 9000), 5000);
        check(200, Progress::Stable, 1, (0, 0), 400);
        check(3000, Progress::Stable, 1, (0, 0), 5000);
    }

    #[test]
    fn who_has_its_partitions_comes_soon_until_all_have_theirs() {
        let group = group(10, Progress::Unrevoked);
        check(&group, Progress::Stable, 1, (9000, 8000), 900);
        check(&group, Progress::Stable, 1, (60_000, 50_000), 5000);
    }

    /// Of so many members in the epoch of its target, the last one so far on its way.
    fn group(members: usize, last: Progress) -> ConsumerGroup {
        let mut group = ConsumerGroup::default();
        for number in 1..=members {
            let progress = if number == members { last } else { Progress::Stable };
            let member = Member { epoch: 1, progress, ..Member::default() };
            group.current_record(&number.to_string().into(), Some(&member.to_current()));
        }
        group
    }

    /// `since`: milliseconds since the epoch was raised, and since anything moved.
    #[track_caller]
    fn check(
        group: &ConsumerGroup,
        progress: Progress,
        assigned: i32,
        since: (u64, u64),
        want: i32,
    ) {
        let mut group = group.clone();
        let now = Duration::from_millis(since.0);
        group.moved(Duration::from_millis(since.0 - since.1));
        let member = Member { progress, ..Member::default() };
        let got = interval_ms((&group, false), &member, (1, assigned), now, 5000);
        assert_eq!(got, want, "{since:?}");
    }
}
