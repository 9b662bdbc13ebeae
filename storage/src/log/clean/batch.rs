//! What is kept of one batch, and how it is written anew.

use super::buffers::Buffers;
use super::error::CleanError;
use super::offset_map::{Hash, OffsetMap};
use super::records::{taken, taken_together};
use super::transactions::Transactions;
use super::walk::opened;
use crate::log::validate;
use crate::producer::Producer;
use protocol::compression::Codec;
use protocol::records::RawRecord;
use protocol::records::batch::{
    BatchHeader, CODEC_MASK, CONTROL, DELETE_HORIZON, HEADER_LEN, LOG_APPEND_TIME, LOG_OVERHEAD,
    NO_TIMESTAMP, TRANSACTIONAL, crc_of_parts,
};
use std::collections::BTreeMap;

/// By what is decided, the same for all batches of a pass.
#[derive(Debug)]
pub(super) struct Rules<'a> {
    pub(super) map: &'a OffsetMap,
    /// The last offset that the map knows of; what stands behind is not cleaned yet.
    pub(super) latest: i64,
    /// Up to where the log might have been cleaned. The last batch before says where the log ends.
    pub(super) upto: i64,
    pub(super) now_ms: i64,
    /// `delete.retention.ms`.
    pub(super) delete_retention_ms: i64,
    /// Bytes that one batch may unfold to.
    pub(super) decompressed_bytes_max: usize,
    pub(super) producers: LastBatches,
}

/// The last batch of each producer that a log remembers: with it, its last sequence number is found
/// again.
#[derive(Debug, Default)]
pub(super) struct LastBatches(BTreeMap<i64, (Option<i64>, i16)>);

impl LastBatches {
    pub(super) fn of<'a>(producers: impl Iterator<Item = &'a Producer>) -> LastBatches {
        let last = |it: &Producer| {
            let offset = Some(it.last_offset()).filter(|offset| 0 <= *offset);
            (it.producer_id, (offset, it.epoch))
        };
        LastBatches(producers.map(last).collect())
    }

    /// A producer whose epoch has no records yet is known by the marker that began it.
    fn has(&self, header: &BatchHeader) -> bool {
        match self.0.get(&header.producer_id) {
            Some((Some(offset), _)) => header.last_offset() == *offset,
            Some((None, epoch)) => header.is_control() && header.producer_epoch == *epoch,
            None => false,
        }
    }
}

/// What becomes of a batch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kept<'a> {
    /// All of it, as it stands.
    Whole,
    /// This much, written anew.
    Part(&'a [u8], BatchHeader),
    Nothing,
}

/// What a look at the records of a batch has found.
#[derive(Default)]
struct Sifted {
    kept: i32,
    dropped: i32,
    /// A record that is kept deletes its key.
    has_tombstone: bool,
    max_timestamp: i64,
}

impl Rules<'_> {
    /// Decides about a batch.
    pub(super) fn keep<'b>(
        &self,
        transactions: &mut Transactions,
        (header, batch): (&BatchHeader, &[u8]),
        buffers: &'b mut Buffers,
    ) -> Result<Kept<'b>, CleanError> {
        let is_idle = if header.is_control() {
            transactions.is_of_nothing(header, validate::end_marker(header, batch))
        } else {
            transactions.is_aborted(header)
        };
        if self.latest < header.base_offset {
            return Ok(Kept::Whole);
        }
        let horizon_ms = header.has_delete_horizon().then_some(header.base_timestamp);
        if header.is_control() && header.record_count != 0 {
            return match horizon_ms {
                _ if !is_idle => Ok(Kept::Whole),
                None => self.with_horizon(header, batch, buffers),
                Some(horizon) if self.now_ms < horizon => Ok(Kept::Whole),
                Some(_) => Ok(self.emptied(header, &mut buffers.batch)),
            };
        }
        if header.is_control() || is_idle {
            return Ok(self.emptied(header, &mut buffers.batch));
        }
        self.sift(header, batch, buffers)
    }

    /// Nothing of its records is kept; it itself is, if something else is known by it.
    fn emptied<'b>(&self, header: &BatchHeader, out: &'b mut Vec<u8>) -> Kept<'b> {
        let is_last_of_producer = header.has_producer_id() && self.producers.has(header);
        if !is_last_of_producer && header.next_offset() != self.upto {
            return Kept::Nothing;
        }
        let attributes = header.attributes & (LOG_APPEND_TIME | TRANSACTIONAL | CONTROL);
        let empty =
            BatchHeader { attributes, base_timestamp: NO_TIMESTAMP, record_count: 0, ..*header };
        assembled(empty, &[], out).unwrap_or(Kept::Whole)
    }

    /// Keeps the last record of each key, and tombstones until their time has come.
    fn sift<'b>(
        &self,
        header: &BatchHeader,
        batch: &[u8],
        buffers: &'b mut Buffers,
    ) -> Result<Kept<'b>, CleanError> {
        let Buffers { contexts, opened: opened_into, records: into, moved, compressed, batch: out } =
            buffers;
        let all = opened(contexts, header, batch, opened_into, self.decompressed_bytes_max)?;
        into.clear();
        let sifted = self.sift_into(header, all, into)?;
        if sifted.kept == 0 {
            return Ok(self.emptied(header, out));
        }
        let needs_horizon = sifted.has_tombstone && !header.has_delete_horizon();
        if sifted.dropped == 0 && !needs_horizon {
            return Ok(Kept::Whole);
        }
        let mut header = BatchHeader { record_count: sifted.kept, ..*header };
        if !header.is_log_append_time() {
            header.max_timestamp = sifted.max_timestamp;
        }
        let mut records = into;
        if needs_horizon {
            moved.clear();
            self.move_times(&mut header, records, moved)?;
            records = moved;
        }
        let codec = header.compression().unwrap_or(Codec::None);
        if codec != Codec::None {
            let done = contexts.compress(codec, records, compressed);
            done.map_err(|it| CleanError::unreadable(header.base_offset, &it))?;
            records = compressed;
        }
        assembled(header, records, out).ok_or_else(|| too_large(&header))
    }

    /// Copies what is kept of `all` behind each other, in runs.
    fn sift_into(
        &self,
        header: &BatchHeader,
        all: &[u8],
        into: &mut Vec<u8>,
    ) -> Result<Sifted, CleanError> {
        let mut sifted = Sifted { max_timestamp: i64::MIN, ..Sifted::default() };
        let is_past_horizon = header.has_delete_horizon() && header.base_timestamp <= self.now_ms;
        // The kept records that were not copied yet are those from `run` up to `at`.
        let (mut rest, mut run, mut at) = (all, 0, 0);
        let mut left = header.record_count;
        while 0 < left {
            for (record, hash) in taken_together(self.map, &mut rest, header, &mut left)? {
                let end = at + record.bytes.len();
                if self.keeps(header, (&record, hash), is_past_horizon) {
                    sifted.kept += 1;
                    sifted.has_tombstone |= record.is_tombstone;
                    let time = header.base_timestamp.wrapping_add(record.timestamp_delta);
                    sifted.max_timestamp = sifted.max_timestamp.max(time);
                } else {
                    sifted.dropped += 1;
                    into.extend_from_slice(all.get(run..at).unwrap_or_default());
                    run = end;
                }
                at = end;
            }
        }
        if !rest.is_empty() {
            let reason = "bytes follow its last record";
            return Err(CleanError::unreadable(header.base_offset, &reason));
        }
        into.extend_from_slice(all.get(run..).unwrap_or_default());
        Ok(sifted)
    }

    fn keeps(
        &self,
        header: &BatchHeader,
        (record, hash): (&RawRecord<'_>, Hash),
        is_past_horizon: bool,
    ) -> bool {
        let offset = header.base_offset.wrapping_add(record.offset_delta.into());
        if self.latest < offset {
            return true;
        }
        if record.key.is_none() || (record.is_tombstone && is_past_horizon) {
            return false;
        }
        self.map.get(hash).is_none_or(|last| last <= offset)
    }

    /// A marker that nobody needs stays until its time has come, which begins now.
    fn with_horizon<'b>(
        &self,
        header: &BatchHeader,
        batch: &[u8],
        buffers: &'b mut Buffers,
    ) -> Result<Kept<'b>, CleanError> {
        let mut header = *header;
        let Buffers { contexts, opened: opened_into, records, batch: out, .. } = buffers;
        let all = opened(contexts, &header, batch, opened_into, self.decompressed_bytes_max)?;
        records.clear();
        header.attributes &= !CODEC_MASK;
        self.move_times(&mut header, all, records)?;
        assembled(header, records, out).ok_or_else(|| too_large(&header))
    }

    /// Makes the time from which tombstones and markers may go the base of the records' times
    /// (KIP-534).
    fn move_times(
        &self,
        header: &mut BatchHeader,
        records: &[u8],
        into: &mut Vec<u8>,
    ) -> Result<(), CleanError> {
        let horizon_ms = self.now_ms.saturating_add(self.delete_retention_ms);
        let moved = header.base_timestamp.wrapping_sub(horizon_ms);
        into.reserve(records.len() + records.len() / 8);
        let mut rest = records;
        while !rest.is_empty() {
            let record = taken(&mut rest, header)?;
            let delta = record.timestamp_delta.wrapping_add(moved);
            record.put_with_timestamp_delta(delta, into).ok_or_else(|| too_large(header))?;
        }
        header.attributes |= DELETE_HORIZON;
        header.base_timestamp = horizon_ms;
        Ok(())
    }
}

fn too_large(header: &BatchHeader) -> CleanError {
    CleanError::unreadable(header.base_offset, &"written anew it would be larger than 2 GiB")
}

/// The batch of that header and those records. None: it would be too large.
fn assembled<'b>(
    mut header: BatchHeader,
    records: &[u8],
    out: &'b mut Vec<u8>,
) -> Option<Kept<'b>> {
    header.length = i32::try_from(HEADER_LEN - LOG_OVERHEAD + records.len()).ok()?;
    header.crc = crc_of_parts(&header.write(), records);
    out.clear();
    out.extend_from_slice(&header.write());
    out.extend_from_slice(records);
    Some(Kept::Part(out, header))
}
