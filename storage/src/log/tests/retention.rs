//! What leaves a log at its start, and what of it is still on the disk.

use super::*;
use crate::disk::sim::Operation;

/// Ten batches of one record, two to a segment; a batch takes 173 bytes.
fn filled(config: LogConfig) -> (Log, SimDisk) {
    let (log, disk) = log(LogConfig { segment_bytes: 400, ..config });
    for step in 0..10 {
        log.append(batch(1, 100, NOW + step * 1000), &CLIENT).unwrap();
    }
    log.set_high_watermark(10);
    (log, disk)
}

fn names(disk: &SimDisk, part: &str) -> usize {
    let entries = disk.list(std::path::Path::new("/t-0")).unwrap();
    entries.iter().filter(|entry| entry.name.contains(part)).count()
}

#[test]
fn segments_go_by_time_and_by_size_and_by_the_logs_start() {
    let check = |config: LogConfig, now_ms: i64, high_watermark: i64, want: (i64, usize)| {
        let (log, disk) = filled(config);
        log.set_high_watermark(high_watermark);
        let retained = log.retain(now_ms).unwrap();
        assert_eq!((log.log_start(), log.segment_count()), want);
        assert_eq!(retained.log_start, (0 < want.0).then_some(want.0));
        assert_eq!(names(&disk, ".deleted"), retained.doomed.paths.len());
        assert_eq!(log.size_bytes(), u64::try_from(10 - want.0).unwrap() * 173);
        let offsets: Vec<i64> = (want.0..10).collect();
        assert_eq!(bases(&log), offsets);
        for path in &retained.doomed.paths {
            disk.remove(path).unwrap();
        }
        assert_eq!(names(&disk, ".log"), log.segment_count());
        assert_eq!(append(&log, 1), 10);
    };
    let keep = || LogConfig { retention_ms: -1, retention_bytes: -1, ..LogConfig::default() };
    check(keep(), NOW + 1_000_000, 10, (0, 5));
    let time = LogConfig { retention_ms: 10_000, ..keep() };
    check(time.clone(), NOW + 11_000, 10, (0, 5));
    check(time.clone(), NOW + 11_001, 10, (2, 4));
    check(time.clone(), NOW + 17_001, 10, (8, 1));
    check(time.clone(), NOW + 17_001, 5, (4, 3));
    // The active one is closed first, and an empty one stays.
    check(time.clone(), NOW + 19_001, 10, (10, 1));
    check(LogConfig { delete: false, compact: true, ..time }, NOW + 19_001, 10, (0, 5));
    let size = |bytes| LogConfig { retention_bytes: bytes, ..keep() };
    check(size(1730), NOW, 10, (0, 5));
    check(size(1385), NOW, 10, (0, 5));
    check(size(1384), NOW, 10, (2, 4));
    check(size(347), NOW, 10, (6, 2));
    check(size(0), NOW, 10, (10, 1));
}

#[test]
fn deleted_records_are_gone_at_once_and_their_segments_with_the_next_round() {
    let (log, disk) = filled(LogConfig::default());
    log.set_high_watermark(7);
    for bad in [8, -2] {
        let got = log.delete_records_before(bad);
        assert!(matches!(got, Err(ReadError::OutOfRange { .. })), "{bad}: {got:?}");
    }
    assert_eq!(log.delete_records_before(5).unwrap(), 5);
    assert_eq!(log.delete_records_before(3).unwrap(), 5);
    assert!(matches!(log.read(4, 10, 10, true), Err(ReadError::OutOfRange { log_start: 5, .. })));
    assert_eq!(bases(&log), [5, 6, 7, 8, 9]);
    let retained = log.retain(NOW).unwrap();
    assert_eq!((retained.doomed.segments, retained.log_start), (vec![0, 2], None));
    assert_eq!((log.log_start(), log.segment_count()), (5, 3));
    assert_eq!(log.delete_records_before(-1).unwrap(), 7);
    // The start is as checkpointed, whatever the segments hold; what was renamed is unlinked.
    log.close().unwrap();
    let again = Open {
        last_stop: LastStop::Clean,
        log_start_offset: 7,
        ..open_with(&disk, LogConfig::default())
    };
    let (log, recovery) = Log::open(again).unwrap();
    assert_eq!((log.log_start(), log.log_end(), names(&disk, ".deleted")), (7, 10, 0));
    assert!(6 <= recovery.leftovers);
}

#[test]
fn a_start_inside_a_batch_is_answered_with_the_batch() {
    let (log, _) = log(LogConfig::default());
    append(&log, 10);
    log.set_high_watermark(10);
    log.delete_records_before(4).unwrap();
    assert_eq!(read(&log, 4, 1)[0].header.base_offset, 0);
    assert_eq!(log.offset_for_timestamp(0).unwrap().map(|it| it.offset), Some(4));
}

#[test]
fn an_empty_segment_keeps_no_other_from_going() {
    let config = LogConfig { retention_ms: -1, retention_bytes: 200, ..LogConfig::default() };
    let (log, _) = log(LogConfig { segment_bytes: 400, ..config });
    // Out of reach of the first segment, which stays empty.
    let first = 1 << 31;
    for base in first..first + 6 {
        let batch = BatchBuilder::new(base).key_value(NOW, b"k", &[0; 100]).build().unwrap();
        log.append(batch, &AppendContext { origin: Origin::Replica, ..CLIENT }).unwrap();
    }
    log.set_high_watermark(first + 6);
    let retained = log.retain(NOW).unwrap();
    assert_eq!(retained.doomed.segments, [0, first, first + 2]);
    assert_eq!(log.log_start(), first + 4);
    assert!(log.retain(NOW).unwrap().doomed.paths.is_empty());
}

#[test]
fn nobody_who_appends_waits_for_a_sync_of_the_logs_start_or_of_a_roll() {
    let (log, disk) =
        filled(LogConfig { retention_ms: -1, retention_bytes: 400, ..LogConfig::default() });
    let syncs = || disk.count(Operation::Sync) + disk.count(Operation::SyncDir);
    let before = syncs();
    log.append(batch(1, 100, NOW), &AppendContext { leader_epoch: 7, ..CLIENT }).unwrap();
    log.delete_records_before(3).unwrap();
    log.roll(NOW).unwrap();
    drop(log.retain(NOW).unwrap());
    assert_eq!((log.log_start(), syncs()), (8, before));
    // Whatever of it a crash takes, the next start finds it again.
    for seed in 0..20 {
        let crashed = disk.crash(seed);
        let open = Open { log_start_offset: 8, ..open_with(&crashed, LogConfig::default()) };
        let (log, _) = Log::open(open).unwrap();
        let (start, end) = (log.log_start(), log.log_end());
        let epoch =
            |offset| (start <= offset && offset < end).then_some(if offset < 10 { 0 } else { 7 });
        assert_eq!(
            [8, 9, 10].map(|it| log.epoch_of(it).filter(|_| it < end)),
            [8, 9, 10].map(epoch)
        );
    }
    log.flush(log.log_end()).unwrap();
    let (log, _) = open(&disk.crash(1), LogConfig::default());
    assert_eq!([8, 9, 10].map(|it| log.epoch_of(it)), [Some(0), Some(0), Some(7)]);
}

/// What lets go of segments is what makes room.
#[test]
fn an_index_for_which_there_is_no_room_holds_no_segment_back() {
    use crate::segment::name::Kind;
    let keep = LogConfig { retention_ms: 10_000, retention_bytes: -1, ..LogConfig::default() };
    let (log, disk) = filled(keep.clone());
    log.close().unwrap();
    let config = LogConfig { segment_bytes: 400, ..keep };
    let open = Open { last_stop: LastStop::Clean, ..open_with(&disk, config) };
    let log = Log::open(Open { high_watermark: 10, ..open }).unwrap().0;
    for base in [0, 2] {
        for kind in [Kind::OffsetIndex, Kind::TimeIndex] {
            disk.remove(&kind.path(std::path::Path::new("/t-0"), base)).unwrap();
        }
    }
    disk.set_capacity(0);
    assert_eq!(log.retain(NOW + 11_000).unwrap().log_start, None);
    assert!(!log.segments.load()[0].owes_its_indexes(), "there are none to sync");
    assert_eq!(log.retain(NOW + 11_001).unwrap().log_start, Some(2));
    assert_eq!((names(&disk, ".index"), log.failure()), (3, None));
    disk.set_capacity(u64::MAX);
    assert_eq!(log.offset_for_timestamp(NOW + 3000).unwrap().unwrap().offset, 3);
    assert_eq!(log.retain(NOW + 13_001).unwrap().log_start, Some(4));
}
