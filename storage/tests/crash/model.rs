//! What a log should hold, kept in the simplest way there is.

use bytes::Bytes;
use protocol::records::builder::{BatchBuilder, NewRecord};
use std::fmt;

/// Draws from a seed; the same seed, the same life.
#[derive(Clone, Debug)]
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    /// SplitMix64.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// From `from` up to and with `to`.
    pub(crate) fn within(&mut self, from: i64, to: i64) -> i64 {
        from + i64::try_from(self.below(u64::try_from(to - from + 1).unwrap())).unwrap()
    }
}

/// A batch as a client sent it, and where it went.
#[derive(Clone)]
pub(crate) struct Sent {
    /// -1: of no producer.
    pub(crate) producer_id: i64,
    pub(crate) sequence: i32,
    pub(crate) count: i32,
    pub(crate) base: i64,
    pub(crate) bytes: Bytes,
}

impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sent { producer_id, sequence, count, base, .. } = self;
        write!(f, "producer {producer_id}: {count} from {sequence} on, at {base}")
    }
}

impl Sent {
    /// Records that nobody else sends.
    pub(crate) fn new(producer_id: i64, sequence: i32, count: i32, rng: &mut Rng) -> Sent {
        let mut builder = BatchBuilder::new(0);
        if 0 <= producer_id {
            builder = builder.producer(producer_id, 0, sequence);
        }
        for _ in 0..count {
            let value = rng.next().to_be_bytes().repeat(usize::try_from(1 + rng.below(8)).unwrap());
            let record =
                NewRecord { timestamp_ms: 1000, value: Some(&value), ..NewRecord::default() };
            builder = builder.record(record);
        }
        let bytes = builder.build().unwrap();
        Sent { producer_id, sequence, count, base: -1, bytes }
    }

    /// The offset behind it.
    pub(crate) fn end(&self) -> i64 {
        self.base + i64::from(self.count)
    }
}

/// What was asked of the log, and what it promised.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    /// All that was appended, deleted at the start or not.
    pub(crate) batches: Vec<Sent>,
    /// Sent, and not answered.
    pub(crate) in_flight: Option<Sent>,
    /// Everything below is synced.
    pub(crate) synced: i64,
    /// The log must start at least here, and may start at most there.
    pub(crate) log_start: (i64, i64),
    /// Where the last cut left the end, if nothing has come since.
    pub(crate) cut_to: i64,
    /// A cut was asked for, and not answered.
    pub(crate) cutting_to: Option<i64>,
}

impl Model {
    pub(crate) fn end(&self) -> i64 {
        self.batches.last().map_or(0, Sent::end).max(self.cut_to)
    }

    /// The sequence number that comes next for a producer.
    pub(crate) fn next_sequence(&self, producer_id: i64) -> i32 {
        let last = self.batches.iter().rev().find(|sent| sent.producer_id == producer_id);
        last.map_or(0, |sent| sent.sequence + sent.count)
    }

    /// All that may be in the log, in the order of offsets.
    pub(crate) fn possible(&self) -> Vec<Sent> {
        let mut all = self.batches.clone();
        all.extend(self.in_flight.clone().map(|sent| Sent { base: self.end(), ..sent }));
        all
    }
}
