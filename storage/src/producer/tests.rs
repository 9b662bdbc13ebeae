//! Kafka's rules for idempotent producers, row by row, and the snapshot's bytes.

use super::snapshot::{self, encode, load_latest};
use super::*;
use crate::disk::Disk;
use crate::disk::sim::SimDisk;
use crate::error::Error;
use proptest::prelude::*;
use protocol::records::batch::{CONTROL, TRANSACTIONAL};
use std::path::Path;

/// The batch of one producer (id 7) at an offset.
fn batch(offset: i64, epoch: i16, sequence: i32, count: i32) -> BatchHeader {
    BatchHeader {
        base_offset: offset,
        length: 49,
        leader_epoch: 0,
        magic: 2,
        crc: 0,
        attributes: 0,
        last_offset_delta: count - 1,
        base_timestamp: 1000 + offset,
        max_timestamp: 1000 + offset,
        producer_id: 7,
        producer_epoch: epoch,
        base_sequence: sequence,
        record_count: count,
    }
}

fn txn(header: BatchHeader) -> BatchHeader {
    BatchHeader { attributes: TRANSACTIONAL, ..header }
}

fn marker(offset: i64, epoch: i16) -> BatchHeader {
    BatchHeader { attributes: TRANSACTIONAL | CONTROL, ..batch(offset, epoch, -1, 1) }
}

const ABORT: Option<EndMarker> = Some(EndMarker { coordinator_epoch: 3, is_abort: true });
const COMMIT: Option<EndMarker> = Some(EndMarker { coordinator_epoch: 3, is_abort: false });

fn after(batches: &[BatchHeader]) -> Producers {
    let mut producers = Producers::default();
    for header in batches {
        assert_eq!(producers.apply(header, None), None);
    }
    producers
}

fn duplicate(first_offset: i64, last_offset: i64, timestamp_ms: i64) -> Verdict {
    Verdict::Duplicate { first_offset, last_offset, timestamp_ms }
}

#[test]
fn a_batch_is_appended_once_and_in_order() {
    let out_of_order = |sequence, last_sequence| {
        Err(Refusal::OutOfOrder { producer_id: 7, epoch: 2, sequence, last_sequence })
    };
    let new_epoch = |epoch, sequence| {
        Err(Refusal::NewEpochNotAtZero { producer_id: 7, epoch, sequence, current_epoch: 2 })
    };
    let known = after(&[batch(10, 2, 0, 2), batch(20, 2, 2, 3)]);
    for (epoch, sequence, count, want) in [
        (2, 5, 1, Ok(Verdict::Append)),
        (2, 6, 1, out_of_order(6, 4)),
        (2, 4, 1, out_of_order(4, 4)),
        (2, 2, 3, Ok(duplicate(20, 22, 1020))),
        (2, 0, 2, Ok(duplicate(10, 11, 1010))),
        (2, 0, 3, out_of_order(0, 4)), // The same first number, another last one.
        (2, 1, 1, out_of_order(1, 4)),
        (3, 0, 1, Ok(Verdict::Append)),
        (3, 5, 1, new_epoch(3, 5)),
        (1, 0, 2, Err(Refusal::OldEpoch { producer_id: 7, epoch: 1, current_epoch: 2 })),
    ] {
        assert_eq!(known.check(&batch(30, epoch, sequence, count)), want, "{epoch} {sequence}");
    }
    let nobody = Producers::default();
    assert_eq!(nobody.check(&batch(0, 9, 1234, 1)), Ok(Verdict::Append), "unknown: any number");
    let plain = BatchHeader { producer_id: -1, ..batch(30, -1, -1, 1) };
    assert_eq!(known.check(&plain), Ok(Verdict::Append));
}

#[test]
fn the_last_five_batches_are_known_and_the_sixth_is_not() {
    let all: Vec<_> = (0..6).map(|n| batch(10 * i64::from(n), 0, n, 1)).collect();
    let known = after(&all);
    assert!(matches!(known.check(&all[0]), Err(Refusal::OutOfOrder { last_sequence: 5, .. })));
    for old in &all[1..] {
        let (offset, timestamp) = (old.base_offset, old.max_timestamp);
        assert_eq!(known.check(old), Ok(duplicate(offset, offset, timestamp)));
    }
    assert_eq!(known.get(7).unwrap().marks().len(), 5);
}

#[test]
fn sequence_numbers_go_round() {
    let known = after(&[batch(0, 0, i32::MAX - 1, 2)]);
    assert_eq!(known.check(&batch(2, 0, 0, 1)), Ok(Verdict::Append));
    assert_eq!(known.check(&batch(2, 0, i32::MAX - 1, 2)), Ok(duplicate(0, 1, 1000)));
    let around = after(&[batch(0, 0, i32::MAX, 3)]);
    assert_eq!(around.get(7).unwrap().last_sequence(), 1);
    assert_eq!(around.check(&batch(9, 0, i32::MAX, 3)), Ok(duplicate(0, 2, 1000)));
    assert_eq!(around.check(&batch(9, 0, 2, 1)), Ok(Verdict::Append));
}

#[test]
fn batches_of_one_append_are_judged_as_if_those_before_stood() {
    let known = after(&[batch(0, 0, 0, 1)]);
    let mut checking = known.checking();
    assert_eq!(checking.check(&batch(1, 0, 1, 1)), Ok(Verdict::Append));
    assert_eq!(checking.check(&batch(2, 0, 2, 2)), Ok(Verdict::Append));
    assert_eq!(checking.check(&batch(4, 0, 1, 1)), Ok(duplicate(1, 1, 1001)));
    assert!(checking.check(&batch(4, 0, 9, 1)).is_err());
    assert_eq!(
        checking.check(&BatchHeader { producer_id: 8, ..batch(4, 0, 5, 1) }),
        Ok(Verdict::Append)
    );
    assert_eq!(known.get(7).unwrap().last_sequence(), 0, "judging changes nothing");
}

#[test]
fn a_transaction_holds_readers_back_until_its_marker_is_replicated() {
    let mut known = after(&[txn(batch(10, 0, 0, 1)), txn(batch(11, 0, 1, 1))]);
    let other = BatchHeader { producer_id: 8, ..txn(batch(12, 0, 0, 1)) };
    known.apply(&other, None);
    assert_eq!(known.first_unstable_offset(), Some(10));
    assert_eq!(known.check(&batch(13, 0, 2, 1)), Err(Refusal::NotTransactional { producer_id: 7 }));
    let ended = known.apply(&marker(13, 0), ABORT).unwrap();
    let want = EndedTxn {
        producer_id: 7,
        first_offset: 10,
        last_offset: 13,
        is_abort: true,
        last_stable_offset: 12, // The other one is still open.
    };
    assert_eq!(ended, want);
    assert_eq!(known.get(7).unwrap().coordinator_epoch, 3);
    assert_eq!(known.first_unstable_offset(), Some(10));
    known.high_watermark_is(13);
    assert_eq!(known.first_unstable_offset(), Some(10), "the marker is at the watermark");
    known.high_watermark_is(14);
    assert_eq!(known.first_unstable_offset(), Some(12));
    let ended = known.apply(&BatchHeader { producer_id: 8, ..marker(14, 0) }, COMMIT).unwrap();
    assert_eq!((ended.is_abort, ended.last_stable_offset), (false, 15));
    known.log_start_is(15);
    assert_eq!((known.first_unstable_offset(), known.end()), (None, 15));
    assert_eq!(known.apply(&marker(15, 0), COMMIT), None, "nothing was open");
}

#[test]
fn a_marker_with_a_new_epoch_starts_the_numbers_again() {
    let mut known = after(&[txn(batch(10, 0, 0, 5))]);
    known.apply(&marker(15, 1), COMMIT).unwrap();
    assert_eq!(known.check(&txn(batch(16, 1, 0, 1))), Ok(Verdict::Append));
    assert!(known.check(&txn(batch(16, 1, 5, 1))).is_err());
}

#[test]
fn silent_producers_expire_but_not_within_a_transaction() {
    let mut known =
        after(&[batch(0, 0, 0, 1), BatchHeader { producer_id: 8, ..txn(batch(5, 0, 0, 1)) }]);
    assert_eq!(known.expire(1999, 1000), 0);
    assert_eq!(known.expire(2000, 1000), 1);
    assert_eq!(known.expire(i64::MAX, 1000), 0);
    assert_eq!(known.iter().map(|it| it.producer_id).collect::<Vec<_>>(), [8]);
}

#[test]
fn an_end_marker_is_read_from_its_control_record() {
    let value = [0, 0, 0, 0, 0, 3];
    assert_eq!(EndMarker::read(&[0, 0, 0, 0], &value), ABORT);
    assert_eq!(EndMarker::read(&[0, 0, 0, 1], &value), COMMIT);
    for (key, value) in
        [(&[0, 0, 0, 2][..], &value[..]), (&[0, 0, 0], &value), (&[0, 0, 0, 1], &[0; 5])]
    {
        assert_eq!(EndMarker::read(key, value), None);
    }
}

const DIR: &str = "/";

/// The expiry of nobody.
const NEVER: (i64, i64) = (0, i64::MAX);

#[test]
fn a_snapshot_is_kafkas() {
    let known = after(&[batch(0, 0, 0, 2), batch(2, 0, 2, 3)]);
    let body = [
        &[0, 0, 0, 1][..],            // One producer:
        &[0, 0, 0, 0, 0, 0, 0, 7],    // its id,
        &[0, 0],                      // epoch,
        &[0, 0, 0, 4],                // last sequence,
        &[0, 0, 0, 0, 0, 0, 0, 4],    // last offset,
        &[0, 0, 0, 2],                // offset delta,
        &[0, 0, 0, 0, 0, 0, 3, 0xea], // timestamp,
        &[255; 4],                    // coordinator epoch,
        &[255; 8],                    // no transaction.
    ]
    .concat();
    let want = [&[0, 1][..], &protocol::checksum::crc32c(&body).to_be_bytes(), &body].concat();
    assert_eq!(encode(&known), want);
    assert_eq!(
        snapshot::path(Path::new("/t-0"), 5).to_str(),
        Some("/t-0/00000000000000000005.snapshot")
    );
    for (name, offset) in [
        ("00000000000000000005.snapshot", Some(5)),
        ("09223372036854775807.snapshot", Some(i64::MAX)),
        ("99999999999999999999.snapshot", None),
        ("5.snapshot", None),
        ("0000000000000000000x.snapshot", None),
        ("00000000000000000005.snapshot.deleted", None),
    ] {
        assert_eq!(snapshot::offset_of(name), offset, "{name}");
    }
}

#[test]
fn a_restart_knows_the_last_batch_and_the_open_transaction() {
    let (disk, dir) = (SimDisk::default(), Path::new(DIR));
    let mut known = after(&[batch(0, 0, 0, 2), batch(2, 0, 2, 3)]);
    known.apply(&BatchHeader { producer_id: 8, ..txn(batch(5, 4, 0, 1)) }, None);
    snapshot::write(&disk, dir, &known, true).unwrap();
    let again = load_latest(&disk.crash(1), dir, (0, 6), NEVER, |_| false).unwrap();
    assert_eq!((again.len(), again.end(), again.first_unstable_offset()), (2, 6, Some(5)));
    assert_eq!(again.check(&batch(9, 0, 2, 3)), Ok(duplicate(2, 4, 1002)));
    assert_eq!(again.check(&batch(9, 0, 5, 1)), Ok(Verdict::Append));
    let expired = load_latest(&disk, dir, (0, 6), (9999, 1000), |_| false).unwrap();
    assert_eq!(expired.iter().map(|it| it.producer_id).collect::<Vec<_>>(), [8]);
}

#[test]
fn the_newest_whole_snapshot_within_the_log_is_taken() {
    let (disk, dir) = (SimDisk::default(), Path::new(DIR));
    let mut known = Producers::default();
    for n in 0..5 {
        known.apply(&batch(i64::from(n), 0, n, 1), None);
        snapshot::write(&disk, dir, &known, false).unwrap();
    }
    assert_eq!(snapshot::list(&disk, dir).unwrap(), [1, 2, 3, 4, 5]);
    disk.rot(&snapshot::path(dir, 4), 20, 1).unwrap();
    let is_base = |offset| offset == 2;
    let taken = load_latest(&disk, dir, (1, 4), NEVER, is_base).unwrap();
    assert_eq!((taken.end(), taken.get(7).unwrap().last_sequence()), (3, 2));
    let left = snapshot::list(&disk, dir).unwrap();
    assert_eq!(left, [2, 3], "5 is beyond the end, 4 is torn, and no segment begins at 1");
    assert_eq!(load_latest(&disk, dir, (9, 9), NEVER, |_| false).unwrap().end(), 9);
    assert!(snapshot::list(&disk, dir).unwrap().is_empty());
    for end in [1, 2, 3] {
        snapshot::write(&disk, dir, &Producers::starting_at(end), false).unwrap();
    }
    snapshot::remove_after(&disk, dir, 2).unwrap();
    snapshot::remove_strays(&disk, dir, 2, |_| false).unwrap();
    assert_eq!(snapshot::list(&disk, dir).unwrap(), [2]);
}

proptest! {
    #[test]
    fn a_snapshot_keeps_ids_epochs_numbers_and_transactions(
        batches in prop::collection::vec((0..5_i64, 0..3_i16, 0..i32::MAX, 1..100_i32, any::<bool>()), 0..30)
    ) {
        let (disk, dir) = (SimDisk::default(), Path::new(DIR));
        let mut known = Producers::default();
        let mut offset = 0;
        for (producer_id, epoch, sequence, count, is_txn) in batches {
            let header = BatchHeader { producer_id, ..batch(offset, epoch, sequence, count) };
            known.apply(&if is_txn { txn(header) } else { header }, None);
            offset += i64::from(count);
        }
        snapshot::write(&disk, dir, &known, false).unwrap();
        let again = snapshot::read(&disk, dir, offset, NEVER).unwrap();
        prop_assert_eq!(encode(&again), encode(&known));
        prop_assert_eq!(again.first_unstable_offset(), known.first_unstable_offset());
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), fix_crc in any::<bool>()) {
        let mut bytes = bytes;
        if fix_crc && 6 <= bytes.len() {
            let crc = protocol::checksum::crc32c(&bytes[6..]).to_be_bytes();
            bytes[..2].copy_from_slice(&[0, 1]);
            bytes[2..6].copy_from_slice(&crc);
        }
        let (disk, dir) = (SimDisk::default(), Path::new(DIR));
        disk.create(&snapshot::path(dir, 1)).unwrap().write_all_at(0, &bytes).unwrap();
        let read = snapshot::read(&disk, dir, 1, NEVER);
        prop_assert!(matches!(read, Ok(_) | Err(Error::Malformed { .. })), "{:?}", read);
    }
}
