//! When the producers' state is put on the disk, so that recovery has little to read.

use super::Log;
use super::writer::Writer;
use crate::error::{Error, is_shortage};
use crate::producer::{Producers, snapshot};
use std::io;
use std::sync::atomic::Ordering;

/// So many bytes behind the last snapshot, a flush takes another.
const SNAPSHOT_EVERY_BYTES: u64 = 64 << 20;

impl Log {
    /// Writes the state without a flush, if one is due: what a start reads after the end of the
    /// process is bounded by it. It waits for nobody, and those before it stay, since after a power
    /// cut the log may not reach it; the next flush writes one for good. True: there was something
    /// to do.
    pub fn snapshot_if_due(&self) -> Result<bool, Error> {
        if self.unsnapshotted_bytes.load(Ordering::Relaxed) < SNAPSHOT_EVERY_BYTES {
            return Ok(false);
        }
        // No cut comes between the state and its file.
        let Some(_flushing) = self.flushing.try_lock() else { return Ok(false) };
        if self.failure().is_some() || self.owes_aborted() {
            return Ok(false);
        }
        let producers = self.state();
        // As in `snapshot_at_end`. Else it is due again after as many bytes.
        let are_saved = self.save_epochs().map_err(|error| self.disk_failed(error))?;
        if !are_saved || self.owes_aborted() {
            return Ok(false);
        }
        let (disk, dir) = (&*self.home.disk, self.home.dir());
        let written = forgive_full(snapshot::write(disk, &dir, &producers, false));
        if written.map_err(|error| self.disk_failed(error))? {
            self.has_loose_snapshots.store(true, Ordering::Relaxed);
            self.home.names_unsynced.store(true, Ordering::Release);
            let mut writer = self.writer.lock();
            writer.snapshot = writer.snapshot.max(producers.end());
        }
        Ok(true)
    }

    /// The state to write with the flush that begins now, if one is due. The flush must cover all
    /// that was appended by now.
    pub(super) fn due_snapshot(&self) -> Option<Producers> {
        let are_loose = self.has_loose_snapshots.load(Ordering::Relaxed);
        let is_due = SNAPSHOT_EVERY_BYTES <= self.unsnapshotted_bytes.load(Ordering::Relaxed);
        (are_loose || is_due).then(|| self.state())
    }

    /// What is known of the producers now.
    fn state(&self) -> Producers {
        let writer = self.writer.lock();
        self.unsnapshotted_bytes.store(0, Ordering::Relaxed);
        writer.producers.clone()
    }

    /// Writes a state that is durable in the log. Those before it, unless a segment begins there,
    /// have no more use.
    pub(super) fn write_snapshot(&self, producers: &Producers) -> Result<(), Error> {
        let (disk, dir) = (&*self.home.disk, self.home.dir());
        let written = forgive_full(snapshot::write(disk, &dir, producers, true));
        let written = written.map_err(|error| self.disk_failed(error))?;
        if !written {
            return Ok(());
        }
        self.has_loose_snapshots.store(false, Ordering::Relaxed);
        let mut writer = self.writer.lock();
        if producers.end() < writer.snapshot {
            return Ok(());
        }
        writer.snapshot = producers.end();
        drop(writer); // A file that goes must not hold up who appends.
        let segments = self.segments.load();
        let is_base = |at| Log::begins_at(&segments, at);
        snapshot::remove_strays(disk, &dir, producers.end(), is_base)
            .map_err(|error| self.disk_failed(error))
    }

    /// The state at the log's end, where a segment begins or a clean stop is: whoever starts
    /// there reads no batch.
    pub(super) fn snapshot_at_end(&self, writer: &mut Writer) -> Result<(), Error> {
        let end = writer.producers.end();
        // A start looks for epochs and aborted transactions behind the snapshot only: none may
        // stand before those it has seen are durable. No appender waits for that.
        if end <= writer.snapshot {
            return Ok(());
        }
        if self.owes_epochs() || self.owes_aborted() {
            // With the flush that makes them so, if that has room; else with a later one.
            self.unsnapshotted_bytes.fetch_max(SNAPSHOT_EVERY_BYTES, Ordering::Relaxed);
            return Ok(());
        }
        let (disk, dir) = (&*self.home.disk, self.home.dir());
        // Torn by a crash it is found out, and an older one serves.
        if forgive_full(snapshot::write(disk, &dir, &writer.producers, false))? {
            writer.snapshot = end;
            self.unsnapshotted_bytes.store(0, Ordering::Relaxed);
            self.home.names_unsynced.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Whether an epoch has begun that is not durable.
    fn owes_epochs(&self) -> bool {
        match self.saving_epochs.try_lock() {
            Some(_saving) => self.epochs_unsaved.load(Ordering::Acquire),
            None => true, // On their way.
        }
    }

    /// Whether an aborted transaction is noted beside a segment, and not durable.
    fn owes_aborted(&self) -> bool {
        let segments = self.segments.load();
        let mut unsynced =
            segments.iter().rev().take_while(|it| self.recovery_point() < it.end().0);
        unsynced.any(|it| it.owes_aborted())
    }
}

/// A snapshot that found no room costs time at the next start and nothing else; false: it is so.
fn forgive_full(written: io::Result<()>) -> io::Result<bool> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if is_shortage(&error) => Ok(false),
        Err(error) => Err(error),
    }
}
