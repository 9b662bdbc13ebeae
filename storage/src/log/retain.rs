//! What leaves a log at its start: by time, by size, and by request.

use super::outcome::{Doomed, ReadError, Retained};
use super::writer::Writer;
use super::{Log, LogConfig};
use crate::error::Error;
use crate::segment::Segment;
use crate::segment::name::{Fate, Kind, OF_A_SEGMENT};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Log {
    /// Lets go of the segments that retention does not keep: they leave the log, and their files
    /// are renamed and returned, to be unlinked after `file.delete.delay.ms`. Nothing above the
    /// high watermark goes. An active segment that is due is closed first, so that an idle topic
    /// empties too.
    pub fn retain(&self, now_ms: i64) -> Result<Retained, Error> {
        let config = self.config.load_full();
        let _replacing = self.replacing.lock();
        self.check_works()?;
        // What is cold of their indexes is read before anybody has to wait for it.
        if self.expired(&self.segments.load(), &config, now_ms)? == 0 {
            return Ok(Retained::default());
        }
        let mut writer = self.writer.lock();
        // Again: the active segment may have got records that are kept.
        let segments = self.segments.load_full();
        let count = self.expired(&segments, &config, now_ms)?;
        if count == 0 {
            return Ok(Retained::default());
        }
        if count == segments.len() {
            let end = self.log_end();
            self.open_segment(&mut writer, end, now_ms).map_err(|error| self.not_begun(error))?;
        }
        let before = self.log_start();
        let doomed = self.let_go(&mut writer, count)?;
        let log_start = self.log_start();
        Ok(Retained { doomed, log_start: (before < log_start).then_some(log_start) })
    }

    /// How many of the oldest segments are to go.
    fn expired(
        &self,
        segments: &[Arc<Segment>],
        config: &LogConfig,
        now_ms: i64,
    ) -> Result<usize, Error> {
        let log_start = self.log_start();
        let high_watermark = self.high_watermark();
        let total: u64 = segments.iter().map(|segment| segment.size()).sum();
        // Bytes above `retention.bytes`.
        let mut excess = match u64::try_from(config.retention_bytes) {
            Ok(kept) if config.delete => total.saturating_sub(kept),
            _ => 0,
        };
        let mut count = 0;
        for (index, segment) in segments.iter().enumerate() {
            let next = segments.get(index + 1);
            let end = next.map_or_else(|| self.log_end(), |next| next.base());
            if high_watermark < end || (next.is_none() && segment.size() == 0) {
                break;
            }
            let is_large = 0 < excess && segment.size() <= excess;
            let goes = end <= log_start && next.is_some()
                || config.delete && (is_large || self.is_old(segment, config, now_ms)?);
            if !goes {
                break;
            }
            excess = excess.saturating_sub(segment.size());
            count = index + 1;
        }
        Ok(count)
    }

    fn is_old(&self, segment: &Segment, config: &LogConfig, now_ms: i64) -> Result<bool, Error> {
        if config.retention_ms < 0 {
            return Ok(false);
        }
        // Without any time in it, since when it is known here.
        let time = segment.newest_ms(&self.home)?.unwrap_or_else(|| segment.created_ms());
        Ok(config.retention_ms < now_ms.saturating_sub(time))
    }

    /// Takes the oldest segments off the list, and moves the log's start.
    fn let_go(&self, writer: &mut Writer, count: usize) -> Result<Doomed, Error> {
        let segments = self.segments.load_full();
        let (going, staying) = segments.split_at_checked(count).unwrap_or((&segments, &[]));
        let Some(first) = staying.first() else { return Ok(Doomed::default()) };
        // Readers first: whoever comes now finds the new start, and then the new list.
        self.log_start.fetch_max(first.base(), Ordering::AcqRel);
        self.segments.store(Arc::new(staying.to_vec()));
        let doomed = self.doom(going).map_err(|error| self.disk_failed(error))?;
        self.start_moved(writer);
        Ok(doomed)
    }

    /// Renames the files of segments, and of the snapshots taken where they begin.
    fn doom(&self, going: &[Arc<Segment>]) -> io::Result<Doomed> {
        let mut doomed = Doomed::default();
        for segment in going {
            segment.retire();
            let kinds = OF_A_SEGMENT.into_iter().chain([Kind::Snapshot]);
            self.rename_away(segment.base(), kinds, &mut doomed)?;
            doomed.segments.push(segment.base());
        }
        self.home.names_unsynced.store(true, Ordering::Release);
        Ok(doomed)
    }

    /// Renames those of a segment's files that there are, in the order of `kinds`.
    pub(super) fn rename_away(
        &self,
        base: i64,
        kinds: impl IntoIterator<Item = Kind>,
        doomed: &mut Doomed,
    ) -> io::Result<()> {
        for kind in kinds {
            let path = self.home.path(kind, base);
            let to = Fate::Deleted.path(&path);
            match self.home.disk.rename(&path, &to) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                renamed => {
                    renamed?;
                    doomed.paths.push(to);
                }
            }
        }
        Ok(())
    }

    /// Epochs and producers forget what is gone.
    fn start_moved(&self, writer: &mut Writer) {
        let log_start = self.log_start();
        writer.producers.log_start_is(log_start);
        self.note_unstable(writer);
        self.high_watermark.fetch_max(log_start, Ordering::AcqRel);
        // The recovery point stays: that it was deleted makes nothing durable behind it.
        if self.epochs.write().truncate_from_start(log_start) {
            // The next flush writes them: old ones in the file are cut again by a start.
            self.epochs_unsaved.store(true, Ordering::Release);
        }
    }

    /// Moves the log's start to `offset`, which may lie inside a batch; -1: to the high watermark.
    /// Returns where it is now: checkpoint it before you answer. What is wholly below goes with
    /// the next [`Log::retain`].
    pub fn delete_records_before(&self, offset: i64) -> Result<i64, ReadError> {
        let high_watermark = self.high_watermark();
        let offset = if offset == -1 { high_watermark } else { offset };
        if offset < 0 || high_watermark < offset {
            let (log_start, log_end) = (self.log_start(), high_watermark);
            return Err(ReadError::OutOfRange { log_start, log_end });
        }
        let mut writer = self.writer.lock();
        if self.log_start.fetch_max(offset, Ordering::AcqRel) < offset {
            self.start_moved(&mut writer);
        }
        Ok(self.log_start())
    }
}
