//! Makes data cold: takes the files of a broker out of the page cache.

use crate::Outcome;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use std::fs::File;
use std::path::Path;

/// Drops the pages of every log segment under `dir`. What is dirty is written first, or it stays.
pub(crate) fn drop_segments(dir: &Path) -> Outcome<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            drop_segments(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "log") {
            let file = File::open(&path)?;
            file.sync_data()?;
            posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
        }
    }
    Ok(())
}
