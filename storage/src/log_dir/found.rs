//! What stands in a place that is meant to be a log directory, before anybody touches it.

use super::error::OpenError;
use super::meta::{self, MetaProperties};
use super::name::METADATA_DIR;
use crate::disk::{self, Disk, Entry};
use std::io::{self, ErrorKind};
use std::path::Path;

pub(super) const LOCK: &str = ".lock";
const FILE_BYTES_MAX: usize = 64 << 10;

/// What stands in a place that is meant to be a log directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing that anybody would miss: it may be formatted.
    Empty,
    Formatted(MetaProperties),
    /// Something, by one of its names, but nothing that says whose it is: hands off.
    Foreign(String),
}

/// Looks, and changes nothing. A place that is not there is empty.
pub fn look(disk: &dyn Disk, dir: &Path) -> Result<Found, OpenError> {
    let failed = |error| OpenError::Disk { dir: dir.to_owned(), error };
    let path = dir.join(meta::NAME);
    match read_small(disk, &path) {
        Ok(Some(bytes)) => MetaProperties::parse(&bytes)
            .map(Found::Formatted)
            .map_err(|reason| OpenError::Malformed { path, reason }),
        Ok(None) => {
            let entries = match disk.list(dir) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Empty),
                listed => listed.map_err(failed)?,
            };
            for entry in entries {
                if !is_nothing(disk, dir, &entry).map_err(failed)? {
                    return Ok(Found::Foreign(entry.name));
                }
            }
            Ok(Found::Empty)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Whether an entry is what a file system, a lock, an image, or a format that was interrupted leaves
/// behind.
fn is_nothing(disk: &dyn Disk, dir: &Path, entry: &Entry) -> io::Result<bool> {
    Ok(match entry.name.as_str() {
        "lost+found" => entry.is_dir,
        // The last is the mark of Bitnami's entry point in a volume, set before a broker starts.
        LOCK | "meta.properties.tmp" | ".user_scripts_initialized" => !entry.is_dir,
        // The first snapshot is written before `meta.properties`; it holds no one's data.
        METADATA_DIR if entry.is_dir => {
            disk.list(&dir.join(METADATA_DIR))?.iter().all(|inner| is_first_snapshot(&inner.name))
        }
        _ => false,
    })
}

fn is_first_snapshot(name: &str) -> bool {
    name.strip_prefix("00000000000000000000-0000000000.checkpoint")
        .is_some_and(|rest| matches!(rest, "" | ".tmp" | ".part"))
}

/// A file's bytes; None if there is none.
pub(super) fn read_small(disk: &dyn Disk, path: &Path) -> io::Result<Option<Vec<u8>>> {
    match disk.open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        opened => disk::read_whole(&*opened?, FILE_BYTES_MAX).map(Some),
    }
}
