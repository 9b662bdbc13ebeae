//! When which chore of the log directories is due. Pure: the caller brings the time.

use crate::config::BrokerConfig;
use std::time::Duration;

/// What is done from time to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chore {
    /// Ask the file systems for their room.
    Space,
    /// Remove what has waited for `file.delete.delay.ms`.
    Unlink,
    /// Sync the logs whose `flush.ms` or `flush.messages` has come.
    Flush,
    /// Write the high watermarks down.
    Watermarks,
    /// Write the log start offsets down.
    LogStarts,
    /// Write the recovery points down.
    RecoveryPoints,
    /// Delete what is too old or too much.
    Retention,
    /// Forget producers that were silent for long.
    Producers,
}

/// How often; a key of the broker's config each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// `replica.high.watermark.checkpoint.interval.ms`
    pub watermarks: Duration,
    /// `log.flush.start.offset.checkpoint.interval.ms`
    pub log_starts: Duration,
    /// `log.flush.offset.checkpoint.interval.ms`
    pub recovery_points: Duration,
    /// `log.retention.check.interval.ms`
    pub retention: Duration,
    /// `producer.id.expiration.check.interval.ms`
    pub producers: Duration,
    /// `log.flush.scheduler.interval.ms`, which in Apache Kafka never comes unless it is set.
    pub flush: Duration,
}

impl Intervals {
    pub fn of(config: &BrokerConfig) -> Intervals {
        let log = &config.values.log;
        let ms = |ms: i64| Duration::from_millis(u64::try_from(ms).unwrap_or(0)).max(PAUSE_MIN);
        Intervals {
            watermarks: ms(log.high_watermark_checkpoint_interval_ms),
            log_starts: ms(log.start_offset_checkpoint_interval_ms.into()),
            recovery_points: ms(log.flush_offset_checkpoint_interval_ms.into()),
            retention: ms(log.retention_check_interval_ms),
            producers: ms(config.values.producer.id_expiration_check_interval_ms.into()),
            flush: ms(log.flush_scheduler_interval_ms),
        }
    }
}

/// Kafka lets some intervals be 0 or less, which must not keep a core busy.
const PAUSE_MIN: Duration = Duration::from_millis(100);

/// Often enough for a disk that fills up, and for files to go soon after their delay.
const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Schedule {
    due: Vec<(Chore, Duration, Duration)>,
}

impl Schedule {
    /// Each chore comes first one interval after `now`.
    pub(super) fn new(every: &Intervals, now: Duration) -> Schedule {
        let chores = [
            (Chore::Space, SECOND),
            (Chore::Unlink, SECOND),
            (Chore::Flush, every.flush.min(SECOND)),
            (Chore::Watermarks, every.watermarks),
            (Chore::LogStarts, every.log_starts),
            (Chore::RecoveryPoints, every.recovery_points),
            (Chore::Retention, every.retention),
            (Chore::Producers, every.producers),
        ];
        let due = |(chore, every): (Chore, Duration)| (chore, every, now.saturating_add(every));
        Schedule { due: chores.map(due).to_vec() }
    }

    /// What is due. A chore that was missed several times comes once.
    pub(super) fn take(&mut self, now: Duration) -> Vec<Chore> {
        let mut taken = Vec::new();
        for (chore, every, due) in &mut self.due {
            if *due <= now {
                *due = now.saturating_add(*every);
                taken.push(*chore);
            }
        }
        taken
    }

    /// How long until something is due.
    pub(super) fn patience(&self, now: Duration) -> Duration {
        let next = self.due.iter().map(|(_, _, due)| *due).min().unwrap_or(now);
        next.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn an_interval_of_nothing_leaves_time_for_others() {
        let given = crate::config::Given::standalone();
        let given =
            given.with_override("replica.high.watermark.checkpoint.interval.ms=-1").unwrap();
        let config = BrokerConfig::of(given, "localhost").unwrap();
        assert_eq!(Intervals::of(&config).watermarks, PAUSE_MIN);
    }

    #[test]
    fn each_chore_comes_at_its_own_pace_and_never_twice() {
        let every = Intervals {
            watermarks: secs(5),
            log_starts: secs(60),
            recovery_points: secs(60),
            retention: secs(300),
            producers: secs(600),
            flush: Duration::MAX,
        };
        let mut schedule = Schedule::new(&every, secs(100));
        assert_eq!(schedule.take(secs(100)), []);
        assert_eq!(schedule.patience(secs(100)), secs(1));
        let often = [Chore::Space, Chore::Unlink, Chore::Flush];
        assert_eq!(schedule.take(secs(101)), often);
        assert_eq!(schedule.take(secs(101)), []);
        let all = schedule.take(secs(10_000));
        assert_eq!(all.len(), 8);
        assert_eq!(schedule.take(secs(10_000)), []);
        assert_eq!(schedule.take(secs(10_005)), [often.as_slice(), &[Chore::Watermarks]].concat());
    }
}
