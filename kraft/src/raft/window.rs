//! A file of batches, read from front to back.

use bytes::{Bytes, BytesMut};
use protocol::records::{BatchHeader, HEADER_LEN};
use std::io;
use storage::disk::File;

/// What is read at once, in bytes.
const WINDOW: usize = 256 << 10;

/// A file, read front to back.
pub(super) struct Window<'a> {
    file: &'a dyn File,
    /// Where in the file `bytes` begins.
    at: u64,
    bytes: BytesMut,
}

impl<'a> Window<'a> {
    pub(super) fn new(file: &'a dyn File) -> Window<'a> {
        Window { file, at: 0, bytes: BytesMut::new() }
    }

    /// Where the next batch stands.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The next bytes that call themselves a batch: fewer than it claims where the file ends within
    /// it, none where they are no batch at all. None at the end of the file.
    pub(super) fn next_batch(&mut self) -> io::Result<Option<Bytes>> {
        self.fill(HEADER_LEN)?;
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let size = BatchHeader::read(&self.bytes).map_or(0, |header| header.size());
        self.fill(size)?;
        let batch = self.bytes.split_to(size.min(self.bytes.len())).freeze();
        self.at += batch.len() as u64;
        Ok(Some(batch))
    }

    fn fill(&mut self, least: usize) -> io::Result<()> {
        while self.bytes.len() < least {
            let from = self.bytes.len();
            // A length is a claim: what is not there is not allocated, but for one window.
            self.bytes.resize(from + WINDOW, 0);
            let into = self.bytes.get_mut(from..).unwrap_or_default();
            let count = self.file.read_at(self.at + from as u64, into)?;
            self.bytes.truncate(from + count);
            if count == 0 {
                break;
            }
        }
        Ok(())
    }
}
