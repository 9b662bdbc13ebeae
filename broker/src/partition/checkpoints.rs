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

/// What stands in a file, as a sum; None: nothing, or nobody knows.
type File = Mutex<Option<u64>>;

impl Checkpoints {
    fn lock(&self, which: Checkpoint) -> MutexGuard<'_, Option<u64>> {
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
        let sum = sum(&offsets);
        if *stands == Some(sum) || (stands.is_none() && is_needless) {
            return Ok(());
        }
        *stands = None;
        checkpoint::write_offsets(disk, &dir.join(which.name()), &offsets)?;
        *stands = Some(sum);
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
        *stands = (!offsets.is_empty()).then(|| sum(&offsets));
        Ok(offsets)
    }

    /// Takes partitions out of all files, durably: those of their names are others now. A file that
    /// makes no sense says nothing of them either.
    pub fn forget(
        &self,
        (disk, dir): (&dyn Disk, &Path),
        gone: &BTreeSet<TopicPartition>,
    ) -> Result<(), Error> {
        for which in Checkpoint::ALL {
            let (mut stands, path) = (self.lock(which), dir.join(which.name()));
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
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use storage::disk::sim::SimDisk;

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
}
