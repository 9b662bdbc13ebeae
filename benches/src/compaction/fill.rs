//! A partition's log, written as files: every codec, several producers, transactions, tombstones.
//! All follows from the number of a record, so that two directories get the same bytes.

use crate::Outcome;
use protocol::compression::Codec;
use protocol::records::batch::TRANSACTIONAL;
use protocol::records::builder::{BatchBuilder, NewRecord};
use protocol::records::control::{ControlKind, end_of_transaction};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

const RECORDS_PER_BATCH: u64 = 100;
const SEGMENT_BYTES: u64 = 100 << 20;
/// One in so many records deletes its key.
const TOMBSTONE_EVERY: u64 = 20;
/// One in so many transactions is aborted.
const ABORT_EVERY: u64 = 5;

/// What stands in the log after the last fill.
#[derive(Debug)]
pub(crate) struct Filled {
    keys: u64,
    /// The offset that comes next.
    pub(crate) end: i64,
    /// Base of the last segment: all below can be cleaned.
    pub(crate) active: i64,
    /// Bytes written so far.
    pub(crate) bytes: u64,
    batches: u64,
    sequences: [i32; 4],
    /// By key: the offset of its last record, unless that deletes it or there is none.
    pub(crate) last: Vec<Option<i64>>,
}

/// SplitMix64.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A name of twelve digits.
pub(crate) fn key_of(number: u64) -> String {
    format!("key-{number:012}")
}

/// Half of it a codec can do nothing about.
fn value_of(offset: u64) -> String {
    let (first, second) = (mixed(offset), mixed(!offset));
    format!(
        "{{\"id\":\"{first:016x}{second:016x}\",\"state\":\"waiting\",\"owner\":\"nobody in particular\"}}"
    )
}

impl Filled {
    pub(crate) fn nothing(keys: u64) -> Outcome<Filled> {
        let last = vec![None; usize::try_from(keys)?];
        Ok(Filled { keys, end: 0, active: 0, bytes: 0, batches: 0, sequences: [0; 4], last })
    }

    /// Writes so many more records behind the end, in segments of their own, into every folder.
    pub(crate) fn more(&mut self, records: u64, folders: &[PathBuf]) -> Outcome<()> {
        let mut segment = Segment::begin(folders, self.end)?;
        for _ in 0..records.div_ceil(RECORDS_PER_BATCH) {
            if SEGMENT_BYTES < segment.bytes {
                segment = Segment::begin(folders, self.end)?;
            }
            self.batch(&mut segment)?;
        }
        // What is active is never cleaned.
        let mut active = Segment::begin(folders, self.end)?;
        self.active = self.end;
        self.batch(&mut active)
    }

    fn batch(&mut self, to: &mut Segment) -> Outcome<()> {
        let number = self.batches;
        self.batches += 1;
        let codecs = Codec::ALL.len() as u64;
        let codec = Codec::from_attributes(i16::try_from(number % codecs)?).ok_or("a codec")?;
        let mut batch = BatchBuilder::new(self.end).leader_epoch(0).codec(codec, None);
        // None, two that are idempotent, and one with transactions.
        let producer = usize::try_from(number / codecs % 4)?;
        if 0 < producer {
            let id = 1000 + i64::try_from(producer)?;
            let sequence = self.sequences.get_mut(producer).ok_or("a producer")?;
            batch = batch.producer(id, 0, *sequence);
            *sequence += i32::try_from(RECORDS_PER_BATCH)?;
        }
        let is_in_txn = producer == 3;
        let is_aborted = is_in_txn && (number / codecs / 4).is_multiple_of(ABORT_EVERY);
        if is_in_txn {
            batch = batch.attributes(TRANSACTIONAL);
        }
        let timestamp_ms = 1_700_000_000_000 + i64::try_from(number)?;
        for _ in 0..RECORDS_PER_BATCH {
            let offset = u64::try_from(self.end)?;
            let key_number = mixed(offset) % self.keys;
            let (key, value) = (key_of(key_number), value_of(offset));
            let is_tombstone = (mixed(offset) >> 40).is_multiple_of(TOMBSTONE_EVERY);
            let value = (!is_tombstone).then_some(value.as_bytes());
            batch.push(NewRecord { timestamp_ms, key: Some(key.as_bytes()), value, headers: &[] });
            if !is_aborted {
                let last = self.last.get_mut(usize::try_from(key_number)?).ok_or("a key")?;
                *last = (!is_tombstone).then_some(self.end);
            }
            self.end += 1;
        }
        to.write(&batch.build()?)?;
        if is_in_txn {
            let kind = if is_aborted { ControlKind::Abort } else { ControlKind::Commit };
            let marker = BatchBuilder::new(self.end)
                .leader_epoch(0)
                .producer(1003, 0, -1)
                .attributes(TRANSACTIONAL)
                .control(timestamp_ms, kind, &end_of_transaction(0));
            to.write(&marker.build()?)?;
            self.end += 1;
        }
        self.bytes += to.take_written();
        Ok(())
    }
}

/// The files of one segment, one in each folder. The brokers make its indexes.
struct Segment {
    files: Vec<BufWriter<File>>,
    bytes: u64,
    untold: u64,
}

impl Segment {
    fn begin(folders: &[PathBuf], base: i64) -> Outcome<Segment> {
        let file = |dir: &PathBuf| File::create(path(dir, base)).map(BufWriter::new);
        let files = folders.iter().map(file).collect::<Result<_, _>>()?;
        Ok(Segment { files, bytes: 0, untold: 0 })
    }

    fn write(&mut self, batch: &[u8]) -> Outcome<()> {
        for file in &mut self.files {
            file.write_all(batch)?;
        }
        self.bytes += batch.len() as u64;
        self.untold += batch.len() as u64;
        Ok(())
    }

    fn take_written(&mut self) -> u64 {
        std::mem::take(&mut self.untold)
    }
}

fn path(dir: &Path, base: i64) -> PathBuf {
    dir.join(format!("{base:020}.log"))
}
