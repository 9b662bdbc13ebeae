//! What a log is after a crash, and what finding that out costs.

use super::*;
use crate::segment::name::Kind;
use std::path::Path;

const DIR: &str = "/t-0";

fn config() -> LogConfig {
    LogConfig { segment_bytes: 2000, index_interval_bytes: 300, ..LogConfig::default() }
}

/// Thirty batches of two records in six segments or so; the log's own object is forgotten.
fn written(flushed: i64) -> SimDisk {
    let (log, disk) = log(config());
    for step in 0..30 {
        log.append(batch(2, 100, NOW + step), &CLIENT).unwrap();
        if log.log_end() == flushed {
            log.flush(flushed).unwrap();
        }
    }
    assert!(4 < log.segment_count());
    disk.fork()
}

fn reopened(disk: &SimDisk, recovery_point: i64) -> (Log, Recovery) {
    Log::open(Open { recovery_point, ..open_with(disk, config()) }).unwrap()
}

fn logs(disk: &SimDisk) -> Vec<(i64, u64)> {
    let names = disk.list(Path::new(DIR)).unwrap();
    let of_log = |name: &str| name.strip_suffix(".log")?.parse::<i64>().ok();
    let bases = names.iter().filter_map(|entry| of_log(&entry.name));
    bases.map(|base| (base, disk.open(&path(base)).unwrap().size().unwrap())).collect()
}

fn path(base: i64) -> PathBuf {
    Kind::Log.path(Path::new(DIR), base)
}

/// Where each batch stands.
fn batches_at(disk: &SimDisk) -> Vec<(i64, i64, u64, u64)> {
    let mut at = Vec::new();
    for (base, size) in logs(disk) {
        let file = disk.open(&path(base)).unwrap();
        let mut scan = crate::segment::scan::Scan::new(&*file, 0, size, 4096);
        while let Ok(Some(found)) = scan.next() {
            at.push((base, found.base_offset, found.position, found.size));
        }
    }
    at
}

#[test]
fn a_torn_tail_is_cut_at_or_above_the_recovery_point() {
    let whole = written(20);
    let all = batches_at(&whole);
    for (index, (base, offset, position, size)) in all.iter().enumerate().skip(10) {
        for at in [0, 3, 16, 30, 70, size - 1] {
            let disk = whole.fork();
            disk.rot(&path(*base), position + at, 0x55).unwrap();
            let (log, recovery) = reopened(&disk, 20);
            // The base offset is outside the checksum, but it follows from the batch before.
            assert_eq!(log.log_end(), *offset, "byte {at} of {offset}");
            let cut = recovery.cut.unwrap();
            assert_eq!(cut.log_end, *offset);
            let bytes: u64 = all[index..].iter().map(|it| it.3).sum();
            assert_eq!(cut.bytes, bytes);
            assert_eq!(bases(&log), all[..index].iter().map(|it| it.1).collect::<Vec<_>>());
            assert!(recovery.damaged.is_empty());
            let next = log.log_end();
            assert_eq!(append(&log, 1), next);
            let (log, recovery) = reopened(&disk, 20);
            assert_eq!((log.log_end(), recovery.cut), (next + 1, None));
        }
    }
}

#[test]
fn a_file_that_ends_early_is_cut_to_its_last_batch() {
    let whole = written(20);
    let all = batches_at(&whole);
    for (base, offset, position, size) in &all[10..] {
        for left in [0, 1, 16, 60, size - 1] {
            let disk = whole.fork();
            disk.open(&path(*base)).unwrap().truncate(position + left).unwrap();
            let is_last = *base == logs(&disk).last().unwrap().0;
            let (log, recovery) = reopened(&disk, 20);
            if left != 0 || is_last {
                assert_eq!(log.log_end(), *offset, "{left} of {offset}");
                assert_eq!(recovery.cut.is_some(), left != 0);
            }
        }
    }
}

#[test]
fn below_the_recovery_point_nothing_is_cut() {
    let whole = written(60);
    let all = batches_at(&whole);
    for (base, offset, position, _) in &all[..29] {
        for (at, recovery_point) in [(8, 60), (16, 60), (16, offset + 2)] {
            let disk = whole.fork();
            disk.rot(&path(*base), position + at, 0xff).unwrap();
            let (log, recovery) = reopened(&disk, recovery_point);
            assert_eq!((log.log_end(), recovery.cut), (60, None), "{offset}");
            for (_, other, ..) in &all {
                let got = log.read(*other, 1, 60, true);
                if other == offset {
                    let want = ReadError::Corrupt { offset: *other, next_offset: offset + 2 };
                    assert_eq!(format!("{:?}", got.unwrap_err()), format!("{want:?}"));
                } else {
                    assert!(0 < got.unwrap().len, "{other} beside {offset}");
                }
            }
            assert_eq!(append(&log, 1), 60);
            // Deleting the records past it heals the log.
            log.set_high_watermark(61);
            log.delete_records_before(offset + 2).unwrap();
            assert_eq!(bases(&log).first(), Some(&(offset + 2)));
        }
    }
}

#[test]
fn recovery_reads_what_was_written_since_the_recovery_point_and_no_more() {
    let (log, disk) = log(LogConfig { segment_bytes: 1 << 20, ..LogConfig::default() });
    let mut flushed = 0;
    for step in 0..400 {
        log.append(batch(4, 5000, NOW + step), &CLIENT).unwrap();
        if step == 397 {
            flushed = log.flush(log.log_end()).unwrap();
        }
    }
    let disk = disk.fork();
    let before = disk.bytes_read();
    let open = Open { recovery_point: flushed, ..open_with(&disk, LogConfig::default()) };
    let (again, recovery) = Log::open(open).unwrap();
    assert_eq!(again.log_end(), log.log_end());
    assert!(recovery.scanned_bytes < 200_000, "{}", recovery.scanned_bytes);
    // The headers since the last snapshot, where the segment began, are read too.
    let read = disk.bytes_read() - before;
    assert!(read < 1_200_000, "{read} of {}", log.size_bytes());
}

#[test]
fn indexes_that_are_missing_or_garbage_are_made_anew() {
    let whole = written(60);
    type Spoil<'a> = &'a dyn Fn(&SimDisk, &Path);
    // The active segment may have none yet.
    let open =
        |disk: &SimDisk, path: &Path| disk.create(path).or_else(|_| disk.open(path)).unwrap();
    let spoil: [Spoil<'_>; 3] = [
        &|disk, path| drop(disk.remove(path)),
        &|disk, path| open(disk, path).write_all_at(0, &[0x11; 900]).unwrap(),
        &|disk, path| open(disk, path).write_all_at(0, &[0; 900]).unwrap(),
    ];
    for kind in [Kind::OffsetIndex, Kind::TimeIndex] {
        for (which, spoil) in spoil.iter().enumerate() {
            let disk = whole.fork();
            for (base, _) in logs(&disk) {
                spoil(&disk, &kind.path(Path::new(DIR), base));
            }
            let (log, _) = reopened(&disk, 60);
            assert_eq!(bases(&log).len(), 30, "{kind:?} {which}");
            for step in 0..30 {
                let found = log.offset_for_timestamp(NOW + step).unwrap().unwrap();
                // The second record of the batch before has the same time as the first of this.
                assert_eq!(found.offset, (step * 2 - 1).max(0), "{kind:?} {which}");
            }
        }
    }
}

#[test]
fn an_index_that_was_sealed_at_the_recovery_point_may_lack_its_end() {
    let bases_of = |disk: &SimDisk| logs(disk).iter().map(|it| it.0).collect::<Vec<_>>();
    let sealed = bases_of(&written(60));
    // All of the first segments was flushed, and then the next one was begun.
    let (base, recovery_point) = (sealed[1], sealed[2]);
    let whole = written(recovery_point);
    for kind in [Kind::OffsetIndex, Kind::TimeIndex] {
        let path = kind.path(Path::new(DIR), base);
        let size = whole.open(&path).unwrap().size().unwrap();
        for left in (0..size).step_by(4) {
            let disk = whole.fork();
            disk.open(&path).unwrap().truncate(left).unwrap();
            let (log, recovery) = reopened(&disk, recovery_point);
            assert_eq!((log.log_end(), recovery.cut), (60, None));
            for step in 0..30 {
                let found = log.offset_for_timestamp(NOW + step).unwrap().unwrap();
                assert_eq!(found.offset, (step * 2 - 1).max(0), "{kind:?} {left} of {size}");
            }
            let (times, largest) = (&log.segments.load()[1], (recovery_point - 1) / 2);
            let found = times.largest_timestamp(&log.home).unwrap().unwrap();
            assert_eq!(found, (NOW + largest + 1, recovery_point - 1), "{kind:?} {left}");
        }
    }
}

#[test]
fn an_index_that_was_made_anew_is_whole_after_the_next_crash() {
    let whole = written(60);
    whole.sync_dir(Path::new("/")).unwrap();
    let base = logs(&whole)[1].0;
    for kind in [Kind::OffsetIndex, Kind::TimeIndex] {
        let path = kind.path(Path::new(DIR), base);
        // At the start, or when somebody looks something up.
        let spoil: [&dyn Fn(&SimDisk); 2] = [&|disk| disk.remove(&path).unwrap(), &|disk| {
            disk.open(&path).unwrap().write_all_at(0, &[0; 24]).unwrap()
        }];
        for (spoil, seed) in spoil.iter().flat_map(|spoil| (0..20).map(move |seed| (spoil, seed))) {
            let disk = whole.fork();
            spoil(&disk);
            let largest = |disk: &SimDisk| {
                let (log, _) = reopened(disk, 60);
                log.segments.load()[1].largest_timestamp(&log.home).unwrap().unwrap()
            };
            let before = largest(&disk);
            assert_eq!(largest(&disk.crash(seed)), before, "{kind:?}, draw {seed}");
        }
    }
}

#[test]
fn an_index_without_entries_is_none_where_batches_have_times() {
    let disk = written(60);
    let (base, next) = (logs(&disk)[1].0, logs(&disk)[2].0);
    let path = Kind::TimeIndex.path(Path::new(DIR), base);
    disk.open(&path).unwrap().truncate(0).unwrap();
    let (log, _) = reopened(&disk, 60);
    let found = log.segments.load()[1].largest_timestamp(&log.home).unwrap();
    assert_eq!(found, Some((NOW + next / 2, next - 1)));
}

#[test]
fn a_log_alone_is_enough() {
    let disk = written(60);
    for entry in disk.list(Path::new(DIR)).unwrap() {
        let path = Path::new(DIR).join(&entry.name);
        if !entry.name.ends_with(".log") {
            disk.remove(&path).unwrap();
        }
    }
    let (log, recovery) = reopened(&disk, 0);
    assert_eq!((bases(&log).len(), log.latest_epoch()), (30, Some(0)));
    assert_eq!((recovery.cut, recovery.damaged.len()), (None, 0));
}

#[test]
fn leftovers_are_finished_or_removed() {
    let name = |base: i64, rest: &str| PathBuf::from(format!("{DIR}/{base:020}{rest}"));
    let whole = written(60);
    let bases_of = |disk: &SimDisk| logs(disk).iter().map(|it| it.0).collect::<Vec<_>>();
    let all = bases_of(&whole);
    // Deleted, half cleaned, and indexes without a log: all go.
    let disk = whole.fork();
    let gone = [".log.deleted", ".index.cleaned", ".log.cleaned", ".timeindex.deleted"];
    for rest in gone {
        disk.create(&name(4, rest)).unwrap();
    }
    disk.create(&name(5, ".index")).unwrap();
    disk.create(&name(all[1], ".log.swap")).unwrap();
    disk.create(&name(0, ".log.cleaned")).unwrap();
    let (log, recovery) = reopened(&disk, 60);
    assert_eq!((bases(&log).len(), recovery.leftovers), (30, 7));
    assert_eq!(bases_of(&disk), all);
    // A finished cleaning of the first two segments takes their place.
    let disk = whole.fork();
    let copies: Vec<u8> = all[..2]
        .iter()
        .flat_map(|base| {
            let file = disk.open(&path(*base)).unwrap();
            crate::disk::read_whole(&*file, usize::MAX).unwrap()
        })
        .collect();
    let swap = disk.create(&name(0, ".log.swap")).unwrap();
    swap.write_all_at(0, &copies).unwrap();
    let (log, _) = reopened(&disk, 60);
    assert_eq!(bases(&log).len(), 30);
    let mut want = all.clone();
    want.remove(1);
    assert_eq!(bases_of(&disk), want);
}

#[test]
fn a_log_that_lost_all_behind_its_start_begins_there() {
    let disk = written(60);
    let again = Open { recovery_point: 60, log_start_offset: 75, ..open_with(&disk, config()) };
    let (log, _) = Log::open(again).unwrap();
    assert_eq!((log.log_start(), log.log_end(), append(&log, 1)), (75, 75, 75));
    assert_eq!(bases(&log), [75]);
}

#[test]
fn what_was_empty_and_overgrown_goes() {
    for recovery_point in [0, 28, 60] {
        let disk = written(60);
        // The one before it goes on to 60.
        disk.create(&path(58)).unwrap();
        let (log, recovery) = reopened(&disk, recovery_point);
        assert_eq!((log.log_end(), recovery.cut), (60, None), "{recovery_point}");
        assert_eq!(bases(&log).len(), 30);
        assert_eq!(append(&log, 1), 60);
    }
    // An empty one at the log's end was begun for good.
    let disk = written(60);
    disk.create(&path(60)).unwrap();
    let (log, _) = reopened(&disk, 60);
    assert_eq!((log.log_end(), append(&log, 1)), (60, 60));
    assert_eq!(log.segments.load().last().unwrap().base(), 60);
}

#[test]
fn a_crash_while_a_compacted_log_is_cut_leaves_no_hole_in_it() {
    let config = || LogConfig { compact: true, ..config() };
    let whole = written(20);
    let (base, offset, position, _) = batches_at(&whole)[15];
    assert!(base != logs(&whole).last().unwrap().0);
    whole.rot(&path(base), position + 70, 0x55).unwrap();
    let open = |disk: &SimDisk| Log::open(Open { recovery_point: 20, ..open_with(disk, config()) });
    for n in 0.. {
        let disk = whole.fork();
        disk.crash_at(n);
        if open(&disk).is_ok() {
            assert!(3 < n, "{n}");
            break;
        }
        for seed in 0..4 {
            let (log, _) = open(&disk.crash(seed)).unwrap();
            assert_eq!(log.log_end(), offset, "operation {n}, draw {seed}");
            assert_eq!(bases(&log), (0..offset).step_by(2).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_start_leaves_the_snapshots_that_it_may_need() {
    let disk = SimDisk::default();
    let mut recovery_point = 0;
    use LastStop::{Clean, Crashed, Killed};
    for last_stop in [Crashed, Clean, Clean, Clean, Killed, Clean, Crashed, Clean] {
        let open = Open { last_stop, recovery_point, ..open_with(&disk, config()) };
        let (log, _) = Log::open(open).unwrap();
        let segments = log.segment_count();
        let entries = disk.list(Path::new(DIR)).unwrap();
        let snapshots = entries.iter().filter(|it| it.name.ends_with(".snapshot")).count();
        assert!(snapshots <= segments, "{snapshots} beside {segments} segments");
        append(&log, 1);
        recovery_point = log.log_end();
        log.close().unwrap();
    }
}

#[test]
fn epochs_that_make_no_sense_are_read_from_the_batches() {
    let disk = written(60);
    let file = Path::new(DIR).join("leader-epoch-checkpoint");
    let stands = disk.open(&file).unwrap();
    stands.write_all_at(0, b"rot").unwrap();
    let (log, _) = reopened(&disk, 60);
    assert_eq!((log.latest_epoch(), log.epoch_of(0)), (Some(0), Some(0)));
    append(&log, 1);
    log.flush(log.log_end()).unwrap();
    let bytes = crate::disk::read_whole(&*disk.open(&file).unwrap(), 100).unwrap();
    assert_eq!(bytes, b"0\n1\n0 0\n");
}

#[test]
fn a_files_name_may_say_the_last_of_all_offsets() {
    use LastStop::{Clean, Crashed, Killed};
    for (last_stop, log_end) in [(Crashed, 60), (Killed, 60), (Clean, i64::MAX)] {
        let disk = written(60);
        disk.create(&path(i64::MAX)).unwrap();
        let again = Open { last_stop, recovery_point: 60, ..open_with(&disk, config()) };
        let (log, _) = Log::open(again).unwrap();
        assert_eq!(log.log_end(), log_end);
        assert_eq!(log.append(batch(1, 10, NOW), &CLIENT).is_ok(), log_end == 60);
        assert_eq!(read(&log, 58, 1).first().map(|it| it.header.base_offset), Some(58));
    }
}

/// What a start finds if the process was killed when it had written 200 batches, none of them
/// synced, and not all of their index entries.
fn killed() -> (SimDisk, Vec<(i64, i64, u64, u64)>) {
    let (log, disk) = log(LogConfig { index_interval_bytes: 0, ..LogConfig::default() });
    append_each(&log, 200);
    let disk = disk.fork();
    let all = batches_at(&disk);
    (disk, all)
}

fn opened_after(last_stop: LastStop, disk: &SimDisk) -> (Log, Recovery) {
    Log::open(Open { last_stop, ..open_with(disk, LogConfig::default()) }).unwrap()
}

#[test]
fn what_a_killed_process_had_written_is_not_read_again() {
    let (disk, all) = killed();
    let (log, recovery) = opened_after(LastStop::Crashed, &disk.fork());
    assert_eq!((log.log_end(), recovery.scanned_bytes), (400, log.size_bytes()));
    let (log, recovery) = opened_after(LastStop::Killed, &disk);
    assert_eq!((log.log_end(), log.recovery_point(), recovery.cut), (400, 0, None));
    assert_eq!(bases(&log), all.iter().map(|it| it.1).collect::<Vec<_>>());
    assert!(recovery.scanned_bytes < log.size_bytes() / 2, "{} bytes", recovery.scanned_bytes);
    assert_eq!(log.unsynced_bytes(), log.size_bytes());
    log.flush(200).unwrap();
    assert_eq!(log.unsynced_bytes(), 0);
}

#[test]
fn the_last_write_of_a_killed_process_is_cut_where_it_is_torn() {
    let (disk, all) = killed();
    let (base, offset, position, size) = *all.last().unwrap();
    for left in [1, 16, 60, size - 1] {
        let disk = disk.fork();
        disk.open(&path(base)).unwrap().truncate(position + left).unwrap();
        let (log, recovery) = opened_after(LastStop::Killed, &disk);
        assert_eq!((log.log_end(), recovery.cut.unwrap().bytes), (offset, left));
        assert_eq!(append(&log, 1), offset);
    }
}

#[test]
fn an_index_that_tells_more_than_the_file_holds_is_believed_as_far_as_it_can_be() {
    let (disk, all) = killed();
    // As a copy that was made while somebody wrote.
    let (base, offset, position, _) = all[50];
    disk.open(&path(base)).unwrap().truncate(position).unwrap();
    let (log, recovery) = opened_after(LastStop::Killed, &disk);
    assert_eq!((log.log_end(), recovery.cut), (offset, None));
    assert_eq!(bases(&log), all[..50].iter().map(|it| it.1).collect::<Vec<_>>());
}

#[test]
fn what_is_known_of_producers_is_noted_without_a_flush() {
    let config = || LogConfig { max_message_bytes: 2 << 20, ..LogConfig::default() };
    let (log, disk) = log(config());
    let large = vec![b'v'; 1 << 20];
    let of_producer = |sequence: i32, value: &[u8]| {
        let batch = BatchBuilder::new(0).producer(7, 0, sequence).key_value(NOW, b"key", value);
        batch.build().unwrap()
    };
    let append = |sequence| {
        log.append(of_producer(sequence, &large), &CLIENT).unwrap();
        log.snapshot_if_due().unwrap();
    };
    let snapshots = |disk: &SimDisk| crate::producer::snapshot::list(disk, Path::new(DIR)).unwrap();
    (0..10).for_each(append);
    log.flush(10).unwrap();
    disk.sync_dir(Path::new("/")).unwrap();
    (10..64).for_each(append);
    assert_eq!(snapshots(&disk), [64]);
    (64..140).for_each(append);
    assert_eq!((snapshots(&disk), log.recovery_point()), (vec![64, 128], 10));
    let again = |disk: &SimDisk, last_stop| {
        let (log, _) = Log::open(Open { last_stop, ..open_with(disk, config()) }).unwrap();
        let end = i32::try_from(log.log_end()).unwrap();
        for (sequence, is_known) in [(end - 1, true), (end, false)] {
            if 0 <= sequence {
                let got = log.append(of_producer(sequence, b"v"), &CLIENT).unwrap();
                assert_eq!(got.duplicate, is_known, "{sequence} at {end}");
            }
        }
        (end, snapshots(disk).iter().all(|at| *at <= i64::from(end)))
    };
    assert_eq!(again(&disk.fork(), LastStop::Killed), (140, true));
    for seed in 0..4 {
        let (end, all_below) = again(&disk.crash(seed), LastStop::Crashed);
        assert!(10 <= end && all_below, "none misleads, {end}");
    }
    log.flush(140).unwrap();
    assert_eq!(snapshots(&disk), [140], "one for good, and no other is needed");
}

#[test]
fn an_index_whose_last_batch_is_rotten_is_believed_in_nothing() {
    let (disk, all) = killed();
    // Entries go to the file by 64, and the first batch has none.
    for (index, is_seen) in [(1, false), (191, false), (192, true), (193, true)] {
        let (disk, (base, offset, position, _)) = (disk.fork(), all[index]);
        disk.rot(&path(base), position + 70, 0x55).unwrap();
        let (log, recovery) = opened_after(LastStop::Killed, &disk);
        assert_eq!(
            (log.log_end() == offset, recovery.cut.is_some()),
            (is_seen, is_seen),
            "{index}"
        );
        if is_seen {
            assert_eq!(bases(&log), all[..index].iter().map(|it| it.1).collect::<Vec<_>>());
            assert_eq!(append(&log, 1), offset);
            let (log, _) = opened_after(LastStop::Killed, &disk.fork());
            assert_eq!(log.log_end(), offset + 1);
        }
    }
}

#[test]
fn what_stands_before_a_rotten_end_of_the_index_is_checked_too() {
    let (disk, all) = killed();
    for index in [100, 192] {
        let (base, _, position, _) = all[index];
        disk.rot(&path(base), position + 70, 0x55).unwrap();
    }
    let (log, _) = opened_after(LastStop::Killed, &disk);
    assert_eq!((log.log_end(), bases(&log).len()), (all[100].1, 100));
}
