//! What opening a log asks of its folder.

use super::*;
use crate::disk::sim::Operation;
use std::path::Path;

fn config() -> LogConfig {
    LogConfig { index_interval_bytes: 100, ..LogConfig::default() }
}

fn fill(log: &Log, batches: i64) {
    for _ in 0..batches {
        log.append(batch(2, 10, NOW + log.log_end()), &CLIENT).unwrap();
    }
}

/// One segment with a few blocks of index entries.
fn closed() -> SimDisk {
    let (log, disk) = log(config());
    fill(&log, 500);
    log.close().unwrap();
    disk
}

/// Batches follow it, and then the process ends.
fn killed() -> SimDisk {
    let disk = closed();
    fill(&opened(&disk, LastStop::Clean).0, 20);
    disk.fork()
}

fn opened(disk: &SimDisk, last_stop: LastStop) -> (Log, Recovery) {
    let open = Open { last_stop, recovery_point: 1000, ..open_with(disk, config()) };
    Log::open(open).unwrap()
}

#[test]
fn a_start_lists_the_folder_and_opens_each_file_once() {
    for (disk, last_stop, end) in [
        (closed(), LastStop::Clean, 1000),
        (killed(), LastStop::Killed, 1040),
        (killed(), LastStop::Crashed, 1040),
    ] {
        let files = disk.list(Path::new("/t-0")).unwrap().len();
        assert_eq!(files, 5, "log, two indexes, snapshot, epochs");
        let disk = disk.fork();
        let (log, recovery) = opened(&disk, last_stop);
        assert_eq!((log.log_end(), recovery.cut, recovery.leftovers), (end, None, 0));
        assert_eq!(disk.count(Operation::List), 1, "{last_stop:?}");
        // Each is opened, and asked for its size.
        assert_eq!(disk.count(Operation::Open), 2 * files as u64, "{last_stop:?}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_made() {
    let (log, disk) = log(config());
    assert_eq!((append(&log, 2), log.log_end()), (0, 2));
    assert!(disk.exists(Path::new("/t-0")).unwrap());
}

#[test]
fn the_snapshots_that_were_listed_are_those_that_are_judged() {
    use crate::producer::snapshot;
    let (disk, dir) = (killed(), Path::new("/t-0"));
    for offset in [7, 2000] {
        snapshot::write(&disk, dir, &crate::producer::Producers::starting_at(offset), false)
            .unwrap();
    }
    let odd = dir.join("000000000000000000009.snapshot");
    disk.create(&odd).unwrap();
    disk.mkdir(&dir.join("00000000000000000011.snapshot")).unwrap();
    opened(&disk, LastStop::Killed);
    let left: Vec<i64> = snapshot::list(&disk, dir).unwrap();
    assert_eq!(left, [11, 1000], "older ones and those beyond the end go; a folder is none");
    assert!(disk.exists(&odd).unwrap(), "nor is what has another name");
}

/// A start after a crash walks over what was not flushed, and makes what is missing as it does.
#[test]
fn an_index_that_recovery_has_made_is_not_made_again() {
    use crate::segment::name::Kind;
    let (log, disk) = log(config());
    fill(&log, 100);
    log.roll(NOW).unwrap();
    fill(&log, 10);
    let costs = [None, Some(Kind::TimeIndex), Some(Kind::OffsetIndex)].map(|missing| {
        let disk = disk.fork();
        if let Some(kind) = missing {
            disk.remove(&kind.path(Path::new("/t-0"), 0)).unwrap();
        }
        let disk = disk.fork();
        let (log, recovery) = open(&disk, config());
        assert_eq!((log.log_end(), recovery.cut), (220, None));
        let found = log.offset_for_timestamp(NOW + 100).unwrap().unwrap();
        assert_eq!(found.offset, 100, "{missing:?}");
        (recovery.rebuilt_indexes, disk.count(Operation::Sync))
    });
    assert_eq!(costs, [(); 3].map(|()| (Vec::new(), 0)));
    // Not so one of a segment that recovery need not look at.
    let disk = disk.fork();
    disk.remove(&Kind::TimeIndex.path(Path::new("/t-0"), 0)).unwrap();
    let open = Open { last_stop: LastStop::Clean, ..open_with(&disk, config()) };
    assert_eq!(Log::open(open).unwrap().1.rebuilt_indexes, [0]);
}
