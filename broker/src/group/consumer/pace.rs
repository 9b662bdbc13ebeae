//! Pace: when a member should be heard of next. Ours, not Kafka's, which always answers the
//! configured interval and so needs several of them to bring a group from one assignment to the
//! next.
//!
//! While a group is on its way to a new assignment, its members come soon, because only the answer
//! to a heartbeat tells them what to give up and what they have got. How soon follows from what
//! it costs: a group causes at most 500 heartbeats a second, and who has waited long already can
//! wait a tenth of that time again. The session time-out stays what it is.

use super::group::ConsumerGroup;
use super::member::{Member, Progress};
use std::time::Duration;

/// The soonest that a member is asked to come back.
const SOONEST_MS: u64 = 100;
/// Milliseconds for each member of the group: 500 heartbeats a second are one every two.
const SPREAD_MS: u64 = 2;
/// A group that has changed will often change again at once: members start one after the other.
const RESTLESS_MS: u64 = 3000;
/// The part of the time waited so far that a member can wait again.
const PATIENCE: u64 = 10;

/// Milliseconds until the next heartbeat of `member`, as it is after the step; `epoch` and
/// `assignment_epoch` are the group's after it, `usual_ms` what is configured. The epoch was
/// raised at `raised_at`.
pub(super) fn interval_ms(
    group: &ConsumerGroup,
    member: &Member,
    (epoch, assignment_epoch): (i32, i32),
    (raised_at, now): (Duration, Duration),
    usual_ms: i32,
) -> i32 {
    let millis = now.saturating_sub(raised_at).as_millis();
    let since_ms = u64::try_from(millis).unwrap_or(u64::MAX);
    let waits = member.progress != Progress::Stable || assignment_epoch < epoch;
    if !waits && RESTLESS_MS <= since_ms {
        return usual_ms;
    }
    let members = u64::try_from(group.members().len()).unwrap_or(u64::MAX);
    let soon = SOONEST_MS.max(members.saturating_mul(SPREAD_MS)).max(since_ms / PATIENCE);
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
        let check = |members: i32, progress, epochs, since_ms: u64, want| {
            let mut group = ConsumerGroup::default();
            for number in 0..members {
                let value = Member::default().to_current();
                group.current_record(&number.to_string().into(), Some(&value));
            }
            let member = Member { progress, ..Member::default() };
            let times = (Duration::from_secs(1), Duration::from_millis(1000 + since_ms));
            assert_eq!(interval_ms(&group, &member, epochs, times, 5000), want);
        };
        check(10, Progress::Stable, (2, 2), 0, 100);
        check(10, Progress::Stable, (2, 2), 2999, 299);
        check(10, Progress::Stable, (2, 2), 3000, 5000);
        check(10, Progress::Stable, (3, 2), 4000, 400);
        check(10, Progress::Unreleased, (2, 2), 20_000, 2000);
        check(10, Progress::Unrevoked, (2, 2), 100_000, 5000);
        check(200, Progress::Stable, (2, 2), 0, 400);
        check(3000, Progress::Stable, (2, 2), 0, 5000);
    }
}
