//! A segment: one log file, the indexes beside it, and what is known of the batches in it.

pub mod index;
pub mod name;
pub mod recent;
pub mod scan;
mod whole_file;

pub use whole_file::{append, open};

use crate::disk::{Disk, File};
use index::{Entry, Index, OffsetEntry, Place, TimeEntry};
use name::Kind;
use parking_lot::Mutex;
use recent::{Mark, Recent};
use scan::{Flaw, Found, HEADERS, Scan, ScanError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
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
}

impl Home {
    pub fn new(disk: Arc<dyn Disk>, dir: PathBuf, index_interval_bytes: u32) -> Home {
        let dir = Mutex::new(Arc::from(dir));
        let index_interval_bytes = AtomicU32::new(index_interval_bytes);
        Home { disk, dir, index_interval_bytes, names_unsynced: AtomicBool::new(false) }
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

/// A range of a segment that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    pub segment_base: i64,
    pub position: u64,
    /// Behind the last damaged byte.
    pub end_position: u64,
    /// The first offset that is not readable.
    pub offset: i64,
    /// The first readable one behind it.
    pub next_offset: i64,
}

/// What [`Segment::recover`] found.
#[derive(Clone, Copy, Debug)]
pub struct Recovered {
    /// Why it ends before the file does.
    pub flaw: Option<Flaw>,
    pub next_offset: i64,
    /// Bytes that were walked over.
    pub scanned: u64,
    /// Bytes of the file behind the end.
    pub cut_bytes: u64,
}

/// Where an offset is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Located {
    /// The first batch that ends at the offset or behind it begins here; `next` is where the one
    /// behind it begins, if that is known without reading.
    At {
        position: u64,
        next: Option<u64>,
    },
    Damaged(Damage),
    /// No batch of this segment reaches so far.
    Behind,
}

#[derive(Debug)]
struct Indexes {
    offsets: Index<OffsetEntry>,
    times: Index<TimeEntry>,
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
            indexes_synced: AtomicBool::new(false),
        }
    }

    /// A new, empty one, and its files.
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
        let dir = home.dir();
        let place = segment.place(home, &dir);
        let indexes = Indexes { offsets: Index::create(place)?, times: Index::create(place)? };
        segment.indexes.get_or_init(|| indexes);
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
        Place { disk: &*home.disk, dir, base: self.base }
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
        (self.base + i64::from(end.relative), u64::from(end.position))
    }

    /// Bytes of batches.
    pub fn size(&self) -> u64 {
        u64::from(self.recent.end().position)
    }

    pub fn created_ms(&self) -> i64 {
        self.created_ms.load(Ordering::Relaxed)
    }

    pub fn is_sealed(&self) -> bool {
        self.sealed.load(Ordering::Acquire)
    }

    fn relative(&self, offset: i64) -> Option<u32> {
        u32::try_from(offset.checked_sub(self.base)?).ok()
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
        if let Some(last) = offsets.last()
            && !self.points_at_its_batch(last)?
        {
            return Ok(None);
        }
        let last = times.last();
        if last.is_some_and(|last| last.timestamp < 0 || end.relative <= last.relative) {
            return Ok(None);
        }
        *self.largest.lock() = last;
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

    /// Makes both indexes anew from the batches.
    fn make_indexes(&self, home: &Home) -> Result<Indexes, ScanError> {
        let dir = home.dir();
        let place = self.place(home, &dir);
        let indexes = self.fresh_indexes(home, place)?;
        self.visit(0, |found| Ok(self.index(place, &indexes, found, home)?))?;
        if self.is_sealed() {
            self.finish_times(place, &indexes)?;
            indexes.offsets.seal(place)?;
            indexes.times.seal(place)?;
        }
        Ok(indexes)
    }

    fn fresh_indexes(&self, home: &Home, place: Place<'_>) -> io::Result<Indexes> {
        home.names_unsynced.store(true, Ordering::Release);
        self.indexes_synced.store(false, Ordering::Release);
        *self.largest.lock() = None;
        self.unindexed.store(0, Ordering::Relaxed);
        Ok(Indexes { offsets: Index::create(place)?, times: Index::create(place)? })
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

    /// Makes it the segment that is appended to, as it stands, after it was sealed or cut: index
    /// entries at or above its end go, and what no entry covers is walked over.
    pub fn activate(&mut self, home: &Home) -> Result<(), ScanError> {
        let end = self.recent.end();
        let from = self.prepare(home, end)?;
        self.visit(from, |found| {
            self.see_time(found);
            Ok(())
        })?;
        let unindexed = u64::from(end.position).saturating_sub(from);
        self.unindexed.store(u32::try_from(unindexed).unwrap_or(u32::MAX), Ordering::Relaxed);
        Ok(())
    }

    /// Opens the indexes for appends, without entries at or above `border`, or makes them empty if
    /// they are not sound. Returns where the batch begins that the last entry is about.
    fn prepare(&mut self, home: &Home, border: Mark) -> Result<u64, ScanError> {
        let dir = home.dir();
        let place = self.place(home, &dir);
        self.sealed.store(false, Ordering::Release);
        self.indexes = OnceLock::new();
        let offsets = Index::<OffsetEntry>::open(place, false)?;
        let times = Index::<TimeEntry>::open(place, false)?;
        if let (Some(offsets), Some(times)) = (offsets, times) {
            let below =
                |it: OffsetEntry| it.relative < border.relative && it.position < border.position;
            offsets.keep(place, below)?;
            times.keep(place, |it| it.relative < border.relative)?;
            let points = offsets.last().map_or(Ok(true), |it| self.points_at_its_batch(it))?;
            let is_sound = points
                && offsets.is_sound(place, below)?
                && times.is_sound(place, |it| 0 <= it.timestamp)?;
            if is_sound {
                let from = offsets.last().map_or(0, |it| u64::from(it.position));
                *self.largest.lock() = times.last();
                self.unindexed.store(0, Ordering::Relaxed);
                self.indexes = OnceLock::from(Indexes { offsets, times });
                return Ok(from);
            }
        }
        self.indexes = OnceLock::from(self.fresh_indexes(home, place)?);
        Ok(0)
    }

    /// Walks over what no index entry below `border` (an offset) covers, to the end of the file or
    /// the first flaw at or above the border, and ends there. With `verify` the checksums of all
    /// at or above the border are checked. Flaws below are damage, and are passed over.
    pub fn recover(
        &mut self,
        home: &Home,
        border: i64,
        verify: bool,
    ) -> Result<Recovered, ScanError> {
        let size = self.file.size()?;
        let position =
            u32::try_from(size).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        self.recent.extend(Mark { relative: u32::MAX, position });
        let relative = self.relative(border.max(self.base)).unwrap_or(u32::MAX);
        let from = self.prepare(home, Mark { relative, position })?;
        let dir = home.dir();
        let place = self.place(home, &dir);
        let block = if verify { scan::WHOLE } else { HEADERS };
        let mut scan = self.scan(from, block);
        let mut next_offset = self.base;
        let flaw = loop {
            let flaw = match scan.next() {
                Ok(Some(found)) => {
                    if verify && border <= found.last_offset && !scan.is_intact(&found)? {
                        scan.jump(found.position, found.base_offset);
                        Flaw::Checksum
                    } else {
                        let Some(indexes) = self.indexes.get() else { break None };
                        self.index(place, indexes, &found, home)?;
                        next_offset = found.last_offset.saturating_add(1);
                        continue;
                    }
                }
                Ok(None) => break None,
                Err(ScanError::Flawed(flaw)) => flaw,
                Err(error @ ScanError::Disk(_)) => return Err(error),
            };
            if border <= scan.floor() {
                break Some(flaw);
            }
            let damage = self.damage_before(&mut scan, border)?;
            scan.jump(damage.end_position, damage.next_offset);
            next_offset = damage.next_offset;
        };
        let end = scan.position();
        self.extend(next_offset, end);
        Ok(Recovered { flaw, next_offset, scanned: end - from, cut_bytes: size - end })
    }

    /// Drops what stands in the file behind the end.
    pub fn cut(&self) -> io::Result<()> {
        self.file.truncate(self.size())?;
        self.file.sync()
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

    /// Nothing will be appended: the last time entry is said, and blocks held ahead are given back.
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

    /// Writes what the indexes have in memory, with the last time entry, and gives blocks back.
    pub fn close(&self, home: &Home) -> Result<(), ScanError> {
        let dir = home.dir();
        let place = self.place(home, &dir);
        let Some(indexes) = self.indexes.get() else { return Ok(()) };
        if !self.is_sealed() {
            self.finish_times(place, indexes)?;
            indexes.offsets.write_out(place)?;
            indexes.times.write_out(place)?;
            self.give_blocks_back()?;
        }
        Ok(())
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
        // Asked before the log is synced: sealed later, it would be synced by the next flush.
        let sealed = self.is_sealed();
        self.file.sync()?;
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
        Ok(largest.map(|it| (it.timestamp, self.base + i64::from(it.relative))))
    }

    /// Where the first batch is that ends at `offset` or behind it.
    pub fn locate(&self, home: &Home, offset: i64) -> Result<Located, ScanError> {
        let relative = self.relative(offset.max(self.base)).unwrap_or(u32::MAX);
        let end = self.recent.end();
        if end.relative <= relative {
            return Ok(Located::Behind);
        }
        let from = match self.recent.floor(relative) {
            Some((mark, next)) if mark.relative == relative => {
                let (position, next) = (u64::from(mark.position), Some(u64::from(next)));
                return Ok(Located::At { position, next });
            }
            Some((mark, _)) => mark.position,
            None => self.indexed_position(home, relative)?,
        };
        self.walk(u64::from(from), u64::from(end.position), |found| offset <= found.last_offset)
    }

    fn indexed_position(&self, home: &Home, relative: u32) -> Result<u32, ScanError> {
        let dir = home.dir();
        let place = self.place(home, &dir);
        let entry = self.indexes(home)?.offsets.floor(place, |it| it.relative <= relative)?;
        Ok(entry.map_or(0, |entry| entry.position))
    }

    /// The first batch from `from` on that `wanted` is true of.
    fn walk(
        &self,
        from: u64,
        to: u64,
        wanted: impl Fn(&Found) -> bool,
    ) -> Result<Located, ScanError> {
        let mut scan = Scan::new(&*self.file, from, to, HEADERS).at_or_above(self.base);
        loop {
            match scan.next() {
                Ok(Some(found)) if wanted(&found) => {
                    let next = Some(found.end());
                    return Ok(Located::At { position: found.position, next });
                }
                Ok(Some(_)) => {}
                Ok(None) => return Ok(Located::Behind),
                Err(ScanError::Flawed(_)) => {
                    let damage = self.damage_at(&mut scan)?;
                    let behind = Found {
                        position: damage.position,
                        size: damage.end_position - damage.position,
                        base_offset: damage.offset,
                        last_offset: damage.next_offset - 1,
                        max_timestamp: -1,
                        header: None,
                    };
                    if wanted(&behind) {
                        return Ok(Located::Damaged(damage));
                    }
                    scan.jump(damage.end_position, damage.next_offset);
                }
                Err(error @ ScanError::Disk(_)) => return Err(error),
            }
        }
    }

    /// The first batch, at or behind the one that the time index names, whose greatest timestamp
    /// is `timestamp` or above and that ends at `from_offset` or behind it.
    pub fn locate_time(
        &self,
        home: &Home,
        timestamp: i64,
        from_offset: i64,
    ) -> Result<Located, ScanError> {
        let dir = home.dir();
        let place = self.place(home, &dir);
        let times = &self.indexes(home)?.times;
        // All up to that entry's offset is below the timestamp.
        let before = times.floor(place, |it| it.timestamp < timestamp)?;
        let relative = before.map_or(0, |it| it.relative);
        let relative = relative.max(self.relative(from_offset).unwrap_or(0));
        let from = self.indexed_position(home, relative)?;
        let end = u64::from(self.recent.end().position);
        self.walk(u64::from(from), end, |found| {
            timestamp <= found.max_timestamp && from_offset <= found.last_offset
        })
    }

    /// The batch that begins at `position`.
    pub fn batch_at(&self, position: u64) -> Result<Option<Found>, ScanError> {
        Scan::new(&*self.file, position, self.size(), scan::HEADER).next()
    }

    /// A walk over all batches from `position` on.
    pub fn scan(&self, position: u64, block: usize) -> Scan<'_> {
        Scan::new(&*self.file, position, self.size(), block).at_or_above(self.base)
    }

    /// Damage that begins below `border`: if nothing readable follows, it reaches up to the border.
    fn damage_before(&self, scan: &mut Scan<'_>, border: i64) -> io::Result<Damage> {
        let mut damage = self.damage_at(scan)?;
        if damage.end_position == self.size() {
            self.damages.lock().retain(|it| it.position != damage.position);
            damage.next_offset = border;
            self.remember(damage);
        }
        Ok(damage)
    }

    /// Finds out how far the damage reaches at which `scan` stands still, and remembers it.
    pub fn damage_at(&self, scan: &mut Scan<'_>) -> io::Result<Damage> {
        let end = self.recent.end();
        let (floor, position) = (scan.floor().max(self.base), scan.position());
        let known = self.damages.lock().iter().find(|it| it.position == position).copied();
        if let Some(damage) = known {
            return Ok(damage);
        }
        let after = scan.resync()?;
        let damage = Damage {
            segment_base: self.base,
            position,
            end_position: after.map_or(u64::from(end.position), |it| it.position),
            offset: floor,
            next_offset: after.map_or(self.base + i64::from(end.relative), |it| it.base_offset),
        };
        self.remember(damage);
        Ok(damage)
    }

    /// A batch known to be bad is never sent.
    pub fn remember(&self, damage: Damage) {
        let mut damages = self.damages.lock();
        if !damages.contains(&damage) {
            damages.push(damage);
            damages.sort_by_key(|it| it.position);
        }
        self.damaged.store(true, Ordering::Release);
    }

    /// The first damage that ends behind `position`.
    pub fn damage_from(&self, position: u64) -> Option<Damage> {
        if !self.damaged.load(Ordering::Acquire) {
            return None;
        }
        self.damages.lock().iter().find(|it| position < it.end_position).copied()
    }

    pub fn damages(&self) -> Vec<Damage> {
        self.damages.lock().clone()
    }
}

/// Index entries that found no room stay in memory until there is some.
fn forgive_full(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(()),
        other => other,
    }
}

/// What a flaw means below the recovery point, in words for the log.
impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Flaw::Torn => "the file ends inside a batch",
            Flaw::Header => "no batch begins here",
            Flaw::Checksum => "the checksum does not match",
            Flaw::Order => "the offsets do not grow",
        })
    }
}

#[cfg(test)]
mod tests;
