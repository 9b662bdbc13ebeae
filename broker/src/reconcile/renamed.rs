//! Directories in which folders were renamed: each is synced once for all of them.

use crate::partition::Dir;
use std::sync::Arc;
use storage::error::is_out_of_files;

#[derive(Debug, Default)]
pub(super) struct Renamed(Vec<Arc<Dir>>);

impl Renamed {
    pub(super) fn add(&mut self, dir: &Arc<Dir>) {
        if !self.0.iter().any(|other| Arc::ptr_eq(other, dir)) {
            self.0.push(Arc::clone(dir));
        }
    }

    /// Makes the new names durable. A crash before brings old ones back, which the next start
    /// renames again; so it is no failure that no file could be opened for it.
    pub(super) fn sync(self) {
        for dir in self.0 {
            match dir.log_dir().map_or(Ok(()), |log_dir| log_dir.sync_names()) {
                Err(error) if !is_out_of_files(&error) => {
                    dir.fail(&format!("syncing the names in it: {error}"));
                }
                Err(_) | Ok(()) => {}
            }
        }
    }
}
