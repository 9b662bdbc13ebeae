//! Cutting a log at its end: what a leader, or a raft quorum, did not take.

use super::Log;
use super::recover;
use super::writer::Writer;
use crate::error::Error;
use crate::producer::{Producers, snapshot};
use crate::segment::recent::Mark;
use crate::segment::{Located, Segment};
use std::io::{self, ErrorKind::StorageFull};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Log {
    /// Drops the batch that holds `offset` and all behind it; returns the log's end. The recovery
    /// point may have moved back: checkpoint it.
    pub fn truncate_to(&self, offset: i64) -> Result<i64, Error> {
        let _replacing = self.replacing.lock();
        let _flushing = self.flushing.lock();
        let mut writer = self.writer.lock();
        self.check_works()?;
        if self.log_end() <= offset {
            return Ok(self.log_end());
        }
        if offset <= self.log_start() {
            self.start_over(&mut writer, offset.max(0))?;
        } else {
            self.cut_at(&mut writer, offset).map_err(|error| self.disk_failed(error))?;
        }
        Ok(self.log_end())
    }

    /// Drops everything; the log is empty and begins and ends at `offset`.
    pub fn truncate_fully_and_start_at(&self, offset: i64) -> Result<(), Error> {
        let _replacing = self.replacing.lock();
        let _flushing = self.flushing.lock();
        let mut writer = self.writer.lock();
        self.check_works()?;
        self.start_over(&mut writer, offset)
    }

    fn cut_at(&self, writer: &mut Writer, offset: i64) -> Result<(), Error> {
        let segments = self.segments.load_full();
        let Some((index, segment)) = Log::segment_of(&segments, offset) else { return Ok(()) };
        let (position, end) = match segment.locate(&self.home, offset)? {
            Located::At { position, .. } => {
                let found = segment.batch_at(position)?;
                (position, found.map_or(offset, |found| found.base_offset))
            }
            Located::Damaged(damage) => (damage.position, damage.offset),
            Located::Behind => (segment.size(), offset.min(segment.end().0)),
        };
        if end < self.log_start() {
            // The log starts inside of the batch that goes: nothing is left.
            return self.start_over(writer, self.log_start());
        }
        // Readers stop at once; then the files go, the last one first.
        self.log_end.store(end, Ordering::Release);
        self.high_watermark.fetch_min(end, Ordering::AcqRel);
        self.recovery_point.fetch_min(end, Ordering::AcqRel);
        for gone in segments.get(index + 1..).unwrap_or_default().iter().rev() {
            gone.retire();
            recover::remove_files(&self.home, gone.base())?;
        }
        // Before the cut: none of them may come back behind it.
        self.home.disk.sync_dir(&self.home.dir())?;
        // Whoever still has it as it was shall not make indexes for it.
        segment.retire();
        let mark = Mark {
            relative: u32::try_from(end - segment.base()).unwrap_or(u32::MAX),
            position: u32::try_from(position).unwrap_or(u32::MAX),
        };
        segment.file().truncate(position)?;
        segment.file().sync()?;
        let created = segment.created_ms();
        let mut active = Segment::open(segment.base(), segment.file().clone(), mark, created);
        active.activate(&self.home)?;
        active.cut_aborted(&self.home, end)?;
        let mut kept = segments.get(..index).unwrap_or_default().to_vec();
        kept.push(Arc::new(active));
        self.install(writer, kept);
        self.reload_state(writer, end)
    }

    fn start_over(&self, writer: &mut Writer, offset: i64) -> Result<(), Error> {
        let result = (|| {
            let segments = self.segments.load_full();
            self.log_end.store(self.log_start(), Ordering::Release);
            for gone in segments.iter().rev() {
                gone.retire();
                recover::remove_files(&self.home, gone.base())?;
            }
            snapshot::remove_after(&*self.home.disk, &self.home.dir(), -1)?;
            let created = segments.last().map_or(0, |it| it.created_ms());
            let active = Segment::create(&self.home, offset, created)?;
            self.home.disk.sync_dir(&self.home.dir())?;
            self.install(writer, vec![Arc::new(active)]);
            self.log_start.store(offset, Ordering::Release);
            self.log_end.store(offset, Ordering::Release);
            self.high_watermark.store(offset, Ordering::Release);
            self.recovery_point.store(offset, Ordering::Release);
            self.epochs.write().clear();
            self.must_replace_epochs()?;
            writer.producers = Producers::starting_at(offset);
            writer.snapshot = offset;
            self.note_unstable(writer);
            Ok(())
        })();
        result.map_err(|error: Error| self.disk_failed(error))
    }

    /// What went must not be found in the file: other batches will stand there.
    fn must_replace_epochs(&self) -> Result<(), Error> {
        self.epochs_unsaved.store(true, Ordering::Release);
        if self.save_epochs()? { Ok(()) } else { Err(io::Error::from(StorageFull).into()) }
    }

    fn install(&self, writer: &mut Writer, segments: Vec<Arc<Segment>>) {
        if let Some(active) = segments.last() {
            writer.active = active.clone();
        }
        writer.first_timestamp = None;
        writer.reserved_to = 0;
        self.segments.store(Arc::new(segments));
    }

    /// Epochs and producers as they were at the new end.
    fn reload_state(&self, writer: &mut Writer, end: i64) -> Result<(), Error> {
        let (disk, dir) = (&*self.home.disk, self.home.dir());
        let range = (self.log_start(), end);
        let segments = self.segments.load_full();
        let is_base = |at| Log::begins_at(&segments, at);
        // Nobody expires here; what is too old goes with the next round.
        let mut producers = snapshot::load_latest(disk, &dir, range, (0, i64::MAX), is_base)?;
        writer.snapshot = producers.end();
        if self.epochs.write().truncate_from_end(end) {
            self.must_replace_epochs()?;
        }
        let mut epochs = self.epochs.write();
        let from = producers.end();
        recover::replay(&self.home, &segments, from, (&mut producers, &mut epochs))?;
        drop(epochs);
        writer.producers = producers;
        self.note_unstable(writer);
        Ok(())
    }
}
