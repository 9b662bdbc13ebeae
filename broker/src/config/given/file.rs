//! The bytes of a small file of text.

use super::refused::Refused;
use std::io::{Error, ErrorKind};
use std::path::Path;
use storage::disk::Disk;

/// Bytes of a text that are read; a longer one is no configuration.
const BYTES_MAX: usize = 16 << 20;

/// What stands in the file at `path`, read to its end: those of `/proc` do not know their size.
pub fn read(disk: &dyn Disk, path: &Path) -> Result<Vec<u8>, Refused> {
    let bytes = read_to_end(disk, path);
    bytes.map_err(|error| Refused::Unreadable {
        file: path.display().to_string(),
        why: error.to_string(),
    })
}

fn read_to_end(disk: &dyn Disk, path: &Path) -> Result<Vec<u8>, Error> {
    let file = disk.open_input(path)?;
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 65_536]);
    loop {
        let count = file.read_at(bytes.len() as u64, &mut chunk)?;
        if count == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(chunk.get(..count).unwrap_or_default());
        if BYTES_MAX < bytes.len() {
            return Err(Error::new(ErrorKind::FileTooLarge, "it is too long for a config file"));
        }
    }
}
