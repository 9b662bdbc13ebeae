//! The indexes of a segment, by offset and by time, held against its log.

use super::ask::Ask;
use super::found::Found;
use super::log::batch_at;
use crate::failure::Failure;
use crate::output::Output;
use std::path::Path;
use std::sync::Arc;
use storage::disk::{Disk, File, read_whole};
use storage::segment::index::{Entry, OffsetEntry, TimeEntry};

/// Bytes of an index that are read: entries say positions and offsets of 32 bits.
const INDEX_BYTES_MAX: usize = i32::MAX as usize;

/// An index, read.
struct Read<E> {
    base: i64,
    /// Bytes in the file.
    len: usize,
    entries: Vec<E>,
}

impl<E: Entry> Read<E> {
    fn of(path: &Path, disk: &dyn Disk) -> Result<Read<E>, Failure> {
        let told = |why: String| Failure::told(format_args!("{}: {why}", path.display()));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let front = name.split('.').next().unwrap_or_default();
        let base = front.parse().map_err(|_| told("not the name of an index".to_owned()))?;
        let file = disk.open_input(path).map_err(|error| told(error.to_string()))?;
        let bytes = read_whole(&*file, INDEX_BYTES_MAX).map_err(|error| told(error.to_string()))?;
        let entries = bytes.chunks_exact(E::SIZE as usize).map_while(E::decode).collect();
        Ok(Read { base, len: bytes.len(), entries })
    }

    fn offset(&self, entry: E) -> i64 {
        self.base + i64::from(entry.relative())
    }

    /// A crash leaves zeros behind the last entry.
    fn ends_at(&self, at: usize, entry: E) -> bool {
        0 < at && entry.relative() == 0
    }

    /// What a broker asks of an index that it opens.
    fn check(&self, path: &Path) -> Result<(), Failure> {
        let path = path.display();
        let size = E::SIZE as usize;
        if !self.len.is_multiple_of(size) {
            let len = self.len;
            return Err(Failure::told(format_args!(
                "Index file {path} is corrupt, found {len} bytes which is neither positive nor a \
                 multiple of {size}"
            )));
        }
        if let (Some(first), Some(last)) = (self.entries.first(), self.entries.last())
            && last.key() < first.key()
        {
            return Err(Failure::told(format_args!(
                "Corrupt index found, index file ({path}) has non-zero size but its last entry is \
                 less than its first"
            )));
        }
        Ok(())
    }
}

/// The log beside an index.
struct Log {
    file: Arc<dyn File>,
    size: u64,
    name: String,
}

impl Log {
    fn beside(path: &Path, disk: &dyn Disk) -> Result<Log, Failure> {
        let path = path.with_extension("log");
        let name = path.display().to_string();
        let told = |error: std::io::Error| Failure::told(format_args!("{name}: {error}"));
        let file = disk.open(&path).map_err(told)?;
        let size = file.size().map_err(told)?;
        Ok(Log { file, size, name })
    }

    fn told(&self, why: &str) -> Failure {
        Failure::told(format_args!("{}: {why}", self.name))
    }
}

/// Prints an `.index`.
pub(super) fn dump_offsets(
    path: &Path,
    ask: &Ask,
    disk: &dyn Disk,
    out: &mut Output,
    found: &mut Found,
) -> Result<(), Failure> {
    let log = Log::beside(path, disk)?;
    let index = Read::<OffsetEntry>::of(path, disk)?;
    if index.entries.is_empty() {
        return out.line(format_args!("{} is empty.", path.display()));
    }
    if ask.sanity_only {
        index.check(path)?;
        return out.line(format_args!("{} passed sanity check.", path.display()));
    }
    for (at, entry) in index.entries.iter().enumerate() {
        if index.ends_at(at, *entry) {
            return Ok(());
        }
        let (offset, position) = (index.offset(*entry), u64::from(entry.position));
        let end = log.size.min(position.saturating_add(ask.max_message_size));
        let batch = batch_at(&*log.file, position, end).map_err(|why| log.told(&why))?;
        let Some(batch) = batch else {
            return Err(log.told(&format!(
                "the index leads offset {offset} to position {position}, where no whole batch of \
                 at most {} bytes stands (--max-message-size)",
                ask.max_message_size
            )));
        };
        let last = batch.header.last_offset();
        if last != offset {
            found.mismatch(path, offset, last);
        }
        if !ask.verifies_only {
            out.line(format_args!("offset: {offset} position: {position}"))?;
        }
    }
    Ok(())
}

/// Prints a `.timeindex`.
pub(super) fn dump_times(
    path: &Path,
    ask: &Ask,
    disk: &dyn Disk,
    out: &mut Output,
    found: &mut Found,
) -> Result<(), Failure> {
    let log = Log::beside(path, disk)?;
    let offsets = Read::<OffsetEntry>::of(&path.with_extension("index"), disk)?;
    let index = Read::<TimeEntry>::of(path, disk)?;
    if ask.sanity_only {
        index.check(path)?;
        return out.line(format_args!("{} passed sanity check.", path.display()));
    }
    let mut before = -1;
    for (at, entry) in index.entries.iter().enumerate() {
        if index.ends_at(at, *entry) {
            return Ok(());
        }
        let offset = index.offset(*entry);
        let below = offsets.entries.partition_point(|it| it.relative <= entry.relative);
        let start = below.checked_sub(1).and_then(|at| offsets.entries.get(at));
        let mut position = start.map_or(0, |it| u64::from(it.position));
        let batch = loop {
            let next = batch_at(&*log.file, position, log.size).map_err(|why| log.told(&why))?;
            match next {
                Some(batch) if batch.header.last_offset() < offset => {
                    position += batch.bytes.len() as u64;
                }
                other => break other,
            }
        };
        match batch {
            None => found.not_found(path, offset, -1),
            Some(batch) if batch.header.last_offset() != offset => {
                found.not_found(path, offset, batch.header.last_offset());
            }
            Some(batch) => {
                let greatest = batch.max_timestamp().map_err(|why| log.told(&why))?;
                if greatest != entry.timestamp {
                    found.time_mismatch(path, entry.timestamp, greatest);
                }
                if entry.timestamp <= before {
                    found.out_of_order(path, entry.timestamp, before);
                }
            }
        }
        if !ask.verifies_only {
            out.line(format_args!("timestamp: {} offset: {offset}", entry.timestamp))?;
        }
        before = entry.timestamp;
    }
    Ok(())
}
