//! A walk over the batches of a log file, by their headers, and the check of one batch's checksum.

use crate::disk::File;
use protocol::checksum::Checksum;
use protocol::records::batch::{BatchHeader, CHECKED_FROM, HEADER_LEN, LOG_OVERHEAD};
use std::io;

/// Bytes read at once by a walk over headers alone: many small batches. Behind one that is larger,
/// only the next header is.
pub const HEADERS: usize = 8 * 1024;

/// Bytes read at once for one header.
pub const HEADER: usize = HEADER_LEN;

/// Bytes read at once where each batch is read whole.
pub const WHOLE: usize = 256 * 1024;

/// Bytes before the magic byte, and it: the same in every format.
const PREFIX: usize = 17;

/// A batch in a file.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub position: u64,
    /// Bytes, with the header.
    pub size: u64,
    pub base_offset: i64,
    pub last_offset: i64,
    pub max_timestamp: i64,
    /// None: a message of the formats before Kafka 0.11, which is served as it stands.
    pub header: Option<BatchHeader>,
}

impl Found {
    #[must_use]
    pub fn end(&self) -> u64 {
        self.position + self.size
    }
}

/// Why a walk cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The file ends inside a batch.
    Torn,
    /// No header of a batch.
    Header,
    /// The bytes are not those that were written.
    Checksum,
    /// An offset that is not above the one before.
    Order,
}

#[derive(Debug)]
pub enum ScanError {
    Disk(io::Error),
    Flawed(Flaw),
}

impl From<io::Error> for ScanError {
    fn from(error: io::Error) -> ScanError {
        ScanError::Disk(error)
    }
}

/// The walk.
#[derive(Debug)]
pub struct Scan<'a> {
    file: &'a dyn File,
    position: u64,
    end: u64,
    /// The least offset that the next batch may begin with.
    floor: i64,
    /// The batch before, and the floor that it had; None at the start and behind a flaw.
    before: Option<(Found, i64)>,
    block: usize,
    buffer: Vec<u8>,
    buffer_at: u64,
}

impl<'a> Scan<'a> {
    /// Walks from `position`, where a batch begins, to `end`. `block` is how much is read at once.
    #[must_use]
    pub fn new(file: &'a dyn File, position: u64, end: u64, block: usize) -> Scan<'a> {
        let (floor, before, buffer) = (i64::MIN, None, Vec::new());
        Scan { file, position, end, floor, before, block, buffer, buffer_at: 0 }
    }

    /// The batches must begin at `floor` or above.
    #[must_use]
    pub fn at_or_above(mut self, floor: i64) -> Scan<'a> {
        self.floor = floor;
        self
    }

    /// Where the next batch begins.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next batch; None at the end. After a flaw the walk stands still.
    #[expect(clippy::should_implement_trait, reason = "an error does not end the walk for good")]
    pub fn next(&mut self) -> Result<Option<Found>, ScanError> {
        if self.end <= self.position {
            return Ok(None);
        }
        let found = match self.read() {
            Err(ScanError::Flawed(flaw)) => return Err(self.blame(flaw)?),
            read => read?,
        };
        self.before = Some((found, self.floor));
        self.floor = found.last_offset.saturating_add(1);
        self.position = found.end();
        Ok(Some(found))
    }

    /// What looks like a flaw here may be one of the batch before: if its length or its last offset
    /// is wrong, or there is a gap before it and none of the offsets here fit. Then the walk stands
    /// there.
    fn blame(&mut self, flaw: Flaw) -> io::Result<ScanError> {
        let Some((before, floor)) = self.before.take() else { return Ok(ScanError::Flawed(flaw)) };
        let is_intact = self.is_intact(&before)?;
        if is_intact && (flaw != Flaw::Order || before.base_offset == floor) {
            return Ok(ScanError::Flawed(flaw));
        }
        self.jump(before.position, floor);
        Ok(ScanError::Flawed(if is_intact { Flaw::Order } else { Flaw::Checksum }))
    }

    fn read(&mut self) -> Result<Found, ScanError> {
        let position = self.position;
        let left = self.end - position;
        let wanted = HEADER_LEN.min(usize::try_from(left).unwrap_or(HEADER_LEN));
        // Behind a large batch there is mostly another, of which only the header counts.
        let is_large = |(before, _): &(Found, i64)| HEADERS as u64 <= before.size;
        let is_alone = self.block == HEADERS && self.before.as_ref().is_some_and(is_large);
        let block = if is_alone { HEADER } else { self.block };
        let found = decode(self.bytes_of(position, wanted, block)?, position)?;
        if left < found.size {
            return Err(ScanError::Flawed(Flaw::Torn));
        }
        if found.base_offset < self.floor || found.last_offset < found.base_offset {
            return Err(ScanError::Flawed(Flaw::Order));
        }
        Ok(found)
    }

    /// The least offset that the next batch may begin with.
    #[must_use]
    pub fn floor(&self) -> i64 {
        self.floor
    }

    /// The next batch behind a flaw: one that begins at or above the floor, soon, and whose
    /// checksum is right.
    pub fn resync(&mut self) -> io::Result<Option<Found>> {
        let (stands, block) = (self.position, self.block);
        self.block = WHOLE;
        let found = self.search(stands + 1);
        (self.position, self.block) = (stands, block);
        found
    }

    fn search(&mut self, from: u64) -> io::Result<Option<Found>> {
        for at in from..self.end.saturating_sub(HEADER_LEN as u64 - 1) {
            let floor = self.floor;
            let bytes = self.bytes(at, HEADER_LEN)?;
            // The magic byte and the top of the length rule out nearly everything.
            if bytes.get(PREFIX - 1) != Some(&2) {
                continue;
            }
            let Ok(found) = decode(bytes, at) else { continue };
            let near = floor.max(0)..=floor.max(0).saturating_add(i64::from(i32::MAX));
            if near.contains(&found.base_offset)
                && found.end() <= self.end
                && self.is_intact(&found)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Passes over the batch that a flaw was found in.
    pub fn jump(&mut self, position: u64, floor: i64) {
        self.position = position;
        self.floor = floor;
        self.before = None;
    }

    /// `len` bytes from `at` on, fewer at the end of the file.
    fn bytes(&mut self, at: u64, len: usize) -> io::Result<&[u8]> {
        self.bytes_of(at, len, self.block)
    }

    /// The same, and `block` is how much is read if they are not there.
    fn bytes_of(&mut self, at: u64, len: usize, block: usize) -> io::Result<&[u8]> {
        let inside = |at: u64, buffer: &[u8], buffer_at: u64| {
            let from = usize::try_from(at.checked_sub(buffer_at)?).ok()?;
            (from + len <= buffer.len()).then_some(from)
        };
        let from = match inside(at, &self.buffer, self.buffer_at) {
            Some(from) => from,
            None => {
                let left = usize::try_from(self.end.saturating_sub(at)).unwrap_or(usize::MAX);
                self.buffer.resize(block.max(len).min(left), 0);
                self.buffer_at = at;
                let mut filled = 0;
                while let Some(into) = self.buffer.get_mut(filled..).filter(|it| !it.is_empty()) {
                    match self.file.read_at(at + filled as u64, into)? {
                        0 => break,
                        count => filled += count,
                    }
                }
                self.buffer.truncate(filled);
                0
            }
        };
        let to = (from + len).min(self.buffer.len());
        Ok(self.buffer.get(from..to).unwrap_or_default())
    }

    /// The bytes of a batch just walked over; fewer if the file ends before.
    pub fn whole(&mut self, found: &Found) -> io::Result<&[u8]> {
        let size = usize::try_from(found.size).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.bytes(found.position, size)
    }

    /// Whether the checksum of a batch just walked over is right.
    pub fn is_intact(&mut self, found: &Found) -> io::Result<bool> {
        match found.header {
            Some(header) => {
                let from = found.position + CHECKED_FROM as u64;
                let crc = self.checksum(from, found.end(), Checksum::crc32c())?;
                Ok(crc == Some(header.crc))
            }
            // Zeros where a batch was torn look like one of these.
            None => {
                let at = found.position + LOG_OVERHEAD as u64;
                let said = self.bytes(at, 4)?.first_chunk().copied().map(u32::from_be_bytes);
                let crc = self.checksum(at + 4, found.end(), Checksum::crc32())?;
                Ok(said.is_some() && crc == said)
            }
        }
    }

    /// None: the file ends before.
    fn checksum(
        &mut self,
        mut at: u64,
        end: u64,
        mut checksum: Checksum,
    ) -> io::Result<Option<u32>> {
        while at < end {
            let left = usize::try_from(end - at).unwrap_or(usize::MAX);
            // A batch that fits the block is taken whole, so that the walk goes on inside it.
            let bytes = self.bytes(at, left.min(self.block))?;
            if bytes.is_empty() {
                return Ok(None);
            }
            checksum.update(bytes);
            at += bytes.len() as u64;
        }
        Ok(Some(checksum.value()))
    }
}

fn decode(bytes: &[u8], position: u64) -> Result<Found, ScanError> {
    let torn = ScanError::Flawed(Flaw::Torn);
    let bad = || ScanError::Flawed(Flaw::Header);
    let Some(magic) = bytes.get(PREFIX - 1) else { return Err(torn) };
    if *magic < 2 {
        return legacy(bytes, position, *magic).ok_or_else(bad);
    }
    if bytes.len() < HEADER_LEN {
        return Err(torn);
    }
    let header = BatchHeader::read(bytes).map_err(|_| bad())?;
    let size = header.size() as u64;
    if size < HEADER_LEN as u64 || header.last_offset_delta < 0 || header.base_offset < 0 {
        return Err(bad());
    }
    let last_offset = header.base_offset.checked_add(i64::from(header.last_offset_delta));
    Ok(Found {
        position,
        size,
        base_offset: header.base_offset,
        last_offset: last_offset.ok_or_else(bad)?,
        max_timestamp: header.max_timestamp,
        header: Some(header),
    })
}

/// A message set entry of magic 0 or 1: offset, length, crc, magic, attributes, timestamp if 1.
fn legacy(bytes: &[u8], position: u64, magic: u8) -> Option<Found> {
    let (offset, rest) = bytes.split_first_chunk()?;
    let (length, _) = rest.split_first_chunk()?;
    let offset = i64::from_be_bytes(*offset);
    let length = u64::try_from(i32::from_be_bytes(*length)).ok()?;
    let max_timestamp =
        if magic == 0 { -1 } else { i64::from_be_bytes(*bytes.get(18..)?.first_chunk()?) };
    // CRC, magic, attributes, and the lengths of a key and a value, at the least.
    (0 <= offset && 14 <= length).then_some(Found {
        position,
        size: LOG_OVERHEAD as u64 + length,
        base_offset: offset,
        last_offset: offset,
        max_timestamp,
        header: None,
    })
}

#[cfg(test)]
mod tests;
