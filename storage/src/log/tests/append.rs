//! What an append gives back, and what a reader then finds.

use super::*;

#[test]
fn records_get_offsets_one_after_the_other_and_are_read_from_their_batch_on() {
    let (log, _) = log(LogConfig::default());
    assert_eq!([append(&log, 3), append(&log, 1), append(&log, 2)], [0, 3, 4]);
    assert_eq!(log.log_end(), 6);
    let base = |offset: i64| read(&log, offset, 1).first().map(|it| it.header.base_offset);
    assert_eq!([0, 2, 3, 4, 5].map(base), [Some(0), Some(0), Some(3), Some(4), Some(4)]);
    assert_eq!(bases(&log), [0, 3, 4]);
    assert!(read(&log, 6, 1000).is_empty());
    assert!(matches!(log.read(7, 1, 9, true), Err(ReadError::OutOfRange { log_end: 6, .. })));
}

#[test]
fn a_closed_log_opens_as_it_was() {
    let (log, disk) = log(LogConfig { segment_bytes: 400, ..LogConfig::default() });
    let want: Vec<i64> = (0..20).map(|_| append(&log, 2)).collect();
    assert_eq!(bases(&log), want);
    assert!(4 < log.segment_count());
    log.close().unwrap();
    let config = LogConfig { segment_bytes: 400, ..LogConfig::default() };
    let again = Open { last_stop: LastStop::Clean, ..open_with(&disk, config) };
    let (log, recovery) = Log::open(again).unwrap();
    assert_eq!((bases(&log), log.log_end()), (want, 40));
    assert_eq!((recovery.cut, recovery.rebuilt_indexes), (None, Vec::new()));
    assert_eq!(append(&log, 1), 40);
}

#[test]
fn a_read_is_cold_where_the_disk_may_have_to_be_asked() {
    let config = || LogConfig { segment_bytes: 4000, ..LogConfig::default() };
    let (log, disk) = log(config());
    append_each(&log, 100);
    let are_cold = |log: &Log, offsets: [i64; 4]| offsets.map(|offset| log.is_cold(offset));
    let offsets = [0, 100, 199, 200];
    assert_eq!(are_cold(&log, offsets), [false; 4]);
    disk.set_cold(true);
    assert_eq!(are_cold(&log, offsets), [true, true, false, false]);
    disk.set_cold(false);
    log.close().unwrap();
    let (log, _) =
        Log::open(Open { last_stop: LastStop::Clean, ..open_with(&disk, config()) }).unwrap();
    // Indexes of what is closed are opened when somebody asks.
    assert_eq!(are_cold(&log, offsets), [true, true, false, false]);
    assert_eq!(read(&log, 0, 1)[0].header.base_offset, 0);
    assert_eq!(are_cold(&log, offsets), [false, true, false, false]);
}

/// A batch of an idempotent producer.
fn numbered(sequence: i32, count: i32) -> Bytes {
    let mut builder = BatchBuilder::new(0).producer(7, 0, sequence);
    for _ in 0..count {
        builder = builder.key_value(NOW, b"k", b"v");
    }
    builder.build().unwrap()
}

/// None: the disk is to blame.
fn offsets(outcome: &Result<Appended, AppendError>) -> Result<(i64, bool), Option<Reason>> {
    match outcome {
        Ok(appended) => Ok((appended.base_offset, appended.duplicate)),
        Err(AppendError::Refused(refusal)) => Err(Some(refusal.reason)),
        Err(_) => Err(None),
    }
}

#[test]
fn a_batch_sent_twice_is_stored_once_in_one_call_or_two() {
    let (log, disk) = log(LogConfig::default());
    let check =
        |log: &Log, requests: &[(i32, i32)], want: &[Result<(i64, bool), Option<Reason>>]| {
            let requests = requests.iter().map(|(sequence, count)| numbered(*sequence, *count));
            let got: Vec<_> = log.append_many(requests, &CLIENT).iter().map(offsets).collect();
            assert_eq!(got, want);
        };
    let gap = Err(Some(Reason::OutOfOrderSequenceNumber));
    check(&log, &[(0, 2)], &[Ok((0, false))]);
    check(&log, &[(0, 2), (2, 1), (2, 1)], &[Ok((0, true)), Ok((2, false)), Ok((2, true))]);
    check(
        &log,
        &[(3, 1), (4, 2), (7, 1), (6, 1)],
        &[Ok((3, false)), Ok((4, false)), gap, Ok((6, false))],
    );
    assert_eq!(bases(&log), [0, 2, 3, 4, 6]);
    // A restart, clean or not, forgets nothing that matters.
    log.flush(7).unwrap();
    let crashed = Open { recovery_point: 7, ..open_with(&disk.fork(), LogConfig::default()) };
    log.close().unwrap();
    let closed = Open { last_stop: LastStop::Clean, ..open_with(&disk, LogConfig::default()) };
    for open in [crashed, closed] {
        let (log, _) = Log::open(open).unwrap();
        check(&log, &[(6, 1), (9, 1), (7, 1)], &[Ok((6, true)), gap, Ok((7, false))]);
        assert_eq!(log.producers().len(), 1);
        assert_eq!(log.expire_producers(NOW + 1000, 999), 1);
        check(&log, &[(3, 1)], &[Ok((8, false))]);
    }
}

#[test]
fn many_requests_go_into_one_write_and_each_has_its_outcome() {
    let (log, disk) = log(LogConfig { segment_bytes: 1000, ..LogConfig::default() });
    let before = disk.count(crate::disk::sim::Operation::Write);
    let bad = Bytes::from_static(&[0; 100]);
    let requests = [batch(1, 10, NOW), bad, batch(2, 10, NOW), batch(1, 10, NOW)];
    let got: Vec<_> = log.append_many(requests, &CLIENT).iter().map(offsets).collect();
    let refused = Err(Some(Reason::InvalidRecord));
    assert_eq!(got, [Ok((0, false)), refused, Ok((1, false)), Ok((3, false))]);
    // The epoch that begins with them has time until the log is flushed.
    assert_eq!(disk.count(crate::disk::sim::Operation::Write) - before, 1);
    // Where a segment ends in between, it takes two, and nothing else differs.
    let got = log.append_many((0..30).map(|_| batch(1, 10, NOW)), &CLIENT);
    let want: Vec<_> = (4..34).map(|offset| Ok((offset, false))).collect();
    assert_eq!(got.iter().map(offsets).collect::<Vec<_>>(), want);
    assert!(2 < log.segment_count());
    assert_eq!(bases(&log).len(), 33);
}

#[test]
fn what_a_leader_wrote_is_kept_as_it_is() {
    let (log, _) = log(LogConfig { log_append_time: true, ..LogConfig::default() });
    let replica = AppendContext { origin: Origin::Replica, ..CLIENT };
    let at = |base, epoch| {
        let batch = BatchBuilder::new(base).leader_epoch(epoch).key_value(NOW, b"k", b"v");
        batch.build().unwrap()
    };
    let sent: Bytes = [at(5, 3), at(6, 3), at(10, 4)].concat().into();
    let got = log.append(sent.clone(), &replica).unwrap();
    assert_eq!((got.base_offset, got.last_offset, got.log_append_time_ms), (5, 10, -1));
    let slice = log.read(5, 10_000, 100, true).unwrap();
    assert_eq!(slice.read().unwrap(), sent);
    assert_eq!(offsets(&log.append(at(10, 4), &replica)), Err(Some(Reason::OffsetsNotInOrder)));
    assert_eq!(log.log_end(), 11);
    // Offsets in a gap are answered by the batch behind it.
    assert_eq!([0, 7, 9].map(|it| read(&log, it, 1)[0].header.base_offset), [5, 10, 10]);
    let end = |epoch| log.end_offset_for_epoch(epoch).map(|it| (it.epoch, it.end_offset));
    assert_eq!([3, 4].map(end), [Some((3, 10)), Some((4, 11))]);
    assert_eq!((log.latest_epoch(), log.epoch_of(9)), (Some(4), Some(3)));
    // Damaged on the way, it is refused whole.
    let mut bytes = at(11, 4).to_vec();
    bytes[65] ^= 1;
    assert_eq!(offsets(&log.append(bytes.into(), &replica)), Err(Some(Reason::CorruptMessage)));
}

#[test]
fn a_segment_ends_when_it_is_full_old_or_out_of_reach() {
    let check = |config: LogConfig, appends: &[(i64, i64)], want: &[i64]| {
        let (log, _) = log(config);
        for (time, now_ms) in appends {
            let context = AppendContext { now_ms: *now_ms, ..CLIENT };
            log.append(batch(1, 100, *time), &context).unwrap();
        }
        let bases: Vec<i64> = log.segments.load().iter().map(|it| it.base()).collect();
        assert_eq!(bases, want, "{appends:?}");
    };
    let all = || LogConfig { message_timestamp_after_max_ms: i64::MAX, ..LogConfig::default() };
    let same = [(NOW, NOW); 6];
    check(all(), &same, &[0]);
    // A batch takes 173 bytes.
    check(LogConfig { segment_bytes: 400, ..all() }, &same, &[0, 2, 4]);
    // The second batch is in the indexes; another time entry would leave no room for the last.
    let small = LogConfig { segment_index_bytes: 24, index_interval_bytes: 100, ..all() };
    check(small, &same, &[0, 2, 4]);
    let hour = LogConfig { segment_ms: 3600, ..all() };
    check(hour.clone(), &[(NOW, NOW), (NOW + 3600, NOW), (NOW + 3601, NOW)], &[0, 2]);
    // Records without a time count by the clock.
    check(hour, &[(-1, NOW), (-1, NOW + 3600), (-1, NOW + 3601)], &[0, 2]);
    let (log, _) = log(LogConfig::default());
    let replica = AppendContext { origin: Origin::Replica, ..CLIENT };
    for base in [0, i64::from(i32::MAX), 1 << 31] {
        let batch = BatchBuilder::new(base).key_value(NOW, b"k", b"v").build().unwrap();
        log.append(batch, &replica).unwrap();
    }
    assert_eq!((log.segment_count(), log.log_end()), (2, (1 << 31) + 1));
}

#[test]
fn settings_take_effect_at_once() {
    let (log, _) = log(LogConfig::default());
    log.update_config(Arc::new(LogConfig { max_message_bytes: 10, ..LogConfig::default() }));
    let got = log.append(batch(1, 10, NOW), &CLIENT);
    assert_eq!(offsets(&got), Err(Some(Reason::MessageTooLarge)));
}

#[test]
fn the_brokers_time_is_answered_and_found() {
    let (log, _) = log(LogConfig { log_append_time: true, ..LogConfig::default() });
    for step in 0..3 {
        let context = AppendContext { now_ms: NOW + step * 100, ..CLIENT };
        let got = log.append(batch(2, 10, 5), &context).unwrap();
        assert_eq!(got.log_append_time_ms, NOW + step * 100);
    }
    let at = |time| log.offset_for_timestamp(time).unwrap().map(|it| (it.offset, it.timestamp));
    assert_eq!([5, NOW + 1, NOW + 201].map(at), [Some((0, NOW)), Some((2, NOW + 100)), None]);
}

#[test]
fn times_are_found_in_every_segment_and_codec() {
    use protocol::compression::Codec;
    for codec in Codec::ALL {
        let (log, _) = log(LogConfig { segment_bytes: 400, ..LogConfig::default() });
        assert_eq!(log.offset_for_timestamp(0).unwrap(), None);
        assert_eq!(log.max_timestamp().unwrap(), None);
        // The fifth batch is the latest, the others ascend.
        for number in 0..9 {
            let time = if number == 4 { NOW + 1000 } else { NOW + number * 10 };
            let batch = BatchBuilder::new(0).codec(codec, None).key_value(time, b"a", b"");
            let batch = batch.key_value(time + 5, b"b", b"").build().unwrap();
            log.append(batch, &CLIENT).unwrap();
        }
        let at = |time| log.offset_for_timestamp(time).unwrap().map(|it| it.offset);
        let times = [0, NOW, NOW + 1, NOW + 10, NOW + 36, NOW + 90, NOW + 1001, NOW + 1006];
        let want = [0, 0, 1, 2, 8, 8, 9].map(Some);
        assert_eq!(times.map(at)[..7], want, "{codec:?}");
        assert_eq!(at(NOW + 1006), None);
        let max = log.max_timestamp().unwrap().unwrap();
        assert_eq!((max.offset, max.timestamp, max.leader_epoch), (9, NOW + 1005, 0));
        // What was deleted is not found.
        log.set_high_watermark(log.log_end());
        log.delete_records_before(9).unwrap();
        assert_eq!([0, NOW + 1001].map(at), [Some(9), Some(9)]);
    }
}

#[test]
fn an_aborted_transaction_is_passed_over_from_its_marker_on() {
    use protocol::records::ControlKind;
    use protocol::records::batch::TRANSACTIONAL;
    use protocol::records::control::end_of_transaction;
    let (log, disk) = log(LogConfig::default());
    let of = |id| BatchBuilder::new(0).attributes(TRANSACTIONAL).producer(id, 0, 0);
    let send = |builder: BatchBuilder, origin| {
        let context = AppendContext { origin, ..CLIENT };
        log.append(builder.build().unwrap(), &context).unwrap().base_offset
    };
    for id in [1, 2] {
        assert_eq!(send(of(id).key_value(NOW, b"k", b"v"), Origin::Client), id - 1);
    }
    log.set_high_watermark(2);
    assert_eq!((log.last_stable_offset(), log.high_watermark()), (0, 2));
    for (id, kind) in [(1, ControlKind::Abort), (2, ControlKind::Commit)] {
        let marker = BatchBuilder::new(0).attributes(TRANSACTIONAL).producer(id, 0, -1);
        send(marker.control(NOW, kind, &end_of_transaction(0)), Origin::Coordinator);
    }
    log.set_high_watermark(3);
    assert_eq!(log.last_stable_offset(), 1);
    log.set_high_watermark(4);
    assert_eq!(log.last_stable_offset(), 4);
    let aborted = |log: &Log| {
        let found = log.aborted_transactions(0, 4).unwrap();
        found.iter().map(|it| (it.producer_id, it.first_offset, it.last_offset)).collect::<Vec<_>>()
    };
    assert_eq!(aborted(&log), [(1, 0, 2)]);
    // The index is made again from the log, or was synced with it.
    let lost = disk.fork();
    lost.remove(std::path::Path::new("/t-0/00000000000000000000.txnindex")).unwrap();
    assert_eq!(aborted(&open(&lost, LogConfig::default()).0), [(1, 0, 2)]);
    log.flush(4).unwrap();
    let crashed = disk.crash(5);
    let open = Open { recovery_point: 4, ..open_with(&crashed, LogConfig::default()) };
    assert_eq!(aborted(&Log::open(open).unwrap().0), [(1, 0, 2)]);
}
