//! What goes through partitions: Kafka's `BrokerTopicMetrics`.
//!
//! A partition counts for itself, and its directory for all that are in it, in cells that belong
//! to one thread each, so that a produce or a fetch pays a few additions to memory that nobody
//! else writes.

use std::ops::{Add, AddAssign};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Cells of a counter that many threads share. More threads than cells share them, and lose nothing.
pub(super) const CELLS: usize = 16;

/// Counts, as they were at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    pub messages_in: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Of batches that were too large.
    pub bytes_rejected: u64,
    /// Batches that were to be appended.
    pub produce_requests: u64,
    /// Partitions that fetches asked for.
    pub fetch_requests: u64,
    /// Those of them that failed for a reason that Apache Kafka does not expect either.
    pub failed_produce_requests: u64,
    pub failed_fetch_requests: u64,
}

impl Traffic {
    fn fields(&self) -> [u64; 8] {
        [
            self.messages_in,
            self.bytes_in,
            self.bytes_out,
            self.bytes_rejected,
            self.produce_requests,
            self.fetch_requests,
            self.failed_produce_requests,
            self.failed_fetch_requests,
        ]
    }
}

impl Add for Traffic {
    type Output = Traffic;

    fn add(self, other: Traffic) -> Traffic {
        Traffic {
            messages_in: self.messages_in.wrapping_add(other.messages_in),
            bytes_in: self.bytes_in.wrapping_add(other.bytes_in),
            bytes_out: self.bytes_out.wrapping_add(other.bytes_out),
            bytes_rejected: self.bytes_rejected.wrapping_add(other.bytes_rejected),
            produce_requests: self.produce_requests.wrapping_add(other.produce_requests),
            fetch_requests: self.fetch_requests.wrapping_add(other.fetch_requests),
            failed_produce_requests: (self.failed_produce_requests)
                .wrapping_add(other.failed_produce_requests),
            failed_fetch_requests: (self.failed_fetch_requests)
                .wrapping_add(other.failed_fetch_requests),
        }
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Traffic {
    fn sum<I: Iterator<Item = Traffic>>(all: I) -> Traffic {
        all.fold(Traffic::default(), Add::add)
    }
}

/// The counters of one partition. In cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct PartitionTraffic([AtomicU64; 8]);

impl PartitionTraffic {
    pub fn add(&self, more: Traffic) {
        for (counter, more) in self.0.iter().zip(more.fields()) {
            if more != 0 {
                counter.fetch_add(more, Ordering::Relaxed);
            }
        }
    }

    pub fn get(&self) -> Traffic {
        let [a, b, c, d, e, f, g, h] = self.0.each_ref().map(|it| it.load(Ordering::Relaxed));
        Traffic {
            messages_in: a,
            bytes_in: b,
            bytes_out: c,
            bytes_rejected: d,
            produce_requests: e,
            fetch_requests: f,
            failed_produce_requests: g,
            failed_fetch_requests: h,
        }
    }
}

/// The counters of all partitions together, those that have gone too: they never fall.
#[derive(Debug, Default)]
pub struct TotalTraffic([PartitionTraffic; CELLS]);

impl TotalTraffic {
    pub fn add(&self, more: Traffic) {
        if let Some(cell) = self.0.get(cell()) {
            cell.add(more);
        }
    }

    pub fn get(&self) -> Traffic {
        self.0.iter().map(PartitionTraffic::get).sum()
    }
}

/// The cell of this thread.
pub(super) fn cell() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static CELL: usize = NEXT.fetch_add(1, Ordering::Relaxed) % CELLS;
    }
    CELL.with(|cell| *cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_threads_count_is_counted_once() {
        let total = TotalTraffic::default();
        let one = Traffic {
            messages_in: 1,
            bytes_in: 10,
            failed_fetch_requests: 3,
            ..Traffic::default()
        };
        std::thread::scope(|scope| {
            for _ in 0..CELLS * 2 {
                scope.spawn(|| (0..100).for_each(|_| total.add(one)));
            }
        });
        let got = total.get();
        let count = u64::try_from(CELLS).unwrap() * 200;
        assert_eq!(
            (got.messages_in, got.bytes_in, got.failed_fetch_requests),
            (count, 10 * count, 3 * count)
        );
        assert_eq!(got.bytes_out, 0);
    }
}
