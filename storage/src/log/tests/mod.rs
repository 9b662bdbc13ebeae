//! A log on a simulated disk, seen from outside.

mod aborted;
mod append;
mod damage;
mod disk_trouble;
mod model;
mod opening;
mod recovery;
mod retention;
mod threads;
mod truncation;
mod write_back;

use super::*;
use crate::disk::Disk;
use crate::disk::sim::SimDisk;
use crate::last_stop::LastStop;
use bytes::Bytes;
use protocol::records::{Batch, BatchBuilder, batches};
use std::path::PathBuf;

/// When the tests begin, in milliseconds.
pub(super) const NOW: i64 = 1_700_000_000_000;

pub(super) fn open_with(disk: &SimDisk, config: LogConfig) -> Open {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Open::new(disk, PathBuf::from("/t-0"), Arc::new(config), NOW)
}

pub(super) fn open(disk: &SimDisk, config: LogConfig) -> (Log, Recovery) {
    Log::open(open_with(disk, config)).unwrap()
}

pub(super) fn log(config: LogConfig) -> (Log, SimDisk) {
    let disk = SimDisk::default();
    (open(&disk, config).0, disk)
}

/// A batch of `count` records with values of `size` bytes, the first one at `time`.
pub(super) fn batch(count: i32, size: usize, time: i64) -> Bytes {
    let mut builder = BatchBuilder::new(0);
    for index in 0..count {
        builder = builder.key_value(time + i64::from(index), b"key", &vec![b'v'; size]);
    }
    builder.build().unwrap()
}

pub(super) const CLIENT: AppendContext =
    AppendContext { leader_epoch: 0, now_ms: NOW, origin: Origin::Client };

pub(super) fn append(log: &Log, count: i32) -> i64 {
    log.append(batch(count, 10, NOW), &CLIENT).unwrap().base_offset
}

/// That many batches of two records.
pub(super) fn append_each(log: &Log, batches: i64) {
    (0..batches).for_each(|number| assert_eq!(append(log, 2), number * 2));
}

/// The batches that a reader gets, whole ones only.
pub(super) fn read(log: &Log, offset: i64, max_bytes: usize) -> Vec<Batch> {
    let slice = log.read(offset, max_bytes, i64::MAX, true).unwrap();
    batches(slice.read().unwrap()).map_while(Result::ok).collect()
}

/// Base offsets of all batches, fetched as a consumer would.
pub(super) fn bases(log: &Log) -> Vec<i64> {
    let mut offset = log.log_start();
    let mut bases = Vec::new();
    while offset < log.log_end() {
        let got = read(log, offset, 1000);
        assert!(!got.is_empty(), "nothing at {offset} of {}", log.log_end());
        for batch in got {
            bases.push(batch.header.base_offset);
            offset = batch.header.next_offset();
        }
    }
    bases
}
