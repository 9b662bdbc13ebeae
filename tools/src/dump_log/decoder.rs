//! How keys and values are printed.

use super::state_records::{self, Topic};
use crate::args::Args;
use crate::coordinator_records::{Decoded, Members, Undecoded, decode};
use crate::failure::Failure;
use crate::json::{Json, fields, object};
use kraft::record::Record as MetadataRecord;
use protocol::records::Record;
use std::io::Write;

/// How a key or a value is read where no decoder for whole records is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// The bytes as they are.
    Text,
    Long,
    Integer,
}

/// How a record is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoder {
    Classes {
        key: Class,
        value: Class,
    },
    Offsets,
    /// Records of coordinators other than those of groups.
    States(Topic),
    Metadata,
}

impl Decoder {
    /// Which one the arguments ask for.
    pub(super) fn of(args: &Args) -> Result<Decoder, Failure> {
        let decoders = [
            ("offsets-decoder", Decoder::Offsets),
            ("transaction-log-decoder", Decoder::States(Topic::Transactions)),
            ("cluster-metadata-decoder", Decoder::Metadata),
            ("share-group-state-decoder", Decoder::States(Topic::ShareGroups)),
        ];
        if let Some((_, decoder)) = decoders.into_iter().find(|(name, _)| args.has(name)) {
            return Ok(decoder);
        }
        if args.has("remote-log-metadata-decoder") {
            return Err(Failure::told(
                "--remote-log-metadata-decoder: the records of tiered storage, which Highwater has \
                 not, are not read here. Without it, --print-data-log prints them as they are; \
                 Apache Kafka's own tool reads them.",
            ));
        }
        Ok(Decoder::Classes {
            key: class(args, "key-decoder-class")?,
            value: class(args, "value-decoder-class")?,
        })
    }

    /// Appends what the record says behind `front`.
    pub(super) fn put(
        self,
        offset: i64,
        record: &Record<'_>,
        front: &str,
        line: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let (key, value) = match self {
            Decoder::Classes { key, value } => {
                let read = |bytes: Option<&[u8]>, class: Class| {
                    bytes.map(|bytes| class.read(bytes, offset)).transpose()
                };
                (read(record.key, key)?, read(record.value, value)?)
            }
            Decoder::Offsets => {
                of_coordinator(offset, record, |key| decode(key, record.value, Members::Read))?
            }
            Decoder::States(topic) => of_coordinator(offset, record, |key| {
                state_records::decode(topic, key, record.value)
            })?,
            Decoder::Metadata => (None, Some(of_metadata(offset, record).into_bytes())),
        };
        let mut front = front;
        for (name, part) in [("key", key), ("payload", value)] {
            if let Some(part) = part {
                // To write to memory cannot fail.
                drop(write!(line, "{front}{name}: "));
                line.extend(part);
                front = " ";
            }
        }
        Ok(())
    }
}

fn class(args: &Args, flag: &str) -> Result<Class, Failure> {
    let Some(name) = args.one(flag)? else { return Ok(Class::Text) };
    match name.rsplit('.').next().unwrap_or(name) {
        "StringDecoder" | "DefaultDecoder" => Ok(Class::Text),
        "LongDecoder" => Ok(Class::Long),
        "IntegerDecoder" => Ok(Class::Integer),
        _ => Err(Failure::told(format_args!(
            "--{flag} {name}: there is no Java here to load it. Known: StringDecoder, \
             DefaultDecoder, LongDecoder, IntegerDecoder (of org.apache.kafka.tools.api)"
        ))),
    }
}

impl Class {
    fn read(self, bytes: &[u8], offset: i64) -> Result<Vec<u8>, Failure> {
        let number = match self {
            Class::Text => return Ok(bytes.to_vec()),
            Class::Long => bytes.first_chunk().map(|it| i64::from_be_bytes(*it)),
            Class::Integer => bytes.first_chunk().map(|it| i32::from_be_bytes(*it).into()),
        };
        let text = number.map(|number| number.to_string().into_bytes());
        text.ok_or_else(|| {
            let len = bytes.len();
            Failure::told(format_args!("offset {offset}: {len} bytes are too few for a number"))
        })
    }
}

type Parts = (Option<Vec<u8>>, Option<Vec<u8>>);

fn of_coordinator(
    offset: i64,
    record: &Record<'_>,
    decode: impl FnOnce(&[u8]) -> Result<Decoded, Undecoded>,
) -> Result<Parts, Failure> {
    let Some(key) = record.key else {
        return Err(Failure::told(format_args!(
            "Failed to decode message at offset {offset} using the specified decoder (message had \
             a missing key)"
        )));
    };
    let decoded = match decode(key) {
        Ok(decoded) => decoded,
        Err(why) => {
            let text = match why {
                Undecoded::UnknownType(kind) => {
                    format!("Unknown record type {kind} at offset {offset}, skipping.")
                }
                Undecoded::Malformed(why) => format!("Error at offset {offset}, skipping. {why}"),
            };
            return Ok((Some(text.into_bytes()), None));
        }
    };
    let number = |number: i16| Json::Text(number.to_string());
    let key = object([("type", number(decoded.kind)), ("data", decoded.key)]);
    let value = decoded.value.map_or("<DELETE>".to_owned(), |(version, value)| {
        object([("version", number(version)), ("data", value)]).to_string()
    });
    Ok((Some(key.to_string().into_bytes()), Some(value.into_bytes())))
}

fn of_metadata(offset: i64, record: &Record<'_>) -> String {
    let value = record.value.unwrap_or_default();
    match MetadataRecord::read(value) {
        Ok(read) => {
            let version = MetadataRecord::version_of(value);
            object([
                ("type", Json::Text(constant(read.kind()))),
                ("version", i32::from(version).into()),
                ("data", fields(read.shown(version))),
            ])
            .to_string()
        }
        Err(why) => format!("Error at {offset}, skipping. {why}"),
    }
}

/// `NoOpRecord` is the constant `NO_OP_RECORD`.
fn constant(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    text
}
