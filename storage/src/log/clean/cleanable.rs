//! What of a log can be cleaned now, and how much that would gain. The rules of Kafka's
//! `LogCleanerManager` (KIP-58, KIP-354).

use crate::error::Error;
use crate::log::{Log, LogConfig};
use crate::segment::Segment;
use std::sync::Arc;

/// See the module. All from `first_dirty` up to `upto` was not cleaned yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cleanable {
    pub first_dirty: i64,
    /// No record from here on is touched.
    pub upto: i64,
    /// Bytes of segments before the first dirty offset, and from there up to the last one.
    pub clean_bytes: u64,
    pub dirty_bytes: u64,
    /// By how many milliseconds `max.compaction.lag.ms` was missed; 0: not at all.
    pub overdue_ms: i64,
    /// What was checkpointed is not of this log: `first_dirty` is its start.
    pub starts_over: bool,
}

impl Cleanable {
    /// The share of what can be cleaned that is dirty, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a ratio of sizes")]
    pub fn dirty_ratio(&self) -> f64 {
        let all = self.clean_bytes + self.dirty_bytes;
        if all == 0 { 0.0 } else { self.dirty_bytes as f64 / all as f64 }
    }

    /// Whether `min.cleanable.dirty.ratio` or `max.compaction.lag.ms` ask for a cleaning.
    pub fn is_due(&self, config: &LogConfig) -> bool {
        let is_overdue = 0 < self.overdue_ms;
        0 < self.dirty_bytes
            && (is_overdue || config.min_cleanable_dirty_ratio < self.dirty_ratio())
    }
}

impl Log {
    /// `checkpoint` is up to where it was cleaned before; None: never.
    pub fn cleanable(&self, checkpoint: Option<i64>, now_ms: i64) -> Result<Cleanable, Error> {
        let (log_start, log_end) = (self.log_start(), self.log_end());
        let known = checkpoint.filter(|offset| (log_start..=log_end).contains(offset));
        let first_dirty = known.unwrap_or(log_start);
        let segments = self.segments.load_full();
        let Some((active, sealed)) = segments.split_last() else { return Ok(Cleanable::default()) };
        let ends = segments.iter().skip(1).map(|next| next.base());
        let dirty: Vec<Arc<Segment>> = (sealed.iter().zip(ends))
            .filter(|(_, end)| first_dirty < *end)
            .map(|(segment, _)| segment.clone())
            .collect();
        let config = self.config();
        let upto = self.uncleanable_from(&dirty, active.base(), &config, now_ms)?;
        // A segment that is cleaned in part counts as one that is not, as in Kafka.
        let behind = sealed.iter().map(|it| it.base()).find(|base| upto <= *base);
        let end = behind.unwrap_or(active.base());
        let bytes = |some: &[Arc<Segment>], border: i64| -> u64 {
            some.iter().filter(|it| it.base() < border).map(|it| it.size()).sum()
        };
        Ok(Cleanable {
            first_dirty,
            upto: upto.max(first_dirty),
            clean_bytes: bytes(sealed, first_dirty.min(end)),
            dirty_bytes: if first_dirty < upto { bytes(&dirty, end) } else { 0 },
            overdue_ms: Log::overdue_ms(&dirty, &config, now_ms)?,
            starts_over: checkpoint.is_some() && known.is_none(),
        })
    }

    /// The least of what holds back: the active segment, an open transaction or the high watermark,
    /// and `min.compaction.lag.ms`.
    fn uncleanable_from(
        &self,
        dirty: &[Arc<Segment>],
        active: i64,
        config: &LogConfig,
        now_ms: i64,
    ) -> Result<i64, Error> {
        let mut upto = self.last_stable_offset().min(active);
        if 0 < config.min_compaction_lag_ms {
            for segment in dirty {
                let largest = segment.largest_timestamp(&self.home)?;
                let young = now_ms.saturating_sub(config.min_compaction_lag_ms);
                if largest.is_some_and(|(time, _)| young < time) {
                    upto = upto.min(segment.base());
                    break;
                }
            }
        }
        Ok(upto)
    }

    fn overdue_ms(dirty: &[Arc<Segment>], config: &LogConfig, now_ms: i64) -> Result<i64, Error> {
        if config.max_compaction_lag_ms == i64::MAX {
            return Ok(0);
        }
        let mut oldest = i64::MAX;
        for segment in dirty {
            if let Some(first) = segment.first_timestamp()?.filter(|first| 0 < *first) {
                oldest = oldest.min(first);
            }
        }
        let due = now_ms.saturating_sub(config.max_compaction_lag_ms);
        Ok(due.saturating_sub(oldest).max(0))
    }
}
