//! What of a log a crash of the machine could take, and whether a sync of it was asked for.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(super) struct Unsynced {
    bytes: AtomicU64,
    /// It stands in the flusher's queue.
    is_queued: AtomicBool,
}

impl Unsynced {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Adds to them; says how many there are now.
    pub(super) fn add(&self, bytes: u64) -> u64 {
        self.bytes.fetch_add(bytes, Ordering::AcqRel) + bytes
    }

    /// Takes them all: they are synced, about to be, or of no interest any more.
    pub(super) fn take(&self) -> u64 {
        self.bytes.swap(0, Ordering::AcqRel)
    }

    /// Whether it is for the caller to put it into the queue: it does not stand there.
    pub(super) fn must_queue(&self) -> bool {
        !self.is_queued.swap(true, Ordering::AcqRel)
    }

    /// It has come out of the queue. Look at the log's end afterwards: a swap sees what was appended
    /// by everybody whom [`Unsynced::must_queue`] told no, and later ones queue it again.
    pub(super) fn dequeued(&self) {
        self.is_queued.swap(false, Ordering::AcqRel);
    }
}
