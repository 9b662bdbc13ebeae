//! Which folders stand in a log directory.

use super::name::{DirName, Suffix};
use crate::disk::Disk;
use protocol::ids::TopicPartition;
use std::io;
use std::path::{Path, PathBuf};

/// What a scan found, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    pub partitions: Vec<TopicPartition>,
    pub has_metadata: bool,
    /// Folders with a suffix, and where they are.
    pub waiting: Vec<(TopicPartition, Suffix, PathBuf)>,
    /// Folders that are none of ours.
    pub other: Vec<PathBuf>,
}

/// The folders of a log directory. Needs no lock: `storage info` looks at a running broker's.
pub fn scan(disk: &dyn Disk, dir: &Path) -> io::Result<Scan> {
    let mut scan = Scan::default();
    for entry in disk.list(dir)?.into_iter().filter(|entry| entry.is_dir) {
        let path = dir.join(&entry.name);
        match DirName::parse(&entry.name) {
            DirName::Partition(partition) => scan.partitions.push(partition),
            DirName::Metadata => scan.has_metadata = true,
            DirName::Waiting(partition, suffix) => scan.waiting.push((partition, suffix, path)),
            DirName::Other => scan.other.push(path),
        }
    }
    Ok(scan)
}
