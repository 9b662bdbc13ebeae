//! A client's batch written anew: another codec, or offsets put in order.

use super::checked::{Checked, unreadable};
use super::config::{LogConfig, Recompression};
use super::outcome::{AppendError, Reason, Refusal};
use bytes::Bytes;
use protocol::compression::{Codec, Decompressor, compress, is_limit};
use protocol::records::batch::{BatchHeader, CODEC_MASK, HEADER_LEN, LOG_OVERHEAD, crc_of_parts};
use protocol::records::record::{RecordError, records};
use protocol::varint;
use std::borrow::Cow;

/// The batch under `target` (None: not compressed), with the offsets that its records should have.
pub(super) fn batch(
    checked: &Checked,
    target: Option<Recompression>,
    is_in_order: bool,
    config: &LogConfig,
) -> Result<Bytes, AppendError> {
    let raw = if is_in_order {
        decompressed(checked, config)?
    } else {
        Cow::Owned(in_order(checked, config)?)
    };
    let codec = target.map_or(Codec::None, |target| target.codec);
    let records = match codec {
        Codec::None => raw,
        Codec::Gzip | Codec::Snappy | Codec::Lz4 | Codec::Zstd => {
            let level = target.and_then(|target| target.level);
            let compressed = compress(codec, level, &raw);
            Cow::Owned(compressed.map_err(|error| refused(Reason::InvalidRecord, &error.0))?)
        }
    };
    let size = HEADER_LEN + records.len();
    let length = i32::try_from(size - LOG_OVERHEAD)
        .map_err(|_| refused(Reason::MessageTooLarge, "a batch is at most 2 GiB"))?;
    let attributes = checked.header.attributes & !CODEC_MASK | codec.attributes();
    let mut header = BatchHeader { length, attributes, ..checked.header };
    header.crc = crc_of_parts(&header.write(), &records);
    let mut bytes = Vec::with_capacity(size);
    bytes.extend_from_slice(&header.write());
    bytes.extend_from_slice(&records);
    Ok(bytes.into())
}

/// The records' bytes as they are, which are the same under every codec.
fn decompressed<'a>(
    checked: &'a Checked,
    config: &LogConfig,
) -> Result<Cow<'a, [u8]>, AppendError> {
    let codec = checked.header.compression().unwrap_or(Codec::None);
    if codec == Codec::None {
        return Ok(Cow::Borrowed(checked.records()));
    }
    let limit = config.max_decompressed_bytes;
    let read = Decompressor::new(codec, checked.records(), limit).and_then(Decompressor::read_all);
    read.map(Cow::Owned).map_err(|error| {
        unreadable(if is_limit(&error) {
            RecordError::Limit(limit)
        } else {
            RecordError::Decompression(error.to_string())
        })
    })
}

/// The records with offsets that count from 0.
fn in_order(checked: &Checked, config: &LogConfig) -> Result<Vec<u8>, AppendError> {
    let mut bytes = Vec::new();
    let mut body = Vec::new();
    let mut walk = records(&checked.batch, config.max_decompressed_bytes).map_err(unreadable)?;
    let mut index = 0;
    while let Some(record) = walk.next() {
        let record = record.map_err(unreadable)?;
        body.clear();
        body.push(0); // Attributes, of which there are none.
        varint::put_i64(&mut body, record.timestamp_delta);
        varint::put(&mut body, index);
        put(&mut body, record.key)?;
        put(&mut body, record.value)?;
        let count = record.headers.count();
        varint::put(&mut body, i32::try_from(count).unwrap_or(i32::MAX));
        for (key, value) in record.headers {
            put(&mut body, Some(key))?;
            put(&mut body, value)?;
        }
        put(&mut bytes, Some(&body))?;
        index += 1;
    }
    Ok(bytes)
}

/// A nullable field, with its length before it; so does a record stand in its batch, too.
fn put(into: &mut Vec<u8>, field: Option<&[u8]>) -> Result<(), AppendError> {
    let Some(field) = field else {
        varint::put(into, -1);
        return Ok(());
    };
    let len = i32::try_from(field.len())
        .map_err(|_| refused(Reason::MessageTooLarge, "a field is at most 2 GiB"))?;
    varint::put(into, len);
    into.extend_from_slice(field);
    Ok(())
}

fn refused(reason: Reason, message: &str) -> AppendError {
    Refusal::new(reason, message).into()
}
