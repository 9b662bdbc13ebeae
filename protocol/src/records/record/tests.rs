//! Records that come back, and batches that lie about them.

use super::*;
use crate::records::batch::crc_of;
use crate::records::{BatchBuilder, NewRecord};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// A record that owns its parts.
#[derive(Clone, Debug, PartialEq)]
struct Owned {
    timestamp_ms: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

fn build(codec: Codec, from: &[Owned]) -> Vec<u8> {
    let mut builder = BatchBuilder::new(1000).codec(codec, None);
    for record in from {
        let headers: Vec<_> =
            record.headers.iter().map(|(key, value)| (&key[..], value.as_deref())).collect();
        builder.push(NewRecord {
            timestamp_ms: record.timestamp_ms,
            key: record.key.as_deref(),
            value: record.value.as_deref(),
            headers: &headers,
        });
    }
    builder.build().unwrap().to_vec()
}

fn read(batch: &[u8], limit: usize) -> Vec<Owned> {
    let header = BatchHeader::read(batch).unwrap();
    let mut iter = records(batch, limit).unwrap();
    let mut out = Vec::new();
    while let Some(record) = iter.next() {
        let record = record.unwrap();
        assert_eq!(record.offset(&header), 1000 + i64::try_from(out.len()).unwrap());
        out.push(Owned {
            timestamp_ms: record.timestamp_ms(&header),
            key: record.key.map(<[u8]>::to_vec),
            value: record.value.map(<[u8]>::to_vec),
            headers: record
                .headers
                .map(|(key, value)| (key.to_vec(), value.map(<[u8]>::to_vec)))
                .collect(),
        });
    }
    out
}

fn owned() -> impl Strategy<Value = Owned> {
    let bytes = || vec(any::<u8>(), 0..200);
    let headers = vec((bytes(), option::of(bytes())), 0..4);
    (any::<i64>(), option::of(bytes()), option::of(bytes()), headers)
        .prop_map(|(timestamp_ms, key, value, headers)| Owned { timestamp_ms, key, value, headers })
}

/// One record of 10 bytes: `a` = `b`, no headers; the bytes of its body can be replaced.
fn batch_of(body: &[u8], count: i32) -> Vec<u8> {
    let mut batch = BatchBuilder::new(1000).build().unwrap().to_vec();
    batch.extend_from_slice(body);
    let length = i32::try_from(batch.len() - 12).unwrap();
    batch[8..12].copy_from_slice(&length.to_be_bytes());
    batch[57..61].copy_from_slice(&count.to_be_bytes());
    let crc = crc_of(&batch);
    batch[17..21].copy_from_slice(&crc.to_be_bytes());
    batch
}

#[test]
fn header_keys_that_stand_twice_or_are_not_utf8_are_kept_in_order() {
    let header = |key: &[u8], value: Option<&[u8]>| (key.to_vec(), value.map(<[u8]>::to_vec));
    let record = Owned {
        timestamp_ms: 5,
        key: None,
        value: Some(vec![]),
        headers: vec![
            header(b"twice", Some(b"1")),
            header(b"\xff\xfe", None),
            header(b"twice", Some(b"2")),
            header(b"", Some(b"")),
        ],
    };
    for codec in Codec::ALL {
        let batch = build(codec, std::slice::from_ref(&record));
        assert_eq!(read(&batch, 1000), std::slice::from_ref(&record));
    }
}

#[test]
fn records_that_contradict_themselves_are_refused() {
    let check = |body: &[u8], fault| {
        let batch = batch_of(body, 1);
        let want = Err(RecordError::Record { index: 0, fault });
        assert_eq!(walk(&batch, 0), want, "{body:x?}");
    };
    check(&[], Fault::Cut);
    check(&[0x10, 0, 0, 0], Fault::Cut);
    check(&[0x01], Fault::Length); // -1.
    check(&[0x00], Fault::Length);
    check(&[0xff, 0xff, 0xff, 0xff, 0x1f], Fault::Number);
    check(&[0xfe, 0xff, 0xff, 0xff, 0x0f], Fault::Cut); // i32::MAX.
    check(&[0x0e, 0, 0, 0, 0x01, 0x01, 0], Fault::Cut);
    check(&[0x0e, 0, 0, 0, 0x01, 0x01, 0, 0], Fault::Length); // A byte too many.
    check(&[0x0a, 0, 0, 0, 0x03, 0x01], Fault::Field); // Key of -2.
    check(&[0x0a, 0, 0, 0, 0x04, b'k'], Fault::Field); // Key of 2.
    check(&[0x0a, 0, 0, 0, 0x01, 0x02], Fault::Field);
    check(&[0x0c, 0, 0, 0, 0x01, 0x01, 0x01], Fault::Headers); // -1 headers.
    check(&[0x0c, 0, 0, 0, 0x01, 0x01, 0x02], Fault::Headers);
    check(&[0x14, 0, 0, 0, 1, 1, 0xfe, 0xff, 0xff, 0xff, 0x0f], Fault::Headers); // i32::MAX.
    check(&[0x10, 0, 0, 0, 0x01, 0x01, 0x02, 0x01, 0x01], Fault::Field); // Null header key.
    check(&[0x0c, 0, 0, 0x02, 0x01, 0x01, 0x00], Fault::OffsetDelta(1));
}

#[test]
fn counts_that_are_not_the_number_of_records_are_refused() {
    let body = [0x0c, 0, 0, 0, 0x01, 0x01, 0];
    let check = |count, want| assert_eq!(walk(&batch_of(&body, count), 0).err(), want);
    check(1, None);
    check(0, Some(RecordError::Trailing));
    check(-1, Some(RecordError::Count(-1)));
    check(2, Some(RecordError::Record { index: 1, fault: Fault::Cut }));
    check(i32::MAX, Some(RecordError::Record { index: 1, fault: Fault::Cut }));
}

#[test]
fn a_codec_that_does_not_exist_is_refused() {
    let mut batch = batch_of(&[], 0);
    batch[22] = 5;
    assert_eq!(walk(&batch, 0), Err(RecordError::Codec(5)));
}

#[test]
fn a_walk_finds_null_keys_and_the_first_of_the_largest_times() {
    let of = |timestamp_ms, key: Option<&[u8]>| Owned {
        timestamp_ms,
        key: key.map(<[u8]>::to_vec),
        value: None,
        headers: vec![],
    };
    let from = [of(3, Some(b"")), of(9, None), of(9, Some(b"k")), of(1, None)];
    for codec in Codec::ALL {
        let want = Walk {
            record_count: 4,
            null_key_at: Some(1),
            max_timestamp_ms: 9,
            max_timestamp_at: 1,
        };
        assert_eq!(walk(&build(codec, &from), 1000), Ok(want), "{codec:?}");
    }
}

#[test]
fn a_batch_larger_than_the_limit_is_refused_at_the_limit() {
    let value = Some(vec![0; 1_000_000]);
    let record = Owned { timestamp_ms: 0, key: None, value, headers: vec![] };
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let batch = build(codec, std::slice::from_ref(&record));
        assert_eq!(walk(&batch, 100_000), Err(RecordError::Limit(100_000)), "{codec:?}");
        assert_eq!(walk(&batch, 1_000_100).unwrap().record_count, 1, "{codec:?}");
    }
}

#[test]
fn the_limit_is_exact() {
    let record = Owned { timestamp_ms: 0, key: None, value: Some(vec![7; 100]), headers: vec![] };
    let plain = build(Codec::None, std::slice::from_ref(&record)).len() - HEADER_LEN;
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let batch = build(codec, std::slice::from_ref(&record));
        assert!(walk(&batch, plain).is_ok(), "{codec:?}");
        assert!(walk(&batch, plain - 1).is_err(), "{codec:?}");
    }
}

#[test]
fn a_compressed_batch_cut_anywhere_is_an_error() {
    let record = Owned { timestamp_ms: 0, key: None, value: Some(vec![7; 300]), headers: vec![] };
    for codec in Codec::ALL {
        let batch = build(codec, &[record.clone(), record.clone()]);
        let body = &batch[HEADER_LEN..];
        for len in 0..body.len() {
            let mut cut = batch_of(&body[..len], 2);
            cut[22] = batch[22];
            let found = walk(&cut, 10_000);
            // What is cut may be a checksum behind the last record, which nothing needs.
            assert!(found.is_err() || len + 8 >= body.len(), "{codec:?} at {len}: {found:?}");
        }
    }
}

proptest! {
    #[test]
    fn records_come_back_from_every_codec(from in vec(owned(), 0..20)) {
        for codec in Codec::ALL {
            let batch = build(codec, &from);
            prop_assert_eq!(&read(&batch, 1 << 20), &from);
        }
    }

    #[test]
    fn bytes_of_no_meaning_are_errors(body in vec(any::<u8>(), 0..300), count: i32) {
        for codec in 0..8 {
            let mut batch = batch_of(&body, count);
            batch[22] = codec;
            let _outcome = walk(&batch, 1 << 20);
        }
    }

    #[test]
    fn a_flipped_bit_is_an_error_or_another_record(
        from in vec(owned(), 1..5), at: prop::sample::Index, bit in 0..8,
    ) {
        for codec in Codec::ALL {
            let mut batch = build(codec, &from);
            let body = batch.len() - HEADER_LEN;
            batch[HEADER_LEN + at.index(body)] ^= 1_u8 << bit;
            let _outcome = walk(&batch, 1 << 20);
        }
    }
}
