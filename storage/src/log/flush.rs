//! Making a log durable: who asks and when, and what is known afterwards.

use super::Log;
use crate::error::{Error, is_out_of_files};
use crate::partition_metadata;
use crate::producer::Producers;
use std::io;
use std::sync::atomic::Ordering;

impl Log {
    /// Makes everything below `upto` durable, and returns up to where all is. It holds no lock that
    /// an append or a read takes; of several callers one works and the others find it done. After
    /// a failure the log is never synced again, nor appended to.
    pub fn flush(&self, upto: i64) -> Result<i64, Error> {
        if upto <= self.recovery_point() {
            return Ok(self.recovery_point());
        }
        let _flushing = self.flushing.lock();
        if upto <= self.recovery_point() {
            return Ok(self.recovery_point());
        }
        self.sync_all(self.due_snapshot())
    }

    /// Hands what was appended to the device, up to `most` bytes of it, so that the next flush finds
    /// little to do; returns how many it were. Takes no lock; nothing is durable by it. A failure is
    /// one of a flush.
    pub fn write_back(&self, most: u64) -> Result<u64, Error> {
        let from = self.recovery_point();
        let mut handed = 0;
        for segment in self.segments.load().iter().filter(|it| from < it.end().0) {
            if handed < most {
                let more = segment.write_out(most - handed);
                handed += more.map_err(|error| self.disk_failed(error))?;
            }
        }
        Ok(handed)
    }

    /// The caller holds `flushing`, and `snapshot` is of what was appended by now.
    fn sync_all(&self, snapshot: Option<Producers>) -> Result<i64, Error> {
        let from = self.recovery_point();
        self.check_works()?;
        // What is written by now will be durable below; what comes meanwhile may be.
        let end = self.log_end();
        let synced = (|| {
            for segment in self.segments.load().iter() {
                let (segment_end, _) = segment.end();
                if from < segment_end || segment.owes_its_indexes() {
                    segment.sync(&self.home)?;
                }
            }
            let (disk, dir) = (&*self.home.disk, self.home.dir());
            if self.home.id_unsynced.swap(false, Ordering::AcqRel) {
                partition_metadata::sync(disk, &dir).inspect_err(|_| {
                    self.home.id_unsynced.store(true, Ordering::Release);
                })?;
            }
            let names_unsynced = self.home.names_unsynced.swap(false, Ordering::AcqRel);
            let owes_epochs = self.epochs_unsaved.load(Ordering::Acquire);
            let are_saved = self.save_epochs()?;
            // Saving them has synced the folder.
            if names_unsynced && !(owes_epochs && are_saved) {
                disk.sync_dir(&dir).inspect_err(|_| {
                    self.home.names_unsynced.store(true, Ordering::Release);
                })?;
            }
            Ok::<bool, Error>(are_saved)
        })();
        let are_saved = synced.map_err(|error| {
            // What could not even be opened has not failed to sync.
            let is_untried = matches!(&error, Error::Full(why) if is_out_of_files(why));
            if is_untried { error } else { self.disk_failed(error) }
        })?;
        self.recovery_point.fetch_max(end, Ordering::AcqRel);
        if let Some(snapshot) = snapshot.filter(|_| are_saved) {
            self.write_snapshot(&snapshot)?;
        }
        Ok(self.recovery_point())
    }

    /// How many bytes of a log that was just opened no flush is known to have made durable.
    pub fn unsynced_bytes(&self) -> u64 {
        let from = self.recovery_point();
        let segments = self.segments.load();
        segments.iter().filter(|it| from < it.end().0).map(|it| it.kept_bytes()).sum()
    }

    /// Whether `flush.messages` or `flush.ms` ask for a flush.
    pub fn is_flush_due(&self, now_ms: i64) -> bool {
        let unflushed = self.log_end() - self.recovery_point();
        if unflushed <= 0 {
            return false;
        }
        let config = self.config.load();
        let since = self.unflushed_since_ms.load(Ordering::Relaxed);
        config.flush_messages <= unflushed || config.flush_ms <= now_ms.saturating_sub(since)
    }

    /// Whether `flush.messages` alone asks for a flush.
    pub fn is_flush_due_by_count(&self) -> bool {
        self.config.load().flush_messages <= self.log_end() - self.recovery_point()
    }

    /// A log that has failed is neither written nor synced any more.
    pub(super) fn check_works(&self) -> Result<(), Error> {
        self.failure().map_or(Ok(()), |reason| Err(Error::Disk(io::Error::other(reason))))
    }

    /// Takes note of a disk that failed half-way: what is on it now is not known.
    pub(super) fn disk_failed(&self, error: impl Into<Error>) -> Error {
        let error = error.into();
        self.fail(error.to_string());
        error
    }

    /// The same of what has changed nothing yet; only a full disk may be asked again.
    pub(super) fn not_begun(&self, error: Error) -> Error {
        if matches!(error, Error::Full(_)) { error } else { self.disk_failed(error) }
    }

    /// Writes what is in memory only, makes all durable, and takes no more appends: the next open
    /// may trust what it finds.
    pub fn close(&self) -> Result<(), Error> {
        let _replacing = self.replacing.lock();
        let _flushing = self.flushing.lock();
        let mut writer = self.writer.lock();
        if self.is_closed.load(Ordering::Acquire) {
            return Ok(());
        }
        self.check_works()?;
        let closed = (|| {
            writer.active.close(&self.home)?;
            writer.active.sync(&self.home)?;
            self.save_epochs()?;
            self.snapshot_at_end(&mut writer)?;
            Ok::<(), Error>(())
        })();
        closed.map_err(|error| self.disk_failed(error))?;
        self.sync_all(None)?;
        self.fail("the log is closed");
        self.is_closed.store(true, Ordering::Release);
        Ok(())
    }
}
