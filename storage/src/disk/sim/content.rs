//! The bytes of a simulated file: as a process sees them, and as a power failure leaves them.

use super::power::Power;
use parking_lot::Mutex;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a disk writes whole or not at all, in bytes.
const SECTOR: usize = 512;

/// A file, whatever its names are.
#[derive(Debug)]
pub(super) struct Node {
    content: Mutex<Content>,
    pub(super) is_held: AtomicBool,
    power: Arc<Power>,
}

#[derive(Debug, Default)]
struct Content {
    live: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Change>,
    /// Bytes that blocks are taken for.
    taken: u64,
}

#[derive(Clone, Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

impl Node {
    /// A file whose bytes are durable.
    pub(super) fn new(power: Arc<Power>, bytes: Vec<u8>) -> Node {
        let taken = bytes.len() as u64;
        power.used.fetch_add(taken, Ordering::Relaxed);
        let content = Content { live: bytes.clone(), durable: bytes, unsynced: Vec::new(), taken };
        Node { content: Mutex::new(content), is_held: AtomicBool::new(false), power }
    }

    pub(super) fn size(&self) -> u64 {
        self.content.lock().live.len() as u64
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.content.lock().live.clone()
    }

    pub(super) fn read_at(&self, offset: u64, into: &mut [u8]) -> usize {
        let content = self.content.lock();
        let at = usize::try_from(offset).unwrap_or(usize::MAX);
        let from = content.live.get(at..).unwrap_or_default();
        let count = from.len().min(into.len());
        into.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        count
    }

    /// Writes what there is room for, and fails if that is not all.
    pub(super) fn write(&self, offset: u64, mut bytes: Vec<u8>) -> io::Result<()> {
        let at = usize::try_from(offset).map_err(|_| ErrorKind::FileTooLarge)?;
        let mut content = self.content.lock();
        let end = offset.saturating_add(bytes.len() as u64);
        let granted = content.take(&self.power, end);
        let is_short = granted < end;
        if is_short {
            let room = granted.saturating_sub(offset);
            bytes.truncate(usize::try_from(room).unwrap_or(usize::MAX));
        }
        if !bytes.is_empty() {
            content.change(Change::Write(at, bytes));
        }
        if is_short { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    pub(super) fn truncate(&self, size: u64) -> io::Result<()> {
        let len = usize::try_from(size).map_err(|_| ErrorKind::FileTooLarge)?;
        let mut content = self.content.lock();
        if content.take(&self.power, size) < size {
            return Err(ErrorKind::StorageFull.into());
        }
        self.power.used.fetch_sub(content.taken - size, Ordering::Relaxed);
        content.taken = size;
        content.change(Change::Truncate(len));
        Ok(())
    }

    pub(super) fn reserve(&self, end: u64) -> io::Result<()> {
        let mut content = self.content.lock();
        if content.take(&self.power, end) < end {
            Err(ErrorKind::StorageFull.into())
        } else {
            Ok(())
        }
    }

    pub(super) fn sync(&self) {
        let Content { durable, unsynced, .. } = &mut *self.content.lock();
        unsynced.drain(..).for_each(|change| change.apply(durable));
    }

    /// Decides what of the unsynced is durable after all; the rest never will be.
    pub(super) fn settle(&self, draw: &mut dyn FnMut() -> u64) {
        let mut content = self.content.lock();
        content.durable = content.after_crash(draw);
        content.unsynced.clear();
    }

    pub(super) fn after_crash(&self, draw: &mut dyn FnMut() -> u64) -> Vec<u8> {
        self.content.lock().after_crash(draw)
    }

    pub(super) fn rot(&self, offset: u64, mask: u8) -> io::Result<()> {
        let at = usize::try_from(offset).map_err(|_| ErrorKind::FileTooLarge)?;
        let Content { live, durable, .. } = &mut *self.content.lock();
        *live.get_mut(at).ok_or(ErrorKind::UnexpectedEof)? ^= mask;
        durable.get_mut(at).into_iter().for_each(|byte| *byte ^= mask);
        Ok(())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.power.used.fetch_sub(self.content.lock().taken, Ordering::Relaxed);
    }
}

impl Content {
    /// Takes blocks up to `end`, as far as there is room; returns the end that was granted.
    fn take(&mut self, power: &Power, end: u64) -> u64 {
        let more = end.saturating_sub(self.taken).min(power.free());
        power.used.fetch_add(more, Ordering::Relaxed);
        self.taken += more;
        self.taken.min(end)
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.live);
        self.unsynced.push(change);
    }

    /// A third of the crashes keeps all of a file, a third nothing unsynced; between them each
    /// change meets its own fate, whatever came of those before it.
    fn after_crash(&self, draw: &mut dyn FnMut() -> u64) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        let fate = draw() % 3;
        for change in &self.unsynced {
            match (fate, change) {
                (0, _) => change.apply(&mut bytes),
                (1, _) => {}
                (_, Change::Truncate(_)) => {
                    if draw().is_multiple_of(2) {
                        change.apply(&mut bytes);
                    }
                }
                (_, Change::Write(at, written)) => tear(*at, written, draw, &mut bytes),
            }
        }
        bytes
    }
}

/// Writes all, nothing, some sectors, or nothing but the file's new size.
fn tear(at: usize, written: &[u8], draw: &mut dyn FnMut() -> u64, bytes: &mut Vec<u8>) {
    let fate = draw() % 4;
    if fate == 0 {
        return;
    }
    let end = at + written.len();
    bytes.resize(end.max(bytes.len()), 0);
    let mut from = at;
    while from < end {
        let to = ((from / SECTOR + 1) * SECTOR).min(end);
        let keeps = match fate {
            1 => true,
            2 => draw().is_multiple_of(2),
            _ => false,
        };
        if keeps
            && let (Some(into), Some(sector)) =
                (bytes.get_mut(from..to), written.get(from - at..to - at))
        {
            into.copy_from_slice(sector);
        }
        from = to;
    }
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Change::Write(at, written) => {
                let end = at + written.len();
                bytes.resize(end.max(bytes.len()), 0);
                if let Some(into) = bytes.get_mut(*at..end) {
                    into.copy_from_slice(written);
                }
            }
            Change::Truncate(size) => bytes.resize(*size, 0),
        }
    }
}
