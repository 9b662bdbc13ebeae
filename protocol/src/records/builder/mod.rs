//! Building a batch: control batches, metadata batches, batches that are written anew, and tests.

use crate::compression::{Codec, CompressionError, compress};
use crate::records::batch::{self, BatchHeader, HEADER_LEN, LOG_OVERHEAD, crc_of_parts};
use crate::records::control::ControlKind;
use crate::varint;
use bytes::Bytes;
use std::fmt;

/// A record to be written.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewRecord<'a> {
    pub timestamp_ms: i64,
    pub key: Option<&'a [u8]>,
    pub value: Option<&'a [u8]>,
    pub headers: &'a [(&'a [u8], Option<&'a [u8]>)],
}

/// Why there is no batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// A batch, a record or a field of one is at most 2 GiB.
    TooLarge,
    /// More records than numbers for them, or an offset out of order.
    Offset,
    Compression(CompressionError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::TooLarge => f.write_str("a batch is at most 2 GiB"),
            BuildError::Offset => f.write_str("offsets within a batch rise, and fit 31 bits"),
            BuildError::Compression(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

/// A batch in the making.
#[derive(Clone, Debug)]
pub struct BatchBuilder {
    header: BatchHeader,
    codec: Codec,
    level: Option<i32>,
    records: Vec<u8>,
    /// What the next record gets; the last offset delta of the batch is one less.
    next_delta: i32,
    /// The record in the making, without its length.
    body: Vec<u8>,
    failed: Option<BuildError>,
}

impl Default for BatchBuilder {
    fn default() -> BatchBuilder {
        BatchBuilder::new(0)
    }
}

impl BatchBuilder {
    /// An empty batch, not compressed, of no producer, of leader epoch -1, as a client sends it.
    pub fn new(base_offset: i64) -> BatchBuilder {
        let header = BatchHeader {
            base_offset,
            length: 0,
            leader_epoch: -1,
            magic: 2,
            crc: 0,
            attributes: 0,
            last_offset_delta: -1,
            base_timestamp: batch::NO_TIMESTAMP,
            max_timestamp: batch::NO_TIMESTAMP,
            producer_id: batch::NO_PRODUCER_ID,
            producer_epoch: batch::NO_PRODUCER_EPOCH,
            base_sequence: batch::NO_SEQUENCE,
            record_count: 0,
        };
        BatchBuilder {
            header,
            codec: Codec::None,
            level: None,
            records: Vec::new(),
            next_delta: 0,
            body: Vec::new(),
            failed: None,
        }
    }

    /// Compresses the records, see [`compress`].
    pub fn codec(mut self, codec: Codec, level: Option<i32>) -> BatchBuilder {
        (self.codec, self.level) = (codec, level);
        self
    }

    pub fn leader_epoch(mut self, epoch: i32) -> BatchBuilder {
        self.header.leader_epoch = epoch;
        self
    }

    /// The idempotent producer, and the sequence number of the first record.
    pub fn producer(mut self, id: i64, epoch: i16, base_sequence: i32) -> BatchBuilder {
        self.header.producer_id = id;
        self.header.producer_epoch = epoch;
        self.header.base_sequence = base_sequence;
        self
    }

    /// Sets bits of the attributes beside the codec: [`batch::TRANSACTIONAL`] and so on.
    pub fn attributes(mut self, bits: i16) -> BatchBuilder {
        self.header.attributes |= bits & !batch::CODEC_MASK;
        self
    }

    /// The time of every record is the broker's.
    pub fn log_append_time(mut self, now_ms: i64) -> BatchBuilder {
        self.header.attributes |= batch::LOG_APPEND_TIME;
        self.header.max_timestamp = now_ms;
        self
    }

    /// Appends a record at the next offset.
    pub fn record(mut self, record: NewRecord<'_>) -> BatchBuilder {
        self.push(record);
        self
    }

    /// Appends a record of a key and a value at the next offset.
    pub fn key_value(self, timestamp_ms: i64, key: &[u8], value: &[u8]) -> BatchBuilder {
        let (key, value) = (Some(key), Some(value));
        self.record(NewRecord { timestamp_ms, key, value, headers: &[] })
    }

    /// Makes this a control batch, and appends a record of that kind.
    pub fn control(mut self, timestamp_ms: i64, kind: ControlKind, value: &[u8]) -> BatchBuilder {
        self.header.attributes |= batch::CONTROL;
        self.key_value(timestamp_ms, &kind.key(), value)
    }

    /// Appends a record at the next offset.
    pub fn push(&mut self, record: NewRecord<'_>) {
        self.push_at(self.next_delta, record);
    }

    /// Appends a record at an offset above all before it, as after a compaction.
    pub fn push_at(&mut self, offset_delta: i32, record: NewRecord<'_>) {
        if let Err(error) = self.try_push(offset_delta, record) {
            self.failed.get_or_insert(error);
        }
    }

    fn try_push(&mut self, offset_delta: i32, record: NewRecord<'_>) -> Result<(), BuildError> {
        if offset_delta < self.next_delta {
            return Err(BuildError::Offset);
        }
        self.next_delta = offset_delta.checked_add(1).ok_or(BuildError::Offset)?;
        let header = &mut self.header;
        if header.record_count == 0 {
            header.base_timestamp = record.timestamp_ms;
        }
        if !header.is_log_append_time() {
            let is_first = header.record_count == 0;
            header.max_timestamp = match is_first {
                true => record.timestamp_ms,
                false => header.max_timestamp.max(record.timestamp_ms),
            };
        }
        header.record_count += 1;
        header.last_offset_delta = offset_delta;
        let delta = record.timestamp_ms.wrapping_sub(header.base_timestamp);
        let body = &mut self.body;
        body.clear();
        body.push(0); // Attributes, of which there are none.
        varint::put_i64(body, delta);
        varint::put(body, offset_delta);
        put_nullable(body, record.key)?;
        put_nullable(body, record.value)?;
        varint::put(body, i32::try_from(record.headers.len()).map_err(|_| BuildError::TooLarge)?);
        for (key, value) in record.headers {
            put_nullable(body, Some(key))?;
            put_nullable(body, *value)?;
        }
        put_nullable(&mut self.records, Some(body))
    }

    /// How many records there are.
    pub fn record_count(&self) -> i32 {
        self.header.record_count
    }

    /// The bytes of the batch as it stands, were it not compressed.
    pub fn size(&self) -> usize {
        HEADER_LEN + self.records.len()
    }

    /// The batch with its checksum.
    pub fn build(self) -> Result<Bytes, BuildError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let records = match self.codec {
            Codec::None => self.records,
            Codec::Gzip | Codec::Snappy | Codec::Lz4 | Codec::Zstd => {
                compress(self.codec, self.level, &self.records).map_err(BuildError::Compression)?
            }
        };
        let mut header = self.header;
        header.attributes |= self.codec.attributes();
        let size = HEADER_LEN + records.len();
        header.length = i32::try_from(size - LOG_OVERHEAD).map_err(|_| BuildError::TooLarge)?;
        header.crc = crc_of_parts(&header.write(), &records);
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(&header.write());
        bytes.extend_from_slice(&records);
        Ok(bytes.into())
    }
}

fn put_nullable(to: &mut Vec<u8>, field: Option<&[u8]>) -> Result<(), BuildError> {
    let Some(field) = field else {
        varint::put(to, -1);
        return Ok(());
    };
    varint::put(to, i32::try_from(field.len()).map_err(|_| BuildError::TooLarge)?);
    to.extend_from_slice(field);
    Ok(())
}

#[cfg(test)]
mod tests;
