//! Producer state in a file: `%020d.snapshot`, named by the offset up to which it holds.
//!
//! Kafka's form keeps only the last batch of each producer.

use super::{BatchMark, Producer, Producers};
use crate::disk::{self, Disk, sync_dir};
use crate::error::Error;
use protocol::checksum::crc32c;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

const VERSION: i16 = 1;
const HEAD_LEN: usize = 2 + 4 + 4;
const ENTRY_LEN: usize = 8 + 2 + 4 + 8 + 4 + 8 + 4 + 8;
/// Bytes that the checksum covers start behind it.
const CHECKED_FROM: usize = 6;
/// Ten times a million producers; a bound on what a hostile file makes us read.
const FILE_BYTES_MAX: usize = 512 << 20;

/// The file of an offset.
pub fn path(dir: &Path, offset: i64) -> PathBuf {
    dir.join(format!("{offset:020}.snapshot"))
}

/// The offset in a snapshot's name.
pub fn offset_of(name: &str) -> Option<i64> {
    let digits = name.strip_suffix(".snapshot")?;
    let is_ours = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_ours.then(|| digits.parse().ok())?
}

/// The snapshots of a partition, oldest first.
pub fn list(disk: &dyn Disk, dir: &Path) -> io::Result<Vec<i64>> {
    let mut offsets: Vec<i64> =
        disk.list(dir)?.iter().filter_map(|entry| offset_of(&entry.name)).collect();
    offsets.sort_unstable();
    Ok(offsets)
}

/// Writes the snapshot of [`Producers::end`]. A crash before the next sync of its file may leave
/// a torn one, which the checksum tells; `sync` waits for the disk.
pub fn write(disk: &dyn Disk, dir: &Path, producers: &Producers, sync: bool) -> io::Result<()> {
    let path = path(dir, producers.end());
    let file = match disk.create(&path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let file = disk.open(&path)?;
            file.truncate(0)?;
            file
        }
        created => created?,
    };
    file.write_all_at(0, &encode(producers))?;
    if sync {
        file.sync()?;
        sync_dir(disk, dir)?;
    }
    Ok(())
}

/// Reads one snapshot. Producers that have been silent for too long are left out.
pub fn read(
    disk: &dyn Disk,
    dir: &Path,
    offset: i64,
    (now_ms, expiration_ms): (i64, i64),
) -> Result<Producers, Error> {
    let path = path(dir, offset);
    let file = disk.open(&path)?;
    let bytes = match disk::read_whole(&*file, FILE_BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            return Err(Error::malformed(&path, "too large for a snapshot"));
        }
        read => read?,
    };
    let mut producers = Producers::starting_at(offset);
    for producer in decode(&bytes).map_err(|reason| Error::malformed(&path, reason))? {
        if !producer.is_expired(now_ms, expiration_ms) {
            producers.insert(producer);
        }
    }
    Ok(producers)
}

/// The newest readable snapshot of an offset within `log_start..=log_end`, or an empty state at
/// `log_start`. Those outside, and those that are torn, are removed: they would mislead later. So
/// are older ones that no segment begins at, which `is_base` knows: each stop may leave one.
pub fn load_latest(
    disk: &dyn Disk,
    dir: &Path,
    range: (i64, i64),
    expiry: (i64, i64),
    is_base: impl Fn(i64) -> bool,
) -> Result<Producers, Error> {
    latest_of(&list(disk, dir)?, (disk, dir), range, expiry, is_base)
}

/// The same, of a folder that has the snapshots of `offsets`, oldest first.
pub fn latest_of(
    offsets: &[i64],
    (disk, dir): (&dyn Disk, &Path),
    (log_start, log_end): (i64, i64),
    expiry: (i64, i64),
    is_base: impl Fn(i64) -> bool,
) -> Result<Producers, Error> {
    let mut found = None;
    let mut one_misled = false;
    for offset in offsets.iter().copied().rev() {
        let is_within = (log_start..=log_end).contains(&offset);
        let is_kept = match &found {
            Some(_) => is_within && is_base(offset),
            None if is_within => match read(disk, dir, offset, expiry) {
                Err(Error::Malformed { .. }) => false,
                read => {
                    found = Some(read?);
                    true
                }
            },
            None => false,
        };
        if !is_kept {
            one_misled |= found.is_none();
            disk.remove(&path(dir, offset))?;
        }
    }
    if one_misled {
        // If it came back when the log has reached its offset again, by other batches, it would
        // know what never was.
        sync_dir(disk, dir)?;
    }
    Ok(found.unwrap_or_else(|| Producers::starting_at(log_start)))
}

/// Removes the snapshots before `newest` that no segment begins at: such a one serves only until
/// the next is there.
pub fn remove_strays(
    disk: &dyn Disk,
    dir: &Path,
    newest: i64,
    is_base: impl Fn(i64) -> bool,
) -> io::Result<()> {
    remove_if(disk, dir, |at| at < newest && !is_base(at))
}

/// Removes the snapshots behind an offset, durably: the log was cut there.
pub fn remove_after(disk: &dyn Disk, dir: &Path, offset: i64) -> io::Result<()> {
    remove_if(disk, dir, |at| offset < at)?;
    sync_dir(disk, dir)
}

fn remove_if(disk: &dyn Disk, dir: &Path, goes: impl Fn(i64) -> bool) -> io::Result<()> {
    for offset in list(disk, dir)?.into_iter().filter(|offset| goes(*offset)) {
        match disk.remove(&path(dir, offset)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    Ok(())
}

/// The bytes of a snapshot.
pub fn encode(producers: &Producers) -> Vec<u8> {
    let mut body = Vec::with_capacity(4 + producers.len() * ENTRY_LEN);
    let count = u32::try_from(producers.len()).unwrap_or(u32::MAX);
    body.extend_from_slice(&count.to_be_bytes());
    for producer in producers.iter() {
        let none = BatchMark {
            last_sequence: producer.last_sequence(),
            last_offset: producer.last_offset(),
            ..BatchMark::default()
        };
        let mark = producer.marks().last().unwrap_or(&none);
        body.extend_from_slice(&producer.producer_id.to_be_bytes());
        body.extend_from_slice(&producer.epoch.to_be_bytes());
        body.extend_from_slice(&mark.last_sequence.to_be_bytes());
        body.extend_from_slice(&mark.last_offset.to_be_bytes());
        body.extend_from_slice(&mark.offset_delta.to_be_bytes());
        body.extend_from_slice(&producer.last_timestamp_ms.to_be_bytes());
        body.extend_from_slice(&producer.coordinator_epoch.to_be_bytes());
        body.extend_from_slice(&producer.current_txn_first_offset.unwrap_or(-1).to_be_bytes());
    }
    let mut bytes = Vec::with_capacity(CHECKED_FROM + body.len());
    bytes.extend_from_slice(&VERSION.to_be_bytes());
    bytes.extend_from_slice(&crc32c(&body).to_be_bytes());
    bytes.extend_from_slice(&body);
    bytes
}

/// The producers in the bytes of a snapshot, in their order there.
///
/// # Errors
/// Why the bytes are no snapshot.
pub fn decode(bytes: &[u8]) -> Result<Vec<Producer>, String> {
    let Some((head, entries)) = bytes.split_first_chunk::<HEAD_LEN>() else {
        return Err(format!("{} bytes are too few for a snapshot", bytes.len()));
    };
    let [v0, v1, c0, c1, c2, c3, n0, n1, n2, n3] = *head;
    let version = i16::from_be_bytes([v0, v1]);
    if version != VERSION {
        return Err(format!("unknown snapshot version {version}"));
    }
    let checked = bytes.get(CHECKED_FROM..).unwrap_or_default();
    if crc32c(checked) != u32::from_be_bytes([c0, c1, c2, c3]) {
        return Err("the snapshot does not match its checksum".to_owned());
    }
    let count = u64::from(u32::from_be_bytes([n0, n1, n2, n3]));
    let (entries, rest) = entries.as_chunks::<ENTRY_LEN>();
    if count != entries.len() as u64 || !rest.is_empty() {
        return Err(format!("the snapshot announces {count} producers and holds another number"));
    }
    Ok(entries.iter().map(decode_entry).collect())
}

fn decode_entry(entry: &[u8; ENTRY_LEN]) -> Producer {
    let mut rest = entry.as_slice();
    let producer_id = i64::from_be_bytes(take(&mut rest));
    let epoch = i16::from_be_bytes(take(&mut rest));
    let last_sequence = i32::from_be_bytes(take(&mut rest));
    let last_offset = i64::from_be_bytes(take(&mut rest));
    let offset_delta = i32::from_be_bytes(take(&mut rest));
    let timestamp_ms = i64::from_be_bytes(take(&mut rest));
    let coordinator_epoch = i32::from_be_bytes(take(&mut rest));
    let txn = i64::from_be_bytes(take(&mut rest));
    let mut producer = Producer::new(producer_id);
    producer.epoch = epoch;
    producer.coordinator_epoch = coordinator_epoch;
    producer.last_timestamp_ms = timestamp_ms;
    producer.current_txn_first_offset = (0 <= txn).then_some(txn);
    if 0 <= last_offset {
        producer.push(BatchMark { last_offset, timestamp_ms, last_sequence, offset_delta });
    }
    producer
}

/// The next bytes of an entry, whose length is fixed.
fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    match rest.split_first_chunk() {
        Some((taken, behind)) => {
            *rest = behind;
            *taken
        }
        None => [0; N],
    }
}
