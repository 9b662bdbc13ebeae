//! A batch from outside: its header of 61 bytes, its checksum, and where the next one begins.

use crate::checksum::{Checksum, crc32c};
use crate::compression::Codec;
use bytes::Bytes;
use std::fmt;

/// The bytes of a batch before its records.
pub const HEADER_LEN: usize = 61;
/// The bytes of a batch that its length does not count: base offset and length.
pub const LOG_OVERHEAD: usize = 12;
/// Where the bytes that the checksum covers begin.
pub const CHECKED_FROM: usize = 21;
/// Where the checksum stands.
const CRC_AT: usize = 17;

/// No producer, no epoch, no sequence: what stands in a batch whose producer is not idempotent.
pub const NO_PRODUCER_ID: i64 = -1;
pub const NO_PRODUCER_EPOCH: i16 = -1;
pub const NO_SEQUENCE: i32 = -1;
/// The timestamp of a batch, or a record, that has none.
pub const NO_TIMESTAMP: i64 = -1;

/// Bits of the attributes.
pub const CODEC_MASK: i16 = 0x07;
pub const LOG_APPEND_TIME: i16 = 0x08;
pub const TRANSACTIONAL: i16 = 0x10;
pub const CONTROL: i16 = 0x20;
pub const DELETE_HORIZON: i16 = 0x40;

/// Why bytes are not a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchError {
    /// The bytes end before the batch does; a fetch may end so.
    Truncated,
    /// The length is below that of a header.
    Length(i32),
    /// A batch of an older format, or of none.
    Magic(i8),
    /// The checksum is not that of the bytes.
    Crc { stored: u32, computed: u32 },
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchError::Truncated => f.write_str("the bytes end within a batch"),
            BatchError::Length(length) => write!(f, "a batch has no length {length}"),
            BatchError::Magic(magic) => write!(f, "a batch of magic {magic}, not 2"),
            BatchError::Crc { stored, computed } => {
                write!(f, "the checksum is {stored:#010x}, that of the bytes {computed:#010x}")
            }
        }
    }
}

impl std::error::Error for BatchError {}

/// The header of a batch of magic 2, as it stands in the bytes: none of its claims is checked but
/// the length (at least a header) and the magic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    pub base_offset: i64,
    /// Bytes behind this field.
    pub length: i32,
    pub leader_epoch: i32,
    pub magic: i8,
    pub crc: u32,
    pub attributes: i16,
    pub last_offset_delta: i32,
    pub base_timestamp: i64,
    pub max_timestamp: i64,
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub base_sequence: i32,
    pub record_count: i32,
}

/// `LEN` bytes of a header from `AT`; both are constants, so this is one load.
fn field<const LEN: usize>(bytes: &[u8; HEADER_LEN], at: usize) -> [u8; LEN] {
    let mut field = [0; LEN];
    if let Some(from) = bytes.get(at..at + LEN) {
        field.copy_from_slice(from);
    }
    field
}

impl BatchHeader {
    /// Reads the header at the start of `bytes`, which need not hold the records too.
    pub fn read(bytes: &[u8]) -> Result<BatchHeader, BatchError> {
        let bytes: &[u8; HEADER_LEN] = bytes.first_chunk().ok_or(BatchError::Truncated)?;
        let header = BatchHeader {
            base_offset: i64::from_be_bytes(field(bytes, 0)),
            length: i32::from_be_bytes(field(bytes, 8)),
            leader_epoch: i32::from_be_bytes(field(bytes, 12)),
            magic: i8::from_be_bytes(field(bytes, 16)),
            crc: u32::from_be_bytes(field(bytes, CRC_AT)),
            attributes: i16::from_be_bytes(field(bytes, 21)),
            last_offset_delta: i32::from_be_bytes(field(bytes, 23)),
            base_timestamp: i64::from_be_bytes(field(bytes, 27)),
            max_timestamp: i64::from_be_bytes(field(bytes, 35)),
            producer_id: i64::from_be_bytes(field(bytes, 43)),
            producer_epoch: i16::from_be_bytes(field(bytes, 51)),
            base_sequence: i32::from_be_bytes(field(bytes, 53)),
            record_count: i32::from_be_bytes(field(bytes, 57)),
        };
        if header.magic != 2 {
            return Err(BatchError::Magic(header.magic));
        }
        if header.length < LENGTH_MIN {
            return Err(BatchError::Length(header.length));
        }
        Ok(header)
    }

    /// The bytes of the header.
    pub fn write(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        let mut rest = &mut bytes[..];
        let mut put = |field: &[u8]| {
            if let Some((to, behind)) = std::mem::take(&mut rest).split_at_mut_checked(field.len())
            {
                to.copy_from_slice(field);
                rest = behind;
            }
        };
        put(&self.base_offset.to_be_bytes());
        put(&self.length.to_be_bytes());
        put(&self.leader_epoch.to_be_bytes());
        put(&self.magic.to_be_bytes());
        put(&self.crc.to_be_bytes());
        put(&self.attributes.to_be_bytes());
        put(&self.last_offset_delta.to_be_bytes());
        put(&self.base_timestamp.to_be_bytes());
        put(&self.max_timestamp.to_be_bytes());
        put(&self.producer_id.to_be_bytes());
        put(&self.producer_epoch.to_be_bytes());
        put(&self.base_sequence.to_be_bytes());
        put(&self.record_count.to_be_bytes());
        bytes
    }

    /// The bytes of the whole batch.
    pub fn size(&self) -> usize {
        // A header that was read has a length of at least 49.
        usize::try_from(self.length).unwrap_or(0) + LOG_OVERHEAD
    }

    /// The offset of the last record, or of the one that was last before a compaction.
    pub fn last_offset(&self) -> i64 {
        self.base_offset.wrapping_add(i64::from(self.last_offset_delta))
    }

    /// The offset of whatever follows.
    pub fn next_offset(&self) -> i64 {
        self.last_offset().wrapping_add(1)
    }

    /// The sequence number of the last record; after `i32::MAX` comes 0. Without a producer, -1.
    pub fn last_sequence(&self) -> i32 {
        if self.base_sequence < 0 {
            return NO_SEQUENCE;
        }
        let last = i64::from(self.base_sequence) + i64::from(self.last_offset_delta);
        i32::try_from(last.rem_euclid(1 << 31)).unwrap_or(NO_SEQUENCE)
    }

    /// How the records are compressed; `None` for a number that means nothing.
    pub fn compression(&self) -> Option<Codec> {
        Codec::from_attributes(self.attributes)
    }

    pub fn is_compressed(&self) -> bool {
        self.attributes & CODEC_MASK != 0
    }

    pub fn is_transactional(&self) -> bool {
        self.attributes & TRANSACTIONAL != 0
    }

    pub fn is_control(&self) -> bool {
        self.attributes & CONTROL != 0
    }

    /// Whether every record's time is `max_timestamp`, the broker's.
    pub fn is_log_append_time(&self) -> bool {
        self.attributes & LOG_APPEND_TIME != 0
    }

    /// Whether `base_timestamp` is the time from which tombstones may go.
    pub fn has_delete_horizon(&self) -> bool {
        self.attributes & DELETE_HORIZON != 0
    }

    pub fn has_producer_id(&self) -> bool {
        self.producer_id > NO_PRODUCER_ID
    }
}

const LENGTH_MIN: i32 = 49; // HEADER_LEN - LOG_OVERHEAD

/// The checksum that belongs to the bytes of a whole batch; 0 if they are no batch.
///
/// It covers neither base offset nor leader epoch, which the leader writes.
pub fn crc_of(batch: &[u8]) -> u32 {
    batch.get(CHECKED_FROM..).map_or(0, crc32c)
}

/// Whether the checksum in the bytes of a whole batch is theirs.
pub fn crc_matches(batch: &[u8]) -> bool {
    stored_crc(batch) == Some(crc_of(batch))
}

fn stored_crc(batch: &[u8]) -> Option<u32> {
    batch.get(CRC_AT..)?.first_chunk().map(|crc| u32::from_be_bytes(*crc))
}

/// The checksum of a batch whose header has been changed, from the new header and the old records.
pub fn crc_of_parts(header: &[u8; HEADER_LEN], records: &[u8]) -> u32 {
    let mut checksum = Checksum::crc32c();
    checksum.update(header.get(CHECKED_FROM..).unwrap_or_default());
    checksum.update(records);
    checksum.value()
}

/// A whole batch and its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub header: BatchHeader,
    pub bytes: Bytes,
}

impl Batch {
    /// Takes the batch at the front of `bytes`.
    pub fn split_from(bytes: &mut Bytes) -> Result<Batch, BatchError> {
        let header = BatchHeader::read(bytes)?;
        if bytes.len() < header.size() {
            return Err(BatchError::Truncated);
        }
        Ok(Batch { header, bytes: bytes.split_to(header.size()) })
    }

    /// Refuses bytes that do not have their checksum.
    pub fn check_crc(&self) -> Result<(), BatchError> {
        let computed = crc_of(&self.bytes);
        if computed == self.header.crc {
            return Ok(());
        }
        Err(BatchError::Crc { stored: self.header.crc, computed })
    }

    /// What stands behind the header.
    pub fn records(&self) -> Bytes {
        self.bytes.slice(HEADER_LEN.min(self.bytes.len())..)
    }
}

/// The batches that stand one behind the other in `bytes`. After the first error there is no
/// more. Checksums are the caller's to check.
pub fn batches(bytes: Bytes) -> impl Iterator<Item = Result<Batch, BatchError>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let batch = Batch::split_from(&mut rest);
        if batch.is_err() {
            rest.clear();
        }
        Some(batch)
    })
}

#[cfg(test)]
mod tests;
