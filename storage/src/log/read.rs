//! Reading: which bytes of which file answer a fetch.

use super::{Log, ReadError, Slice};
use crate::error::Error;
use crate::segment::scan::ScanError;
use crate::segment::{Located, Segment};
use bytes::Bytes;
use std::io;

impl Slice {
    /// The bytes themselves; fewer if the file was cut meanwhile.
    pub fn read(&self) -> io::Result<Bytes> {
        let mut bytes = vec![0; self.len];
        let mut filled = 0;
        while let Some(into) = bytes.get_mut(filled..).filter(|into| !into.is_empty()) {
            match self.file.read_at(self.position + filled as u64, into)? {
                0 => break,
                count => filled += count,
            }
        }
        bytes.truncate(filled);
        Ok(Bytes::from(bytes))
    }
}

impl From<ScanError> for ReadError {
    fn from(error: ScanError) -> ReadError {
        match error {
            ScanError::Disk(error) => ReadError::Disk(error),
            ScanError::Flawed(flaw) => ReadError::Disk(io::Error::other(flaw.to_string())),
        }
    }
}

impl From<ScanError> for Error {
    fn from(error: ScanError) -> Error {
        match error {
            ScanError::Disk(error) => Error::from(error),
            ScanError::Flawed(flaw) => Error::Disk(io::Error::other(flaw.to_string())),
        }
    }
}

/// What a reader wants of one segment.
#[derive(Clone, Copy)]
struct Wanted {
    offset: i64,
    max_bytes: usize,
    end: i64,
    at_least_one: bool,
}

impl Log {
    /// The bytes from the batch that holds `offset` on: at most `max_bytes`, the last batch cut off
    /// where they end, but with `at_least_one` the first batch whole. No batch that reaches `end`
    /// or beyond is part of it. An empty slice: nothing there yet, or it did not fit.
    pub fn read(
        &self,
        offset: i64,
        max_bytes: usize,
        end: i64,
        at_least_one: bool,
    ) -> Result<Slice, ReadError> {
        self.check_range(offset)?;
        match self.read_from(offset, max_bytes, end, at_least_one) {
            // What was asked for may have left the log under our hands.
            Err(ReadError::Disk(error)) => {
                self.check_range(offset).and(Err(ReadError::Disk(error)))
            }
            answer => answer,
        }
    }

    /// Whether [`Log::read`] may have to wait for the disk to find `offset`.
    pub fn is_cold(&self, offset: i64) -> bool {
        let segments = self.segments.load();
        let Some((_, segment)) = Log::segment_of(&segments, offset) else { return false };
        // What cannot be told here is told by the read.
        segment.is_cold(&self.home, offset).unwrap_or(false)
    }

    fn check_range(&self, offset: i64) -> Result<(), ReadError> {
        let (log_start, log_end) = (self.log_start(), self.log_end());
        if offset < log_start || log_end < offset {
            return Err(ReadError::OutOfRange { log_start, log_end });
        }
        Ok(())
    }

    fn read_from(
        &self,
        offset: i64,
        max_bytes: usize,
        end: i64,
        at_least_one: bool,
    ) -> Result<Slice, ReadError> {
        let segments = self.segments.load();
        let end = end.min(self.readable_end());
        let wanted = Wanted { offset, max_bytes, end, at_least_one };
        let Some((first, segment)) = Log::segment_of(&segments, offset) else {
            let (log_start, log_end) = (self.log_start(), self.log_end());
            return Err(ReadError::OutOfRange { log_start, log_end });
        };
        let mut last = segment;
        if offset < end {
            // More than one only where a segment ends in a gap.
            for segment in segments.get(first..).unwrap_or_default() {
                if end <= segment.base() {
                    break;
                }
                if let Some(slice) = self.read_segment(segment, wanted)? {
                    return Ok(slice);
                }
                last = segment;
            }
        }
        Ok(empty(last, last.size()))
    }

    /// None: the segment ends before the offset.
    fn read_segment(&self, segment: &Segment, wanted: Wanted) -> Result<Option<Slice>, ReadError> {
        let Wanted { offset, max_bytes, end, at_least_one } = wanted;
        // The end offset and the size are one pair, read before anything else.
        let (segment_end, size) = segment.end();
        let (position, next) = match segment.locate(&self.home, offset)? {
            Located::At { position, next } => (position, next),
            Located::Damaged(damage) => return Err(corrupt(offset, damage.next_offset)),
            Located::Behind => return Ok(None),
        };
        let mut limit = if segment_end <= end {
            size
        } else {
            match segment.locate(&self.home, end)? {
                Located::At { position, .. } => position,
                Located::Damaged(damage) => damage.position,
                Located::Behind => size,
            }
        };
        if let Some(damage) = segment.damage_from(position) {
            if damage.position <= position {
                return Err(corrupt(offset, damage.next_offset));
            }
            limit = limit.min(damage.position);
        }
        let available = limit.saturating_sub(position);
        let mut len = usize::try_from(available).unwrap_or(usize::MAX);
        if max_bytes < len {
            let first = usize::try_from(next.saturating_sub(position)).unwrap_or(usize::MAX);
            if max_bytes < first && !at_least_one {
                return Ok(Some(Slice { did_not_fit: true, ..empty(segment, position) }));
            }
            len = len.min(max_bytes.max(first));
        }
        Ok(Some(Slice { len, ..empty(segment, position) }))
    }
}

fn empty(segment: &Segment, position: u64) -> Slice {
    let (file, segment_base) = (segment.file().clone(), segment.base());
    Slice { file, position, len: 0, segment_base, did_not_fit: false }
}

fn corrupt(offset: i64, next_offset: i64) -> ReadError {
    ReadError::Corrupt { offset, next_offset }
}
