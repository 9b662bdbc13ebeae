//! What a partition's folder holds: every record, by its offset.

use super::fill::{Filled, key_of};
use crate::Outcome;
use bytes::Bytes;
use protocol::records::{batches, crc_matches, records};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// An offset, and a sum over key and value.
pub(crate) type Record = (i64, u64);

/// What was found in a folder.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) records: Vec<Record>,
    pub(crate) bytes: u64,
    /// Batches without records, control batches, and all batches.
    pub(crate) empty: u64,
    pub(crate) control: u64,
    pub(crate) batches: u64,
    /// Records below the active segment that delete their key.
    pub(crate) tombstones: u64,
}

/// Reads all of a folder's segments, and holds them against what was filled in: every key has its
/// last record, and below the active segment no other.
pub(crate) fn contents(dir: &Path, filled: &Filled) -> Outcome<Contents> {
    let mut found = Contents::default();
    let mut seen: BTreeMap<Vec<u8>, i64> = BTreeMap::new();
    let mut files: Vec<_> = std::fs::read_dir(dir)?.collect::<Result<_, _>>()?;
    files.retain(|it| it.file_name().to_string_lossy().ends_with(".log"));
    files.sort_by_key(std::fs::DirEntry::file_name);
    for file in files {
        let bytes = Bytes::from(std::fs::read(file.path())?);
        found.bytes += bytes.len() as u64;
        for batch in batches(bytes) {
            add(&mut found, &mut seen, &batch?, filled)?;
        }
    }
    for (number, last) in filled.last.iter().enumerate() {
        let Some(last) = last.filter(|last| *last < filled.active) else { continue };
        if seen.get(key_of(number as u64).as_bytes()) != Some(&last) {
            return Err(format!("key {number} has lost its last record, at {last}").into());
        }
    }
    Ok(found)
}

fn add(
    found: &mut Contents,
    seen: &mut BTreeMap<Vec<u8>, i64>,
    batch: &protocol::records::Batch,
    filled: &Filled,
) -> Outcome<()> {
    let header = batch.header;
    if !crc_matches(&batch.bytes) {
        return Err(format!("a bad checksum at {}", header.base_offset).into());
    }
    found.batches += 1;
    found.control += u64::from(header.is_control());
    found.empty += u64::from(header.record_count == 0);
    let mut walk = records(&batch.bytes, 1 << 30)?;
    while let Some(record) = walk.next() {
        let record = record?;
        let offset = record.offset(&header);
        if found.records.last().is_some_and(|(before, _)| offset <= *before) {
            return Err(format!("{offset} is out of order").into());
        }
        let mut sum = DefaultHasher::new();
        (record.key, record.value, header.is_control()).hash(&mut sum);
        found.records.push((offset, sum.finish()));
        if header.is_control() || filled.active <= offset {
            continue;
        }
        found.tombstones += u64::from(record.value.is_none());
        let key = record.key.unwrap_or_default().to_vec();
        if let Some(before) = seen.insert(key, offset) {
            return Err(format!("{offset} has the key of {before}, which is there too").into());
        }
    }
    Ok(())
}

/// The first record that only one of two has.
pub(crate) fn difference(one: &[Record], other: &[Record]) -> Option<String> {
    let at = one.iter().zip(other).position(|(one, other)| one != other);
    let at = at.or_else(|| (one.len() != other.len()).then(|| one.len().min(other.len())))?;
    Some(format!("{:?} is not {:?}", one.get(at), other.get(at)))
}
