//! Records of `__transaction_state` and `__share_group_state` as JSON, in the names and the order of
//! Kafka's schemas, which are tables here.

use crate::coordinator_records::{Decoded, Undecoded};
use crate::json::Json;
use protocol::coordinator::{Field as _, Malformed, Reader};
use protocol::ids::Uuid;
use std::sync::Arc;

/// How a field stands in bytes.
#[derive(Clone, Copy, Debug)]
enum Is {
    I8,
    I16,
    I32,
    I64,
    Text,
    Id,
    /// A byte that stands for one of these words.
    Word(&'static [&'static str]),
    Numbers,
    List(&'static [Field]),
}

/// A field. A tagged one has its tag, and the value that it has where it is left out.
#[derive(Clone, Copy, Debug)]
struct Field {
    name: &'static str,
    is: Is,
    tag: Option<(u32, i64)>,
}

const fn field(name: &'static str, is: Is) -> Field {
    Field { name, is, tag: None }
}

const fn tagged(tag: u32, name: &'static str, is: Is, default: i64) -> Field {
    Field { name, is, tag: Some((tag, default)) }
}

/// A type of record. Keys are of version 0, which is not flexible (KIP-482).
#[derive(Debug)]
struct Kind {
    number: i16,
    key: &'static [Field],
    value: &'static [Field],
    /// The newest version of the value, and the first that is flexible.
    newest: i16,
    flexible: i16,
}

/// A topic whose records are told so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Transactions,
    ShareGroups,
}

const STATUS: [&str; 8] = [
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
];

const TRANSACTIONS: [Kind; 1] = [Kind {
    number: 0,
    key: &[field("transactionalId", Is::Text)],
    value: &[
        field("producerId", Is::I64),
        tagged(0, "previousProducerId", Is::I64, -1),
        tagged(1, "nextProducerId", Is::I64, -1),
        field("producerEpoch", Is::I16),
        tagged(3, "nextProducerEpoch", Is::I16, -1),
        field("transactionTimeoutMs", Is::I32),
        field("transactionStatus", Is::Word(&STATUS)),
        field(
            "transactionPartitions",
            Is::List(&[field("topic", Is::Text), field("partitionIds", Is::Numbers)]),
        ),
        field("transactionLastUpdateTimestampMs", Is::I64),
        field("transactionStartTimestampMs", Is::I64),
        tagged(2, "clientTransactionVersion", Is::I16, 0),
    ],
    newest: 1,
    flexible: 1,
}];

const SHARE_PARTITION: &[Field] =
    &[field("groupId", Is::Text), field("topicId", Is::Id), field("partition", Is::I32)];

const STATE_BATCHES: Field = field(
    "stateBatches",
    Is::List(&[
        field("firstOffset", Is::I64),
        field("lastOffset", Is::I64),
        field("deliveryState", Is::I8),
        field("deliveryCount", Is::I16),
    ]),
);

const SHARE_GROUPS: [Kind; 2] = [
    Kind {
        number: 0,
        key: SHARE_PARTITION,
        value: &[
            field("snapshotEpoch", Is::I32),
            field("stateEpoch", Is::I32),
            field("leaderEpoch", Is::I32),
            field("startOffset", Is::I64),
            tagged(0, "deliveryCompleteCount", Is::I32, -1),
            field("createTimestamp", Is::I64),
            field("writeTimestamp", Is::I64),
            STATE_BATCHES,
        ],
        newest: 0,
        flexible: 0,
    },
    Kind {
        number: 1,
        key: SHARE_PARTITION,
        value: &[
            field("snapshotEpoch", Is::I32),
            field("leaderEpoch", Is::I32),
            field("startOffset", Is::I64),
            tagged(0, "deliveryCompleteCount", Is::I32, -1),
            STATE_BATCHES,
        ],
        newest: 0,
        flexible: 0,
    },
];

/// Reads a record.
///
/// # Errors
/// It is none of the topic.
pub(super) fn decode(topic: Topic, key: &[u8], value: Option<&[u8]>) -> Result<Decoded, Undecoded> {
    let malformed = |part: &'static str| {
        move |why: Malformed| Undecoded::Malformed(format!("the {part} cannot be read: {why}"))
    };
    let kinds: &[Kind] = match topic {
        Topic::Transactions => &TRANSACTIONS,
        Topic::ShareGroups => &SHARE_GROUPS,
    };
    let mut reader = Reader::new(key, 0, false);
    let number = i16::read(&mut reader).map_err(malformed("key"))?;
    let kind = kinds.iter().find(|kind| kind.number == number);
    let kind = kind.ok_or(Undecoded::UnknownType(number))?;
    let key = message(&mut reader, kind.key).map_err(malformed("key"))?;
    let read = |bytes: &[u8]| {
        let version = i16::read(&mut Reader::new(bytes, 0, false)).map_err(malformed("value"))?;
        if !(0..=kind.newest).contains(&version) {
            return Err(Undecoded::Malformed(format!("version {version} is not known")));
        }
        let rest = bytes.get(size_of_val(&version)..).unwrap_or_default();
        let mut reader = Reader::new(rest, version, kind.flexible <= version);
        Ok((version, message(&mut reader, kind.value).map_err(malformed("value"))?))
    };
    Ok(Decoded { kind: number, key, value: value.map(read).transpose()? })
}

/// Takes a message off the front; tagged fields stand behind all others, and unknown ones are
/// passed over.
fn message(reader: &mut Reader<'_>, fields: &[Field]) -> Result<Json, Malformed> {
    let mut values: Vec<Option<Json>> = Vec::with_capacity(fields.len());
    for field in fields {
        let is_here = field.tag.is_none();
        values.push(if is_here { Some(one(reader, field.is)?) } else { None });
    }
    reader.tags(|tag, value| {
        let mut places = fields.iter().zip(&mut values);
        let place = places.find(|(field, _)| field.tag.is_some_and(|(it, _)| it == tag));
        if let Some((field, place)) = place {
            *place = Some(one(value, field.is)?);
        }
        Ok(())
    })?;
    let told = fields.iter().zip(values).filter_map(|(field, value)| {
        let value = value?;
        let is_default = field.tag.is_some_and(|(_, default)| value == Json::Int(default));
        (!is_default).then(|| (field.name.to_owned(), value))
    });
    Ok(Json::Object(told.collect()))
}

fn one(reader: &mut Reader<'_>, is: Is) -> Result<Json, Malformed> {
    Ok(match is {
        Is::I8 => i32::from(i8::read(reader)?).into(),
        Is::I16 => i32::from(i16::read(reader)?).into(),
        Is::I32 => i32::read(reader)?.into(),
        Is::I64 => i64::read(reader)?.into(),
        Is::Id => Json::Text(Uuid::read(reader)?.to_string()),
        Is::Word(words) => {
            let number = i8::read(reader)?;
            match usize::try_from(number).ok().and_then(|at| words.get(at)) {
                Some(word) => (*word).into(),
                None => i32::from(number).into(),
            }
        }
        Is::Text => {
            Option::<Arc<str>>::read(reader)?.map(|text| Json::Text(text.to_string())).into()
        }
        Is::Numbers => reader.list(|item| one(item, Is::I32))?.map(Json::List).into(),
        Is::List(fields) => reader.list(|item| message(item, fields))?.map(Json::List).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value as it is told.
    fn told(topic: Topic, key: &[u8], value: &[u8]) -> String {
        decode(topic, key, Some(value)).unwrap().value.unwrap().1.to_string()
    }

    #[test]
    fn a_transaction_is_told_in_both_encodings() {
        let key = b"\0\0\0\x02tx";
        let old =
            b"\0\0\0\0\0\0\0\0\0\x27\0\x01\0\0\xea\x60\x01\0\0\0\x01\0\x01u\0\0\0\x01\0\0\0\x05\
            \0\0\0\0\0\0\0\x07\xff\xff\xff\xff\xff\xff\xff\xff";
        let want =
            r#""producerEpoch":1,"transactionTimeoutMs":60000,"transactionStatus":"Ongoing","#;
        let rest = r#""transactionPartitions":[{"topic":"u","partitionIds":[5]}],"transactionLastUpdateTimestampMs":7,"transactionStartTimestampMs":-1"#;
        assert_eq!(
            told(Topic::Transactions, key, old),
            format!("{{\"producerId\":39,{want}{rest}}}")
        );
        let new = b"\0\x01\0\0\0\0\0\0\0\x27\0\x01\0\0\xea\x60\x01\x02\x02u\x02\0\0\0\x05\0\
            \0\0\0\0\0\0\0\x07\xff\xff\xff\xff\xff\xff\xff\xff\
            \x03\x00\x08\0\0\0\0\0\0\0\x26\x02\x02\0\x02\x63\x01\0";
        assert_eq!(
            told(Topic::Transactions, key, new),
            format!(
                "{{\"producerId\":39,\"previousProducerId\":38,{want}{rest},\"clientTransactionVersion\":2}}"
            )
        );
        for cut in 2..new.len() {
            let cut = decode(Topic::Transactions, key, new.get(..cut));
            assert!(matches!(cut, Err(Undecoded::Malformed(_))), "{cut:?}");
        }
    }

    #[test]
    fn what_is_no_record_of_the_topic_is_told() {
        let kind = |topic, key: &[u8], value| decode(topic, key, value).map(|it| it.value);
        assert_eq!(kind(Topic::Transactions, b"\0\x01", None), Err(Undecoded::UnknownType(1)));
        assert_eq!(kind(Topic::Transactions, b"\0\0\0\x01t", None), Ok(None));
        assert!(kind(Topic::Transactions, b"\0\0\0\x01t", Some(b"\0\x09")).is_err());
        assert!(kind(Topic::ShareGroups, b"\0", None).is_err());
        let endless = b"\0\0\0\0\0\0\0\0\0\x27\0\x01\0\0\xea\x60\x01\x7f\xff\xff\xff";
        assert!(kind(Topic::Transactions, b"\0\0\0\x01t", Some(endless)).is_err());
    }
}
