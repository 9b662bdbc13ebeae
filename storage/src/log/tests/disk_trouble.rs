//! A disk that is full says no and means later; one that fails is not asked again.

use super::*;
use crate::disk::sim::{Fault, Operation};
use crate::error::{Error, is_shortage};
use crate::segment::name::Kind;
use std::path::Path;

#[test]
fn a_full_disk_refuses_and_takes_again_once_there_is_room() {
    let (log, disk) = log(LogConfig::default());
    append(&log, 1);
    let before = disk.free_bytes(Path::new("/")).unwrap();
    for room in [0, 1, 50, 5000] {
        disk.set_capacity(disk.total_bytes(Path::new("/")).unwrap().min(10_000));
        let used =
            disk.total_bytes(Path::new("/")).unwrap() - disk.free_bytes(Path::new("/")).unwrap();
        disk.set_capacity(used + room);
        let end = log.log_end();
        let got = log.append(batch(1, 9000, NOW), &CLIENT);
        assert!(matches!(got, Err(AppendError::DiskFull(_))), "{got:?}");
        assert_eq!((log.log_end(), log.failure()), (end, None));
        disk.set_capacity(before);
        assert_eq!(append(&log, 1), end);
        assert_eq!(bases(&log).len(), usize::try_from(end).unwrap() + 1);
    }
}

#[test]
fn without_room_for_a_new_segment_the_old_one_stays() {
    let (log, disk) = log(LogConfig { segment_bytes: 400, ..LogConfig::default() });
    append_each(&log, 3);
    // No space; too many open files, of this process and of the machine.
    for os_error in [28, 24, 23] {
        disk.fail(Fault { os_error, ..Fault::eio(Operation::Create) });
        let got = log.append(batch(1, 300, NOW), &CLIENT);
        assert!(matches!(got, Err(AppendError::DiskFull(_))), "{got:?}");
        disk.mend();
    }
    assert_eq!(append(&log, 1), 6);
    assert_eq!(bases(&log), [0, 2, 4, 6]);
}

/// An attempt to begin a segment makes its file before it finds that the old one's indexes cannot
/// be written.
#[test]
fn a_segment_that_could_not_begin_is_not_there_when_the_old_one_goes_on() {
    let config = || LogConfig { segment_bytes: 400, ..LogConfig::default() };
    for (operation, after, os_error) in
        [(Operation::Create, 1, 24), (Operation::Create, 2, 24), (Operation::Write, 0, 28)]
    {
        let (log, disk) = log(config());
        append_each(&log, 3);
        disk.fail(Fault { after, os_error, ..Fault::eio(operation) });
        let got = log.append(batch(1, 300, NOW), &CLIENT);
        assert!(matches!(got, Err(AppendError::DiskFull(_))), "{operation:?}: {got:?}");
        assert!(!disk.exists(Path::new("/t-0/00000000000000000006.log")).unwrap());
        disk.mend();
        log.append(batch(1, 1, NOW), &CLIENT).unwrap();
        assert_eq!((log.segment_count(), log.log_end()), (1, 7), "{operation:?} {after}");
        for seed in 0..20 {
            // A crash may bring the file back, and leave the batch.
            let (log, _) = Log::open(open_with(&disk.crash(seed), config())).unwrap();
            assert_eq!(bases(&log), (0..log.log_end()).step_by(2).collect::<Vec<_>>(), "{seed}");
        }
        let (log, recovery) = Log::open(open_with(&disk.fork(), config())).unwrap();
        assert_eq!((bases(&log), recovery.cut), (vec![0, 2, 4, 6], None), "{operation:?} {after}");
    }
}

/// Asked again, it may say yes to what is lost.
#[test]
fn a_sync_of_the_folder_that_found_no_room_is_never_forgiven() {
    let mut met = 0;
    for after in 0..10 {
        let (log, disk) = log(LogConfig::default());
        append_each(&log, 3);
        log.roll(NOW).unwrap();
        let before = disk.count(Operation::SyncDir);
        disk.fail(Fault { after, os_error: 28, ..Fault::eio(Operation::SyncDir) });
        let flushed = log.flush(log.log_end());
        let is_met = after < disk.count(Operation::SyncDir) - before;
        assert_eq!(flushed.is_err(), is_met, "{after}: {flushed:?}");
        met += u32::from(is_met);
    }
    assert!(1 < met, "that of the snapshot too");
}

#[test]
fn a_failed_write_back_is_a_failed_sync() {
    let (log, disk) = log(LogConfig::default());
    log.append(batch(1, 300_000, NOW), &CLIENT).unwrap();
    disk.fail(Fault::eio(Operation::WriteOut));
    assert!(log.write_back(u64::MAX).is_err());
    disk.mend();
    assert!(log.flush(log.log_end()).is_err());
    assert!(matches!(log.append(batch(1, 10, NOW), &CLIENT), Err(AppendError::Offline(_))));
}

#[test]
fn a_sync_that_finds_too_many_files_open_is_made_later() {
    let (log, disk) = log(LogConfig { segment_bytes: 400, ..LogConfig::default() });
    append_each(&log, 3);
    let synced = log.flush(log.log_end()).unwrap();
    log.roll(NOW).unwrap();
    append(&log, 1);
    disk.fail(Fault { os_error: 24, ..Fault::eio(Operation::SyncDir) });
    let got = log.flush(log.log_end());
    assert!(matches!(got, Err(Error::Full(_))), "{got:?}");
    assert_eq!((log.failure(), log.recovery_point()), (None, synced));
    disk.mend();
    let syncs = disk.count(Operation::SyncDir);
    assert_eq!(log.flush(log.log_end()).unwrap(), log.log_end());
    assert_eq!(disk.count(Operation::SyncDir), syncs + 1);
}

#[test]
fn a_failed_write_may_have_happened_and_is_the_last() {
    let (log, disk) = log(LogConfig::default());
    append(&log, 1);
    disk.fail(Fault::eio(Operation::Write));
    let got = log.append(batch(1, 10, NOW), &CLIENT);
    assert!(matches!(got, Err(AppendError::PartWay(_))), "{got:?}");
    disk.mend();
    let got = log.append(batch(1, 10, NOW), &CLIENT);
    assert!(matches!(got, Err(AppendError::Offline(_))), "{got:?}");
    assert!(log.failure().is_some() && log.flush(1).is_err() && log.retain(NOW).is_err());
    // What it had stays readable.
    assert_eq!(bases(&log), [0]);
}

#[test]
fn a_failed_sync_is_never_asked_again() {
    let (log, disk) = log(LogConfig::default());
    append(&log, 1);
    disk.fail(Fault::eio(Operation::Sync));
    assert!(log.flush(1).is_err());
    disk.mend();
    let syncs = disk.count(Operation::Sync);
    assert!(log.flush(1).is_err() && log.close().is_err());
    assert_eq!((disk.count(Operation::Sync), log.recovery_point()), (syncs, 0));
    let got = log.append(batch(1, 10, NOW), &CLIENT);
    assert!(matches!(got, Err(AppendError::Offline(_))), "{got:?}");
}

#[test]
fn in_the_durable_mode_nobody_reads_what_is_not_synced() {
    let (log, disk) = log(LogConfig { flush_messages: 1, ..LogConfig::default() });
    append(&log, 2);
    assert_eq!((log.set_high_watermark(2), log.readable_end()), (0, 0));
    assert_eq!(log.read(0, 1000, 2, true).unwrap().len, 0);
    assert!(log.is_flush_due(NOW));
    let syncs = disk.count(Operation::Sync);
    assert_eq!(log.flush(2).unwrap(), 2);
    // The log, and once the epoch that begins with it.
    assert_eq!((log.flush(1).unwrap(), disk.count(Operation::Sync)), (2, syncs + 2));
    append(&log, 1);
    assert_eq!((log.flush(3).unwrap(), disk.count(Operation::Sync)), (3, syncs + 3));
    assert_eq!((log.set_high_watermark(3), log.is_flush_due(NOW)), (3, false));
    assert_eq!(bases(&log), [0, 2]);
}

#[test]
fn a_flush_is_due_by_count_and_by_time() {
    let (log, _) = log(LogConfig { flush_messages: 3, flush_ms: 100, ..LogConfig::default() });
    assert!(!log.is_flush_due(NOW + 1000));
    append(&log, 2);
    assert_eq!([NOW + 99, NOW + 100].map(|now| log.is_flush_due(now)), [false, true]);
    append(&log, 1);
    assert!(log.is_flush_due(NOW));
    log.flush(3).unwrap();
    assert!(!log.is_flush_due(NOW + 1000));
}

#[test]
fn blocks_that_a_nearly_full_disk_gave_ahead_are_given_back() {
    let (log, disk) = log(LogConfig { preallocate: true, ..LogConfig::default() });
    let used =
        || disk.total_bytes(Path::new("/")).unwrap() - disk.free_bytes(Path::new("/")).unwrap();
    disk.set_capacity(used() + 5000);
    append(&log, 1);
    assert_eq!(disk.free_bytes(Path::new("/")).unwrap(), 0);
    // There is room for its indexes then.
    log.roll(NOW).unwrap();
    assert!(used() < 1000, "{}", used());
}

#[test]
fn a_close_that_finds_too_many_files_open_comes_to_its_end() {
    let mut closed = 0;
    for after in 0..6 {
        let (log, disk) = log(LogConfig::default());
        append(&log, 1);
        disk.fail(Fault { os_error: 24, after, ..Fault::eio(Operation::Create) });
        closed += usize::from(log.close().is_ok());
    }
    assert!(2 < closed, "{closed}");
}

/// A broken index of a sealed segment is made anew when somebody looks something up; what of it a
/// full disk took must not be believed later.
#[test]
fn an_index_that_finds_no_room_is_made_when_there_is_some() {
    let config =
        || LogConfig { segment_bytes: 30_000, index_interval_bytes: 0, ..LogConfig::default() };
    let (log, disk) = log(config());
    for step in 0..400 {
        log.append(batch(1, 10, NOW + step), &CLIENT).unwrap();
    }
    log.close().unwrap();
    let end = log.segments.load()[1].base();
    for kind in [Kind::OffsetIndex, Kind::TimeIndex] {
        let path = kind.path(Path::new("/t-0"), 0);
        let size = disk.open(&path).unwrap().size().unwrap();
        assert!(64 * 12 < size, "more than one write");
        for room in (0..=5000).step_by(250) {
            let disk = disk.fork();
            disk.open(&path).unwrap().write_all_at(0, &vec![0; size.try_into().unwrap()]).unwrap();
            let clean = Open { last_stop: LastStop::Clean, ..open_with(&disk, config()) };
            let (log, _) = Log::open(clean.clone()).unwrap();
            let root = Path::new("/");
            let used = disk.total_bytes(root).unwrap() - disk.free_bytes(root).unwrap();
            disk.set_capacity(used - (2 * size).min(used) + room);
            let time = |log: &Log| log.offset_for_timestamp(NOW + end - 1);
            match time(&log) {
                Ok(found) => assert_eq!(found.unwrap().offset, end - 1),
                Err(ReadError::Disk(error)) => assert!(is_shortage(&error), "{error}"),
                Err(error) => panic!("{error:?}"),
            }
            disk.set_capacity(u64::MAX);
            // This process, and one that takes it as it was left.
            for log in [log, Log::open(clean).unwrap().0] {
                assert_eq!(time(&log).unwrap().unwrap().offset, end - 1, "{kind:?} {room}");
                assert_eq!(bases(&log).len(), 400);
            }
        }
    }
}
