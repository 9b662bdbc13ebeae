//! A log that is cut at its end, and goes on from there.

use super::*;

#[test]
fn a_cut_log_ends_at_a_batch_and_goes_on() {
    for offset in 0..=22 {
        let config = || LogConfig { segment_bytes: 400, ..LogConfig::default() };
        let (log, disk) = log(config());
        for epoch in 0..10 {
            let context = AppendContext { leader_epoch: epoch / 3, ..CLIENT };
            log.append(batch(2, 50, NOW + i64::from(epoch)), &context).unwrap();
        }
        log.set_high_watermark(20);
        log.flush(20).unwrap();
        let want = (offset / 2 * 2).min(20);
        assert_eq!(log.truncate_to(offset).unwrap(), want);
        let check = |log: &Log, end: i64| {
            assert_eq!(bases(log), (0..end / 2).map(|it| it * 2).collect::<Vec<_>>(), "{offset}");
            assert_eq!(log.log_end(), end);
            let newest = log.max_timestamp().unwrap().map(|it| it.timestamp);
            assert_eq!(newest, (0 < end).then_some(NOW + end / 2), "{offset}");
        };
        check(&log, want);
        let points = [log.high_watermark(), log.recovery_point()];
        assert_eq!(points, [want, want]);
        if 0 < want {
            let epoch = i32::try_from((want / 2 - 1) / 3).unwrap();
            assert_eq!(log.latest_epoch(), Some(epoch), "{offset}");
        }
        log.append(batch(2, 50, NOW + want / 2), &AppendContext { leader_epoch: 4, ..CLIENT })
            .unwrap();
        check(&log, want + 2);
        let end = log.end_offset_for_epoch(4).map(|it| it.end_offset);
        assert_eq!(end, Some(want + 2));
        let copy = disk.fork();
        let crashed = Open { recovery_point: want, ..open_with(&copy, config()) };
        check(&Log::open(crashed).unwrap().0, want + 2);
        log.close().unwrap();
        let closed = Open { last_stop: LastStop::Clean, ..open_with(&disk, config()) };
        check(&Log::open(closed).unwrap().0, want + 2);
    }
}

#[test]
fn a_log_can_start_over_anywhere() {
    let (log, disk) = log(LogConfig { segment_bytes: 400, ..LogConfig::default() });
    append_each(&log, 10);
    log.truncate_fully_and_start_at(1000).unwrap();
    assert_eq!((log.log_start(), log.log_end(), log.segment_count()), (1000, 1000, 1));
    assert_eq!((log.latest_epoch(), log.high_watermark()), (None, 1000));
    assert_eq!(append(&log, 1), 1000);
    assert_eq!(bases(&log), [1000]);
    let (log, _) = open(&disk, LogConfig::default());
    assert_eq!((log.log_start(), log.log_end()), (1000, 1001));
}

#[test]
fn a_slice_outlives_its_segment() {
    let (log, disk) = log(LogConfig { segment_bytes: 400, ..LogConfig::default() });
    append_each(&log, 10);
    log.set_high_watermark(20);
    let slice = log.read(0, 100, 20, true).unwrap();
    log.delete_records_before(20).unwrap();
    let retained = log.retain(NOW).unwrap();
    retained.doomed.paths.iter().for_each(|path| disk.remove(path).unwrap());
    assert_eq!(slice.read().unwrap().len(), slice.len);
    assert!(matches!(log.read(0, 100, 20, true), Err(ReadError::OutOfRange { .. })));
}
