//! The one buffer through which the records of a compressed batch come.

use super::error::{Fault, RecordError};
use crate::compression::{Decompressor, is_limit};
use crate::varint;
use std::io::{self, Read};

/// How much is asked of the codec at first.
const LEN_MIN: usize = 16 * 1024;
/// The longest varint of 32 bits.
const VARINT_LEN_MAX: usize = 5;

/// Bytes that have come out and were not passed over yet.
#[derive(Debug)]
pub(super) struct Window<'a> {
    stream: Decompressor<'a>,
    limit: usize,
    bytes: Vec<u8>,
    /// Where the bytes that count begin and end.
    start: usize,
    end: usize,
}

impl<'a> Window<'a> {
    pub(super) fn new(stream: Decompressor<'a>, limit: usize) -> Window<'a> {
        Window { stream, limit, bytes: Vec::new(), start: 0, end: 0 }
    }

    /// Passes over one record, and returns what stands behind its length.
    pub(super) fn next_body(&mut self) -> Result<Result<&[u8], Fault>, RecordError> {
        if !self.fill(VARINT_LEN_MAX)? && self.unread().is_empty() {
            return Ok(Err(Fault::Cut));
        }
        let mut rest = self.unread();
        let before = rest.len();
        let Some(len) = varint::take(&mut rest) else { return Ok(Err(Fault::Number)) };
        let prefix = before - rest.len();
        let Ok(len) = usize::try_from(len) else { return Ok(Err(Fault::Length)) };
        self.start += prefix;
        if !self.fill(len)? {
            return Ok(Err(Fault::Cut));
        }
        let start = self.start;
        self.start += len;
        Ok(self.bytes.get(start..start + len).ok_or(Fault::Cut))
    }

    /// Whether nothing more comes.
    pub(super) fn is_at_end(&mut self) -> Result<bool, RecordError> {
        Ok(!self.fill(1)?)
    }

    fn unread(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Sees to it that `len` bytes are there; `false` if the stream ends before. The buffer grows
    /// with what has come, to at most twice of it, and never with what is claimed.
    fn fill(&mut self, len: usize) -> Result<bool, RecordError> {
        while self.end - self.start < len {
            if self.start > 0 && self.bytes.len() - self.start < len {
                self.bytes.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            }
            if self.end == self.bytes.len() {
                let doubled = self.bytes.len().saturating_mul(2).min(self.start + len);
                self.bytes.resize(doubled.max(LEN_MIN), 0);
            }
            let room = self.bytes.get_mut(self.end..).unwrap_or_default();
            match self.stream.read(room) {
                Ok(0) => return Ok(false),
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_limit(&error) => return Err(RecordError::Limit(self.limit)),
                Err(error) => return Err(RecordError::Decompression(error.to_string())),
            }
        }
        Ok(true)
    }
}
