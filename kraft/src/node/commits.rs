//! How many decisions were committed, and how long that took.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Since the start, or between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Commits {
    /// Decisions that appended anything.
    pub decisions: u64,
    /// Their records.
    pub records: u64,
    /// From the decision to its commit, summed up.
    pub took: Duration,
}

impl Commits {
    /// What came after `earlier`.
    pub fn since(self, earlier: Commits) -> Commits {
        Commits {
            decisions: self.decisions.saturating_sub(earlier.decisions),
            records: self.records.saturating_sub(earlier.records),
            took: self.took.saturating_sub(earlier.took),
        }
    }
}

/// Counted by the node's task, read by whoever asks.
#[derive(Debug, Default)]
pub(super) struct CommitCounter {
    decisions: AtomicU64,
    records: AtomicU64,
    took_micros: AtomicU64,
}

impl CommitCounter {
    pub(super) fn count(&self, records: u64, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(0);
        self.decisions.fetch_add(1, Ordering::Relaxed);
        self.records.fetch_add(records, Ordering::Relaxed);
        self.took_micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> Commits {
        Commits {
            decisions: self.decisions.load(Ordering::Relaxed),
            records: self.records.load(Ordering::Relaxed),
            took: Duration::from_micros(self.took_micros.load(Ordering::Relaxed)),
        }
    }
}
