//! Look-ups: offsets by time, the newest time, ends of epochs, aborted transactions.

use super::outcome::{EpochEnd, ReadError, TimestampOffset};
use super::{Damage, Log};
use crate::epoch;
use crate::error::Error;
use crate::segment::scan::Found;
use crate::segment::{Located, Segment};
use crate::txn_index::AbortedTxn;
use protocol::records::batch::crc_matches;
use protocol::records::record::records;
use std::io;

impl Log {
    /// The first record whose time is `timestamp` or later. None: there is none. The batch that it
    /// stands in is opened, up to `max.decompressed.message.bytes`.
    pub fn offset_for_timestamp(
        &self,
        timestamp: i64,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        for segment in self.segments.load().iter() {
            match self.time_in_segment(segment, timestamp) {
                Ok(None) => {}
                // It has left the log under our hands, and its files went.
                Err(_) if segment.is_retired() => {}
                answer => return answer,
            }
        }
        Ok(None)
    }

    fn time_in_segment(
        &self,
        segment: &Segment,
        timestamp: i64,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        let log_start = self.log_start();
        if segment.end().0 <= log_start {
            return Ok(None);
        }
        let largest = segment.largest_timestamp(&self.home)?;
        if largest.is_none_or(|(largest, _)| largest < timestamp) {
            return Ok(None);
        }
        let mut from = log_start;
        loop {
            let position = match segment.locate_time(&self.home, timestamp, from)? {
                Located::At { position, .. } => position,
                Located::Damaged(damage) => return Err(corrupt(&damage)),
                Located::Behind => return Ok(None),
            };
            let Some(found) = segment.batch_at(position)? else { return Ok(None) };
            let wanted = |time: i64, offset: i64| timestamp <= time && log_start <= offset;
            let record = self.first_record(segment, &found, wanted)?;
            if record.is_some() {
                return Ok(record);
            }
            // Its greatest timestamp is not that of any record that is still there.
            from = found.last_offset + 1;
        }
    }

    /// The first record with the greatest time in the log. None: no record has a time.
    pub fn max_timestamp(&self) -> Result<Option<TimestampOffset>, ReadError> {
        let segments = self.segments.load();
        let mut best: Option<(i64, i64, &Segment)> = None;
        for segment in segments.iter() {
            let largest = match segment.largest_timestamp(&self.home) {
                Err(_) if segment.is_retired() => continue,
                largest => largest?,
            };
            if let Some((time, offset)) = largest
                && best.is_none_or(|(greatest, ..)| greatest < time)
            {
                best = Some((time, offset, segment));
            }
        }
        let Some((time, offset, segment)) = best else { return Ok(None) };
        match self.record_at_time(segment, time, offset) {
            Err(_) if segment.is_retired() => Ok(None), // All that was newest is gone.
            answer => answer,
        }
    }

    fn record_at_time(
        &self,
        segment: &Segment,
        time: i64,
        offset: i64,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        let position = match segment.locate(&self.home, offset)? {
            Located::At { position, .. } => position,
            Located::Damaged(damage) => return Err(corrupt(&damage)),
            Located::Behind => return Ok(None),
        };
        let Some(found) = segment.batch_at(position)? else { return Ok(None) };
        self.first_record(segment, &found, |other, _| other == time)
    }

    /// Opens one batch. `wanted` is asked with time and offset of each record.
    fn first_record(
        &self,
        segment: &Segment,
        found: &Found,
        wanted: impl Fn(i64, i64) -> bool,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        let Some(header) = &found.header else {
            // A message of an older format stands for itself.
            let (timestamp, offset) = (found.max_timestamp, found.last_offset);
            let it = TimestampOffset { timestamp, offset, leader_epoch: -1 };
            return Ok(wanted(timestamp, offset).then_some(it));
        };
        let size = usize::try_from(found.size)
            .map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let mut batch = vec![0; size];
        segment.file().read_exact_at(found.position, &mut batch)?;
        let damage = Damage {
            segment_base: segment.base(),
            position: found.position,
            end_position: found.end(),
            offset: found.base_offset,
            next_offset: found.last_offset + 1,
        };
        if !crc_matches(&batch) {
            segment.remember(damage);
            return Err(corrupt(&damage));
        }
        // What a client sent so, and nobody opened, is no damage of ours.
        let bad = |_| corrupt(&damage);
        let limit = self.config.load().max_decompressed_bytes;
        let mut records = records(&batch, limit).map_err(bad)?;
        while let Some(record) = records.next() {
            let record = record.map_err(bad)?;
            let (timestamp, offset) = (record.timestamp_ms(header), record.offset(header));
            if wanted(timestamp, offset) {
                let leader_epoch = header.leader_epoch;
                return Ok(Some(TimestampOffset { timestamp, offset, leader_epoch }));
            }
        }
        Ok(None)
    }

    /// The greatest epoch not above the one asked for, and where it ended; None: not known.
    pub fn end_offset_for_epoch(&self, epoch: i32) -> Option<EpochEnd> {
        let (epoch, end_offset) = self.epochs.read().end_offset_for(epoch, self.log_end());
        (epoch != epoch::UNDEFINED).then_some(EpochEnd { epoch, end_offset })
    }

    /// The last epoch of which the log holds, or was told, something.
    pub fn latest_epoch(&self) -> Option<i32> {
        self.epochs.read().latest().map(|(epoch, _)| epoch)
    }

    /// The epoch in which the record at an offset was appended.
    pub fn epoch_of(&self, offset: i64) -> Option<i32> {
        self.epochs.read().epoch_of(offset)
    }

    /// The aborted transactions that a `read_committed` fetch of `from..to` has to pass over. The
    /// marker of one that begins there may stand in any segment behind, so all are asked up to one
    /// that says that nothing follows.
    pub fn aborted_transactions(&self, from: i64, to: i64) -> Result<Vec<AbortedTxn>, Error> {
        let segments = self.segments.load();
        let Some((first, _)) = Log::segment_of(&segments, from) else { return Ok(Vec::new()) };
        let mut aborted = Vec::new();
        for segment in segments.get(first..).unwrap_or_default() {
            let found = segment.collect_aborted(&self.home, from, to)?;
            aborted.extend(found.aborted);
            if found.is_complete {
                break;
            }
        }
        Ok(aborted)
    }
}

fn corrupt(damage: &Damage) -> ReadError {
    ReadError::Corrupt { offset: damage.offset, next_offset: damage.next_offset }
}
