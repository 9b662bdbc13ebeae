//! A walk over whole batches of a segment, each with its checksum checked: what is written anew
//! gets a new checksum, which must not make good what is bad.

use super::error::CleanError;
use super::pass::Pass;
use crate::segment::Segment;
use crate::segment::scan::{Found, ScanError};
use protocol::compression::{Codec, Contexts};
use protocol::records::batch::{BatchHeader, HEADER_LEN, crc_matches};

/// What comes of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    GoOn,
    Enough,
}

impl Pass<'_> {
    /// Shows every batch from `position` on to `seen`, with its bytes, until that has enough.
    pub(super) fn walk(
        &mut self,
        segment: &Segment,
        position: u64,
        mut seen: impl FnMut(&mut Self, &Found, &[u8]) -> Result<Step, CleanError>,
    ) -> Result<Step, CleanError> {
        let mut scan = segment.scan(position, self.options.buffer_bytes);
        loop {
            let found = match scan.next() {
                Ok(Some(found)) => found,
                Ok(None) => return Ok(Step::GoOn),
                Err(ScanError::Flawed(flaw)) => {
                    return Err(CleanError::unreadable(scan.floor(), &flaw));
                }
                Err(error @ ScanError::Disk(_)) => return Err(error.into()),
            };
            let bytes = scan.whole(&found)?;
            if found.header.is_some() && !crc_matches(bytes) {
                let reason = "the checksum does not match";
                return Err(CleanError::unreadable(found.base_offset, &reason));
            }
            self.spend(found.size)?;
            if seen(self, &found, bytes)? == Step::Enough {
                return Ok(Step::Enough);
            }
        }
    }
}

/// The records of a batch, not compressed; `buffer` holds them if they were.
pub(super) fn opened<'a>(
    contexts: &mut Contexts,
    header: &BatchHeader,
    batch: &'a [u8],
    buffer: &'a mut Vec<u8>,
    bytes_max: usize,
) -> Result<&'a [u8], CleanError> {
    let records = batch.get(HEADER_LEN..).unwrap_or_default();
    let unreadable =
        |reason: &dyn std::fmt::Display| CleanError::unreadable(header.base_offset, reason);
    let codec = header.compression().ok_or_else(|| unreadable(&"its codec is unknown"))?;
    if codec == Codec::None {
        return Ok(records);
    }
    let read = contexts.decompress(codec, records, bytes_max, buffer);
    read.map_err(|error| unreadable(&error))?;
    Ok(buffer)
}
