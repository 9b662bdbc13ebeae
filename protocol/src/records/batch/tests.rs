//! Headers and batches, byte for byte.

use super::*;
use crate::records::{BatchBuilder, NewRecord};

/// One record `k` = `v` at 1,600,000,000,000 ms, written by Apache Kafka's producer (idempotent,
/// producer 1000, epoch 0, sequence 0) and stamped by its broker with offset 0 and epoch 0.
fn golden() -> BatchBuilder {
    BatchBuilder::new(0).leader_epoch(0).producer(1000, 0, 0).record(NewRecord {
        timestamp_ms: 1_600_000_000_000,
        key: Some(b"k"),
        value: Some(b"v"),
        headers: &[],
    })
}

fn header() -> BatchHeader {
    BatchHeader::read(&golden().build().unwrap()).unwrap()
}

#[test]
fn a_header_is_written_as_it_was_read() {
    let bytes: [u8; HEADER_LEN] = std::array::from_fn(|at| match at {
        8 => 0,
        16 => 2,
        at => u8::try_from(at).unwrap() + 1,
    });
    let header = BatchHeader::read(&bytes).unwrap();
    assert_eq!(header.write(), bytes);
    assert_eq!(header.base_offset, 0x0102_0304_0506_0708);
    assert_eq!(header.length, 0x000a_0b0c);
    assert_eq!(header.leader_epoch, 0x0d0e_0f10);
    assert_eq!(header.crc, 0x1213_1415);
    assert_eq!(header.attributes, 0x1617);
    assert_eq!(header.last_offset_delta, 0x1819_1a1b);
    assert_eq!(header.base_timestamp, 0x1c1d_1e1f_2021_2223);
    assert_eq!(header.max_timestamp, 0x2425_2627_2829_2a2b);
    assert_eq!(header.producer_id, 0x2c2d_2e2f_3031_3233);
    assert_eq!(header.producer_epoch, 0x3435);
    assert_eq!(header.base_sequence, 0x3637_3839);
    assert_eq!(header.record_count, 0x3a3b_3c3d);
}

#[test]
fn what_is_no_header_is_refused() {
    let check = |patch: &dyn Fn(&mut Vec<u8>), want| {
        let mut bytes = golden().build().unwrap().to_vec();
        patch(&mut bytes);
        assert_eq!(BatchHeader::read(&bytes), Err(want));
    };
    check(&|bytes| bytes.truncate(60), BatchError::Truncated);
    check(&|bytes| bytes.clear(), BatchError::Truncated);
    check(&|bytes| bytes[16] = 1, BatchError::Magic(1));
    check(&|bytes| bytes[16] = 0xff, BatchError::Magic(-1));
    check(&|bytes| bytes[11] = 48, BatchError::Length(48));
    check(&|bytes| bytes[8] = 0x80, BatchError::Length(i32::MIN + 58));
}

#[test]
fn the_checksum_covers_all_but_what_the_leader_writes() {
    let bytes = golden().build().unwrap();
    assert!(crc_matches(&bytes));
    for at in 0..bytes.len() {
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 1;
        let is_covered = at >= 17;
        assert_eq!(crc_matches(&flipped), !is_covered, "byte {at}");
    }
}

#[test]
fn a_header_may_be_changed_without_its_records() {
    let bytes = golden().build().unwrap();
    let mut header = BatchHeader::read(&bytes).unwrap();
    header.attributes |= LOG_APPEND_TIME;
    header.max_timestamp = 1;
    header.crc = crc_of_parts(&header.write(), &bytes[HEADER_LEN..]);
    assert!(crc_matches(&[&header.write()[..], &bytes[HEADER_LEN..]].concat()));
}

#[test]
fn sequence_numbers_go_on_at_zero() {
    let check = |base_sequence, last_offset_delta, want| {
        let header = BatchHeader { base_sequence, last_offset_delta, ..header() };
        assert_eq!(header.last_sequence(), want);
    };
    check(0, 0, 0);
    check(10, 5, 15);
    check(i32::MAX, 0, i32::MAX);
    check(i32::MAX, 1, 0);
    check(i32::MAX - 1, 4, 2);
    check(-1, 7, -1);
    check(i32::MAX, i32::MAX, i32::MAX - 1);
}

#[test]
fn offsets_of_a_liar_do_not_run_over() {
    let header = BatchHeader { base_offset: i64::MAX, last_offset_delta: 1, ..header() };
    assert_eq!((header.last_offset(), header.next_offset()), (i64::MIN, i64::MIN + 1));
}

#[test]
fn batches_follow_each_other_until_one_is_cut() {
    let one = golden().build().unwrap();
    let two = BatchBuilder::new(1).key_value(5, b"a", b"b").build().unwrap();
    let all: Bytes = [&one[..], &two[..]].concat().into();
    let whole: Vec<Bytes> = batches(all.clone()).map(|batch| batch.unwrap().bytes).collect();
    assert_eq!(whole, [one.clone(), two]);
    for len in 0..all.len() {
        let found: Vec<_> = batches(all.slice(..len)).collect();
        let want = usize::from(len > 0) + usize::from(len > one.len());
        assert_eq!(found.len(), want, "{len}");
        let is_cut = found.last().is_some_and(Result::is_err);
        assert_eq!(is_cut, len != 0 && len != one.len(), "{len}");
    }
}

#[test]
fn a_batch_is_the_bytes_that_every_kafka_reads() {
    let want: &[u8] = &[
        &[0, 0, 0, 0, 0, 0, 0, 0][..], // Base offset.
        &[0, 0, 0, 58],                // Length.
        &[0, 0, 0, 0, 2],              // Leader epoch, magic.
        &crc_of(&golden().build().unwrap()).to_be_bytes(),
        &[0, 0, 0, 0, 0, 0], // Attributes, last offset delta.
        &[0, 0, 0x01, 0x74, 0x87, 0x6e, 0x80, 0], // Base timestamp.
        &[0, 0, 0x01, 0x74, 0x87, 0x6e, 0x80, 0], // Max timestamp.
        &[0, 0, 0, 0, 0, 0, 0x03, 0xe8], // Producer id.
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 1], // Epoch, base sequence, count.
        &[0x10, 0, 0, 0, 2, b'k', 2, b'v', 0], // The record.
    ]
    .concat();
    assert_eq!(golden().build().unwrap(), want);
    assert_eq!(header().size(), want.len());
}
