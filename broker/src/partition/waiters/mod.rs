//! Who waits for a partition to move: fetches for bytes, produces for what is promised.
//!
//! A waiting request is one `Wakeup`, whatever number of partitions it waits for. An append asks
//! one atomic whether anybody waits, and pays nothing else when nobody does.

use super::leader::{ACKS_ALL, Effects};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering, fence};
use tokio::sync::Notify;

/// One waiting request.
#[derive(Debug)]
pub struct Wakeup {
    /// Bytes for a fetch, partitions for a produce. At or below zero it is woken.
    lacking: AtomicI64,
    notify: Notify,
}

/// More than any request lacks: appends count while it is being found out how much that is.
const UNKNOWN: i64 = i64::MAX / 2;
/// More bytes than any fetch lacks, for when nobody knows how many came.
pub const PLENTY: i64 = i64::MAX / 4;

impl Wakeup {
    /// For a fetch. Register it first, then [`Wakeup::arm`], then read, then [`Wakeup::lack`].
    pub fn for_bytes() -> Arc<Wakeup> {
        Arc::new(Wakeup { lacking: AtomicI64::new(UNKNOWN), notify: Notify::new() })
    }

    /// For a produce to so many partitions.
    pub fn for_partitions(count: usize) -> Arc<Wakeup> {
        let lacking = i64::try_from(count).unwrap_or(UNKNOWN);
        Arc::new(Wakeup { lacking: AtomicI64::new(lacking), notify: Notify::new() })
    }

    /// From here on bytes that arrive are counted.
    pub fn arm(&self) {
        self.lacking.store(UNKNOWN, Ordering::SeqCst);
    }

    /// Says how much the read since [`Wakeup::arm`] lacked; false: as much came meanwhile, read
    /// again. What arrived during the read may count twice, so it wakes early, never late.
    pub fn lack(&self, bytes: i64) -> bool {
        let taken = UNKNOWN - bytes;
        0 < self.lacking.fetch_sub(taken, Ordering::SeqCst) - taken
    }

    pub async fn woken(&self) {
        self.notify.notified().await;
    }

    fn gain(&self, count: i64) {
        // Who lacks nothing any more is not counted further down: it would wrap around.
        let lacks = 0 < self.lacking.load(Ordering::SeqCst)
            && 0 < self.lacking.fetch_sub(count, Ordering::SeqCst) - count;
        if !lacks {
            self.notify.notify_one();
        }
    }
}

/// The requests that wait for one partition.
#[derive(Debug, Default)]
pub struct Waiters {
    waiting: AtomicU32,
    lists: Mutex<Lists>,
}

#[derive(Debug, Default)]
struct Lists {
    readers: Vec<Arc<Wakeup>>,
    /// Those that wait for all in sync, and those that wait for this broker alone.
    for_all: Writers,
    for_leader: Writers,
}

impl Lists {
    fn writers(&mut self, acks: i16) -> &mut Writers {
        if acks == ACKS_ALL { &mut self.for_all } else { &mut self.for_leader }
    }
}

/// Ascending by the offset that must be promised.
#[derive(Debug, Default)]
struct Writers(VecDeque<(i64, Arc<Wakeup>)>);

impl Writers {
    fn add(&mut self, end: i64, wakeup: &Arc<Wakeup>) {
        let at = self.0.partition_point(|(other, _)| *other <= end);
        self.0.insert(at, (end, Arc::clone(wakeup)));
    }

    /// Everything below `promised` is.
    fn release(&mut self, promised: i64) {
        let reached = self.0.partition_point(|(end, _)| *end <= promised);
        self.0.drain(..reached).for_each(|(_, writer)| writer.gain(1));
    }

    fn remove(&mut self, wakeup: &Arc<Wakeup>) {
        self.0.retain(|(_, it)| !Arc::ptr_eq(it, wakeup));
    }
}

impl Waiters {
    pub fn add_reader(&self, wakeup: &Arc<Wakeup>) {
        let mut lists = self.lists.lock();
        lists.readers.push(Arc::clone(wakeup));
        self.count(&lists);
    }

    /// Waits until everything below `end` is promised to who asked for these `acks`. Look
    /// afterwards whether it has become so in between, and call [`Waiters::promised`] then.
    pub fn add_writer(&self, acks: i16, end: i64, wakeup: &Arc<Wakeup>) {
        let mut lists = self.lists.lock();
        lists.writers(acks).add(end, wakeup);
        self.count(&lists);
    }

    pub fn remove(&self, wakeup: &Arc<Wakeup>) {
        let mut lists = self.lists.lock();
        if let Some(at) = lists.readers.iter().position(|it| Arc::ptr_eq(it, wakeup)) {
            lists.readers.swap_remove(at);
        }
        lists.for_all.remove(wakeup);
        lists.for_leader.remove(wakeup);
        self.count(&lists);
    }

    /// The leader has moved on, and readers see `bytes` more than before.
    pub fn advanced(&self, effects: Effects, bytes: i64) {
        if self.nobody() {
            return;
        }
        let mut lists = self.lists.lock();
        if 0 < bytes {
            lists.readers.iter().for_each(|reader| reader.gain(bytes));
        }
        if let Some(watermark) = effects.watermark {
            lists.for_all.release(watermark);
        }
        if let Some(kept) = effects.kept {
            lists.for_leader.release(kept);
        }
        self.count(&lists);
    }

    /// Everything below `end` is promised to who asked for these `acks`, or never will be.
    pub fn promised(&self, acks: i16, end: i64) {
        let mut lists = self.lists.lock();
        lists.writers(acks).release(end);
        self.count(&lists);
    }

    /// Something changed that readers must look at.
    pub fn wake_readers(&self) {
        if !self.nobody() {
            self.lists.lock().readers.iter().for_each(|reader| reader.gain(UNKNOWN));
        }
    }

    /// Nothing will be as anybody waits for it: leadership, deletion, a dead disk.
    pub fn wake_all(&self) {
        if self.nobody() {
            return;
        }
        let mut lists = self.lists.lock();
        lists.readers.iter().for_each(|reader| reader.gain(UNKNOWN));
        lists.for_all.release(i64::MAX);
        lists.for_leader.release(i64::MAX);
        self.count(&lists);
    }

    /// Pairs with the store in `count`: whoever registers looks at the partition afterwards, and
    /// whoever changes the partition looks here afterwards, so one of the two sees the other.
    fn nobody(&self) -> bool {
        fence(Ordering::SeqCst);
        self.waiting.load(Ordering::Relaxed) == 0
    }

    fn count(&self, lists: &Lists) {
        let Lists { readers, for_all, for_leader } = lists;
        let waiting = readers.len() + for_all.0.len() + for_leader.0.len();
        self.waiting.store(u32::try_from(waiting).unwrap_or(u32::MAX), Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests;
