//! `.txnindex`: the aborted transactions whose markers stand in a segment. Absent without any.

use crate::disk::{self, Disk, File};
use crate::error::Error;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

const VERSION: i16 = 0;
/// Bytes of an entry.
pub const ENTRY_LEN: usize = 2 + 4 * 8;
const FILE_BYTES_MAX: usize = 1 << 30;

/// An aborted transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbortedTxn {
    pub producer_id: i64,
    pub first_offset: i64,
    /// The marker's offset.
    pub last_offset: i64,
    /// The last stable offset once the marker is replicated.
    pub last_stable_offset: i64,
}

impl AbortedTxn {
    pub fn encode(&self) -> [u8; ENTRY_LEN] {
        let mut bytes = [0; ENTRY_LEN];
        let fields =
            [self.producer_id, self.first_offset, self.last_offset, self.last_stable_offset];
        let (version, rest) = bytes.split_at_mut(2);
        version.copy_from_slice(&VERSION.to_be_bytes());
        for (into, field) in rest.chunks_exact_mut(8).zip(fields) {
            into.copy_from_slice(&field.to_be_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8; ENTRY_LEN]) -> Option<AbortedTxn> {
        let (version, rest) = bytes.split_first_chunk()?;
        let (&[producer_id, first_offset, last_offset, last_stable_offset], []) =
            rest.as_chunks().0.split_first_chunk()?
        else {
            return None;
        };
        let [producer_id, first_offset, last_offset, last_stable_offset] =
            [producer_id, first_offset, last_offset, last_stable_offset].map(i64::from_be_bytes);
        (i16::from_be_bytes(*version) == VERSION).then_some(AbortedTxn {
            producer_id,
            first_offset,
            last_offset,
            last_stable_offset,
        })
    }
}

/// What a search of one segment's index found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub aborted: Vec<AbortedTxn>,
    /// No later segment can hold a transaction that overlaps the range.
    pub is_complete: bool,
}

/// Appends an entry, making the file if it is the first; returns the file for a later sync.
pub fn append(disk: &dyn Disk, path: &Path, aborted: &AbortedTxn) -> io::Result<Arc<dyn File>> {
    let file = match disk.open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => disk.create(path)?,
        opened => opened?,
    };
    let whole = file.size()? / ENTRY_LEN as u64 * ENTRY_LEN as u64;
    file.write_all_at(whole, &aborted.encode())?;
    Ok(file)
}

/// All entries; none without a file.
pub fn read(disk: &dyn Disk, path: &Path) -> Result<Vec<AbortedTxn>, Error> {
    match disk.open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        opened => decode(&*opened?, path),
    }
}

/// All entries of a file, which stands at `path`.
pub fn decode(file: &dyn File, path: &Path) -> Result<Vec<AbortedTxn>, Error> {
    let bytes = whole(file, path)?;
    let (entries, rest) = bytes.as_chunks::<ENTRY_LEN>();
    if !rest.is_empty() {
        return Err(Error::malformed(path, "ends within an entry"));
    }
    let mut last = i64::MIN;
    let mut decode = |entry: &[u8; ENTRY_LEN]| {
        let aborted = AbortedTxn::decode(entry).filter(|aborted| last < aborted.last_offset)?;
        last = aborted.last_offset;
        Some(aborted)
    };
    let read: Option<Vec<AbortedTxn>> = entries.iter().map(&mut decode).collect();
    read.ok_or_else(|| Error::malformed(path, "an entry of unknown version, or out of order"))
}

fn whole(file: &dyn File, path: &Path) -> Result<Vec<u8>, Error> {
    match disk::read_whole(file, FILE_BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            Err(Error::malformed(path, "too large for a transaction index"))
        }
        read => Ok(read?),
    }
}

/// Those of a segment's `entries` that a `read_committed` fetch of `from..to` must skip.
pub fn collect(entries: &[AbortedTxn], from: i64, to: i64) -> Found {
    let mut found = Found::default();
    for aborted in entries {
        if from <= aborted.last_offset && aborted.first_offset < to {
            found.aborted.push(*aborted);
        }
        if to <= aborted.last_stable_offset {
            found.is_complete = true;
            break;
        }
    }
    found
}

/// Drops the entries of markers at or behind `offset`: the log was cut there.
pub fn truncate(disk: &dyn Disk, path: &Path, offset: i64) -> Result<(), Error> {
    let entries = read(disk, path)?;
    let kept = entries.partition_point(|aborted| aborted.last_offset < offset);
    if kept < entries.len() {
        disk.open(path)?.truncate((kept * ENTRY_LEN) as u64)?;
    }
    Ok(())
}

/// Cuts a file after a crash behind the entries that can be what was written: of markers in
/// `within`, one behind the other. Returns from which offset on it says nothing of markers.
pub fn mend(disk: &dyn Disk, path: &Path, within: Range<i64>) -> Result<i64, Error> {
    let file = match disk.open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(within.start),
        opened => opened?,
    };
    let bytes = whole(&*file, path)?;
    let (mut kept, mut next) = (0, within.start);
    for entry in bytes.as_chunks::<ENTRY_LEN>().0 {
        // A marker stands behind what it ends. Zeros, which a power cut leaves, do not.
        let sane = AbortedTxn::decode(entry).filter(|it| {
            it.first_offset < it.last_offset && (next..within.end).contains(&it.last_offset)
        });
        let Some(aborted) = sane else { break };
        next = aborted.last_offset.saturating_add(1);
        kept += ENTRY_LEN;
    }
    if kept < bytes.len() {
        file.truncate(kept as u64)?;
    }
    Ok(next)
}

#[cfg(test)]
mod tests;
