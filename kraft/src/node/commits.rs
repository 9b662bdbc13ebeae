//! How many decisions were committed, and how long that took; and who wants to know of elections.

use crate::image::RECOVERING;
use crate::record::Record;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Who wants to know of elections.
pub trait Elected: Debug + Send + Sync {
    /// A decision by which partitions that stood have another leader is committed, so long after it
    /// was made. So many of the leaders may lack what was acknowledged.
    fn elected(&self, unclean: u64, took: Duration);
}

/// Of the leaders that a decision elects, how many may lack what was acknowledged; None: it elects
/// none.
pub(super) fn unclean_elections(records: &[Record]) -> Option<u64> {
    let mut unclean = None;
    for record in records {
        if let Record::PartitionChange(change) = record
            && 0 <= change.leader
        {
            let more = u64::from(change.leader_recovery_state == RECOVERING);
            *unclean.get_or_insert(0) += more;
        }
    }
    unclean
}

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
    told: OnceLock<Arc<dyn Elected>>,
}

impl CommitCounter {
    /// Has `told` called at every election from now on. Once.
    pub(super) fn tell_elections(&self, told: Arc<dyn Elected>) {
        debug_assert!(self.told.get().is_none(), "one is told of elections");
        self.told.get_or_init(|| told);
    }

    /// `unclean`: see [`unclean_elections`].
    pub(super) fn count(&self, records: u64, unclean: Option<u64>, took: Duration) {
        if let (Some(unclean), Some(told)) = (unclean, self.told.get()) {
            told.elected(unclean, took);
        }
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
