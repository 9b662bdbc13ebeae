//! One log directory: its lock, its owner, its partitions' folders, its end by disk failure.
//!
//! The files and names are Kafka's, so its processes and ours keep each other out, and each opens
//! what the other left.

mod error;
mod found;
mod meta;
pub mod name;
mod scan;

pub use error::OpenError;
pub use found::{Found, look};
pub use meta::MetaProperties;
pub use name::{DirName, METADATA_DIR, METADATA_TOPIC, Suffix};
pub use scan::{Scan, scan};

use crate::checkpoint::{self, Offsets};
use crate::disk::{self, Disk, File};
use crate::error::Error;
use crate::last_stop::LastStop;
use crate::partition_metadata;
use found::{LOCK, read_small};
use parking_lot::Mutex;
use protocol::ids::{TopicPartition, Uuid};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

const CLEAN_SHUTDOWN: &str = ".kafka_cleanshutdown";

/// While a process writes here: what holds what it has not synced, see [`Disk::cache_id`].
const RUNNING: &str = ".highwater_running";

/// A place that this process holds alone, whatever stands in it.
#[derive(Debug)]
pub struct Claim {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    lock: Arc<dyn File>,
    found: Found,
}

impl Claim {
    /// Takes the lock, making the folder if it is not there. A foreign place is left untouched.
    pub fn take(disk: Arc<dyn Disk>, path: &Path) -> Result<Claim, OpenError> {
        let failed = |error| OpenError::Disk { dir: path.to_owned(), error };
        if let Found::Foreign(found) = look(&*disk, path)? {
            return Err(OpenError::Foreign { dir: path.to_owned(), found });
        }
        disk::mkdir_all(&*disk, path).map_err(failed)?;
        let lock = match disk.lock(&path.join(LOCK)) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return Err(OpenError::Held { dir: path.to_owned() });
            }
            locked => locked.map_err(failed)?,
        };
        // Again: another process may have formatted it before the lock was ours.
        let found = look(&*disk, path)?;
        Ok(Claim { disk, path: path.to_owned(), lock, found })
    }

    pub fn found(&self) -> &Found {
        &self.found
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// Makes it a log directory. Whatever else a format writes is written before: this is what
    /// makes it valid.
    pub fn format(self, meta: MetaProperties) -> Result<LogDir, OpenError> {
        match self.found {
            Found::Empty => {}
            Found::Formatted(_) => return Err(OpenError::Formatted { dir: self.path }),
            Found::Foreign(found) => return Err(OpenError::Foreign { dir: self.path, found }),
        }
        write_meta(&*self.disk, &self.path, &meta)
            .map_err(|error| OpenError::Disk { dir: self.path.clone(), error })?;
        Claim { found: Found::Formatted(meta), ..self }.open()
    }

    /// Opens it as the log directory it is.
    pub fn open(self) -> Result<LogDir, OpenError> {
        let Claim { disk, path, lock, found } = self;
        match found {
            Found::Formatted(meta) => {
                let held = Mutex::new(Held { meta, offline: None });
                Ok(LogDir { disk, path, held, cache_id: OnceLock::new(), _lock: lock })
            }
            Found::Empty => Err(OpenError::NotFormatted { dir: path }),
            Found::Foreign(found) => Err(OpenError::Foreign { dir: path, found }),
        }
    }
}

fn write_meta(disk: &dyn Disk, dir: &Path, meta: &MetaProperties) -> io::Result<()> {
    disk::replace(disk, &dir.join(meta::NAME), meta.to_text().as_bytes())
}

/// A log directory that this process holds.
#[derive(Debug)]
pub struct LogDir {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// Read at every append that fails and by upkeep, changed almost never: any lock would do.
    held: Mutex<Held>,
    /// As it was when the mark was read, or somebody first asked.
    cache_id: OnceLock<Option<String>>,
    /// Whoever holds it is the successor of whoever held it.
    _lock: Arc<dyn File>,
}

#[derive(Debug)]
struct Held {
    meta: MetaProperties,
    offline: Option<Arc<str>>,
}

impl LogDir {
    /// Takes the lock of a formatted directory.
    pub fn open(disk: Arc<dyn Disk>, path: &Path) -> Result<LogDir, OpenError> {
        Claim::take(disk, path)?.open()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    pub fn meta(&self) -> MetaProperties {
        self.held.lock().meta.clone()
    }

    /// The directory's own id, which the cluster's metadata knows its replicas by; None in one
    /// that is older than such ids.
    pub fn id(&self) -> Option<Uuid> {
        self.held.lock().meta.directory_id
    }

    /// Gives an old directory its id, and brings the file to the version of today.
    pub fn upgrade(&self, cluster_id: &str, fresh_id: Uuid) -> io::Result<()> {
        let mut meta = self.meta();
        meta.cluster_id.get_or_insert_with(|| cluster_id.to_owned());
        meta.directory_id.get_or_insert(fresh_id);
        write_meta(&*self.disk, &self.path, &meta)?;
        self.held.lock().meta = meta;
        Ok(())
    }

    /// Refuses another cluster's directory, or another node's.
    pub fn expect(&self, cluster_id: Option<&str>, node_id: i32) -> Result<(), OpenError> {
        let (meta, dir) = (self.meta(), self.path.clone());
        if let (Some(found), Some(expected)) = (meta.cluster_id, cluster_id)
            && found != expected
        {
            return Err(OpenError::OtherCluster { dir, found, expected: expected.to_owned() });
        }
        if meta.node_id != node_id {
            return Err(OpenError::OtherNode { dir, found: meta.node_id, expected: node_id });
        }
        Ok(())
    }

    /// Reads and removes the mark of a clean stop, durably: from here on a crash is one. `Some` is
    /// the broker epoch of the process that stopped (-1 if it did not say).
    pub fn take_clean_shutdown(&self) -> io::Result<Option<i64>> {
        let path = self.path.join(CLEAN_SHUTDOWN);
        let Some(bytes) = read_small(&*self.disk, &path)? else { return Ok(None) };
        self.disk.remove(&path)?;
        self.disk.sync_dir(&self.path)?;
        // A mark that says nothing was not written whole: then nothing it says holds.
        let read = serde_json::from_slice::<serde_json::Value>(&bytes).ok();
        let mark = read.filter(|mark| mark.get("version").is_some());
        let epoch = |mark: serde_json::Value| mark.get("brokerEpoch").and_then(|it| it.as_i64());
        Ok(mark.map(|mark| epoch(mark).unwrap_or(-1)))
    }

    /// Marks that all logs here hold what they should: as long as the page cache lives that the mark
    /// names, a start need not check what was written since. It need not be durable: without it, or
    /// with another one's, all is checked.
    pub fn mark_running(&self) -> io::Result<()> {
        self.unmark_running()?;
        let Some(id) = self.disk.cache_id(&self.path)? else { return Ok(()) };
        self.disk.create(&self.path.join(RUNNING))?.write_all_at(0, id.as_bytes())
    }

    /// Takes the mark back: what a failed write or sync leaves, the page cache does not tell either.
    pub fn unmark_running(&self) -> io::Result<()> {
        match self.disk.remove(&self.path.join(RUNNING)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// How whoever held the directory last came to its end, and of a clean stop the broker epoch
    /// (-1 if it did not say). From here on a crash is one, see [`LogDir::take_clean_shutdown`].
    pub fn take_last_stop(&self) -> io::Result<(LastStop, Option<i64>)> {
        let epoch = self.take_clean_shutdown()?;
        let last_stop = match epoch {
            Some(_) => LastStop::Clean,
            // A mark that cannot be read says nothing.
            None if self.was_killed().unwrap_or(false) => LastStop::Killed,
            None => LastStop::Crashed,
        };
        Ok((last_stop, epoch))
    }

    /// Whether all that was ever written here since the mark is there, synced or not: whoever wrote
    /// it has ended, the kernel has not.
    fn was_killed(&self) -> io::Result<bool> {
        let marked = read_small(&*self.disk, &self.path.join(RUNNING))?;
        let id = self.cache_id()?;
        Ok(id.is_some() && marked.as_deref() == id.map(str::as_bytes))
    }

    /// Asked once: what is mounted here later does not have what the mark is about.
    fn cache_id(&self) -> io::Result<Option<&str>> {
        let id = match self.cache_id.get() {
            Some(id) => id,
            None => {
                let id = self.disk.cache_id(&self.path)?;
                self.cache_id.get_or_init(|| id)
            }
        };
        Ok(id.as_deref())
    }

    /// Whether a folder in it shares its page cache: another disk may be mounted there.
    pub fn shares_cache_with(&self, folder: &Path) -> io::Result<bool> {
        Ok(self.disk.cache_id(folder)?.as_deref() == self.cache_id()?)
    }

    /// Marks that everything was closed and synced.
    pub fn mark_clean_shutdown(&self, broker_epoch: i64) -> io::Result<()> {
        self.unmark_running()?;
        let text = format!("{{\"version\":0,\"brokerEpoch\":{broker_epoch}}}");
        disk::replace(&*self.disk, &self.path.join(CLEAN_SHUTDOWN), text.as_bytes())
    }

    /// Reads one of the directory's checkpoints, as [`checkpoint::RECOVERY_POINT`].
    pub fn read_offsets(&self, name: &str) -> Result<Offsets, Error> {
        checkpoint::read_offsets(&*self.disk, &self.path.join(name))
    }

    /// Replaces one of the directory's checkpoints.
    pub fn write_offsets(&self, name: &str, offsets: &Offsets) -> io::Result<()> {
        checkpoint::write_offsets(&*self.disk, &self.path.join(name), offsets)
    }

    /// The folders that stand here.
    pub fn scan(&self) -> io::Result<Scan> {
        scan(&*self.disk, &self.path)
    }

    /// Where a partition's folder is, or would be.
    pub fn partition_path(&self, partition: &TopicPartition) -> PathBuf {
        self.path.join(partition.to_string())
    }

    /// Makes a partition's folder, with its topic's id in it; true: there was none. One that a crash
    /// left without an id is taken over; one with another topic's id is refused.
    ///
    /// Nothing is synced, because many are made at once: [`LogDir::sync_names`] follows, before
    /// anybody hears of them, and the first flush of the log, which makes durable what is inside.
    pub fn create_partition(
        &self,
        partition: &TopicPartition,
        topic_id: Uuid,
    ) -> Result<(PathBuf, bool), Error> {
        let path = self.partition_path(partition);
        let is_new = match self.disk.mkdir(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            made => made.map(|()| true)?,
        };
        let found = if is_new { None } else { partition_metadata::read(&*self.disk, &path)? };
        match found {
            None => partition_metadata::create(&*self.disk, &path, topic_id)?,
            Some(found) if found == topic_id => {}
            Some(found) => {
                let reason = format!("it belongs to topic id {found}, not {topic_id}");
                return Err(Error::malformed(&path, reason));
            }
        }
        Ok((path, is_new))
    }

    /// Makes durable which folders are there, by which names.
    pub fn sync_names(&self) -> io::Result<()> {
        self.disk.sync_dir(&self.path)
    }

    /// Renames a partition's folder, so that its name is free at once and the files can be unlinked
    /// later. `unique` is a random id. [`LogDir::sync_names`] follows, once for many; a crash before
    /// may bring the old name back, which the next start then sets aside.
    pub fn set_aside(
        &self,
        partition: &TopicPartition,
        unique: Uuid,
        suffix: Suffix,
    ) -> io::Result<PathBuf> {
        let aside = self.path.join(name::waiting(partition, unique, suffix));
        self.disk.rename(&self.partition_path(partition), &aside)?;
        Ok(aside)
    }

    /// Unlinks a folder that was set aside, leaf by leaf. An interrupted one goes on at the next start.
    pub fn remove(&self, aside: &Path) -> io::Result<()> {
        disk::remove_tree(&*self.disk, aside)
    }

    /// The disk failed: from here on nothing is read from it or written to it. The first reason stays.
    pub fn go_offline(&self, reason: &str) {
        self.held.lock().offline.get_or_insert_with(|| reason.into());
    }

    /// Why the directory is offline, if it is.
    pub fn offline(&self) -> Option<Arc<str>> {
        self.held.lock().offline.clone()
    }

    pub fn is_offline(&self) -> bool {
        self.held.lock().offline.is_some()
    }

    pub fn free_bytes(&self) -> io::Result<u64> {
        self.disk.free_bytes(&self.path)
    }

    pub fn total_bytes(&self) -> io::Result<u64> {
        self.disk.total_bytes(&self.path)
    }
}

#[cfg(test)]
mod tests;
