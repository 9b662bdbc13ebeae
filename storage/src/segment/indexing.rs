//! The two indexes of a segment: opened and checked, made from its batches, and grown with them.

use super::index::{Entry, Index, OffsetEntry, Place, TimeEntry};
use super::indexes::Indexes;
use super::name::Kind;
use super::scan::{self, Found, HEADERS, Scan, ScanError};
use super::{Home, Segment};
use crate::error::is_shortage;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

impl Segment {
    pub(super) fn place<'a>(&self, home: &'a Home, dir: &'a Path) -> Place<'a> {
        let names_unsynced = &home.names_unsynced;
        Place { disk: &*home.disk, dir, base: self.base, names_unsynced }
    }

    pub(super) fn indexes(&self, home: &Home) -> Result<&Indexes, ScanError> {
        if let Some(indexes) = self.indexes.get() {
            return Ok(indexes);
        }
        let _loading = self.loading.lock();
        if let Some(indexes) = self.indexes.get() {
            return Ok(indexes);
        }
        let indexes = match self.open_indexes(home)? {
            Some(indexes) => indexes,
            // Made now, they would stand there for ever.
            None if self.is_retired() => Err(io::Error::from(io::ErrorKind::NotFound))?,
            None => self.make_indexes(home)?,
        };
        Ok(self.indexes.get_or_init(|| indexes))
    }

    /// None: one is missing, or cannot be what it should be.
    fn open_indexes(&self, home: &Home) -> Result<Option<Indexes>, ScanError> {
        let dir = home.dir();
        let place = self.place(home, &dir);
        let offsets = Index::<OffsetEntry>::open(place, self.is_sealed())?;
        let times = Index::<TimeEntry>::open(place, self.is_sealed())?;
        let (Some(offsets), Some(times)) = (offsets, times) else { return Ok(None) };
        let end = self.recent.end();
        // Entries grow, so a last one that is small for their number is none, as in a file of zeros.
        if let Some(last) = offsets.last()
            && (last.key() < i64::from(offsets.len()) - 1 || !self.points_at_its_batch(last)?)
        {
            return Ok(None);
        }
        if let Some(last) = times.last()
            && (last.key() < i64::from(times.len()) - 1
                || end.relative <= last.relative
                || !self.is_time_of_its_batch(place, &offsets, last)?)
        {
            return Ok(None);
        }
        // A crash may have left the name of the file and nothing in it.
        if times.is_empty() && self.first_timestamp()?.is_some_and(|first| 0 <= first) {
            return Ok(None);
        }
        *self.largest.lock() = times.last();
        Ok(Some(Indexes { offsets, times }))
    }

    pub(super) fn points_at_its_batch(&self, entry: OffsetEntry) -> Result<bool, ScanError> {
        let end = self.size();
        let mut scan = Scan::new(&*self.file, u64::from(entry.position), end, scan::HEADER);
        match scan.next() {
            Ok(Some(found)) => Ok(self.relative(found.last_offset) == Some(entry.relative)),
            Ok(None) | Err(ScanError::Flawed(_)) => Ok(false),
            Err(error @ ScanError::Disk(_)) => Err(error),
        }
    }

    pub(super) fn is_time_of_its_batch(
        &self,
        place: Place<'_>,
        offsets: &Index<OffsetEntry>,
        entry: TimeEntry,
    ) -> Result<bool, ScanError> {
        let from = offsets.floor(place, |it| it.relative <= entry.relative)?;
        let mut scan = self.scan(from.map_or(0, |it| u64::from(it.position)), HEADERS);
        loop {
            match scan.next() {
                Ok(Some(found)) if self.relative(found.last_offset) < Some(entry.relative) => {}
                Ok(Some(found)) => return Ok(found.max_timestamp == entry.timestamp),
                Ok(None) | Err(ScanError::Flawed(_)) => return Ok(false),
                Err(error @ ScanError::Disk(_)) => return Err(error),
            }
        }
    }

    /// Makes both indexes anew from the batches. What could not be finished does not stay: nothing
    /// tells it from what was.
    fn make_indexes(&self, home: &Home) -> Result<Indexes, ScanError> {
        let were_synced = self.indexes_synced.load(Ordering::Acquire);
        let made = self.try_make_indexes(home);
        if made.is_err() && !self.is_retired() {
            for kind in [Kind::OffsetIndex, Kind::TimeIndex] {
                match home.disk.remove(&home.path(kind, self.base)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error)?,
                    Err(_) | Ok(()) => {}
                }
            }
            // There are none now that a flush could owe.
            self.indexes_synced.store(were_synced, Ordering::Release);
        }
        made
    }

    fn try_make_indexes(&self, home: &Home) -> Result<Indexes, ScanError> {
        let dir = home.dir();
        let place = self.place(home, &dir);
        let indexes = self.fresh_indexes();
        self.visit(0, |found| Ok(self.index(place, &indexes, found, home)?))?;
        if self.is_sealed() {
            self.finish_times(place, &indexes)?;
            indexes.offsets.seal(place)?;
            indexes.times.seal(place)?;
            // At once: below the recovery point nobody asks after a crash how much of them is there.
            indexes.offsets.sync(place)?;
            indexes.times.sync(place)?;
            self.indexes_synced.store(true, Ordering::Release);
        }
        Ok(indexes)
    }

    pub(super) fn fresh_indexes(&self) -> Indexes {
        self.indexes_synced.store(false, Ordering::Release);
        *self.largest.lock() = None;
        self.unindexed.store(0, Ordering::Relaxed);
        Indexes::empty()
    }

    /// Throws the indexes away and makes them anew.
    pub fn rebuild_indexes(&mut self, home: &Home) -> Result<(), ScanError> {
        self.indexes = OnceLock::from(self.make_indexes(home)?);
        Ok(())
    }

    pub(super) fn see_time(&self, found: &Found) {
        let Some(relative) = self.relative(found.last_offset) else { return };
        let mut largest = self.largest.lock();
        if largest.map_or(-1, |it| it.timestamp) < found.max_timestamp {
            *largest = Some(TimeEntry { timestamp: found.max_timestamp, relative });
        }
    }

    /// Takes a batch into the indexes, if one is due.
    pub(super) fn index(
        &self,
        place: Place<'_>,
        indexes: &Indexes,
        found: &Found,
        home: &Home,
    ) -> io::Result<()> {
        self.see_time(found);
        let unindexed = self.unindexed.load(Ordering::Relaxed);
        let size = u32::try_from(found.size).unwrap_or(u32::MAX);
        if unindexed <= home.index_interval_bytes.load(Ordering::Relaxed) {
            self.unindexed.store(unindexed.saturating_add(size), Ordering::Relaxed);
            return Ok(());
        }
        let position = u32::try_from(found.position).ok();
        if let (Some(relative), Some(position)) = (self.relative(found.last_offset), position) {
            forgive_full(indexes.offsets.push(place, OffsetEntry { relative, position }))?;
        }
        self.finish_times(place, indexes)?;
        self.unindexed.store(size, Ordering::Relaxed);
        Ok(())
    }

    /// Says the greatest timestamp so far, if it is above the last one said.
    pub(super) fn finish_times(&self, place: Place<'_>, indexes: &Indexes) -> io::Result<()> {
        let Some(largest) = *self.largest.lock() else { return Ok(()) };
        if indexes.times.last().map_or(-1, |it| it.timestamp) < largest.timestamp {
            forgive_full(indexes.times.push(place, largest))?;
        }
        Ok(())
    }

    pub fn has_indexes(&self) -> bool {
        self.indexes.get().is_some()
    }

    /// Whether an index has no room for another entry and the one that sealing adds.
    pub fn is_index_full(&self, segment_index_bytes: u32) -> bool {
        self.indexes.get().is_some_and(|indexes| {
            segment_index_bytes / OffsetEntry::SIZE <= indexes.offsets.len()
                || segment_index_bytes / TimeEntry::SIZE <= indexes.times.len().saturating_add(1)
        })
    }

    /// The greatest timestamp and the last offset of the batch that has it; None: no record has one.
    pub fn largest_timestamp(&self, home: &Home) -> Result<Option<(i64, i64)>, ScanError> {
        self.indexes(home)?;
        let largest = *self.largest.lock();
        Ok(largest.map(|it| (it.timestamp, self.offset(it.relative))))
    }

    /// The greatest timestamp, even where there is no room for the index that tells it.
    pub fn newest_ms(&self, home: &Home) -> Result<Option<i64>, ScanError> {
        if let Some(newest) = self.walked_newest_ms.get() {
            return Ok(*newest);
        }
        match self.largest_timestamp(home) {
            Err(ScanError::Disk(error)) if is_shortage(&error) && self.is_sealed() => {
                let mut newest = -1;
                self.visit(0, |found| {
                    newest = newest.max(found.max_timestamp);
                    Ok(())
                })?;
                // For who asks again under a lock.
                Ok(*self.walked_newest_ms.get_or_init(|| (0 <= newest).then_some(newest)))
            }
            found => Ok(found?.map(|(time, _)| time)),
        }
    }

    /// Bytes of the offset index and of the time index.
    pub fn index_bytes(&self, home: &Home) -> Result<(u64, u64), ScanError> {
        let indexes = self.indexes(home)?;
        let bytes = |len: u32, size: u32| u64::from(len) * u64::from(size);
        let offsets = bytes(indexes.offsets.len(), OffsetEntry::SIZE);
        Ok((offsets, bytes(indexes.times.len(), TimeEntry::SIZE)))
    }

    /// Another segment will take the names of this sealed one: whoever still reads it finds all it
    /// needs in memory.
    pub fn hold_indexes(&self, home: &Home) -> Result<(), ScanError> {
        let indexes = self.indexes(home)?;
        let dir = home.dir();
        let place = self.place(home, &dir);
        indexes.offsets.hold(place)?;
        indexes.times.hold(place)?;
        Ok(())
    }
}

/// Index entries that found no room stay in memory until there is some.
pub(super) fn forgive_full(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if is_shortage(&error) => Ok(()),
        other => other,
    }
}
