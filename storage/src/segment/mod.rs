//! A segment: one log file, the indexes beside it, and what is known of the batches in it.

mod damage;
mod hold;
pub mod index;
mod locate;
pub mod name;
mod outcome;
pub mod recent;
mod recover;
pub mod scan;
mod write_out;

pub use outcome::{Damage, Located, Recovered, Trust};

use crate::disk::{Disk, File};
use crate::error::is_shortage;
use index::{Entry, Index, OffsetEntry, Place, TimeEntry};
use name::Kind;
use parking_lot::Mutex;
use recent::{Mark, Recent};
use scan::{Found, HEADERS, Scan, ScanError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The folder of a partition.
#[derive(Debug)]
pub struct Home {
    pub disk: Arc<dyn Disk>,
    dir: Mutex<Arc<Path>>,
    /// `index.interval.bytes`.
    pub index_interval_bytes: AtomicU32,
    /// A file was made or renamed since the folder was synced.
    pub names_unsynced: AtomicBool,
    /// `partition.metadata` may not be durable.
    pub id_unsynced: AtomicBool,
}

impl Home {
    pub fn new(disk: Arc<dyn Disk>, dir: PathBuf, index_interval_bytes: u32) -> Home {
        let dir = Mutex::new(Arc::from(dir));
        let index_interval_bytes = AtomicU32::new(index_interval_bytes);
        let [names_unsynced, id_unsynced] = [AtomicBool::new(false), AtomicBool::new(false)];
        Home { disk, dir, index_interval_bytes, names_unsynced, id_unsynced }
    }

    pub fn dir(&self) -> Arc<Path> {
        self.dir.lock().clone()
    }

    /// The folder was renamed.
    pub fn moved_to(&self, dir: &Path) {
        *self.dir.lock() = Arc::from(dir);
    }

    pub fn path(&self, kind: Kind, offset: i64) -> PathBuf {
        kind.path(&self.dir(), offset)
    }
}

#[derive(Debug)]
struct Indexes {
    offsets: Index<OffsetEntry>,
    times: Index<TimeEntry>,
}

impl Indexes {
    fn empty() -> Indexes {
        Indexes { offsets: Index::empty(), times: Index::empty() }
    }
}

/// One segment. Its batches only ever grow in number; a truncated one is another `Segment`.
#[derive(Debug)]
pub struct Segment {
    base: i64,
    file: Arc<dyn File>,
    recent: Recent,
    /// Those of a sealed segment are opened when somebody asks.
    indexes: OnceLock<Indexes>,
    loading: Mutex<()>,
    /// The greatest timestamp, and the last offset of the batch that has it.
    largest: Mutex<Option<TimeEntry>>,
    /// Bytes since the last index entry.
    unindexed: AtomicU32,
    sealed: AtomicBool,
    /// When this process made or opened it, in milliseconds of the wall clock.
    created_ms: AtomicI64,
    damages: Mutex<Vec<Damage>>,
    damaged: AtomicBool,
    /// Blocks behind the end are held and have to be given back.
    holds_blocks: AtomicBool,
    /// Up to where the device has been given its batches.
    written_out: AtomicU64,
    /// Its index of aborted transactions has grown since the last sync.
    owes_aborted: AtomicBool,
    /// It has left the log; its files are, or will be, gone.
    retired: AtomicBool,
    /// Whether its indexes, too, are on the disk for good.
    indexes_synced: AtomicBool,
}

impl Segment {
    fn with(base: i64, file: Arc<dyn File>, end: Mark, created_ms: i64) -> Segment {
        Segment {
            base,
            file,
            recent: Recent::ending_at(end),
            indexes: OnceLock::new(),
            loading: Mutex::default(),
            largest: Mutex::default(),
            unindexed: AtomicU32::new(0),
            sealed: AtomicBool::new(false),
            created_ms: AtomicI64::new(created_ms),
            damages: Mutex::default(),
            damaged: AtomicBool::new(false),
            holds_blocks: AtomicBool::new(false),
            written_out: AtomicU64::new(u64::from(end.position)),
            owes_aborted: AtomicBool::new(false),
            retired: AtomicBool::new(false),
            indexes_synced: AtomicBool::new(false),
        }
    }

    /// A new, empty one, and its log file.
    pub fn create(home: &Home, base: i64, now_ms: i64) -> io::Result<Segment> {
        let path = home.path(Kind::Log, base);
        let file = match home.disk.create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // Left by an attempt that failed, or by a crash: it must be empty.
                let file = home.disk.open(&path)?;
                if file.size()? != 0 {
                    return Err(error);
                }
                file
            }
            created => created?,
        };
        home.names_unsynced.store(true, Ordering::Release);
        let segment = Segment::with(base, file, Mark { relative: 0, position: 0 }, now_ms);
        segment.indexes.get_or_init(Indexes::empty);
        Ok(segment)
    }

    /// One that stands on the disk; its batches end at `end`. Its indexes are not looked at.
    pub fn open(base: i64, file: Arc<dyn File>, end: Mark, now_ms: i64) -> Segment {
        let segment = Segment::with(base, file, end, now_ms);
        segment.sealed.store(true, Ordering::Release);
        segment.indexes_synced.store(true, Ordering::Release);
        segment
    }

    fn place<'a>(&self, home: &'a Home, dir: &'a Path) -> Place<'a> {
        let names_unsynced = &home.names_unsynced;
        Place { disk: &*home.disk, dir, base: self.base, names_unsynced }
    }

    pub fn base(&self) -> i64 {
        self.base
    }

    pub fn file(&self) -> &Arc<dyn File> {
        &self.file
    }

    /// The offset behind the last batch and where the batches end, as one.
    pub fn end(&self) -> (i64, u64) {
        let end = self.recent.end();
        (self.offset(end.relative), u64::from(end.position))
    }

    /// Bytes of batches.
    pub fn size(&self) -> u64 {
        u64::from(self.recent.end().position)
    }

    pub fn created_ms(&self) -> i64 {
        self.created_ms.load(Ordering::Relaxed)
    }

    /// It leaves the log: its files go, and whoever still holds it finds that out.
    pub fn retire(&self) {
        self.retired.store(true, Ordering::Release);
    }

    pub fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    pub fn is_sealed(&self) -> bool {
        self.sealed.load(Ordering::Acquire)
    }

    fn relative(&self, offset: i64) -> Option<u32> {
        u32::try_from(offset.checked_sub(self.base)?).ok()
    }

    /// The other way round. What a hostile file's name says may be as large as can be.
    fn offset(&self, relative: u32) -> i64 {
        self.base.saturating_add(i64::from(relative))
    }

    /// Whether an index entry can say `offset`.
    pub fn reaches(&self, offset: i64) -> bool {
        offset.checked_sub(self.base).is_some_and(|relative| i32::try_from(relative).is_ok())
    }

    fn indexes(&self, home: &Home) -> Result<&Indexes, ScanError> {
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
        *self.largest.lock() = times.last();
        Ok(Some(Indexes { offsets, times }))
    }

    fn points_at_its_batch(&self, entry: OffsetEntry) -> Result<bool, ScanError> {
        let end = self.size();
        let mut scan = Scan::new(&*self.file, u64::from(entry.position), end, scan::HEADER);
        match scan.next() {
            Ok(Some(found)) => Ok(self.relative(found.last_offset) == Some(entry.relative)),
            Ok(None) | Err(ScanError::Flawed(_)) => Ok(false),
            Err(error @ ScanError::Disk(_)) => Err(error),
        }
    }

    fn is_time_of_its_batch(
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

    /// Makes both indexes anew from the batches.
    fn make_indexes(&self, home: &Home) -> Result<Indexes, ScanError> {
        let dir = home.dir();
        let place = self.place(home, &dir);
        let indexes = self.fresh_indexes();
        self.visit(0, |found| Ok(self.index(place, &indexes, found, home)?))?;
        if self.is_sealed() {
            self.finish_times(place, &indexes)?;
            indexes.offsets.seal(place)?;
            indexes.times.seal(place)?;
        }
        Ok(indexes)
    }

    fn fresh_indexes(&self) -> Indexes {
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

    /// Shows every batch from `position` on to `seen`, by its header; passes over damage.
    pub fn visit(
        &self,
        position: u64,
        mut seen: impl FnMut(&Found) -> Result<(), ScanError>,
    ) -> Result<(), ScanError> {
        let mut scan = self.scan(position, HEADERS);
        loop {
            match scan.next() {
                Ok(Some(found)) => seen(&found)?,
                Ok(None) => return Ok(()),
                Err(ScanError::Flawed(_)) => {
                    let damage = self.damage_at(&mut scan)?;
                    scan.jump(damage.end_position, damage.next_offset);
                }
                Err(error @ ScanError::Disk(_)) => return Err(error),
            }
        }
    }

    /// Shows what headers can still be read from `position` to `end`, up to the first flaw.
    pub fn visit_behind(
        &self,
        position: u64,
        end: u64,
        seen: &mut impl FnMut(&Found) -> Result<(), ScanError>,
    ) -> Result<(), ScanError> {
        let mut scan = Scan::new(&*self.file, position, end, HEADERS);
        loop {
            match scan.next() {
                Ok(Some(found)) => seen(&found)?,
                Ok(None) | Err(ScanError::Flawed(_)) => return Ok(()),
                Err(error @ ScanError::Disk(_)) => return Err(error),
            }
        }
    }

    fn see_time(&self, found: &Found) {
        let Some(relative) = self.relative(found.last_offset) else { return };
        let mut largest = self.largest.lock();
        if largest.map_or(-1, |it| it.timestamp) < found.max_timestamp {
            *largest = Some(TimeEntry { timestamp: found.max_timestamp, relative });
        }
    }

    /// Takes a batch into the indexes, if one is due.
    fn index(
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
    fn finish_times(&self, place: Place<'_>, indexes: &Indexes) -> io::Result<()> {
        let Some(largest) = *self.largest.lock() else { return Ok(()) };
        if indexes.times.last().map_or(-1, |it| it.timestamp) < largest.timestamp {
            forgive_full(indexes.times.push(place, largest))?;
        }
        Ok(())
    }

    /// Takes note of a batch that was just written. It is visible after [`Segment::extend`].
    pub fn note(&self, home: &Home, found: &Found) -> Result<(), ScanError> {
        let indexes = self.indexes(home)?;
        let dir = home.dir();
        self.index(self.place(home, &dir), indexes, found, home)?;
        let relative = self.relative(found.base_offset);
        let position = u32::try_from(found.position).ok();
        if let (Some(relative), Some(position)) = (relative, position) {
            self.recent.note(Mark { relative, position });
        }
        Ok(())
    }

    /// The batches end here now.
    pub fn extend(&self, next_offset: i64, position: u64) {
        let relative = self.relative(next_offset).unwrap_or(u32::MAX);
        let position = u32::try_from(position).unwrap_or(u32::MAX);
        self.recent.extend(Mark { relative, position });
    }

    /// Whether an index has no room for another entry and the one that sealing adds.
    pub fn is_index_full(&self, segment_index_bytes: u32) -> bool {
        self.indexes.get().is_some_and(|indexes| {
            segment_index_bytes / OffsetEntry::SIZE <= indexes.offsets.len()
                || segment_index_bytes / TimeEntry::SIZE <= indexes.times.len().saturating_add(1)
        })
    }

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
        self.write_out()?;
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

    /// The greatest timestamp and the last offset of the batch that has it; None: no record has one.
    pub fn largest_timestamp(&self, home: &Home) -> Result<Option<(i64, i64)>, ScanError> {
        self.indexes(home)?;
        let largest = *self.largest.lock();
        Ok(largest.map(|it| (it.timestamp, self.offset(it.relative))))
    }

    /// The batch that begins at `position`.
    pub fn batch_at(&self, position: u64) -> Result<Option<Found>, ScanError> {
        Scan::new(&*self.file, position, self.size(), scan::HEADER).next()
    }

    /// The greatest timestamp of its first batch; None: it has none, or that one is damaged.
    pub fn first_timestamp(&self) -> io::Result<Option<i64>> {
        match self.batch_at(0) {
            Ok(found) => Ok(found.map(|found| found.max_timestamp)),
            Err(ScanError::Flawed(_)) => Ok(None),
            Err(ScanError::Disk(error)) => Err(error),
        }
    }

    /// A walk over all batches from `position` on.
    pub fn scan(&self, position: u64, block: usize) -> Scan<'_> {
        Scan::new(&*self.file, position, self.size(), block).at_or_above(self.base)
    }
}

/// Index entries that found no room stay in memory until there is some.
fn forgive_full(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if is_shortage(&error) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests;
