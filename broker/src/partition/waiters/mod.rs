//! Who waits for a partition to move: fetches for bytes, produces for the high watermark.
//!
//! A waiting request is one `Wakeup`, whatever number of partitions it waits for. An append asks
//! one atomic whether anybody waits, and pays nothing else when nobody does.

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
    /// Ascending by the watermark they wait for.
    writers: VecDeque<(i64, Arc<Wakeup>)>,
}

impl Waiters {
    pub fn add_reader(&self, wakeup: &Arc<Wakeup>) {
        let mut lists = self.lists.lock();
        lists.readers.push(Arc::clone(wakeup));
        self.count(&lists);
    }

    /// Waits until the high watermark is `offset` or above. Call [`Waiters::advanced`] afterwards
    /// with the present one, which may have passed in between.
    pub fn add_writer(&self, offset: i64, wakeup: &Arc<Wakeup>) {
        let mut lists = self.lists.lock();
        let at = lists.writers.partition_point(|(other, _)| *other <= offset);
        lists.writers.insert(at, (offset, Arc::clone(wakeup)));
        self.count(&lists);
    }

    pub fn remove(&self, wakeup: &Arc<Wakeup>) {
        let mut lists = self.lists.lock();
        if let Some(at) = lists.readers.iter().position(|it| Arc::ptr_eq(it, wakeup)) {
            lists.readers.swap_remove(at);
        }
        lists.writers.retain(|(_, it)| !Arc::ptr_eq(it, wakeup));
        self.count(&lists);
    }

    /// The watermark is now `watermark`, and readers see `bytes` more than before.
    pub fn advanced(&self, watermark: i64, bytes: i64) {
        if self.nobody() {
            return;
        }
        let mut lists = self.lists.lock();
        for reader in &lists.readers {
            reader.gain(bytes);
        }
        let reached = lists.writers.partition_point(|(offset, _)| *offset <= watermark);
        for (_, writer) in lists.writers.drain(..reached) {
            writer.gain(1);
        }
        self.count(&lists);
    }

    /// Something changed that every request must look at: leadership, deletion, a dead disk.
    pub fn wake_all(&self) {
        self.advanced(i64::MAX, UNKNOWN);
    }

    /// Pairs with the store in `count`: whoever registers looks at the partition afterwards, and
    /// whoever changes the partition looks here afterwards, so one of the two sees the other.
    fn nobody(&self) -> bool {
        fence(Ordering::SeqCst);
        self.waiting.load(Ordering::Relaxed) == 0
    }

    fn count(&self, lists: &Lists) {
        let waiting = lists.readers.len().saturating_add(lists.writers.len());
        self.waiting.store(u32::try_from(waiting).unwrap_or(u32::MAX), Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests;
