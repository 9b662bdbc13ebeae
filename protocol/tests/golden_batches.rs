//! Batches that Apache Kafka 4.4 wrote, one of each codec, read and written again.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use bytes::Bytes;
use protocol::compression::Codec;
use protocol::records::{Batch, BatchBuilder, NewRecord, records, walk};

/// The same three records at offset 100 of leader epoch 9, by producer 1000 of epoch 3 from
/// sequence 7 on.
const GOLDEN: [(Codec, &str); 5] = [
    (
        Codec::None,
        "00000000000000640000007900000009028460f27200000000000200000174876e800000000174876e80 \
         0500000000000003e80003000000070000000372000000066b65794e6869676877617465722068696768 \
         77617465722068696768776174657220686967687761746572060268023102680100000c000102010100 \
         0c000a04000000",
    ),
    (
        Codec::Gzip,
        "00000000000000640000006f0000000902e46eaa0500010000000200000174876e800000000174876e80 \
         0500000000000003e8000300000007000000031f8b08000000000000ff2b62606060cb4eadf4cbc84ccf \
         284f2c492d52c0cb6263ca603264ca606460e0616064626404525c2c403300642fad1848000000",
    ),
    (
        Codec::Snappy,
        "00000000000000640000007600000009023179311800020000000200000174876e800000000174876e80 \
         0500000000000003e80003000000070000000382534e4150505900000000010000000100000031484872 \
         000000066b65794e68696768776174657220720a005c060268023102680100000c0001020101000c000a \
         04000000",
    ),
    (
        Codec::Lz4,
        "0000000000000064000000720000000902109299d300030000000200000174876e800000000174876e80 \
         0500000000000003e80003000000070000000304224d1860408232000000ff0472000000066b65794e68 \
         6967687761746572200a000af009060268023102680100000c0001020101000c000a0400000000000000",
    ),
    (
        Codec::Zstd,
        "00000000000000640000006f000000090210c0b62800040000000200000174876e800000000174876e80 \
         0500000000000003e80003000000070000000328b52ffd0058940100b40272000000066b65794e686967 \
         68776174657220060268023102680100000c0001020101000c000a0400000001007b9730010000",
    ),
];

const VALUE: &[u8] = b"highwater highwater highwater highwater";
const TIME_MS: i64 = 1_600_000_000_000;

fn bytes_of(hex: &str) -> Bytes {
    let digits: Vec<u8> = hex
        .chars()
        .filter_map(|digit| digit.to_digit(16))
        .map(|digit| u8::try_from(digit).unwrap())
        .collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn golden() -> [NewRecord<'static>; 3] {
    let of = |timestamp_ms, key, value, headers| NewRecord { timestamp_ms, key, value, headers };
    [
        of(
            TIME_MS,
            Some(b"key"),
            Some(VALUE),
            &[(b"h", Some(b"1")), (b"h", None), (b"", Some(b""))],
        ),
        of(TIME_MS - 1, None, None, &[]),
        of(TIME_MS + 5, Some(b""), Some(b""), &[]),
    ]
}

#[test]
fn every_record_of_apache_kafka_is_read() {
    for (codec, hex) in GOLDEN {
        let bytes = bytes_of(hex);
        let batch = Batch::split_from(&mut bytes.clone()).unwrap();
        assert_eq!(batch.check_crc(), Ok(()));
        assert_eq!(batch.header.compression(), Some(codec));
        let mut iter = records(&bytes, 200).unwrap();
        for (want, offset) in golden().iter().zip(100..) {
            let record = iter.next().unwrap().unwrap();
            assert_eq!(record.offset(&batch.header), offset);
            assert_eq!(record.timestamp_ms(&batch.header), want.timestamp_ms);
            assert_eq!((record.key, record.value), (want.key, want.value));
            assert!(record.headers.eq(want.headers.iter().copied()));
        }
        assert!(iter.next().is_none());
        let walk = walk(&bytes, 200).unwrap();
        assert_eq!((walk.record_count, walk.null_key_at), (3, Some(1)));
        assert_eq!((walk.max_timestamp_ms, walk.max_timestamp_at), (TIME_MS + 5, 2));
    }
}

#[test]
fn what_we_build_is_what_apache_kafka_builds() {
    let build = |codec| {
        let mut builder = BatchBuilder::new(100).leader_epoch(9).producer(1000, 3, 7);
        golden().into_iter().for_each(|record| builder.push(record));
        builder.codec(codec, None).build().unwrap()
    };
    for (codec, hex) in GOLDEN {
        // Two encoders of one format need not agree, so only what is not compressed is compared.
        let (ours, theirs) = (build(codec), bytes_of(hex));
        match codec {
            Codec::None => assert_eq!(ours, theirs),
            Codec::Gzip | Codec::Snappy | Codec::Lz4 | Codec::Zstd => {
                assert_eq!(ours[21..61], theirs[21..61]);
            }
        }
    }
}
