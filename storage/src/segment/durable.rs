//! What of a segment is on the disk for good, and what is done for that.

use super::indexing::forgive_full;
use super::name::Kind;
use super::scan::ScanError;
use super::{Home, Segment};
use std::io;
use std::sync::atomic::Ordering;

/// Goes at once, and begins and ends between two pages however large the kernel makes them.
const UNIT_BYTES: u64 = 256 << 10;

impl Segment {
    /// Nothing will be appended: blocks held ahead are given back, and the last time entry is said.
    pub fn seal(&self, home: &Home) -> Result<(), ScanError> {
        self.close(home)?;
        let dir = home.dir();
        let place = self.place(home, &dir);
        let indexes = self.indexes(home)?;
        indexes.offsets.seal(place)?;
        indexes.times.seal(place)?;
        self.indexes_synced.store(false, Ordering::Release);
        self.sealed.store(true, Ordering::Release);
        Ok(())
    }

    /// Gives blocks back, and writes what the indexes have in memory, with the last time entry.
    pub fn close(&self, home: &Home) -> Result<(), ScanError> {
        let dir = home.dir();
        let place = self.place(home, &dir);
        let Some(indexes) = self.indexes.get() else { return Ok(()) };
        if !self.is_sealed() {
            self.give_blocks_back()?; // There may be no other room.
            self.finish_times(place, indexes)?;
            indexes.offsets.close(place)?;
            indexes.times.close(place)?;
        }
        Ok(())
    }

    /// An aborted transaction was noted beside it.
    pub fn aborted_is_noted(&self) {
        self.owes_aborted.store(true, Ordering::Release);
    }

    /// Whether that is not durable.
    pub fn owes_aborted(&self) -> bool {
        self.owes_aborted.load(Ordering::Acquire)
    }

    /// Blocks behind the end were reserved.
    pub fn blocks_are_held(&self) {
        self.holds_blocks.store(true, Ordering::Relaxed);
    }

    fn give_blocks_back(&self) -> io::Result<()> {
        if self.holds_blocks.swap(false, Ordering::Relaxed) {
            self.file.truncate(self.size())?;
        }
        Ok(())
    }

    /// Whether a sync is due although its batches are durable.
    pub fn owes_its_indexes(&self) -> bool {
        self.is_sealed() && !self.indexes_synced.load(Ordering::Acquire)
    }

    /// Makes its batches durable, and a sealed one's indexes.
    pub fn sync(&self, home: &Home) -> io::Result<()> {
        match self.sync_files(home) {
            // Nobody will ask for what has left the log meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.is_retired() => Ok(()),
            synced => synced,
        }
    }

    fn sync_files(&self, home: &Home) -> io::Result<()> {
        // Asked before the log is synced: sealed later, it would be synced by the next flush.
        let sealed = self.is_sealed();
        self.write_out(u64::MAX)?;
        self.file.sync()?;
        if self.owes_aborted.swap(false, Ordering::AcqRel) {
            let opened = home.disk.open(&home.path(Kind::TxnIndex, self.base));
            opened.inspect_err(|_| self.aborted_is_noted())?.sync()?;
        }
        let Some(indexes) = self.indexes.get() else { return Ok(()) };
        let dir = home.dir();
        let place = self.place(home, &dir);
        if !sealed {
            // Kept close behind, so that recovery has little to walk over.
            forgive_full(indexes.offsets.write_out(place))?;
            return forgive_full(indexes.times.write_out(place));
        }
        if !self.indexes_synced.load(Ordering::Acquire) {
            indexes.offsets.sync(place)?;
            indexes.times.sync(place)?;
            self.indexes_synced.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Bytes that were not handed to the device yet.
    pub fn kept_bytes(&self) -> u64 {
        self.size().saturating_sub(self.written_out.load(Ordering::Relaxed))
    }

    /// Hands what was appended to the device and waits until that has it, up to `most` bytes and
    /// without the last pages: the kernel holds a page locked until the device has room for it, and
    /// whoever appends to it meanwhile waits. Returns how many bytes it were. A failure is one of a
    /// sync.
    pub fn write_out(&self, most: u64) -> io::Result<u64> {
        let from = self.written_out.load(Ordering::Relaxed);
        let upto = self.size().min(from.saturating_add(most)) / UNIT_BYTES * UNIT_BYTES;
        let from = self.written_out.fetch_max(upto, Ordering::Relaxed);
        let count = upto.saturating_sub(from);
        if 0 < count {
            self.file.write_out(from, count)?;
        }
        Ok(count)
    }
}
