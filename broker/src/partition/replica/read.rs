//! Reading a partition, and what its readers ask of its epochs.

use super::Partition;
use crate::partition::fault::Fault;
use crate::partition::leader::Leader;
use crate::partition::waiters::Wakeup;
use protocol::error::ErrorCode;
use std::sync::Arc;
use storage::log::{EpochEnd, Slice};

/// How far a reader may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Followers, and whoever says it is one.
    LogEnd,
    HighWatermark,
    /// `read_committed`.
    LastStable,
}

/// What to read.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub offset: i64,
    pub bytes_max: usize,
    /// The first batch is returned whole even above `bytes_max`.
    pub at_least_one: bool,
    pub isolation: Isolation,
    /// The leader epoch that the reader believes in; -1: none.
    pub leader_epoch: i32,
    /// The epoch of the last record it has; -1: it does not say.
    pub last_epoch: i32,
}

/// What was read, and the offsets as they were before.
#[derive(Debug)]
pub struct Read {
    pub high_watermark: i64,
    pub last_stable_offset: i64,
    pub log_start_offset: i64,
    pub slice: Option<Slice>,
    /// Aborted transactions in the slice, as (producer id, first offset): only under
    /// `read_committed`.
    pub aborted: Option<Vec<(i64, i64)>>,
    /// The reader has records that this leader has not: where the two part.
    pub diverging: Option<EpochEnd>,
}

impl Partition {
    /// The exclusive end of what a reader may see.
    pub fn visible_end(&self, isolation: Isolation) -> i64 {
        match isolation {
            Isolation::LogEnd => self.log.log_end(),
            Isolation::HighWatermark => self.log.high_watermark(),
            Isolation::LastStable => self.log.last_stable_offset(),
        }
    }

    pub fn read(&self, ask: &Ask) -> Result<Read, Fault> {
        self.leader_epoch(ask.leader_epoch)?;
        // Taken before the read: what arrives during it is for the next one.
        let mut read = Read {
            high_watermark: self.log.high_watermark(),
            last_stable_offset: self.log.last_stable_offset(),
            log_start_offset: self.log.log_start(),
            slice: None,
            aborted: (ask.isolation == Isolation::LastStable).then(Vec::new),
            diverging: None,
        };
        if 0 <= ask.last_epoch {
            read.diverging = self.divergence(ask)?;
            if read.diverging.is_some() {
                return Ok(read);
            }
        }
        let end = match ask.isolation {
            Isolation::LogEnd => self.log.log_end(),
            Isolation::HighWatermark => read.high_watermark,
            Isolation::LastStable => read.last_stable_offset,
        };
        // What is told of aborted transactions is of the very segment that was read.
        let _held = read.aborted.is_some().then(|| self.log.hold_segments());
        let slice = self.log.read(ask.offset, ask.bytes_max, end, ask.at_least_one);
        let slice = slice.map_err(|error| self.unreadable(error))?;
        if let Some(aborted) = read.aborted.as_mut()
            && 0 < slice.len
        {
            let found = self.log.aborted_transactions(ask.offset, end);
            let found = found.map_err(|error| self.broken(&error))?;
            // A segment that leaves the log takes along what is told of it; the start moves before.
            if ask.offset < self.log.log_start() {
                return Err(ErrorCode::OffsetOutOfRange.into());
            }
            aborted.extend(found.into_iter().map(|it| (it.producer_id, it.first_offset)));
        }
        read.slice = (0 < slice.len).then_some(slice);
        Ok(read)
    }

    /// Where the records of an epoch end; None: there is no such epoch, or it is still to come.
    pub fn epoch_end(&self, epoch: i32) -> Option<EpochEnd> {
        if self.epoch() == Some(epoch) {
            return Some(EpochEnd { epoch, end_offset: self.log.log_end() });
        }
        self.log.end_offset_for_epoch(epoch)
    }

    /// The epoch in which the first record was written, or the next one will be.
    pub fn first_epoch(&self) -> i32 {
        let start = self.log.log_start();
        let known = self.log.epoch_of(start).filter(|_| start < self.log.log_end());
        known.or_else(|| self.epoch()).unwrap_or(-1)
    }

    /// Where the reader's log and this one part, if they do (KIP-320).
    fn divergence(&self, ask: &Ask) -> Result<Option<EpochEnd>, Fault> {
        let ours = self.epoch_end(ask.last_epoch);
        let Some(ours) = ours.filter(|ours| 0 <= ours.epoch && 0 <= ours.end_offset) else {
            return Err(ErrorCode::OffsetOutOfRange.into());
        };
        if ask.offset < self.log.log_start() {
            return Err(ErrorCode::OffsetOutOfRange.into());
        }
        let parts = ours.epoch < ask.last_epoch || ours.end_offset < ask.offset;
        Ok(parts.then_some(ours))
    }

    /// The epoch in which this broker leads it.
    fn epoch(&self) -> Option<i32> {
        self.role.lock().leader().ok().map(Leader::epoch)
    }

    pub fn await_bytes(&self, wakeup: &Arc<Wakeup>) {
        self.waiters.add_reader(wakeup);
    }
}
