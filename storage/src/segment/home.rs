//! The folder that a log's files stand in.

use super::name::Kind;
use crate::disk::Disk;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// The folder of a partition.
#[derive(Debug)]
pub struct Home {
    pub disk: Arc<dyn Disk>,
    dir: Mutex<Arc<Path>>,
    /// `index.interval.bytes`.
    pub index_interval_bytes: AtomicU32,
    /// A file was made or renamed since the folder was synced.
    pub names_unsynced: AtomicBool,
    /// `partition.metadata` may not be durable.
    pub id_unsynced: AtomicBool,
}

impl Home {
    pub fn new(disk: Arc<dyn Disk>, dir: PathBuf, index_interval_bytes: u32) -> Home {
        let dir = Mutex::new(Arc::from(dir));
        let index_interval_bytes = AtomicU32::new(index_interval_bytes);
        let [names_unsynced, id_unsynced] = [AtomicBool::new(false), AtomicBool::new(false)];
        Home { disk, dir, index_interval_bytes, names_unsynced, id_unsynced }
    }

    pub fn dir(&self) -> Arc<Path> {
        self.dir.lock().clone()
    }

    /// The folder was renamed.
    pub fn moved_to(&self, dir: &Path) {
        *self.dir.lock() = Arc::from(dir);
    }

    pub fn path(&self, kind: Kind, offset: i64) -> PathBuf {
        kind.path(&self.dir(), offset)
    }
}
