//! What a builder makes of records, and what it refuses.

use super::*;
use crate::records::{Batch, records, walk};

fn record(timestamp_ms: i64) -> NewRecord<'static> {
    NewRecord { timestamp_ms, ..NewRecord::default() }
}

#[test]
fn a_header_says_what_the_records_are() {
    let built = BatchBuilder::new(100)
        .attributes(batch::TRANSACTIONAL)
        .producer(7, 3, 9)
        .leader_epoch(4)
        .record(record(50))
        .record(record(70))
        .record(record(60));
    let header = BatchHeader::read(&built.build().unwrap()).unwrap();
    assert_eq!((header.base_offset, header.last_offset()), (100, 102));
    assert_eq!((header.base_timestamp, header.max_timestamp), (50, 70));
    assert_eq!((header.base_sequence, header.last_sequence()), (9, 11));
    assert_eq!((header.producer_id, header.producer_epoch, header.leader_epoch), (7, 3, 4));
    assert!(header.is_transactional() && !header.is_control() && header.has_producer_id());
}

#[test]
fn a_time_before_the_first_one_is_kept() {
    let bytes = BatchBuilder::new(0).record(record(i64::MAX)).record(record(i64::MIN));
    let bytes = bytes.build().unwrap();
    let header = BatchHeader::read(&bytes).unwrap();
    let mut read = records(&bytes, 0).unwrap();
    let mut time = || read.next().unwrap().unwrap().timestamp_ms(&header);
    assert_eq!([time(), time()], [i64::MAX, i64::MIN]);
}

#[test]
fn log_append_time_is_the_time_of_every_record() {
    let bytes = BatchBuilder::new(0).log_append_time(99).record(record(5)).build().unwrap();
    assert_eq!(walk(&bytes, 0).unwrap().max_timestamp_ms, 99);
}

#[test]
fn gaps_are_kept_and_offsets_only_rise() {
    let mut builder = BatchBuilder::new(10);
    builder.push_at(2, record(0));
    builder.push_at(5, record(0));
    let bytes = builder.clone().build().unwrap();
    let header = BatchHeader::read(&bytes).unwrap();
    assert_eq!((header.last_offset(), header.record_count), (15, 2));
    builder.push_at(5, record(0));
    assert_eq!(builder.build(), Err(BuildError::Offset));
    let mut builder = BatchBuilder::new(10);
    builder.push_at(i32::MAX, record(0));
    assert_eq!(builder.build(), Err(BuildError::Offset));
}

#[test]
fn a_control_batch_holds_its_kind() {
    let value = crate::records::control::end_of_transaction(3);
    let bytes = BatchBuilder::new(0).control(1, ControlKind::Commit, &value).build().unwrap();
    assert!(BatchHeader::read(&bytes).unwrap().is_control());
    let mut read = records(&bytes, 0).unwrap();
    let found = read.next().unwrap().unwrap();
    assert_eq!(ControlKind::from_key(found.key.unwrap()), Some(ControlKind::Commit));
}

#[test]
fn a_batch_without_records_is_a_header() {
    let bytes = BatchBuilder::new(0).build().unwrap();
    assert_eq!(bytes.len(), HEADER_LEN);
    assert_eq!(walk(&bytes, 0).unwrap().record_count, 0);
}

#[test]
fn every_codec_is_named_in_the_attributes() {
    for codec in Codec::ALL {
        let bytes = BatchBuilder::new(0).codec(codec, None).key_value(1, b"k", b"v");
        let bytes = bytes.build().unwrap();
        let batch = Batch::split_from(&mut bytes.clone()).unwrap();
        assert_eq!((batch.header.compression(), batch.check_crc()), (Some(codec), Ok(())));
    }
}
