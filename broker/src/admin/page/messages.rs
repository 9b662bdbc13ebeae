//! `/api/topics/NAME/messages?partition=0&offset=..&count=50&bytes=4096`: messages of a topic.
//!
//! `offset` is a number, `earliest`, or `latest` (the last `count`; also without it); or instead
//! `timestamp`, in milliseconds: the first message that is not older. `count` is 50 and at most
//! 500; `bytes` is how much of each key, value and header is shown, 4096 and at most 65,536. The
//! answer has `topic`, `partition`, `startOffset`, `endOffset`, `nextOffset` (where to read on) and
//! `messages`: `offset`, `timestampMs`, `timestampType` (`create` or `append`), `key`, `value`, and
//! `headers` (`key`, `value`). A key or value is `null`, or has `bytes` (its length) and either
//! `text` or, where it is not UTF-8, `base64`; it is cut where `bytes` is larger than what is shown.
//! Records that cannot be unpacked, or not within 32 MiB, stand there once: `error` says why, and key
//! and value are `null`. Fewer messages than asked for are no sign of the end: that is `nextOffset == endOffset`.

use crate::api::Ctx;
use crate::partition::Partition;
use protocol::error::ErrorCode;
use protocol::records::RecordError;
use protocol::records::batch::{Batch, BatchError, BatchHeader, batches};
use protocol::records::record::{Record, records};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::task::spawn_blocking;

const COUNT: usize = 50;
const COUNT_MAX: usize = 500;
const SHOWN_BYTES: usize = 4096;
const SHOWN_BYTES_MAX: usize = 64 << 10;
/// Bytes of one answer, about.
const PAGE_BYTES_MAX: usize = 4 << 20;
/// Bytes that are read at a time, and for one answer.
const READ_BYTES: usize = 1 << 20;
const READS_MAX: usize = 8;
/// Bytes that one batch may unpack to.
const UNPACKED_BYTES_MAX: usize = 32 << 20;

/// Where to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Earliest,
    Latest,
    Offset(i64),
    Timestamp(i64),
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ask {
    partition: i32,
    from: From,
    count: usize,
    shown_bytes: usize,
}

impl Ask {
    /// An error is for whoever wrote the query.
    pub(super) fn parse(parameters: &[(String, String)]) -> Result<Ask, String> {
        let mut ask =
            Ask { partition: 0, from: From::Latest, count: COUNT, shown_bytes: SHOWN_BYTES };
        for (name, value) in parameters {
            let wrong = || format!("{name}={value}: must be a number");
            let number = || value.parse::<i64>().ok().filter(|it| 0 <= *it).ok_or_else(wrong);
            let size = || number().map(|it| usize::try_from(it).unwrap_or(usize::MAX));
            match (name.as_str(), value.as_str()) {
                ("offset", "earliest") => ask.from = From::Earliest,
                ("offset", "latest") => ask.from = From::Latest,
                ("offset", _) => ask.from = From::Offset(number()?),
                ("timestamp", _) => ask.from = From::Timestamp(number()?),
                ("partition", _) => {
                    ask.partition = i32::try_from(number()?).map_err(|_| wrong())?;
                }
                ("count", _) => ask.count = size()?.clamp(1, COUNT_MAX),
                ("bytes", _) => ask.shown_bytes = size()?.min(SHOWN_BYTES_MAX),
                _ => return Err(format!("{name}: there is no such parameter")),
            }
        }
        Ok(ask)
    }
}

/// The answer; None: there is no such partition here.
pub(super) async fn read(
    ctx: Arc<Ctx>,
    topic: String,
    ask: Ask,
) -> Result<Option<Value>, ErrorCode> {
    let place = ctx.partitions.topic(&topic);
    let place = place.and_then(|topic| topic.partition(ask.partition).cloned());
    let Some(place) = place else { return Ok(None) };
    let partition = place.open().cloned().ok_or(ErrorCode::KafkaStorageError)?;
    // It may wait for the disk.
    let read = spawn_blocking(move || page(&partition, ask)).await;
    let page = read.map_err(|_| ErrorCode::UnknownServerError)??;
    Ok(Some(page.json(&topic, ask.partition)))
}

struct Page {
    start: i64,
    end: i64,
    next: i64,
    messages: Vec<Value>,
    /// Of the messages, about.
    bytes: usize,
}

impl Page {
    fn json(self, topic: &str, partition: i32) -> Value {
        json!({
            "topic": topic,
            "partition": partition,
            "startOffset": self.start,
            "endOffset": self.end,
            "nextOffset": self.next,
            "messages": self.messages,
        })
    }

    fn is_full(&self, ask: Ask) -> bool {
        ask.count <= self.messages.len() || PAGE_BYTES_MAX <= self.bytes
    }

    /// Takes the messages of a batch that are wanted.
    fn take(&mut self, batch: &Batch, ask: Ask) {
        let header = &batch.header;
        if header.is_control() {
            self.next = header.next_offset();
            return;
        }
        if let Err(error) = self.take_records(batch, ask) {
            let offset = self.next.max(header.base_offset);
            self.messages.push(json!({
                "offset": offset,
                "timestampMs": header.max_timestamp,
                "timestampType": kind(header),
                "key": null,
                "value": null,
                "headers": [],
                "error": error.to_string(),
            }));
            self.next = header.next_offset();
        }
    }

    fn take_records(&mut self, batch: &Batch, ask: Ask) -> Result<(), RecordError> {
        let header = &batch.header;
        let mut records = records(&batch.bytes, UNPACKED_BYTES_MAX)?;
        while let Some(record) = records.next() {
            let record = record?;
            let offset = record.offset(header);
            if offset < self.next {
                continue;
            }
            if self.is_full(ask) {
                return Ok(());
            }
            self.next = offset + 1;
            let of = (offset, record.timestamp_ms(header), kind(header));
            let message = message(&record, of, ask);
            self.bytes += message.1;
            self.messages.push(message.0);
        }
        self.next = header.next_offset();
        Ok(())
    }
}

/// Whose the timestamps are.
fn kind(header: &BatchHeader) -> &'static str {
    if header.is_log_append_time() { "append" } else { "create" }
}

fn page(partition: &Partition, ask: Ask) -> Result<Page, ErrorCode> {
    let log = partition.log();
    let (start, end) = (log.log_start(), log.high_watermark());
    let next = match ask.from {
        From::Earliest => start,
        From::Latest => end.saturating_sub(i64::try_from(ask.count).unwrap_or(0)),
        From::Offset(offset) => offset,
        From::Timestamp(ms) => {
            let found = log.offset_for_timestamp(ms);
            let found = found.map_err(|error| partition.unreadable(error).code)?;
            found.map_or(end, |found| found.offset)
        }
    };
    let mut page =
        Page { start, end, next: next.clamp(start, end), messages: Vec::new(), bytes: 0 };
    for _ in 0..READS_MAX {
        if end <= page.next || page.is_full(ask) {
            break;
        }
        let slice = log.read(page.next, READ_BYTES, end, true);
        let slice = slice.map_err(|error| partition.unreadable(error).code)?;
        if slice.len == 0 {
            page.next = end; // What was there was compacted away.
            break;
        }
        let bytes = slice.read().map_err(|_| ErrorCode::KafkaStorageError)?;
        let before = page.next;
        for batch in batches(bytes) {
            match batch.and_then(|it| it.check_crc().map(|()| it)) {
                Ok(_) if page.is_full(ask) => break,
                Ok(batch) => page.take(&batch, ask),
                // The last one of a slice may be cut off, but not the only one.
                Err(BatchError::Truncated) if before < page.next => break,
                Err(_) => return Err(ErrorCode::CorruptMessage),
            }
        }
    }
    Ok(page)
}

/// A message, and how many of its bytes are shown.
fn message(record: &Record<'_>, of: (i64, i64, &str), ask: Ask) -> (Value, usize) {
    let (mut bytes, mut names_bytes) = (0, 0);
    let mut show = |field: Option<&[u8]>| {
        let shown = field.map_or(0, <[u8]>::len).min(ask.shown_bytes);
        bytes += shown + 64;
        field.map(|field| shown_field(field, shown))
    };
    let (key, value) = (show(record.key), show(record.value));
    let mut headers = Vec::new();
    for (name, value) in record.headers.take(COUNT_MAX) {
        let value = show(value);
        let name = name.get(..ask.shown_bytes).unwrap_or(name);
        names_bytes += name.len();
        headers.push(json!({ "key": String::from_utf8_lossy(name), "value": value }));
    }
    let (offset, timestamp_ms, kind) = of;
    let message = json!({
        "offset": offset,
        "timestampMs": timestamp_ms,
        "timestampType": kind,
        "key": key,
        "value": value,
        "headers": headers,
    });
    (message, bytes + names_bytes)
}

/// The first bytes of a field: as text, where all that is shown is text.
fn shown_field(field: &[u8], shown: usize) -> Value {
    let part = field.get(..shown).unwrap_or(field);
    let text = match std::str::from_utf8(part) {
        Ok(text) => Some(text),
        // A letter may be cut in two.
        Err(error) if shown < field.len() && error.error_len().is_none() => {
            part.get(..error.valid_up_to()).and_then(|part| std::str::from_utf8(part).ok())
        }
        Err(_) => None,
    };
    match text {
        Some(text) => json!({ "bytes": field.len(), "text": text }),
        None => json!({ "bytes": field.len(), "base64": base64(part) }),
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let index = usize::try_from(bits >> (18 - 6 * at) & 63).unwrap_or(0);
            let letter = LETTERS.get(index).copied().map_or('=', char::from);
            text.push(if at <= chunk.len() { letter } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_base64() {
        for (bytes, want) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), want);
        }
        assert_eq!(shown_field(b"\xff\xfe", 2), json!({ "bytes": 2, "base64": "//4=" }));
        // Cut within its second letter.
        assert_eq!(shown_field("aé".as_bytes(), 2), json!({ "bytes": 3, "text": "a" }));
    }

    #[track_caller]
    fn check(query: &[(&str, &str)], want: Result<Ask, &str>) {
        let query: Vec<_> =
            query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(Ask::parse(&query), want.map_err(str::to_owned));
    }

    #[test]
    fn what_is_asked_has_bounds() {
        let ask = Ask { partition: 0, from: From::Latest, count: 50, shown_bytes: 4096 };
        check(&[], Ok(ask));
        check(
            &[("offset", "7"), ("partition", "2")],
            Ok(Ask { partition: 2, from: From::Offset(7), ..ask }),
        );
        check(
            &[("count", "99999"), ("bytes", "99999999")],
            Ok(Ask { count: 500, shown_bytes: 65_536, ..ask }),
        );
        check(&[("offset", "-7")], Err("offset=-7: must be a number"));
        check(&[("partition", "4294967296")], Err("partition=4294967296: must be a number"));
        check(&[("offest", "1")], Err("offest: there is no such parameter"));
    }
}
