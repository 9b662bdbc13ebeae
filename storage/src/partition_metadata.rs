//! `partition.metadata`: which topic, by its id, a partition's folder belongs to.

use crate::disk::{self, Disk};
use crate::error::Error;
use protocol::ids::Uuid;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The file's name in a partition's folder.
pub const NAME: &str = "partition.metadata";

const FILE_BYTES_MAX: usize = 64 << 10;

/// Characters of an id.
const ID_LEN: usize = 22;

/// The topic's id; None without a file, or with one that a crash left before its bytes: then
/// whoever knows the id writes it again.
pub fn read(disk: &dyn Disk, dir: &Path) -> Result<Option<Uuid>, Error> {
    let path = dir.join(NAME);
    let file = match disk.open(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let bytes = match disk::read_whole(&*file, FILE_BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::FileTooLarge => Vec::new(),
        read => read?,
    };
    if is_torn(&bytes) && (!bytes.is_empty() || file.size()? == 0) {
        return Ok(None);
    }
    parse(&bytes).map(Some).map_err(|reason| Error::malformed(&path, reason))
}

fn text(topic_id: Uuid) -> String {
    format!("version: 0\ntopic_id: {topic_id}\n")
}

/// Whether a crash can leave this of a file that was written at once: the bytes fit a sector, so
/// all of them are there, or a beginning of them, or zeros in their place.
fn is_torn(bytes: &[u8]) -> bool {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let (written, zeros) = bytes.split_at(end);
    let whole = text(Uuid::ZERO);
    let (key, id) = whole.as_bytes().split_at(whole.len() - ID_LEN - 1);
    let is_cut = written.len() < whole.len() && (!zeros.is_empty() || bytes.len() < whole.len());
    let is_id = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    is_cut
        && match written.strip_prefix(key) {
            Some(rest) => rest.len() < id.len() && rest.iter().all(is_id),
            None => key.starts_with(written),
        }
}

/// Writes the file into a folder that has none, or one that a crash has torn. The first flush of
/// the log makes it durable: until then a crash only leaves it to be written again.
pub fn create(disk: &dyn Disk, dir: &Path, topic_id: Uuid) -> io::Result<()> {
    let path = dir.join(NAME);
    let file = match disk.create(&path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let file = disk.open(&path)?;
            file.truncate(0)?;
            file
        }
        created => created?,
    };
    file.write_all_at(0, text(topic_id).as_bytes())
}

/// Makes the file's bytes durable; its name is the folder's. Without one there is nothing to do.
pub fn sync(disk: &dyn Disk, dir: &Path) -> io::Result<()> {
    match disk.open(&dir.join(NAME)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        opened => opened?.sync(),
    }
}

/// Replaces the file, durably.
pub fn write(disk: &dyn Disk, dir: &Path, topic_id: Uuid) -> io::Result<()> {
    disk::replace(disk, &dir.join(NAME), text(topic_id).as_bytes())
}

fn parse(bytes: &[u8]) -> Result<Uuid, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "not a text file")?;
    let mut lines = text.lines().map(|line| line.split_once(':').unwrap_or((line, "")));
    match lines.next() {
        Some((key, version)) if key.trim() == "version" && version.trim() == "0" => {}
        _ => return Err("the first line is not 'version: 0'".to_owned()),
    }
    let id = match lines.next() {
        Some((key, id)) if key.trim() == "topic_id" => id.trim().parse::<Uuid>().ok(),
        _ => None,
    };
    id.filter(|id| !id.is_zero()).ok_or("the second line names no topic id".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::sim::SimDisk;

    #[test]
    fn the_file_is_kafkas_and_others_are_refused() {
        let (disk, dir) = (SimDisk::default(), Path::new("/"));
        assert_eq!(read(&disk, dir).unwrap(), None);
        write(&disk, dir, Uuid::METADATA_TOPIC).unwrap();
        let file = disk.open(&dir.join(NAME)).unwrap();
        let bytes = disk::read_whole(&*file, 1000).unwrap();
        assert_eq!(bytes, b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n");
        assert_eq!(read(&disk, dir).unwrap(), Some(Uuid::METADATA_TOPIC));
        for left in [
            "",
            "\0\0\0",
            "version: 0\ntop",
            "version: 0\ntopic_id: AAAA",
            "version: 0\ntopic_id: AAAA\0\0",
        ] {
            disk.remove(&dir.join(NAME)).unwrap();
            disk.create(&dir.join(NAME)).unwrap().write_all_at(0, left.as_bytes()).unwrap();
            assert_eq!(read(&disk, dir).unwrap(), None, "{left:?}");
            create(&disk, dir, Uuid::METADATA_TOPIC).unwrap();
            assert_eq!(read(&disk, dir).unwrap(), Some(Uuid::METADATA_TOPIC));
        }
        let file = disk.open(&dir.join(NAME)).unwrap();
        for hostile in [
            " ",
            "version: 1\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n",
            "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA\n",
            "version: 0\ntopic_id: short\n",
            "version: 0\ntopic_id: sh rt",
            "\0x\0",
        ] {
            file.truncate(0).unwrap();
            file.write_all_at(0, hostile.as_bytes()).unwrap();
            assert!(matches!(read(&disk, dir), Err(Error::Malformed { .. })), "{hostile:?}");
        }
    }
}
