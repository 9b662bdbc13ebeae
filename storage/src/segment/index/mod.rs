//! A sparse index: entries of one size in growing order, those written to its file and a few in memory.
//!
//! The active segment's entries gather in memory and go to the file a block at a time, so that an
//! append costs no second system call and a partition that nobody uses holds no buffer; there is no
//! file before the first block. What a crash takes of them, recovery makes again from the log.
//! Kafka opens such a file as it is.

use crate::disk::{Disk, File, Map, read_whole};
use crate::segment::name::Kind;
use parking_lot::Mutex;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// So many entries are read at once.
const READ_ENTRIES: u32 = 64;

/// So many entries are written at once.
const WRITE_ENTRIES: usize = 64;

/// One entry of an index.
pub trait Entry: Copy + PartialEq + std::fmt::Debug {
    /// Bytes in the file.
    const SIZE: u32;
    const KIND: Kind;
    /// What the entries grow by.
    fn key(self) -> i64;
    /// The offset it is about, counted from the segment's base.
    fn relative(self) -> u32;
    fn decode(bytes: &[u8]) -> Option<Self>;
    fn encode(self, into: &mut Vec<u8>);
}

/// Where the batch begins whose last offset is `relative`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetEntry {
    pub relative: u32,
    pub position: u32,
}

/// The greatest timestamp up to the batch whose last offset is `relative`, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeEntry {
    pub timestamp: i64,
    pub relative: u32,
}

impl Entry for OffsetEntry {
    const SIZE: u32 = 8;
    const KIND: Kind = Kind::OffsetIndex;
    fn key(self) -> i64 {
        i64::from(self.relative)
    }
    fn relative(self) -> u32 {
        self.relative
    }
    fn decode(bytes: &[u8]) -> Option<OffsetEntry> {
        let (relative, rest) = bytes.split_first_chunk()?;
        let (position, _) = rest.split_first_chunk()?;
        Some(OffsetEntry {
            relative: u32::from_be_bytes(*relative),
            position: u32::from_be_bytes(*position),
        })
    }
    fn encode(self, into: &mut Vec<u8>) {
        into.extend(self.relative.to_be_bytes());
        into.extend(self.position.to_be_bytes());
    }
}

impl Entry for TimeEntry {
    const SIZE: u32 = 12;
    const KIND: Kind = Kind::TimeIndex;
    fn key(self) -> i64 {
        self.timestamp
    }
    fn relative(self) -> u32 {
        self.relative
    }
    fn decode(bytes: &[u8]) -> Option<TimeEntry> {
        let (timestamp, rest) = bytes.split_first_chunk()?;
        let (relative, _) = rest.split_first_chunk()?;
        Some(TimeEntry {
            timestamp: i64::from_be_bytes(*timestamp),
            relative: u32::from_be_bytes(*relative),
        })
    }
    fn encode(self, into: &mut Vec<u8>) {
        into.extend(self.timestamp.to_be_bytes());
        into.extend(self.relative.to_be_bytes());
    }
}

/// The index of one segment.
#[derive(Debug)]
pub struct Index<E>(Mutex<State<E>>);

#[derive(Debug)]
struct State<E> {
    /// Entries in the file; those of `pending` follow them.
    written: u32,
    pending: Vec<E>,
    last: Option<E>,
    /// There is no file yet; what stands in its place is none.
    is_unmade: bool,
    /// Open while entries come or are looked up, closed with the next flush.
    file: Option<Arc<dyn File>>,
    /// Of a sealed segment, from its first look-up on.
    map: Option<Map>,
    sealed: bool,
    /// Of one that grows: what was read last. Who reads on looks close by.
    block: Block<E>,
}

/// Entries of the file, which never change there.
#[derive(Debug)]
struct Block<E> {
    /// The number of the first.
    from: u32,
    entries: Vec<E>,
}

impl<E: Entry> Block<E> {
    const EMPTY: Block<E> = Block { from: 0, entries: Vec::new() };

    fn end(&self) -> u32 {
        self.from.saturating_add(u32::try_from(self.entries.len()).unwrap_or(u32::MAX))
    }

    fn get(&self, index: u32) -> Option<E> {
        self.entries.get(index.checked_sub(self.from)? as usize).copied()
    }

    /// How many of the file's first `written` entries `holds` is true of, if that can be told here.
    fn count(&self, written: u32, holds: impl Fn(E) -> bool) -> Option<u32> {
        let of_it = u32::try_from(self.entries.partition_point(|it| holds(*it))).ok()?;
        let count = self.from + of_it;
        let is_told = (0 < of_it || self.from == 0) && (count < self.end() || count == written);
        is_told.then_some(count)
    }
}

/// Where an index stands.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub disk: &'a dyn Disk,
    pub dir: &'a Path,
    pub base: i64,
    /// Set when a file is made.
    pub names_unsynced: &'a AtomicBool,
}

impl Place<'_> {
    fn open<E: Entry>(self) -> io::Result<Arc<dyn File>> {
        self.disk.open(&E::KIND.path(self.dir, self.base))
    }

    /// The file, empty, whether or not it was there.
    fn fresh<E: Entry>(self) -> io::Result<Arc<dyn File>> {
        let path = E::KIND.path(self.dir, self.base);
        if self.disk.exists(&path)? {
            // Not cut in place: somebody may hold a map of it.
            self.disk.remove(&path)?;
        }
        let file = self.disk.create(&path)?;
        self.names_unsynced.store(true, Ordering::Release);
        Ok(file)
    }
}

impl<E: Entry> State<E> {
    fn empty(sealed: bool) -> State<E> {
        State {
            written: 0,
            pending: Vec::new(),
            last: None,
            is_unmade: false,
            file: None,
            map: None,
            sealed,
            block: Block::EMPTY,
        }
    }

    fn len(&self) -> u32 {
        self.written.saturating_add(u32::try_from(self.pending.len()).unwrap_or(u32::MAX))
    }

    fn file(&mut self, place: Place<'_>) -> io::Result<&Arc<dyn File>> {
        let file = match self.file.take() {
            Some(file) => file,
            None if self.is_unmade => place.fresh::<E>()?,
            None => place.open::<E>()?,
        };
        self.is_unmade = false;
        Ok(self.file.insert(file))
    }

    fn write_out(&mut self, place: Place<'_>) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(self.pending.len() * 12);
        self.pending.iter().for_each(|entry| entry.encode(&mut bytes));
        let at = u64::from(self.written) * u64::from(E::SIZE);
        self.file(place)?.write_all_at(at, &bytes)?;
        self.written = self.len();
        self.pending.clear();
        Ok(())
    }

    /// Maps the file of a sealed index.
    fn hold(&mut self, place: Place<'_>) -> io::Result<()> {
        if self.map.is_none() {
            let len = u64::from(self.written) * u64::from(E::SIZE);
            let file = match self.file.take() {
                Some(file) => file,
                None => place.open::<E>()?,
            };
            self.map = Some(file.map(len)?);
        }
        Ok(())
    }

    /// An entry of the file.
    fn at(&mut self, place: Place<'_>, index: u32) -> io::Result<E> {
        let at = u64::from(index) * u64::from(E::SIZE);
        let mut bytes = [0; 12];
        let bytes = bytes.get_mut(..E::SIZE as usize).unwrap_or_default();
        if self.sealed {
            self.hold(place)?;
            let map = self.map.as_deref().unwrap_or_default();
            let found = usize::try_from(at).ok().and_then(|at| map.get(at..)).and_then(E::decode);
            return found.ok_or_else(|| io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(entry) = self.block.get(index) {
            return Ok(entry);
        }
        self.file(place)?.read_exact_at(at, bytes)?;
        E::decode(bytes).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn get(&mut self, place: Place<'_>, index: u32) -> io::Result<Option<E>> {
        if index + 1 == self.len() {
            return Ok(self.last);
        }
        if index < self.written {
            return self.at(place, index).map(Some);
        }
        Ok(self.pending.get((index - self.written) as usize).copied())
    }

    /// How many entries `holds` is true of; they come first.
    fn count(&mut self, place: Place<'_>, holds: impl Fn(E) -> bool) -> io::Result<u32> {
        if self.last.is_none_or(&holds) {
            return Ok(self.len());
        }
        if let Some(first) = self.pending.first()
            && holds(*first)
        {
            let of_pending = self.pending.partition_point(|entry| holds(*entry));
            return Ok(self.written + u32::try_from(of_pending).unwrap_or(u32::MAX));
        }
        if let Some(count) = self.block.count(self.written, &holds) {
            return Ok(count);
        }
        let (mut low, mut high) = (0, self.written);
        // The last steps go over a block that is read at once; a map is as good. The block has the
        // entry before `low` and the one behind `high`, too: who asks for the last that holds wants
        // the one, and the other shows where that is.
        let left = if self.sealed { 0 } else { READ_ENTRIES - 2 };
        while low + left < high {
            let middle = low + (high - low) / 2;
            if holds(self.at(place, middle)?) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low < high {
            self.read_block(place, low.saturating_sub(1))?;
            return Ok(self.block.count(self.written, holds).unwrap_or(low));
        }
        Ok(low)
    }

    fn read_block(&mut self, place: Place<'_>, from: u32) -> io::Result<()> {
        let mut bytes = [0; READ_ENTRIES as usize * 12];
        let len = (READ_ENTRIES.min(self.written - from) * E::SIZE) as usize;
        let bytes = bytes.get_mut(..len).unwrap_or_default();
        self.file(place)?.read_exact_at(u64::from(from) * u64::from(E::SIZE), bytes)?;
        let block = &mut self.block;
        block.from = from;
        block.entries.clear();
        block.entries.extend(bytes.chunks_exact(E::SIZE as usize).map_while(E::decode));
        Ok(())
    }

    /// Writes what is in memory to the file, and gives the memory and the file handle back.
    fn give_back(&mut self, place: Place<'_>) -> io::Result<()> {
        self.write_out(place)?;
        self.pending = Vec::new();
        self.block = Block::EMPTY;
        self.file = None;
        Ok(())
    }

    /// The same, with a file even if nothing stands in it.
    fn close(&mut self, place: Place<'_>) -> io::Result<()> {
        if self.is_unmade {
            self.file(place)?;
        }
        self.give_back(place)
    }
}

impl<E: Entry> Index<E> {
    /// A new index, whose file is made when something is written to it.
    pub fn empty() -> Index<E> {
        Index(Mutex::new(State { is_unmade: true, ..State::empty(false) }))
    }

    /// One that stands on the disk. Ok(None): what stands there cannot be an index.
    pub fn open(place: Place<'_>, sealed: bool) -> io::Result<Option<Index<E>>> {
        let file = match place.open::<E>() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let size = file.size()?;
        let Ok(written) = u32::try_from(size / u64::from(E::SIZE)) else {
            return Ok(None);
        };
        if size % u64::from(E::SIZE) != 0 {
            return Ok(None);
        }
        let mut state = State { written, file: Some(file), ..State::empty(false) };
        if 0 < written {
            state.last = Some(state.at(place, written - 1)?);
        }
        state.sealed = sealed;
        state.file = None;
        Ok(Some(Index(Mutex::new(state))))
    }

    /// What of the file on the disk makes sense: the entries, from the first one on, that grow and
    /// that `holds` is true of. It waits for more. Ok(None): there is no file. One with other
    /// entries is replaced by a new one: a reader may hold a map of it, which must not be cut.
    pub fn salvage(place: Place<'_>, holds: impl Fn(E) -> bool) -> io::Result<Option<Index<E>>> {
        let file = match place.open::<E>() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let bytes = read_whole(&*file, usize::MAX)?;
        let size = E::SIZE as usize;
        let mut state = State::empty(false);
        for entry in bytes.chunks_exact(size).map_while(E::decode) {
            let grows = state.last.is_none_or(|last: E| {
                last.key() < entry.key() && last.relative() <= entry.relative()
            });
            if !grows || !holds(entry) {
                break;
            }
            state.last = Some(entry);
            state.written += 1;
        }
        let kept = bytes.get(..state.written as usize * size).unwrap_or_default();
        if kept.len() < bytes.len() {
            place.fresh::<E>()?.write_all_at(0, kept)?;
        }
        // Whoever opens the log looks there next.
        state.block.from = state.written.saturating_sub(READ_ENTRIES);
        let last = kept.get(state.block.from as usize * size..).unwrap_or_default();
        state.block.entries = last.chunks_exact(size).map_while(E::decode).collect();
        Ok(Some(Index(Mutex::new(state))))
    }

    /// Entries in it.
    pub fn len(&self) -> u32 {
        self.0.lock().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn last(&self) -> Option<E> {
        self.0.lock().last
    }

    /// Adds an entry behind the last one. It is in, even if those before it could not be written.
    pub fn push(&self, place: Place<'_>, entry: E) -> io::Result<()> {
        let mut state = self.0.lock();
        let is_block = WRITE_ENTRIES <= state.pending.len();
        let written = if is_block { state.write_out(place) } else { Ok(()) };
        state.pending.push(entry);
        state.last = Some(entry);
        written
    }

    /// Writes what is in memory to the file, and gives the memory and the file handle back.
    pub fn write_out(&self, place: Place<'_>) -> io::Result<()> {
        self.0.lock().give_back(place)
    }

    /// Writes out what is in memory, and makes the file if that was nothing.
    pub fn close(&self, place: Place<'_>) -> io::Result<()> {
        self.0.lock().close(place)
    }

    /// No entry will follow.
    pub fn seal(&self, place: Place<'_>) -> io::Result<()> {
        let mut state = self.0.lock();
        state.close(place)?;
        state.sealed = true;
        Ok(())
    }

    /// Keeps what a sealed one needs, whatever becomes of its file.
    pub fn hold(&self, place: Place<'_>) -> io::Result<()> {
        let mut state = self.0.lock();
        if state.sealed && 0 < state.written { state.hold(place) } else { Ok(()) }
    }

    /// Makes the file durable.
    pub fn sync(&self, place: Place<'_>) -> io::Result<()> {
        self.close(place)?;
        place.open::<E>()?.sync()
    }

    /// The last entry that `holds` is true of; those that it is true of come first.
    pub fn floor(&self, place: Place<'_>, holds: impl Fn(E) -> bool) -> io::Result<Option<E>> {
        let mut state = self.0.lock();
        match state.count(place, holds)? {
            0 => Ok(None),
            count => state.get(place, count - 1),
        }
    }

    /// The first entry that `holds` is not true of.
    pub fn ceiling(&self, place: Place<'_>, holds: impl Fn(E) -> bool) -> io::Result<Option<E>> {
        let mut state = self.0.lock();
        let count = state.count(place, holds)?;
        state.get(place, count)
    }
}

#[cfg(test)]
mod tests;
