//! Files that have left their logs and wait to be unlinked, so that who reads them can finish.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use storage::disk::{self, Disk};

/// What waits, by the moment it may go.
#[derive(Debug, Default)]
pub struct Doomed {
    waiting: Mutex<BTreeMap<(Duration, u64), PathBuf>>,
}

impl Doomed {
    /// `path`, a file or a folder with files, goes at `due`.
    pub fn put(&self, path: PathBuf, due: Duration) {
        let mut waiting = self.waiting.lock();
        let next = waiting.last_key_value().map_or(0, |((_, number), _)| number + 1);
        let free = (next..).find(|number| !waiting.contains_key(&(due, *number)));
        waiting.insert((due, free.unwrap_or(next)), path);
    }

    /// What is in the folder `under` waits no longer than until `now`.
    pub(super) fn bring_forward(&self, under: &Path, now: Duration) {
        let mut waiting = self.waiting.lock();
        let early = |_: &(Duration, u64), path: &mut PathBuf| path.starts_with(under);
        let paths: Vec<_> = waiting.extract_if(.., early).map(|(_, path)| path).collect();
        drop(waiting);
        paths.into_iter().for_each(|path| self.put(path, now));
    }

    /// Removes what is due. What cannot be removed is said and left: the next start finds it.
    pub(super) fn remove_due(&self, disk: &dyn Disk, now: Duration) {
        let due = {
            let mut waiting = self.waiting.lock();
            let later = waiting.split_off(&(now.saturating_add(Duration::from_nanos(1)), 0));
            std::mem::replace(&mut *waiting, later)
        };
        for path in due.into_values() {
            match remove(disk, &path) {
                Ok(()) => tracing::debug!("Deleted {}", path.display()),
                Err(error) => tracing::warn!("Could not delete {}: {error}", path.display()),
            }
        }
    }
}

fn remove(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk::remove_tree(disk, path) {
        // Gone already.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::disk::sim::SimDisk;

    #[test]
    fn what_is_doomed_goes_when_its_time_has_come() {
        let disk = SimDisk::default();
        for path in ["/a", "/d"] {
            disk.mkdir(Path::new(path)).unwrap();
        }
        for path in ["/a/1", "/a/2", "/d/3"] {
            disk.create(Path::new(path)).unwrap();
        }
        let doomed = Doomed::default();
        let at = Duration::from_secs;
        doomed.put("/a/1".into(), at(5));
        doomed.put("/a/2".into(), at(5));
        doomed.put("/d".into(), at(9));
        let left = |path| disk.list(Path::new(path)).map(|entries| entries.len()).unwrap_or(0);
        doomed.remove_due(&disk, at(4));
        assert_eq!((left("/a"), left("/d")), (2, 1));
        doomed.remove_due(&disk, at(5));
        assert_eq!((left("/a"), left("/d")), (0, 1));
        doomed.bring_forward(Path::new("/a"), at(6));
        doomed.remove_due(&disk, at(8));
        assert_eq!(left("/d"), 1, "it is in another folder");
        doomed.bring_forward(Path::new("/d"), at(8));
        doomed.remove_due(&disk, at(8));
        assert!(disk.list(Path::new("/d")).is_err());
    }
}
