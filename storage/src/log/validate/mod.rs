//! What is asked of a batch before it may take the lock, and what is changed of it.

use super::checked::{Checked, unreadable};
use super::config::{LogConfig, Recompression};
use super::outcome::{AppendContext, AppendError, Origin, Reason, RecordError, Refusal};
use super::rewrite;
use crate::producer::EndMarker;
use bytes::Bytes;
use protocol::compression::Codec;
use protocol::records::batch::{self, BatchHeader, LOG_APPEND_TIME, NO_TIMESTAMP, crc_of_parts};
use protocol::records::record::records;
use protocol::records::{BatchError, batches};

/// Judges what one request brings, and adds it to `into`.
pub(super) fn check(
    bytes: Bytes,
    request: usize,
    (config, context): (&LogConfig, &AppendContext),
    into: &mut Vec<Checked>,
) -> Result<(), AppendError> {
    if context.origin == Origin::Replica {
        for batch in batches(bytes) {
            let batch = batch.and_then(|it| it.check_crc().map(|()| it)).map_err(damaged)?;
            into.push(Checked { request, header: batch.header, batch: batch.bytes });
        }
        return Ok(());
    }
    let header = one_batch(&bytes)?;
    if context.origin == Origin::Client && header.base_offset != 0 {
        let message = format!("a batch has base offset {}, not 0", header.base_offset);
        return Err(Refusal::new(Reason::InvalidRecord, message).into());
    }
    // A coordinator's batch is one decision, which cannot be taken in parts: what a topic allows
    // its clients does not bind it.
    if context.origin == Origin::Coordinator {
        check_fits_segment(bytes.len(), config)?;
    } else if config.max_message_bytes < u32::try_from(bytes.len()).unwrap_or(u32::MAX) {
        return Err(too_large(bytes.len(), config).into());
    }
    let mut checked = Checked { request, header, batch: bytes };
    if context.origin == Origin::Client {
        let crc = batch::crc_of(&checked.batch);
        if crc != header.crc {
            return Err(damaged(BatchError::Crc { stored: header.crc, computed: crc }));
        }
        check_header(&checked, config)?;
        check_records(&mut checked, config, context.now_ms)?;
    }
    if config.log_append_time {
        checked.header.attributes |= LOG_APPEND_TIME;
        checked.header.max_timestamp = context.now_ms;
        checked.header.crc = crc_of_parts(&checked.header.write(), checked.records());
    }
    into.push(checked);
    Ok(())
}

/// The header of what a client brings for one partition: exactly one whole batch of magic 2.
pub fn one_batch(bytes: &[u8]) -> Result<BatchHeader, Refusal> {
    let invalid = |message: &str| Refusal::new(Reason::InvalidRecord, message);
    let damaged = |error: BatchError| Refusal::new(Reason::CorruptMessage, error.to_string());
    let none = || invalid("a partition's records must be one record batch, and there is none");
    let header = match BatchHeader::read(bytes) {
        Ok(header) => header,
        Err(BatchError::Truncated) => return Err(short(bytes).map_or_else(none, damaged)),
        // The older formats, which are whole in themselves.
        Err(BatchError::Magic(0 | 1)) => return Err(invalid("a record batch must have magic 2")),
        Err(error) => return Err(damaged(error)),
    };
    if bytes.len() < header.size() {
        return Err(none());
    }
    if header.size() < bytes.len() {
        return Err(invalid("a partition's records must be exactly one record batch"));
    }
    Ok(header)
}

/// What is too short for a header may still say that it is no batch.
fn short(bytes: &[u8]) -> Option<BatchError> {
    let length = i32::from_be_bytes(*bytes.get(8..)?.first_chunk()?);
    // The least that any format ever took.
    (length < 14).then_some(BatchError::Length(length))
}

fn check_header(checked: &Checked, config: &LogConfig) -> Result<(), Refusal> {
    let header = &checked.header;
    let invalid = |message: String| Err(Refusal::new(Reason::InvalidRecord, message));
    let count = i64::from(header.last_offset_delta) + 1;
    if count <= 0 || header.record_count <= 0 {
        return invalid(format!("a batch of {} records, {count} offsets", header.record_count));
    }
    if count != i64::from(header.record_count) {
        return invalid(format!("{count} offsets in a batch of {} records", header.record_count));
    }
    if header.is_control() {
        return invalid("clients may not write control records".to_owned());
    }
    if header.has_producer_id() && header.base_sequence < 0 {
        return invalid(format!(
            "sequence number {} of producer {}",
            header.base_sequence, header.producer_id
        ));
    }
    if header.compression().is_none() {
        return invalid(format!("no codec has the number {}", header.attributes & 7));
    }
    check_fits_segment(checked.batch.len(), config)
}

fn check_fits_segment(bytes: usize, config: &LogConfig) -> Result<(), Refusal> {
    if u32::try_from(bytes).unwrap_or(u32::MAX) <= config.segment_bytes {
        return Ok(());
    }
    let message = format!("{bytes} bytes are more than a segment holds");
    Err(Refusal::new(Reason::RecordListTooLarge, message))
}

/// Walks over the records, where that is due, and writes the batch anew, where that is.
fn check_records(
    checked: &mut Checked,
    config: &LogConfig,
    now_ms: i64,
) -> Result<(), AppendError> {
    // Whose time it is only the topic says.
    let claims_append_time = checked.header.is_log_append_time();
    checked.header.attributes &= !LOG_APPEND_TIME;
    let header = checked.header;
    let codec = header.compression().unwrap_or(Codec::None);
    let target = config.compression.filter(|target| target.codec != codec);
    let span = TimeSpan::of(config, now_ms);
    let is_opened = codec == Codec::None
        || target.is_some()
        || config.compact
        || config.validate_compressed
        || claims_append_time
        // The header tells when a bound on what lies ahead is kept; nothing else.
        || span.is_some_and(|it| it.least != i64::MIN || it.greatest < header.max_timestamp);
    if !is_opened {
        return Ok(());
    }
    let walked = walk(checked, config, span, claims_append_time)?;
    if !walked.is_in_order || target.is_some() {
        let target = match (target, codec) {
            (Some(target), _) => Some(target),
            (None, Codec::None) => None,
            (None, codec) => Some(Recompression { codec, level: None }),
        };
        checked.batch = rewrite::batch(checked, target, walked.is_in_order, config)?;
        checked.header = BatchHeader::read(&checked.batch).map_err(damaged)?;
        if config.max_message_bytes < u32::try_from(checked.batch.len()).unwrap_or(u32::MAX) {
            return Err(too_large(checked.batch.len(), config).into());
        }
    }
    if claims_append_time || checked.header.max_timestamp != walked.max_timestamp {
        checked.header.max_timestamp = walked.max_timestamp;
        checked.header.crc = crc_of_parts(&checked.header.write(), checked.records());
    }
    Ok(())
}

/// Between which times the records must lie.
#[derive(Clone, Copy)]
struct TimeSpan {
    least: i64,
    greatest: i64,
}

impl TimeSpan {
    /// None: the broker's own time is all that counts.
    fn of(config: &LogConfig, now_ms: i64) -> Option<TimeSpan> {
        let before = config.message_timestamp_before_max_ms;
        let after = config.message_timestamp_after_max_ms;
        (!config.log_append_time).then(|| TimeSpan {
            least: if before == i64::MAX { i64::MIN } else { now_ms.saturating_sub(before) },
            greatest: now_ms.saturating_add(after),
        })
    }

    fn holds(self, timestamp: i64) -> bool {
        timestamp == NO_TIMESTAMP || (self.least..=self.greatest).contains(&timestamp)
    }
}

struct Walked {
    /// The offsets are 0, 1, 2 and so on.
    is_in_order: bool,
    max_timestamp: i64,
}

fn walk(
    checked: &Checked,
    config: &LogConfig,
    span: Option<TimeSpan>,
    claims_append_time: bool,
) -> Result<Walked, AppendError> {
    let header = &checked.header;
    let mut walked = Walked { is_in_order: true, max_timestamp: NO_TIMESTAMP };
    let mut errors = Vec::new();
    let mut is_time = false;
    let limit = config.max_decompressed_bytes;
    let mut records = records(&checked.batch, limit).map_err(unreadable)?;
    let mut index = 0;
    while let Some(record) = records.next() {
        let record = record.map_err(unreadable)?;
        walked.is_in_order &= record.offset_delta == index;
        let timestamp = record.timestamp_ms(header);
        walked.max_timestamp = walked.max_timestamp.max(timestamp);
        if config.compact && record.key.is_none() {
            let message = "a compacted topic takes no record without a key".to_owned();
            errors.push(RecordError { index, message });
        } else if let Some(span) = span.filter(|span| !span.holds(timestamp)) {
            is_time = true;
            let TimeSpan { least, greatest } = span;
            let message = format!("timestamp {timestamp} is not within [{least}, {greatest}]");
            errors.push(RecordError { index, message });
        } else if claims_append_time && (span.is_none() || timestamp == NO_TIMESTAMP) {
            is_time = true;
            let message = "a producer may not set the timestamp type to LogAppendTime".to_owned();
            errors.push(RecordError { index, message });
        }
        index += 1;
    }
    if errors.is_empty() {
        return Ok(walked);
    }
    let (reason, message) = if is_time {
        (Reason::InvalidTimestamp, "records were refused for their timestamps".to_owned())
    } else {
        (Reason::InvalidRecord, format!("{} records were refused", errors.len()))
    };
    Err(Refusal { record_errors: errors, ..Refusal::new(reason, message) }.into())
}

/// What a marker says that ends a transaction; None for any other batch.
pub(super) fn end_marker(header: &BatchHeader, batch: &[u8]) -> Option<EndMarker> {
    if !header.is_control() || !header.has_producer_id() {
        return None;
    }
    // A marker is a few bytes, and never compressed.
    let mut records = records(batch, 4096).ok()?;
    let record = records.next()?.ok()?;
    EndMarker::read(record.key?, record.value?)
}

fn damaged(error: BatchError) -> AppendError {
    Refusal::new(Reason::CorruptMessage, error.to_string()).into()
}

fn too_large(bytes: usize, config: &LogConfig) -> Refusal {
    let message =
        format!("the batch has {bytes} bytes, the topic allows {}", config.max_message_bytes);
    Refusal::new(Reason::MessageTooLarge, message)
}

#[cfg(test)]
mod tests;
