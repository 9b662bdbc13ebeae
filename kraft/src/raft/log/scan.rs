//! The scan of the whole log at every start: each batch has its checksum, follows the one before
//! it, and belongs to a term no older. A torn tail may be cut; what was promised never may. It changes
//! nothing: that is [`Log::mend`]'s, once nothing refuses the start any more.

use super::super::window::Window;
use super::{BatchAt, Border, Log, RollAt, Segment, Unsynced, remove_derived, torn};
use crate::raft::types::{Term, log_id};
use bytes::Bytes;
use protocol::records::{BatchHeader, batch::crc_matches};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use storage::disk::Disk;
use storage::error::Error;

/// What the scan found besides the positions.
#[derive(Debug)]
pub(in crate::raft) struct Scanned {
    pub(in crate::raft) log: Log,
    /// The batches of control records, by their number from 0.
    pub(in crate::raft) control: Vec<(u64, Bytes)>,
    /// What [`Log::mend`] will cut, in words.
    pub(in crate::raft) torn: Option<String>,
}

/// Opens the segments of a folder. Entries are counted from 1 until
/// [`Log::begin_at`] knows better.
pub(in crate::raft) fn scan(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    roll_at: RollAt,
) -> Result<Scanned, Error> {
    let mut bases: Vec<(i64, PathBuf)> = Vec::new();
    for entry in disk.list(dir)? {
        if let Some(base) = entry.name.strip_suffix(".log").and_then(offset_in_name) {
            bases.push((base, dir.join(&entry.name)));
        }
    }
    bases.sort();
    let first = bases.first().map_or(0, |(base, _)| *base);
    let log = Log {
        disk: disk.clone(),
        dir: dir.to_owned(),
        roll_at,
        segments: VecDeque::new(),
        batches: VecDeque::new(),
        start: Border { id: log_id(0, 0), end: first },
        end: first,
        unsynced: Unsynced::default(),
    };
    let mut scanned = Scanned { log, control: Vec::new(), torn: None };
    let last = bases.len().saturating_sub(1);
    for (at, (base, path)) in bases.into_iter().enumerate() {
        if base != scanned.log.end {
            let reason =
                format!("begins at {base}, and the log before it ends at {}", scanned.log.end);
            return Err(Error::malformed(&path, reason));
        }
        let file = disk.open(&path)?;
        scanned.segment(Segment { base, path, file, size: 0, first_ms: None }, at == last)?;
    }
    Ok(scanned)
}

impl Scanned {
    fn segment(&mut self, mut segment: Segment, is_last: bool) -> Result<(), Error> {
        let size = segment.file.size()?;
        let mut window = Window::new(&*segment.file);
        loop {
            let position = window.at();
            let Some(batch) = window.next_batch()? else { break };
            let header = match self.check(&batch, position) {
                Ok(header) => header,
                Err(Bad::Order(reason)) => return Err(Error::malformed(&segment.path, reason)),
                Err(Bad::Bytes) => break,
            };
            let of_4_gib = |_| Error::malformed(&segment.path, "is larger than 4 GiB");
            self.log.batches.push_back(BatchAt {
                base: header.base_offset,
                term: u32::try_from(header.leader_epoch).unwrap_or(0),
                position: u32::try_from(position).map_err(of_4_gib)?,
                size: u32::try_from(batch.len()).map_err(of_4_gib)?,
                is_control: header.is_control(),
            });
            if header.is_control() {
                // A copy, because a slice would pin the whole window.
                let copy = Bytes::copy_from_slice(&batch);
                self.control.push((self.log.batches.len() as u64 - 1, copy));
            }
            self.log.end = header.next_offset();
            segment.first_ms.get_or_insert(header.base_timestamp);
            segment.size = position + header.size() as u64;
        }
        if segment.size < size {
            self.judge_tail(&segment, size, is_last)?;
        }
        self.log.segments.push_back(segment);
        Ok(())
    }

    fn check(&self, batch: &[u8], at: u64) -> Result<BatchHeader, Bad> {
        let header = BatchHeader::read(batch).map_err(|_| Bad::Bytes)?;
        if batch.len() != header.size() || !crc_matches(batch) {
            return Err(Bad::Bytes);
        }
        let BatchHeader { base_offset, leader_epoch, last_offset_delta, record_count, .. } = header;
        if base_offset != self.log.end {
            let end = self.log.end;
            if torn::has_lost_head(batch, at, end) {
                return Err(Bad::Bytes);
            }
            return Err(Bad::Order(format!(
                "a batch at offset {base_offset} follows offset {end}"
            )));
        }
        if record_count < 1 || last_offset_delta != record_count - 1 {
            return Err(Bad::Order(format!(
                "the batch at offset {base_offset} has {record_count} records, and ends at {}",
                header.last_offset()
            )));
        }
        if header.next_offset() < base_offset {
            return Err(Bad::Order(format!("the batch at offset {base_offset} has no end")));
        }
        let epoch = self.log.batches.back().map_or(0, |batch| batch.term);
        if u32::try_from(leader_epoch).is_ok_and(|it| epoch <= it) {
            return Ok(header);
        }
        Err(Bad::Order(format!(
            "the batch at offset {base_offset} is of epoch {leader_epoch}, after epoch {epoch}"
        )))
    }

    /// Whether what stands behind the last good batch may be cut.
    fn judge_tail(&mut self, segment: &Segment, size: u64, is_last: bool) -> Result<(), Error> {
        let at = segment.size;
        let end = self.log.end;
        let len = usize::try_from(size - at).unwrap_or(usize::MAX);
        let mut bytes = vec![0; len];
        segment.file.read_exact_at(at, &mut bytes)?;
        let refuse = |why: String| {
            let what = "is corrupt; nothing was cut, because";
            Err(Error::malformed(
                &segment.path,
                format!("the batch at offset {end} (byte {at}) {what} {why}"),
            ))
        };
        if !is_last {
            return refuse("later segments follow it".to_owned());
        }
        if let torn::Tail::Good(distance) = torn::judge(&bytes, at, end) {
            return refuse(format!("a good batch follows at byte {}", at + distance as u64));
        }
        self.torn = Some(format!(
            "{}: {len} bytes behind offset {end} were torn by a crash, and cut",
            segment.path.display()
        ));
        Ok(())
    }
}

/// The offset in the name of a segment or a snapshot: twenty digits.
pub(in crate::raft) fn offset_in_name(digits: &str) -> Option<i64> {
    let is_offset = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_offset)
}

/// What is wrong with a batch.
enum Bad {
    /// It is not whole, or not what was written.
    Bytes,
    /// It is whole, and should not stand where it does.
    Order(String),
}

impl Log {
    /// Cuts what a scan found torn. What Kafka derived from the last segment goes too: the segment
    /// grows, and that does not grow along.
    pub(in crate::raft) fn mend(&self) -> io::Result<()> {
        let Some(active) = self.segments.back() else { return Ok(()) };
        if active.size < active.file.size()? {
            active.file.truncate(active.size)?;
            active.file.sync()?;
        }
        remove_derived(&*self.disk, &active.path)
    }

    /// How many batches end at or before an offset; None where it lies within one, or outside.
    pub(in crate::raft) fn count_before(&self, offset: i64) -> Option<u64> {
        let count = self.batches.partition_point(|batch| batch.base < offset);
        let border = match self.batches.get(count) {
            Some(next) => next.base,
            None => self.end,
        };
        (border == offset).then_some(count as u64)
    }

    /// Says which place the entries are counted from, and forgets what lies before it.
    pub(in crate::raft) fn begin_at(&mut self, start: Border) {
        let gone = self.batches.partition_point(|batch| batch.base < start.end);
        self.batches.drain(..gone);
        self.start = start;
    }

    /// The term of the last batch before an offset, where that batch is here.
    pub(in crate::raft) fn term_before(&self, offset: i64) -> Option<Term> {
        let count = self.batches.partition_point(|batch| batch.base < offset);
        self.batches.get(count.checked_sub(1)?).map(|batch| batch.term)
    }

    /// Whether a batch at or behind an offset holds metadata.
    pub(in crate::raft) fn has_data_from(&self, offset: i64) -> bool {
        self.batches.iter().any(|batch| offset <= batch.base && !batch.is_control)
    }

    /// The offset of a batch, by its number from 0 at the scan.
    pub(in crate::raft) fn base_of(&self, number: u64) -> Option<i64> {
        let number = usize::try_from(number).ok()?;
        self.batches.get(number).map(|batch| batch.base)
    }
}
