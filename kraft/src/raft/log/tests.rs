//! The files of the log, and what a start makes of damaged ones.

use super::scan::{Scanned, scan};
use super::torn::SECTOR;
use super::{Border, Log, RollAt};
use crate::raft::batch;
use crate::raft::types::log_id;
use crate::record::{ConfigRecord, NoOpRecord, Record};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use storage::disk::sim::SimDisk;
use storage::disk::{Disk, read_whole};

const DIR: &str = "/log";

fn disk() -> Arc<dyn Disk> {
    let disk = SimDisk::new(1);
    disk.mkdir(Path::new(DIR)).unwrap();
    Arc::new(disk)
}

fn open(disk: &Arc<dyn Disk>, segment_bytes: u64) -> Result<Scanned, String> {
    let roll_at = RollAt { segment_bytes, segment_ms: i64::MAX };
    let scanned = scan(disk, Path::new(DIR), roll_at).map_err(|error| error.to_string())?;
    scanned.log.mend().map_err(|error| error.to_string())?;
    Ok(scanned)
}

fn batch_of(records: usize) -> Bytes {
    let value = Record::from(NoOpRecord::default()).to_value(0);
    batch::data(&vec![value; records], 9).unwrap()
}

/// Ten batches of 1, 2, 3.. records, the last five of term 2; the log's size is in whole batches.
fn filled(disk: &Arc<dyn Disk>, segment_bytes: u64) -> Log {
    let mut log = open(disk, segment_bytes).unwrap().log;
    for number in 1..=10 {
        let term = if number <= 5 { 1 } else { 2 };
        log.append(term, &batch_of(number), false).unwrap();
    }
    log.take_unsynced().sync(&**disk, Path::new(DIR)).unwrap();
    log
}

fn files(disk: &Arc<dyn Disk>) -> Vec<PathBuf> {
    let names = disk.list(Path::new(DIR)).unwrap().into_iter().map(|entry| entry.name);
    names.filter(|name| name.ends_with(".log")).map(|name| Path::new(DIR).join(name)).collect()
}

fn shape(log: &Log) -> Vec<(u32, u64, i64)> {
    let (start, last) = (log.start().id.index, log.last().id.index);
    let borders = (start..=last).filter_map(|index| log.border_after(index));
    borders.map(|it| (it.id.leader_id.term, it.id.index, it.end)).collect()
}

#[test]
fn what_was_appended_is_found_again() {
    for segment_bytes in [1 << 20, 300, 1] {
        let disk = disk();
        let log = filled(&disk, segment_bytes);
        let again = open(&disk, segment_bytes).unwrap().log;
        assert_eq!(shape(&again), shape(&log));
        assert_eq!(again.end(), 55);
        assert_eq!(again.first_of_terms(1, 10), [log_id(1, 1), log_id(2, 6), log_id(2, 10)]);
        for index in 1..=10 {
            let bytes = again.read(index).unwrap();
            let header = protocol::records::BatchHeader::read(&bytes).unwrap();
            assert_eq!(header.base_offset, again.batch(index).unwrap().base);
            assert_eq!(bytes, log.read(index).unwrap());
        }
        assert_eq!((again.read(0).is_err(), again.read(11).is_err()), (true, true));
        assert_eq!(files(&disk).len() == 1, segment_bytes == 1 << 20);
    }
}

#[test]
fn a_cut_log_goes_on_behind_the_cut() {
    for segment_bytes in [1 << 20, 300, 1] {
        for cut in 0..=10 {
            let disk = disk();
            let mut log = filled(&disk, segment_bytes);
            let kept = shape(&log)[..=cut].to_vec();
            log.truncate_after(cut as u64).unwrap();
            assert_eq!(shape(&log), kept);
            assert_eq!(shape(&open(&disk, segment_bytes).unwrap().log), kept);
            let base = log.append(3, &batch_of(2), false).unwrap();
            assert_eq!(base, kept[cut].2);
            assert_eq!(shape(&open(&disk, segment_bytes).unwrap().log), shape(&log));
        }
    }
}

#[test]
fn what_is_purged_is_forgotten_and_whole_segments_of_it_go() {
    for index in 0..=10 {
        let disk = disk();
        let mut log = filled(&disk, 1);
        let border = log.border_after(index).unwrap();
        log.purge(border).unwrap();
        assert_eq!(log.start(), border);
        assert_eq!(files(&disk).len() as u64, (10 - index).max(1));
        let mut again = open(&disk, 1).unwrap().log;
        again.begin_at(border);
        assert_eq!(shape(&again), shape(&log));
        log.append(2, &batch_of(1), false).unwrap();
    }
}

#[test]
fn a_snapshot_beyond_the_end_restarts_the_log() {
    let disk = disk();
    let mut log = filled(&disk, 300);
    let border = Border { id: log_id(4, 20), end: 1000 };
    log.purge(border).unwrap();
    assert_eq!(files(&disk), Vec::<PathBuf>::new());
    assert_eq!(log.append(4, &batch_of(1), false).unwrap(), 1000);
    assert_eq!(files(&disk), [Path::new("/log/00000000000000001000.log")]);
}

/// Damages the one file of a log of ten batches; gives what a start says and how many are left.
#[track_caller]
fn damage(change: impl FnOnce(&mut Vec<u8>, &[usize]), want: Result<u64, &str>) {
    let disk = disk();
    let log = filled(&disk, 1 << 20);
    let starts: Vec<usize> =
        (1..=10).map(|index| log.batch(index).unwrap().position as usize).collect();
    let path = files(&disk).remove(0);
    let file = disk.open(&path).unwrap();
    let mut bytes = read_whole(&*file, 1 << 20).unwrap();
    change(&mut bytes, &starts);
    file.truncate(0).unwrap();
    file.write_all_at(0, &bytes).unwrap();
    let got = open(&disk, 1 << 20);
    match (&got, want) {
        (Ok(scanned), Ok(left)) => {
            assert_eq!(scanned.log.last().id.index, left);
            // What was cut is gone: the next start finds a whole log.
            let again = open(&disk, 1 << 20).unwrap();
            assert_eq!((again.torn, again.log.last().id.index), (None, left));
        }
        (Err(error), Err(text)) => assert!(error.contains(text), "{error}"),
        (got, want) => panic!("{got:?} instead of {want:?}"),
    }
}

#[test]
fn a_torn_tail_is_cut() {
    for lost in [1, 30, 61, 70] {
        damage(|bytes, _| bytes.truncate(bytes.len() - lost), Ok(9));
    }
    damage(|bytes, _| bytes.extend([0; 700]), Ok(10));
    damage(|bytes, starts| bytes[starts[9]..].fill(0), Ok(9));
    damage(|bytes, _| *bytes.last_mut().unwrap() ^= 1, Ok(9));
    damage(|bytes, _| bytes.truncate(0), Ok(0));
}

#[test]
fn what_was_in_flight_together_goes_together() {
    damage(|bytes, starts| bytes[starts[7]..starts[8]].fill(0), Ok(7));
}

/// Batches of every size modulo that of a sector.
fn batches_of_every_size() -> BTreeMap<usize, Bytes> {
    let batch = |len: usize| {
        let config = ConfigRecord { value: Some("x".repeat(len)), ..ConfigRecord::default() };
        let batch = batch::data(&[Record::from(config).to_value(33)], 9).unwrap();
        (batch.len() % SECTOR, batch)
    };
    (600..600 + SECTOR).map(batch).collect()
}

#[test]
fn a_batch_whose_first_sector_was_lost_is_torn_wherever_in_it_it_began() {
    let batches = batches_of_every_size();
    for lost in 1..SECTOR {
        for follows in [false, true] {
            let disk = disk();
            let mut log = open(&disk, 1 << 20).unwrap().log;
            // An offset of which every byte tells.
            log.purge(Border { id: log_id(1, 1), end: 0x0102_0304_0506_0708 }).unwrap();
            let first = &batches[&(SECTOR - lost)];
            log.append(1, first, false).unwrap();
            log.append(1, &batches[&7], false).unwrap();
            if follows {
                log.append(1, &batch_of(1), false).unwrap();
            }
            let file = disk.open(&files(&disk)[0]).unwrap();
            file.write_all_at(first.len() as u64, &vec![0; lost]).unwrap();
            let again = open(&disk, 1 << 20).map(|scanned| scanned.log.last().id.index);
            assert_eq!(again, Ok(1), "{lost} {follows}");
        }
    }
}

#[test]
fn only_the_last_segment_is_ever_torn() {
    for seed in 0..100 {
        let sim = SimDisk::new(seed);
        sim.mkdir(Path::new(DIR)).unwrap();
        sim.sync_dir(Path::new("/")).unwrap();
        let disk: Arc<dyn Disk> = Arc::new(sim.clone());
        let mut log = open(&disk, 1).unwrap().log;
        log.append(1, &batch_of(200), false).unwrap();
        // Its sync has begun, and takes its time, when the next batch begins a segment.
        let syncing = log.take_unsynced();
        log.append(1, &batch_of(200), false).unwrap();
        let after: Arc<dyn Disk> = Arc::new(sim.crash(seed));
        open(&after, 1).unwrap_or_else(|why| panic!("{seed}: {why}"));
        drop(syncing);
    }
}

#[test]
fn corruption_with_good_batches_behind_it_is_refused() {
    let why = "nothing was cut, because a good batch follows";
    for batch in 0..9 {
        damage(|bytes, starts| bytes[starts[batch] + 63] ^= 4, Err(why));
        damage(|bytes, starts| bytes[starts[batch] + 10] ^= 1, Err(why));
        damage(|bytes, starts| bytes[starts[batch] + 16] = 1, Err(why));
    }
    damage(|bytes, starts| bytes[starts[3] + 7] ^= 1, Err("follows offset 6"));
    damage(|bytes, starts| bytes[starts[7] + 15] = 1, Err("is of epoch 1, after epoch 2"));
    damage(|bytes, starts| drop(bytes.drain(starts[3]..starts[4])), Err("follows offset 6"));
}

#[test]
fn a_missing_segment_is_refused() {
    let disk = disk();
    filled(&disk, 1);
    disk.remove(&files(&disk)[4]).unwrap();
    assert!(open(&disk, 1).unwrap_err().contains("the log before it ends at 10"));
}
