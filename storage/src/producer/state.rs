//! One producer: its epoch, its last five batches, its open transaction.

use super::verdict::{EndMarker, Refusal, Verdict};
use protocol::records::batch::{BatchHeader, NO_PRODUCER_EPOCH, NO_SEQUENCE, NO_TIMESTAMP};

/// A producer may have five requests in flight, so any of its last five batches may come again.
const BATCHES_MAX: usize = 5;

/// What is kept of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchMark {
    pub last_offset: i64,
    pub timestamp_ms: i64,
    pub last_sequence: i32,
    /// Last offset less first offset.
    pub offset_delta: i32,
}

impl BatchMark {
    pub fn first_offset(&self) -> i64 {
        self.last_offset.saturating_sub(i64::from(self.offset_delta))
    }

    /// Sequence numbers go from `i32::MAX` to 0.
    pub fn first_sequence(&self) -> i32 {
        let first = i64::from(self.last_sequence) - i64::from(self.offset_delta);
        i32::try_from(first.rem_euclid(1 << 31)).unwrap_or(NO_SEQUENCE)
    }
}

/// What a log remembers of one producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Producer {
    pub producer_id: i64,
    /// -1: nothing is known.
    pub epoch: i16,
    pub coordinator_epoch: i32,
    pub last_timestamp_ms: i64,
    pub current_txn_first_offset: Option<i64>,
    /// The first `count` hold, oldest first.
    marks: [BatchMark; BATCHES_MAX],
    count: u8,
}

impl Producer {
    pub(super) fn new(producer_id: i64) -> Producer {
        Producer {
            producer_id,
            epoch: NO_PRODUCER_EPOCH,
            coordinator_epoch: -1,
            last_timestamp_ms: NO_TIMESTAMP,
            current_txn_first_offset: None,
            marks: [BatchMark::default(); BATCHES_MAX],
            count: 0,
        }
    }

    /// The last batches of the current epoch, oldest first.
    pub fn marks(&self) -> &[BatchMark] {
        self.marks.get(..usize::from(self.count)).unwrap_or_default()
    }

    /// -1 if the current epoch has no batch yet.
    pub fn last_sequence(&self) -> i32 {
        self.marks().last().map_or(NO_SEQUENCE, |mark| mark.last_sequence)
    }

    /// -1 if the current epoch has no batch yet.
    pub fn last_offset(&self) -> i64 {
        self.marks().last().map_or(-1, |mark| mark.last_offset)
    }

    pub(super) fn check(&self, header: &BatchHeader) -> Result<Verdict, Refusal> {
        let BatchHeader { producer_id, producer_epoch: epoch, base_sequence: sequence, .. } =
            *header;
        let last_sequence = self.last_sequence();
        if epoch == self.epoch
            && let Some(mark) = self.marks().iter().find(|mark| {
                (mark.first_sequence(), mark.last_sequence) == (sequence, header.last_sequence())
            })
        {
            return Ok(Verdict::Duplicate {
                first_offset: mark.first_offset(),
                last_offset: mark.last_offset,
                timestamp_ms: mark.timestamp_ms,
            });
        }
        if epoch < self.epoch {
            return Err(Refusal::OldEpoch { producer_id, epoch, current_epoch: self.epoch });
        }
        if self.epoch != NO_PRODUCER_EPOCH {
            if epoch != self.epoch && sequence != 0 {
                let current_epoch = self.epoch;
                return Err(Refusal::NewEpochNotAtZero {
                    producer_id,
                    epoch,
                    sequence,
                    current_epoch,
                });
            }
            if epoch == self.epoch && !follows(last_sequence, sequence) {
                return Err(Refusal::OutOfOrder { producer_id, epoch, sequence, last_sequence });
            }
        }
        if self.current_txn_first_offset.is_some() && !header.is_transactional() {
            return Err(Refusal::NotTransactional { producer_id });
        }
        Ok(Verdict::Append)
    }

    /// Notes a batch; `Some` is the first offset of a transaction that it opened.
    pub(super) fn append(&mut self, header: &BatchHeader) -> Option<i64> {
        self.epoch_is(header.producer_epoch);
        self.push(BatchMark {
            last_offset: header.last_offset(),
            timestamp_ms: header.max_timestamp,
            last_sequence: header.last_sequence(),
            offset_delta: header.last_offset_delta,
        });
        self.last_timestamp_ms = header.max_timestamp;
        if !header.is_transactional() || self.current_txn_first_offset.is_some() {
            return None;
        }
        self.current_txn_first_offset = Some(header.base_offset);
        self.current_txn_first_offset
    }

    /// Notes a marker; `Some` is the first offset of the transaction that it ended.
    pub(super) fn end_txn(&mut self, header: &BatchHeader, marker: EndMarker) -> Option<i64> {
        self.epoch_is(header.producer_epoch);
        self.coordinator_epoch = marker.coordinator_epoch;
        self.last_timestamp_ms = header.max_timestamp;
        self.current_txn_first_offset.take()
    }

    /// Sequence numbers belong to an epoch: with a new one the old batches cannot come again.
    fn epoch_is(&mut self, epoch: i16) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.count = 0;
        }
    }

    pub(super) fn push(&mut self, mark: BatchMark) {
        if usize::from(self.count) == BATCHES_MAX {
            self.marks.rotate_left(1);
        } else {
            self.count += 1;
        }
        if let Some(last) = self.marks.get_mut(usize::from(self.count) - 1) {
            *last = mark;
        }
    }

    pub(super) fn is_expired(&self, now_ms: i64, expiration_ms: i64) -> bool {
        self.current_txn_first_offset.is_none()
            && expiration_ms <= now_ms.saturating_sub(self.last_timestamp_ms)
    }
}

fn follows(last: i32, next: i32) -> bool {
    i64::from(next) == i64::from(last) + 1 || (next == 0 && last == i32::MAX)
}
