//! The checkpoints of a log directory: what a start reads to know where each log stands.

use crate::partition::dir::Dir;
use crate::partition::replica::Partition;
use parking_lot::Mutex;
use std::sync::Arc;
use storage::checkpoint::{self, CLEANER, LOG_START, Offsets, RECOVERY_POINT, REPLICATION};
use storage::error::is_shortage;

/// One directory's files, each written when something in it has changed.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    recovery_points: File,
    log_starts: File,
    watermarks: File,
    clean_offsets: File,
}

/// What stands in a file, as a sum. Held while writing: the flusher and the schedule share it.
type File = Mutex<Option<u64>>;

impl Checkpoints {
    pub(super) fn recovery_points(&self, dir: &Dir, partitions: &[Arc<Partition>]) {
        let offsets = offsets(partitions, |it| Some(it.log().recovery_point()));
        write(dir, RECOVERY_POINT, &self.recovery_points, &offsets);
    }

    /// Only those that are not 0, which is what a reader takes for the others.
    pub(super) fn log_starts(&self, dir: &Dir, partitions: &[Arc<Partition>]) {
        let start = |it: &Partition| Some(it.log().log_start()).filter(|start| 0 < *start);
        write(dir, LOG_START, &self.log_starts, &offsets(partitions, start));
    }

    pub(super) fn watermarks(&self, dir: &Dir, partitions: &[Arc<Partition>]) {
        let offsets = offsets(partitions, |it| Some(it.log().high_watermark()));
        write(dir, REPLICATION, &self.watermarks, &offsets);
    }

    /// Only those that were ever cleaned.
    pub(super) fn clean_offsets(
        &self,
        dir: &Dir,
        partitions: &[Arc<Partition>],
        clean_to: impl Fn(&Partition) -> Option<i64>,
    ) {
        let offsets = offsets(partitions, clean_to);
        // Without compacted topics there is no file.
        if self.clean_offsets.lock().is_some() || !offsets.is_empty() {
            write(dir, CLEANER, &self.clean_offsets, &offsets);
        }
    }

    /// What [`Checkpoints::clean_offsets`] has written. None: there is nothing that could be used.
    pub(super) fn read_clean_offsets(&self, dir: &Dir) -> Option<Offsets> {
        if dir.failure().is_some() {
            return None;
        }
        match checkpoint::read_offsets(&*dir.disk, &dir.path.join(CLEANER)) {
            Ok(offsets) => {
                *self.clean_offsets.lock() = (!offsets.is_empty()).then(|| sum(&offsets));
                Some(offsets)
            }
            Err(error) => {
                tracing::warn!("{CLEANER} in {}: {error}", dir.path.display());
                None
            }
        }
    }
}

fn offsets(partitions: &[Arc<Partition>], offset: impl Fn(&Partition) -> Option<i64>) -> Offsets {
    partitions.iter().filter_map(|it| Some((it.name(), offset(it)?))).collect()
}

fn write(dir: &Dir, name: &str, last: &Mutex<Option<u64>>, offsets: &Offsets) {
    if dir.failure().is_some() {
        return;
    }
    let mut last = last.lock();
    let sum = sum(offsets);
    if *last == Some(sum) {
        return;
    }
    match checkpoint::write_offsets(&*dir.disk, &dir.path.join(name), offsets) {
        Ok(()) => *last = Some(sum),
        // A full disk is not a broken one: the file of before stands, and is true enough.
        Err(error) if is_shortage(&error) => {
            tracing::warn!("Could not write {name} in {}: {error}", dir.path.display());
        }
        Err(error) => dir.fail(&format!("writing {name}: {error}")),
    }
}

/// FNV-1a over names and offsets: equal contents have equal sums.
fn sum(offsets: &Offsets) -> u64 {
    let add = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    offsets.iter().fold(0xcbf2_9ce4_8422_2325, |sum, (at, offset)| {
        let name = at.topic.bytes().chain(at.partition.to_be_bytes());
        name.chain(offset.to_be_bytes()).fold(sum, add)
    })
}
