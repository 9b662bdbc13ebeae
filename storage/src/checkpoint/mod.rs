//! Kafka's text checkpoints: a version, a count, a line for each entry; replaced whole or not at all.

use crate::disk::{self, Disk};
use crate::error::Error;
use protocol::ids::TopicPartition;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// Per log directory: up to where each log is known to be whole; recovery starts there.
pub const RECOVERY_POINT: &str = "recovery-point-offset-checkpoint";
/// Per log directory: the first offset of each log that DeleteRecords moved.
pub const LOG_START: &str = "log-start-offset-checkpoint";
/// Per log directory: the high watermark of each log.
pub const REPLICATION: &str = "replication-offset-checkpoint";
/// Per log directory: up to where each compacted log is clean.
pub const CLEANER: &str = "cleaner-offset-checkpoint";
/// Per partition: where each leader epoch starts.
pub const LEADER_EPOCH: &str = "leader-epoch-checkpoint";

/// The only version there ever was.
const VERSION: &str = "0";

/// Far above any real one; a bound on what a hostile file makes us read.
const FILE_BYTES_MAX: usize = 64 << 20;

/// An offset for each partition.
pub type Offsets = BTreeMap<TopicPartition, i64>;

/// Reads `topic partition offset` lines; without a file there are none.
pub fn read_offsets(disk: &dyn Disk, path: &Path) -> Result<Offsets, Error> {
    let entry = |words: &[&str]| match *words {
        [topic, partition, offset] => {
            let partition = partition.parse().ok().filter(|number: &i32| 0 <= *number)?;
            Some((TopicPartition::new(topic, partition), offset.parse().ok()?))
        }
        _ => None,
    };
    Ok(read(disk, path, entry)?.unwrap_or_default().into_iter().collect())
}

/// Replaces the file, durably.
pub fn write_offsets(disk: &dyn Disk, path: &Path, offsets: &Offsets) -> io::Result<()> {
    write(disk, path, offsets.iter(), |line, (TopicPartition { topic, partition }, offset)| {
        write!(line, "{topic} {partition} {offset}")
    })
}

/// Reads `epoch offset` lines; None without a file.
pub fn read_epochs(disk: &dyn Disk, path: &Path) -> Result<Option<Vec<(i32, i64)>>, Error> {
    read(disk, path, |words| match *words {
        [epoch, offset] => Some((epoch.parse().ok()?, offset.parse().ok()?)),
        _ => None,
    })
}

/// Replaces the file, durably.
pub fn write_epochs(disk: &dyn Disk, path: &Path, epochs: &[(i32, i64)]) -> io::Result<()> {
    write(disk, path, epochs.iter(), |line, (epoch, offset)| write!(line, "{epoch} {offset}"))
}

fn read<T>(
    disk: &dyn Disk,
    path: &Path,
    entry: impl Fn(&[&str]) -> Option<T>,
) -> Result<Option<Vec<T>>, Error> {
    let file = match disk.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let bytes = match disk::read_whole(&*file, FILE_BYTES_MAX) {
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Err(Error::malformed(path, "too large for a checkpoint"));
        }
        read => read?,
    };
    if bytes.is_empty() {
        // Apache Kafka makes the file before it has anything to say.
        return Ok(None);
    }
    parse(&bytes, entry).map(Some).map_err(|reason| Error::malformed(path, reason))
}

fn parse<T>(bytes: &[u8], entry: impl Fn(&[&str]) -> Option<T>) -> Result<Vec<T>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "not a text file")?;
    let mut lines = text.lines();
    match lines.next().map(str::trim) {
        Some(VERSION) => {}
        Some(other) => return Err(format!("unknown version '{}'", shortened(other))),
        None => return Err("empty".to_owned()),
    }
    let count = lines.next().unwrap_or_default().trim();
    let count: usize =
        count.parse().map_err(|_| format!("'{}' is no number of entries", shortened(count)))?;
    let mut entries = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let read = entry(&words).ok_or_else(|| format!("malformed line '{}'", shortened(line)))?;
        entries.push(read);
    }
    if entries.len() == count {
        Ok(entries)
    } else {
        Err(format!("{count} entries were announced, but {} are there", entries.len()))
    }
}

/// For an error message: a hostile line may be as long as the file.
fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

fn write<T>(
    disk: &dyn Disk,
    path: &Path,
    entries: impl ExactSizeIterator<Item = T>,
    write: impl Fn(&mut String, T) -> std::fmt::Result,
) -> io::Result<()> {
    let mut text = format!("{VERSION}\n{}\n", entries.len());
    for entry in entries {
        write(&mut text, entry).map_err(io::Error::other)?;
        text.push('\n');
    }
    disk::replace(disk, path, text.as_bytes())
}

#[cfg(test)]
mod tests;
