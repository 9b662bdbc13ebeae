//! What a log's calls give back: results and errors, by what the caller must do with them.

use crate::disk::File;
pub use crate::segment::Damage;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Who appends, and under which leader.
#[derive(Clone, Copy, Debug)]
pub struct AppendContext {
    /// Goes into the batch header.
    pub leader_epoch: i32,
    /// Wall clock, in milliseconds.
    pub now_ms: i64,
    pub origin: Origin,
}

/// Where records come from; it decides what is checked and who says the offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A Produce request: all is checked.
    Client,
    /// A coordinator of this broker: offsets are given here; control batches are allowed, and no
    /// producer is checked.
    Coordinator,
    /// A leader's log or a raft entry: offsets, epochs and timestamps stay as they are.
    Replica,
}

/// A batch that is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    pub base_offset: i64,
    pub last_offset: i64,
    /// -1, unless the topic has the broker's time; of a duplicate, the time of what was there.
    pub log_append_time_ms: i64,
    pub log_start_offset: i64,
    /// It was in the log before: an idempotent producer sent it again.
    pub duplicate: bool,
}

/// Why a batch was not appended, or may not have been.
#[derive(Debug)]
pub enum AppendError {
    /// Not appended: what was sent is not acceptable. Sending the same again is no use.
    Refused(Refusal),
    /// Not appended, and no byte was written: the disk has no room. It may have, later.
    DiskFull(String),
    /// Not appended, and no byte was written: this log has failed before.
    Offline(String),
    /// Perhaps appended: the disk failed on the way. The log directory must go offline.
    PartWay(io::Error),
}

/// What is wrong with a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub reason: Reason,
    /// For people.
    pub message: String,
    /// The records at fault, by their index in the batch, where it is some of them.
    pub record_errors: Vec<RecordError>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    pub index: i32,
    pub message: String,
}

/// Each stands for one error code of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    CorruptMessage,
    InvalidRecord,
    InvalidTimestamp,
    MessageTooLarge,
    /// Larger than a segment may be.
    RecordListTooLarge,
    UnsupportedForMessageFormat,
    UnsupportedCompressionType,
    OutOfOrderSequenceNumber,
    InvalidProducerEpoch,
    /// A transactional batch outside a transaction, or a marker of an old coordinator.
    InvalidTxnState,
    TransactionCoordinatorFenced,
    /// A replica's batch does not follow the end of this log.
    OffsetsNotInOrder,
}

impl Refusal {
    pub(super) fn new(reason: Reason, message: impl Into<String>) -> Refusal {
        Refusal { reason, message: message.into(), record_errors: Vec::new() }
    }
}

impl From<Refusal> for AppendError {
    fn from(refusal: Refusal) -> AppendError {
        AppendError::Refused(refusal)
    }
}

/// A range of a log file to send. The file may be unlinked meanwhile; the range stays readable.
/// It may be cut by a truncation; then reading it ends early.
#[derive(Clone, Debug)]
pub struct Slice {
    pub file: Arc<dyn File>,
    pub position: u64,
    /// Bytes; the last batch may be cut off. 0: nothing here yet, or what is here did not fit.
    pub len: usize,
    /// Base offset of the segment that was read: with `position`, where the read began.
    pub segment_base: i64,
    /// A batch stands there, and was larger than the bytes asked for.
    pub did_not_fit: bool,
}

/// Why nothing can be read at an offset.
#[derive(Debug)]
pub enum ReadError {
    /// Before the log's start, or behind its end.
    OutOfRange {
        log_start: i64,
        log_end: i64,
    },
    /// The batch that holds the offset is damaged; `next_offset` is the first behind it.
    Corrupt {
        offset: i64,
        next_offset: i64,
    },
    Disk(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::Disk(error)
    }
}

/// An offset and the time of the record there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampOffset {
    pub timestamp: i64,
    pub offset: i64,
    /// Of the batch it stands in; -1: of no known leader.
    pub leader_epoch: i32,
}

/// Where an epoch ended: the greatest epoch not above the one asked for, and the offset behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochEnd {
    pub epoch: i32,
    pub end_offset: i64,
}

/// What opening a log found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Bytes that were read and checked.
    pub scanned_bytes: u64,
    /// Offsets that a crash took: what stood behind the first batch that was not whole.
    pub cut: Option<Cut>,
    /// Batches below the recovery point that are damaged. They stay, and cannot be read.
    pub damaged: Vec<Damage>,
    /// Base offsets of segments whose indexes were made anew.
    pub rebuilt_indexes: Vec<i64>,
    /// Files of an interrupted deletion or cleaning that were removed or put in place.
    pub leftovers: usize,
}

/// What was cut off the end of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The log ends here now.
    pub log_end: i64,
    /// Bytes cut, of all segments.
    pub bytes: u64,
    /// The highest offset seen behind the cut, if any header there was readable.
    pub last_seen_offset: Option<i64>,
}

/// Files that have left the log and wait to be unlinked, `file.delete.delay.ms` from now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "the files stay on the disk until they are unlinked"]
pub struct Doomed {
    pub paths: Vec<PathBuf>,
    /// Base offsets of the segments.
    pub segments: Vec<i64>,
}

/// What retention did.
#[derive(Debug, Default)]
pub struct Retained {
    pub doomed: Doomed,
    /// The log starts here now, if it moved; checkpoint it before the files are unlinked.
    pub log_start: Option<i64>,
}
