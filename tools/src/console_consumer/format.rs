//! How a record is printed: Kafka's formatters, by the names of their classes.

use super::deserialize::Deserializer;
use crate::coordinator_records::{Members, Undecoded, decode};
use crate::data::consumer::{Received, Stamp};
use crate::given::is_true;
use crate::json::{Json, object};
use crate::output::complain;
use crate::properties::Properties;
use std::io::Write;

/// A formatter.
#[derive(Debug)]
pub(super) enum Formatter {
    Default(Box<Columns>),
    Nothing,
    /// Records of `__consumer_offsets` of these types.
    Coordinator(&'static [i16]),
}

/// Kafka's types of keys: offsets, and classic and consumer groups.
const OFFSETS: &[i16] = &[0, 1];
const GROUPS: &[i16] = &[2];

impl Formatter {
    /// The one of this class, and as `properties` say.
    pub(super) fn of(class: &str, properties: &Properties) -> Result<Formatter, String> {
        match class.rsplit(['.', '$']).next().unwrap_or(class) {
            // The second of them writes to a log that is off.
            "DefaultMessageFormatter" | "LoggingMessageFormatter" => {
                Columns::of(properties).map(|it| Formatter::Default(Box::new(it)))
            }
            "NoOpMessageFormatter" => Ok(Formatter::Nothing),
            "OffsetsMessageFormatter" => Ok(Formatter::Coordinator(OFFSETS)),
            "GroupMetadataMessageFormatter" => Ok(Formatter::Coordinator(GROUPS)),
            _ => Err(format!(
                "--formatter {class}: there is no Java here to load it. Known: \
                 DefaultMessageFormatter, LoggingMessageFormatter, NoOpMessageFormatter, \
                 OffsetsMessageFormatter, GroupMetadataMessageFormatter (of \
                 org.apache.kafka.tools.consumer)"
            )),
        }
    }

    /// Appends what is printed of a record.
    pub(super) fn put(&self, record: &Received<'_>, into: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Formatter::Default(columns) => columns.put(record, into),
            Formatter::Nothing => Ok(()),
            Formatter::Coordinator(kinds) => coordinator(record, kinds, into),
        }
    }
}

fn coordinator(record: &Received<'_>, kinds: &[i16], into: &mut Vec<u8>) -> Result<(), String> {
    let Some(key) = record.key() else { return Ok(()) };
    let members = if kinds == GROUPS { Members::AsBytes } else { Members::Read };
    let decoded = match decode(key, record.value(), members) {
        Ok(decoded) => decoded,
        Err(Undecoded::UnknownType(_)) => return Ok(()),
        Err(Undecoded::Malformed(why)) => {
            let offset = record.offset();
            return Err(format!("Could not read record at offset {offset} due to: {why}"));
        }
    };
    if !kinds.contains(&decoded.kind) {
        return Ok(());
    }
    let value = decoded
        .value
        .map(|(version, value)| object([("version", i32::from(version).into()), ("data", value)]));
    let key = object([("type", i32::from(decoded.kind).into()), ("data", decoded.key)]);
    let line = object([("key", key), ("value", value.unwrap_or(Json::Null))]);
    // To write to memory cannot fail.
    drop(writeln!(into, "{line}"));
    Ok(())
}

/// What the default formatter prints of a record, and between the parts.
#[derive(Debug)]
pub(super) struct Columns {
    timestamp: bool,
    partition: bool,
    offset: bool,
    delivery: bool,
    epoch: bool,
    headers: bool,
    key: bool,
    value: bool,
    key_separator: Vec<u8>,
    line_separator: Vec<u8>,
    headers_separator: Vec<u8>,
    null_literal: Vec<u8>,
    key_reader: Deserializer,
    value_reader: Deserializer,
    headers_reader: Deserializer,
}

impl Columns {
    fn of(properties: &Properties) -> Result<Columns, String> {
        let is = |name| is_true(properties, name);
        let bytes = |name: &str, default: &str| {
            properties.get(name).map_or(default, String::as_str).as_bytes().to_vec()
        };
        let reader = |name: &str| match properties.get(name).map(|it| it.trim()) {
            None | Some("") => Ok(Deserializer::Plain),
            Some(class) => Deserializer::of(class),
        };
        Ok(Columns {
            timestamp: is("print.timestamp"),
            partition: is("print.partition"),
            offset: is("print.offset"),
            delivery: is("print.delivery"),
            epoch: is("print.epoch"),
            headers: is("print.headers"),
            key: is("print.key"),
            value: !properties.contains_key("print.value") || is("print.value"),
            key_separator: bytes("key.separator", "\t"),
            line_separator: bytes("line.separator", "\n"),
            headers_separator: bytes("headers.separator", ","),
            null_literal: bytes("null.literal", "null"),
            key_reader: reader("key.deserializer")?,
            value_reader: reader("value.deserializer")?,
            headers_reader: reader("headers.deserializer")?,
        })
    }

    /// The parts in Kafka's order; between two the separator, behind the last the line's end.
    fn put(&self, record: &Received<'_>, into: &mut Vec<u8>) -> Result<(), String> {
        let printed = [
            self.timestamp,
            self.partition,
            self.offset,
            self.delivery,
            self.epoch,
            self.headers,
            self.key,
            self.value,
        ];
        let mut left = printed.into_iter().filter(|it| *it).count();
        let mut separate = |into: &mut Vec<u8>| {
            left -= 1;
            into.extend(if left == 0 { &self.line_separator } else { &self.key_separator });
        };
        // To write to memory cannot fail.
        if self.timestamp {
            drop(match record.stamp() {
                Stamp::None => write!(into, "NO_TIMESTAMP"),
                Stamp::Create(ms) => write!(into, "CreateTime:{ms}"),
                Stamp::LogAppend(ms) => write!(into, "LogAppendTime:{ms}"),
            });
            separate(into);
        }
        if self.partition {
            drop(write!(into, "Partition:{}", record.partition()));
            separate(into);
        }
        if self.offset {
            drop(write!(into, "Offset:{}", record.offset()));
            separate(into);
        }
        if self.delivery {
            into.extend(b"Delivery:NOT_PRESENT");
            separate(into);
        }
        if self.epoch {
            let epoch = record.epoch().map_or("NOT_PRESENT".to_owned(), |it| it.to_string());
            drop(write!(into, "Epoch:{epoch}"));
            separate(into);
        }
        if self.headers {
            self.put_headers(record, into)?;
            separate(into);
        }
        if self.key {
            self.part(self.key_reader, record.key(), into)?;
            separate(into);
        }
        if self.value {
            self.part(self.value_reader, record.value(), into)?;
            separate(into);
        }
        Ok(())
    }

    fn put_headers(&self, record: &Received<'_>, into: &mut Vec<u8>) -> Result<(), String> {
        let headers = record.headers();
        if headers.is_empty() {
            into.extend(b"NO_HEADERS");
        }
        for (at, (name, value)) in headers.iter().enumerate() {
            if 0 < at {
                into.extend(&self.headers_separator);
            }
            into.extend(name);
            into.push(b':');
            self.part(self.headers_reader, value.as_deref(), into)?;
        }
        Ok(())
    }

    fn part(
        &self,
        reader: Deserializer,
        part: Option<&[u8]>,
        into: &mut Vec<u8>,
    ) -> Result<(), String> {
        match part {
            Some(bytes) => reader.read(bytes, into),
            None => {
                into.extend(&self.null_literal);
                Ok(())
            }
        }
    }
}

/// A record that cannot be printed, passed over.
pub(super) fn tell_skipped(record: &Received<'_>, why: &str) {
    complain(&format!(
        "ERROR Error processing message, skipping this message: {}-{} offset {}: {why}",
        record.topic(),
        record.partition(),
        record.offset()
    ));
}
