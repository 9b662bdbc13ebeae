//! A segment: one log file, the indexes beside it, and what is known of the batches in it.

mod aborted;
mod damage;
mod durable;
mod home;
pub mod index;
mod indexes;
mod indexing;
mod locate;
pub mod name;
mod outcome;
pub mod recent;
mod recover;
pub mod scan;
mod transactions;

pub use home::Home;
pub use outcome::{Damage, Located, Recovered, Trust};

use crate::disk::File;
use aborted::Aborted;
use index::TimeEntry;
use indexes::Indexes;
use name::Kind;
use parking_lot::Mutex;
use recent::{Mark, Recent};
use scan::{Found, HEADERS, Scan, ScanError};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

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
    /// The greatest timestamp of a sealed one whose indexes could not be made.
    walked_newest_ms: OnceLock<Option<i64>>,
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
    aborted: Aborted,
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
            walked_newest_ms: OnceLock::new(),
            unindexed: AtomicU32::new(0),
            sealed: AtomicBool::new(false),
            created_ms: AtomicI64::new(created_ms),
            damages: Mutex::default(),
            damaged: AtomicBool::new(false),
            holds_blocks: AtomicBool::new(false),
            written_out: AtomicU64::new(u64::from(end.position)),
            aborted: Aborted::default(),
            owes_aborted: AtomicBool::new(false),
            retired: AtomicBool::new(false),
            indexes_synced: AtomicBool::new(false),
        }
    }

    /// A new, empty one, and its log file.
    pub fn create(home: &Home, base: i64, now_ms: i64) -> io::Result<Segment> {
        let path = home.path(Kind::Log, base);
        let (file, is_new) = match home.disk.create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // Left by an attempt that failed, or by a crash: it must be empty.
                let file = home.disk.open(&path)?;
                if file.size()? != 0 {
                    return Err(error);
                }
                (file, false)
            }
            created => (created?, true),
        };
        home.names_unsynced.store(true, Ordering::Release);
        let segment = Segment::with(base, file, Mark { relative: 0, position: 0 }, now_ms);
        if is_new {
            segment.has_no_aborted();
        }
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

#[cfg(test)]
mod tests;
