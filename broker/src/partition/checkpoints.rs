//! The checkpoint files of one log directory, each written by one at a time: what is written last
//! was also looked up last.

use parking_lot::{Mutex, MutexGuard};
use protocol::ids::TopicPartition;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use storage::checkpoint::{self, CLEANER, LOG_START, Offsets, RECOVERY_POINT, REPLICATION};
use storage::disk::Disk;
use storage::error::Error;

/// Which of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    RecoveryPoints,
    LogStarts,
    Watermarks,
    /// Up to where compacted logs are clean.
    CleanOffsets,
}

impl Checkpoint {
    const ALL: [Checkpoint; 4] = [
        Checkpoint::RecoveryPoints,
        Checkpoint::LogStarts,
        Checkpoint::Watermarks,
        Checkpoint::CleanOffsets,
    ];

    /// The file's name, which is Kafka's.
    pub fn name(self) -> &'static str {
        match self {
            Checkpoint::RecoveryPoints => RECOVERY_POINT,
            Checkpoint::LogStarts => LOG_START,
            Checkpoint::Watermarks => REPLICATION,
            Checkpoint::CleanOffsets => CLEANER,
        }
    }
}

/// One directory's files, each written when something in it has changed.
#[derive(Debug, Default)]
pub struct Checkpoints {
    recovery_points: File,
    log_starts: File,
    watermarks: File,
    clean_offsets: File,
}

/// What stands in a file; None: nothing, or nobody knows.
type File = Mutex<Option<Content>>;

/// As much of a file as says whether another would differ, and whether it names a partition.
#[derive(Debug, PartialEq, Eq)]
struct Content {
    sum: u64,
    /// Of the partitions; ascending.
    names: Box<[u64]>,
}

impl Content {
    fn of(offsets: &Offsets) -> Content {
        let mut names: Box<[u64]> = offsets.keys().map(|at| sum_of_name(NOTHING, at)).collect();
        names.sort_unstable();
        Content { sum: sum(offsets), names }
    }

    /// False: certainly not.
    fn may_name(&self, at: &TopicPartition) -> bool {
        self.names.binary_search(&sum_of_name(NOTHING, at)).is_ok()
    }
}

impl Checkpoints {
    fn lock(&self, which: Checkpoint) -> MutexGuard<'_, Option<Content>> {
        match which {
            Checkpoint::RecoveryPoints => self.recovery_points.lock(),
            Checkpoint::LogStarts => self.log_starts.lock(),
            Checkpoint::Watermarks => self.watermarks.lock(),
            Checkpoint::CleanOffsets => self.clean_offsets.lock(),
        }
    }

    /// Writes what `offsets` says, durably, if the file does not say so already. Nobody else writes
    /// meanwhile, so an older answer never replaces a newer one.
    pub(super) fn write(
        &self,
        (disk, dir): (&dyn Disk, &Path),
        which: Checkpoint,
        offsets: impl FnOnce() -> io::Result<Offsets>,
    ) -> io::Result<()> {
        let mut stands = self.lock(which);
        let offsets = offsets()?;
        // Without compacted topics there is no file of clean offsets.
        let is_needless = which == Checkpoint::CleanOffsets && offsets.is_empty();
        if stands.as_ref().map_or(is_needless, |stands| stands.sum == sum(&offsets)) {
            return Ok(());
        }
        *stands = None;
        checkpoint::write_offsets(disk, &dir.join(which.name()), &offsets)?;
        *stands = Some(Content::of(&offsets));
        Ok(())
    }

    /// What a file of an earlier process says.
    pub(super) fn read(
        &self,
        (disk, dir): (&dyn Disk, &Path),
        which: Checkpoint,
    ) -> Result<Offsets, Error> {
        let mut stands = self.lock(which);
        let offsets = checkpoint::read_offsets(disk, &dir.join(which.name()))?;
        *stands = (!offsets.is_empty()).then(|| Content::of(&offsets));
        Ok(offsets)
    }

    /// Takes partitions out of all files, durably: those of their names are others now. A file that
    /// makes no sense says nothing of them either, and one that is known not to name them is not
    /// read.
    pub fn forget(
        &self,
        (disk, dir): (&dyn Disk, &Path),
        gone: &BTreeSet<TopicPartition>,
    ) -> Result<(), Error> {
        for which in Checkpoint::ALL {
            let (mut stands, path) = (self.lock(which), dir.join(which.name()));
            if stands.as_ref().is_some_and(|it| !gone.iter().any(|at| it.may_name(at))) {
                continue;
            }
            let mut offsets = match checkpoint::read_offsets(disk, &path) {
                Err(Error::Malformed { .. }) => continue,
                read => read?,
            };
            let before = offsets.len();
            offsets.retain(|at, _| !gone.contains(at));
            if offsets.len() != before {
                *stands = None;
                checkpoint::write_offsets(disk, &path, &offsets)?;
            }
            *stands = (!offsets.is_empty()).then(|| Content::of(&offsets));
        }
        Ok(())
    }
}

/// FNV-1a over names and offsets: equal contents have equal sums.
fn sum(offsets: &Offsets) -> u64 {
    offsets.iter().fold(NOTHING, |sum, (at, offset)| {
        offset.to_be_bytes().into_iter().fold(sum_of_name(sum, at), add)
    })
}

fn sum_of_name(sum: u64, at: &TopicPartition) -> u64 {
    at.topic.bytes().chain(at.partition.to_be_bytes()).fold(sum, add)
}

/// The sum of no bytes.
const NOTHING: u64 = 0xcbf2_9ce4_8422_2325;

fn add(sum: u64, byte: u8) -> u64 {
    (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::disk::sim::{Operation, SimDisk};

    const ROOT: &str = "/";

    fn of(entries: &[(&str, i64)]) -> Offsets {
        entries.iter().map(|(topic, offset)| (TopicPartition::new(*topic, 0), *offset)).collect()
    }

    #[test]
    fn what_is_written_is_looked_up_while_nobody_else_writes() {
        let (disk, files) = (SimDisk::default(), Checkpoints::default());
        let at: (&dyn Disk, _) = (&disk, Path::new(ROOT));
        let offsets = || {
            assert!(files.log_starts.try_lock().is_none(), "another would write in between");
            Ok(of(&[("t", 7)]))
        };
        files.write(at, Checkpoint::LogStarts, offsets).unwrap();
        assert_eq!(files.read(at, Checkpoint::LogStarts).unwrap(), of(&[("t", 7)]));
    }

    #[test]
    fn what_is_forgotten_is_in_no_file_and_may_come_back() {
        let (disk, files) = (SimDisk::default(), Checkpoints::default());
        let at: (&dyn Disk, _) = (&disk, Path::new(ROOT));
        let both = || Ok(of(&[("t", 7), ("u", 8)]));
        files.write(at, Checkpoint::LogStarts, both).unwrap();
        files.write(at, Checkpoint::Watermarks, both).unwrap();
        files.forget(at, &of(&[("t", 0)]).into_keys().collect()).unwrap();
        for which in [Checkpoint::LogStarts, Checkpoint::Watermarks] {
            assert_eq!(files.read(at, which).unwrap(), of(&[("u", 8)]));
        }
        files.forget(at, &of(&[("u", 0)]).into_keys().collect()).unwrap();
        files.write(at, Checkpoint::LogStarts, both).unwrap();
        assert_eq!(files.read(at, Checkpoint::LogStarts).unwrap(), both().unwrap());
    }

    #[test]
    fn a_file_that_does_not_name_them_is_not_read_for_those_that_are_gone() {
        let (disk, files) = (SimDisk::default(), Checkpoints::default());
        let at: (&dyn Disk, _) = (&disk, Path::new(ROOT));
        for which in Checkpoint::ALL {
            files.write(at, which, || Ok(of(&[("t", 7), ("u", 8)]))).unwrap();
        }
        let reads = |gone: &str| {
            let before = disk.count(Operation::Read);
            files.forget(at, &of(&[(gone, 0)]).into_keys().collect()).unwrap();
            disk.count(Operation::Read) - before
        };
        assert_eq!(reads("v"), 0);
        assert!(4 <= reads("u"));
        assert_eq!(reads("u"), 0);
        assert_eq!(files.read(at, Checkpoint::LogStarts).unwrap(), of(&[("t", 7)]));
    }
}
