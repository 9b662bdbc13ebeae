//! Where one segment ends and the next begins.

use super::checked::Checked;
use super::writer::Writer;
use super::{AppendError, Log, LogConfig, recover};
use crate::error::Error;
use crate::segment::Segment;
use std::sync::Arc;

impl Log {
    /// Whether a batch that would stand `pending` bytes behind the active segment's end must open
    /// a new segment.
    pub(super) fn is_roll_due(
        &self,
        writer: &mut Writer,
        pending: u64,
        checked: &Checked,
        (config, now_ms): (&LogConfig, i64),
    ) -> Result<bool, AppendError> {
        let size = writer.active.size() + pending;
        if !writer.active.reaches(checked.header.last_offset()) {
            return Ok(true);
        }
        if size == 0 {
            return Ok(false);
        }
        if u64::from(config.segment_bytes) < size + checked.size()
            || writer.active.is_index_full(config.segment_index_bytes)
        {
            return Ok(true);
        }
        if writer.active.size() == 0 {
            return Ok(false); // The whole of it is of this very call.
        }
        let age = self.age_ms(writer, checked.header.max_timestamp, now_ms)?;
        Ok(segment_ms(config, writer.jitter) < age)
    }

    /// How long the active segment has been open, by the times of its records if they have any.
    fn age_ms(&self, writer: &mut Writer, time: i64, now_ms: i64) -> Result<i64, AppendError> {
        let first = match writer.first_timestamp {
            Some(first) => first,
            None => {
                let found = writer.active.first_timestamp();
                let found = found.map_err(|error| self.offline(error.into()))?;
                *writer.first_timestamp.insert(found.unwrap_or(-1))
            }
        };
        Ok(if 0 <= first {
            time.saturating_sub(first)
        } else {
            now_ms.saturating_sub(writer.active.created_ms())
        })
    }

    /// The disk failed before any byte of what was to be appended.
    fn offline(&self, error: Error) -> AppendError {
        match self.not_begun(error) {
            full if matches!(full, Error::Full(_)) => AppendError::DiskFull(full.to_string()),
            failed => AppendError::Offline(failed.to_string()),
        }
    }

    pub(super) fn roll_to(
        &self,
        writer: &mut Writer,
        base: i64,
        now_ms: i64,
    ) -> Result<(), AppendError> {
        self.open_segment(writer, base, now_ms).map_err(|error| self.offline(error))
    }

    /// Begins a new segment at the log's end. An empty one that begins there already stays.
    pub fn roll(&self, now_ms: i64) -> Result<(), Error> {
        let mut writer = self.writer.lock();
        self.check_works()?;
        let base = self.log_end();
        self.open_segment(&mut writer, base, now_ms).map_err(|error| self.not_begun(error))
    }

    /// Makes the new segment first: if there is no room for it, nothing has changed. Nor if there
    /// is none for the rest of the old one: its file goes again, because the log may go on past its
    /// base in the old one.
    pub(super) fn open_segment(
        &self,
        writer: &mut Writer,
        base: i64,
        now_ms: i64,
    ) -> Result<(), Error> {
        let base = base.max(self.log_end());
        if writer.active.base() == base {
            return Ok(());
        }
        let segment = Arc::new(Segment::create(&self.home, base, now_ms)?);
        if let Err(error) = writer.active.seal(&self.home) {
            recover::remove_files(&self.home, base).map_err(|error| self.disk_failed(error))?;
            return Err(error.into());
        }
        let mut segments = Vec::clone(&self.segments.load());
        segments.push(segment.clone());
        self.segments.store(Arc::new(segments));
        writer.reserved_to = 0;
        writer.first_timestamp = None;
        writer.active = segment;
        self.snapshot_at_end(writer)
    }
}

/// How long a segment may be open, less this log's part of `segment.jitter.ms`.
fn segment_ms(config: &LogConfig, jitter: u64) -> i64 {
    let most = config.open_ms_max();
    let span = u64::try_from(config.segment_jitter_ms.min(most)).unwrap_or(0);
    let drawn = if span == 0 { 0 } else { jitter % span };
    most.saturating_sub(i64::try_from(drawn).unwrap_or(0))
}
