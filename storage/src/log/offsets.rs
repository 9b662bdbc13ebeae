//! The offsets of a log: where it starts and ends, and how far readers may go.

use super::{Log, LogConfig, Segments};
use crate::segment::Segment;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Log {
    /// The first offset that can be read; it may lie inside a batch.
    pub fn log_start(&self) -> i64 {
        self.log_start.load(Ordering::Acquire)
    }

    /// The offset that the next record gets.
    pub fn log_end(&self) -> i64 {
        self.log_end.load(Ordering::Acquire)
    }

    pub fn high_watermark(&self) -> i64 {
        self.high_watermark.load(Ordering::Acquire)
    }

    /// Moves the high watermark, within the log and, in the durable mode, not past what is synced.
    /// Returns where it is now.
    pub fn set_high_watermark(&self, offset: i64) -> i64 {
        let offset = offset.min(self.readable_end()).max(self.log_start());
        self.high_watermark.store(offset, Ordering::Release);
        self.release_transactions(offset);
        offset
    }

    /// Raises the high watermark as [`Log::set_high_watermark`] does, and never lowers it.
    pub fn raise_high_watermark(&self, offset: i64) -> i64 {
        let offset = offset.min(self.readable_end());
        let offset = self.high_watermark.fetch_max(offset, Ordering::AcqRel).max(offset);
        self.release_transactions(offset);
        offset
    }

    /// Transactions whose markers are below the high watermark hold nobody back any more.
    fn release_transactions(&self, high_watermark: i64) {
        if self.first_unstable.load(Ordering::Acquire) < high_watermark {
            let mut writer = self.writer.lock();
            writer.producers.high_watermark_is(high_watermark);
            self.note_unstable(&writer);
        }
    }

    /// How far a reader of committed transactions may go.
    pub fn last_stable_offset(&self) -> i64 {
        self.first_unstable.load(Ordering::Acquire).min(self.high_watermark())
    }

    /// Everything below is on the disk for good.
    pub fn recovery_point(&self) -> i64 {
        self.recovery_point.load(Ordering::Acquire)
    }

    /// The same, for those who wait until their records are safe.
    pub fn synced(&self) -> i64 {
        self.recovery_point()
    }

    /// How far anybody may read: the end, or in the durable mode what is synced of it.
    pub fn readable_end(&self) -> i64 {
        let end = self.log_end();
        if self.config.load().is_durable() { end.min(self.recovery_point()) } else { end }
    }

    /// Bytes of batches.
    pub fn size_bytes(&self) -> u64 {
        self.segments.load().iter().map(|segment| segment.size()).sum()
    }

    /// How many segments it has.
    pub fn segment_count(&self) -> usize {
        self.segments.load().len()
    }

    /// The settings in force.
    pub fn config(&self) -> Arc<LogConfig> {
        self.config.load_full()
    }

    /// Puts new settings in force for all that follows.
    pub fn update_config(&self, config: Arc<LogConfig>) {
        let interval = &self.home.index_interval_bytes;
        interval.store(config.index_interval_bytes, Ordering::Relaxed);
        self.config.store(config);
    }

    /// The folder it stands in.
    pub fn dir(&self) -> Arc<Path> {
        self.home.dir()
    }

    /// The folder was renamed.
    pub fn moved_to(&self, dir: PathBuf) {
        self.home.moved_to(&dir);
    }

    /// Why nothing is appended any more; None: all is well.
    pub fn failure(&self) -> Option<String> {
        if self.is_failed.load(Ordering::Acquire) { self.failure.lock().clone() } else { None }
    }

    /// Nothing is appended from now on. The first reason stays.
    pub fn fail(&self, reason: impl Into<String>) {
        self.failure.lock().get_or_insert_with(|| reason.into());
        self.is_failed.store(true, Ordering::Release);
    }

    /// Whether blocks may be taken ahead of the end; not when the disk is nearly full.
    pub fn allow_preallocation(&self, allow: bool) {
        self.may_reserve.store(allow, Ordering::Relaxed);
    }

    /// The segment that holds `offset` or, if it lies in a gap, the one before; the first one for
    /// what is below all. With its place in the list.
    pub(super) fn segment_of(segments: &Segments, offset: i64) -> Option<(usize, &Arc<Segment>)> {
        let index = segments.partition_point(|segment| segment.base() <= offset).saturating_sub(1);
        segments.get(index).map(|segment| (index, segment))
    }

    /// Whether a segment has that base.
    pub(super) fn begins_at(segments: &Segments, offset: i64) -> bool {
        segments.binary_search_by_key(&offset, |segment| segment.base()).is_ok()
    }
}
