//! Snapshots: Kafka's files `<end offset>-<epoch>.checkpoint`. The end is the first offset that is
//! not contained, the epoch that of the last batch that is.

use super::batch;
use super::log::{Border, scan::offset_in_name};
use super::types::{ReplicaKey, Term, VoterNode, Voters, log_id};
use super::window::Window;
use crate::image::Image;
use crate::record::Record;
use crate::record::control::{Control, SnapshotFooterRecord, SnapshotHeaderRecord, VotersRecord};
use bytes::Bytes;
use protocol::records::{BatchHeader, batch::crc_matches};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use storage::disk::{Disk, File};
use storage::error::Error;

const SUFFIX: &str = ".checkpoint";
/// A snapshot that was not finished.
const PART: &str = ".checkpoint.part";
/// What is gathered before it is written, in bytes.
const BATCH_BYTES: usize = 1 << 20;
/// Records of one batch of a snapshot.
const BATCH_RECORDS: usize = 1024;

/// A snapshot on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotFile {
    pub(super) end: i64,
    pub(super) epoch: Term,
    /// The raft index of the last entry it covers, where it says so.
    pub(super) index: Option<u64>,
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
    /// The time of the last batch it covers.
    pub(super) timestamp_ms: i64,
}

/// What a snapshot says.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) records: Vec<Record>,
    pub(super) kraft_version: i16,
    pub(super) voters: Option<VotersRecord>,
}

fn parse_name(name: &str) -> Option<(i64, Term)> {
    let (end, epoch) = name.strip_suffix(SUFFIX)?.split_once('-')?;
    let is_epoch = epoch.len() == 10 && epoch.bytes().all(|byte| byte.is_ascii_digit());
    // Kafka's epochs have 31 bits.
    let epoch = epoch.parse::<i32>().ok().filter(|_| is_epoch)?;
    Some((offset_in_name(end)?, epoch.cast_unsigned()))
}

fn file_name(end: i64, epoch: Term) -> String {
    format!("{end:020}-{epoch:010}")
}

/// The snapshots of a folder.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// Ascending.
    pub(super) files: Vec<SnapshotFile>,
    /// Those that cannot be read: where each ends, and why.
    pub(super) bad: Vec<(i64, String)>,
    /// Those that were never finished.
    pub(super) parts: Vec<PathBuf>,
}

pub(super) fn list(disk: &dyn Disk, dir: &Path) -> Result<Listed, Error> {
    let mut listed = Listed::default();
    for entry in disk.list(dir)? {
        let path = dir.join(&entry.name);
        if entry.name.ends_with(PART) {
            listed.parts.push(path);
        } else if let Some((end, epoch)) = parse_name(&entry.name) {
            match header(&*disk.open(&path)?) {
                Ok((timestamp_ms, index, size_bytes)) => {
                    let file = SnapshotFile { end, epoch, index, path, size_bytes, timestamp_ms };
                    listed.files.push(file);
                }
                Err(error) => listed.bad.push((end, format!("{}: {error}", path.display()))),
            }
        }
    }
    listed.files.sort_by_key(|file| (file.end, file.epoch));
    Ok(listed)
}

fn header(file: &dyn File) -> io::Result<(i64, Option<u64>, u64)> {
    let first = Window::new(file).next_batch()?.unwrap_or_default();
    let controls = if crc_matches(&first) { batch::read_control(&first) } else { Ok(Vec::new()) };
    match controls.map_err(io::Error::other)?.first() {
        Some(Control::SnapshotHeader(header)) => {
            let index = u64::try_from(header.raft_index).ok();
            Ok((header.last_contained_log_timestamp, index, file.size()?))
        }
        _ => Err(io::Error::other("does not begin with a snapshot's header")),
    }
}

/// Reads a whole snapshot: every checksum holds, and it ends with its footer.
pub(super) fn load(disk: &dyn Disk, path: &Path) -> Result<Content, Error> {
    let bad = |why: String| Error::malformed(path, why);
    let file = disk.open(path)?;
    let mut window = Window::new(&*file);
    let (mut content, mut at, mut has_footer) = (Content::default(), window.at(), false);
    while let Some(bytes) = window.next_batch()? {
        let whole = BatchHeader::read(&bytes).ok().filter(|_| crc_matches(&bytes));
        let header = whole.ok_or_else(|| bad(format!("is corrupt at byte {at}")))?;
        if has_footer {
            return Err(bad(format!("goes on behind its footer, at byte {at}")));
        }
        if header.is_control() {
            for control in batch::read_control(&bytes).map_err(|error| bad(error.to_string()))? {
                match control {
                    Control::KRaftVersion(version) => {
                        content.kraft_version = version.k_raft_version;
                    }
                    Control::Voters(voters) => content.voters = Some(voters),
                    Control::SnapshotFooter(_) => has_footer = true,
                    Control::SnapshotHeader(_) | Control::LeaderChange(_) => {}
                }
            }
        } else {
            let records = batch::read_data(&bytes).map_err(|error| bad(error.to_string()))?;
            content.records.extend(records.into_iter().map(|(_, record)| record));
        }
        at = window.at();
    }
    if has_footer { Ok(content) } else { Err(bad("ends before its footer".to_owned())) }
}

impl Content {
    /// The image that the records state.
    pub(super) fn image(&self, file: &SnapshotFile) -> Result<Image, Error> {
        let mut image = Image::default();
        for record in &self.records {
            let applied = image.apply(record, file.end - 1);
            applied.map_err(|error| Error::malformed(&file.path, error.to_string()))?;
        }
        image.offset = file.end - 1;
        image.epoch = i32::try_from(file.epoch).unwrap_or(i32::MAX);
        Ok(image)
    }
}

/// What a snapshot is made of.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) border: Border,
    pub(super) timestamp_ms: i64,
    /// None while the log does not name its voters.
    pub(super) voters: Option<&'a Voters>,
    pub(super) metadata_version: i16,
}

/// Writes a snapshot so that a crash leaves all of it or nothing.
pub(super) fn write(
    disk: &dyn Disk,
    dir: &Path,
    draft: &Draft<'_>,
    records: impl Iterator<Item = Record>,
) -> io::Result<SnapshotFile> {
    let Draft { border, timestamp_ms, .. } = *draft;
    let epoch = border.id.leader_id.term;
    let path = dir.join(file_name(border.end, epoch) + SUFFIX);
    let part = dir.join(file_name(border.end, epoch) + PART);
    let written = write_part(disk, &part, draft, records)
        .and_then(|size_bytes| disk.rename(&part, &path).map(|()| size_bytes));
    if written.is_err() {
        // Who waits for room must not hold what the log needs. Whatever this says: the next try
        // begins anew, and the next start removes what is left.
        drop(disk.open(&part).and_then(|file| file.truncate(0)));
    }
    let size_bytes = written?;
    storage::disk::sync_dir(disk, dir)?;
    let index = Some(border.id.index);
    Ok(SnapshotFile { end: border.end, epoch, index, path, size_bytes, timestamp_ms })
}

/// Writes all of it, durably; gives its size in bytes.
fn write_part(
    disk: &dyn Disk,
    part: &Path,
    draft: &Draft<'_>,
    records: impl Iterator<Item = Record>,
) -> io::Result<u64> {
    let Draft { border, timestamp_ms, voters, metadata_version } = *draft;
    let file = match disk.create(part) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let file = disk.open(part)?;
            file.truncate(0)?;
            file
        }
        created => created?,
    };
    let header = SnapshotHeaderRecord {
        last_contained_log_timestamp: timestamp_ms,
        raft_index: i64::try_from(border.id.index).unwrap_or(-1),
        ..SnapshotHeaderRecord::default()
    };
    let mut head = vec![Control::SnapshotHeader(header)];
    head.extend(voters.into_iter().flat_map(batch::membership));
    let footer = [Control::SnapshotFooter(SnapshotFooterRecord::default())];
    let mut out = Out { file: &*file, size: 0, offset: 0, epoch: border.id.leader_id.term };
    out.put(batch::control(&head, timestamp_ms))?;
    let (mut values, mut bytes) = (Vec::new(), 0);
    for record in records {
        let value = record.to_value(metadata_version);
        bytes += value.len();
        values.push(value);
        if BATCH_RECORDS <= values.len() || BATCH_BYTES <= bytes {
            out.put(batch::data(&values, timestamp_ms))?;
            values.clear();
            bytes = 0;
        }
    }
    if !values.is_empty() {
        out.put(batch::data(&values, timestamp_ms))?;
    }
    out.put(batch::control(&footer, timestamp_ms))?;
    let size_bytes = out.size;
    // Whatever it lacked, it is not asked again.
    file.sync().map_err(io::Error::other)?;
    Ok(size_bytes)
}

/// A snapshot being written: offsets inside count from 0.
struct Out<'a> {
    file: &'a dyn File,
    size: u64,
    offset: i64,
    epoch: Term,
}

impl Out<'_> {
    fn put(&mut self, batch: Result<Bytes, String>) -> io::Result<()> {
        let batch = batch.map_err(io::Error::other)?;
        let mut header = BatchHeader::read(&batch).map_err(io::Error::other)?;
        header.base_offset = self.offset;
        header.leader_epoch = i32::try_from(self.epoch).unwrap_or(i32::MAX);
        let records = batch.get(protocol::records::HEADER_LEN..).unwrap_or_default();
        let head = header.write();
        let parts = &mut [io::IoSlice::new(&head), io::IoSlice::new(records)];
        self.file.write_at(self.size, parts)?;
        self.offset = header.next_offset();
        self.size += batch.len() as u64;
        Ok(())
    }
}

impl SnapshotFile {
    /// The place in the log that it stands for, once its index is known.
    pub(super) fn border(&self, index: u64) -> Border {
        Border { id: log_id(self.epoch, index), end: self.end }
    }
}

/// Writes the snapshot at offset 0 that a new log has instead of batches.
pub fn write_first(
    disk: &dyn Disk,
    dir: &Path,
    (key, node): (ReplicaKey, VoterNode),
    records: Vec<Record>,
    now_ms: i64,
) -> io::Result<()> {
    let voters = Voters::new(vec![BTreeSet::from([key])], BTreeMap::from([(key, node)]));
    let voters = voters.map_err(io::Error::other)?;
    let draft = Draft {
        border: Border { id: log_id(0, 0), end: 0 },
        timestamp_ms: now_ms,
        voters: Some(&voters),
        metadata_version: 0,
    };
    write(disk, dir, &draft, records.into_iter()).map(drop)
}
