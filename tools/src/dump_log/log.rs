//! A segment's `.log`, or a `.checkpoint` of the metadata: batch by batch, record by record.

use super::ask::Ask;
use super::found::Found;
use crate::failure::Failure;
use crate::json::{Json, fields};
use crate::output::Output;
use kraft::record::control::Control;
use protocol::compression::Codec;
use protocol::records::batch::{BatchHeader, HEADER_LEN, LOG_OVERHEAD};
use protocol::records::control::coordinator_epoch;
use protocol::records::{ControlKind, Record, crc_matches, records};
use std::io::Write;
use std::path::Path;
use storage::disk::{Disk, File};

/// What a compressed batch may come to.
const DECOMPRESSED_BYTES_MAX: usize = i32::MAX as usize;
/// The smallest thing that is a message in any format, its offset and length left out.
const LENGTH_MIN: i32 = 14;

pub(super) fn dump(
    path: &Path,
    ask: &Ask,
    disk: &dyn Disk,
    out: &mut Output,
    found: &mut Found,
) -> Result<(), Failure> {
    out.line(title(path)?)?;
    let told = |why: String| Failure::told(format_args!("{}: {why}", path.display()));
    let file = disk.open_input(path).map_err(|error| told(error.to_string()))?;
    let size = file.size().map_err(|error| told(error.to_string()))?;
    let end = ask.max_bytes.map_or(size, |max| size.min(max));
    let (mut position, mut last) = (0, -1);
    while let Some(batch) = batch_at(&*file, position, end).map_err(told)? {
        out.line(batch.line())?;
        if ask.deep {
            let mut deep = Deep { batch: &batch, ask, path, out: &mut *out, found: &mut *found };
            last = deep.dump(last)?;
        }
        position += batch.bytes.len() as u64;
    }
    let trailing = end - position;
    if 0 < trailing && ask.max_bytes.is_none() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        out.line(format_args!("Found {trailing} invalid bytes at the end of {name}"))?;
    }
    Ok(())
}

fn title(path: &Path) -> Result<String, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let bad = || Failure::told(format_args!("{name}: not the name of a segment or a snapshot"));
    let front = name.split('.').next().unwrap_or_default();
    if name.ends_with(".log") {
        let offset: i64 = front.parse().map_err(|_| bad())?;
        return Ok(format!("Log starting offset: {offset}"));
    }
    if name == "bootstrap.checkpoint" {
        return Ok("KRaft bootstrap snapshot".to_owned());
    }
    let (offset, epoch) = front.split_once('-').ok_or_else(bad)?;
    let offset: i64 = offset.parse().map_err(|_| bad())?;
    let epoch: i32 = epoch.parse().map_err(|_| bad())?;
    Ok(format!("Snapshot end offset: {offset}, epoch: {epoch}"))
}

/// A batch, and where it stands.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) header: BatchHeader,
    pub(super) bytes: Vec<u8>,
    position: u64,
}

/// The batch at `position`; None where no whole one follows.
pub(super) fn batch_at(file: &dyn File, position: u64, end: u64) -> Result<Option<Batch>, String> {
    let left = end.saturating_sub(position);
    let mut head = [0; 17];
    if left < head.len() as u64 {
        return Ok(None);
    }
    let io = |error: std::io::Error| error.to_string();
    file.read_exact_at(position, &mut head).map_err(io)?;
    let length = head.last_chunk::<9>().and_then(|it| it.first_chunk()).copied();
    let length = i32::from_be_bytes(length.unwrap_or_default());
    let magic = head.last().copied().unwrap_or_default();
    if length < LENGTH_MIN {
        return Err(format!(
            "Found record size {length} smaller than minimum record overhead ({LENGTH_MIN}) at \
             position {position}"
        ));
    }
    let size = u64::from(length.unsigned_abs()) + LOG_OVERHEAD as u64;
    if left < size {
        return Ok(None);
    }
    if magic < 2 {
        return Err(format!(
            "a message of magic {magic} at position {position}: formats before Kafka 0.11 are not \
             read here"
        ));
    }
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(HEADER_LEN)];
    file.read_exact_at(position, &mut bytes).map_err(io)?;
    let header =
        BatchHeader::read(&bytes).map_err(|error| format!("position {position}: {error}"))?;
    Ok(Some(Batch { header, bytes, position }))
}

impl Batch {
    /// What Kafka's tool says of a batch.
    fn line(&self) -> String {
        let it = &self.header;
        let horizon = if it.has_delete_horizon() {
            format!("OptionalLong[{}]", it.base_timestamp)
        } else {
            "OptionalLong.empty".to_owned()
        };
        let codec = match it.compression() {
            Some(Codec::None) => "none",
            Some(Codec::Gzip) => "gzip",
            Some(Codec::Snappy) => "snappy",
            Some(Codec::Lz4) => "lz4",
            Some(Codec::Zstd) => "zstd",
            None => "unknown",
        };
        format!(
            "baseOffset: {} lastOffset: {} count: {} baseSequence: {} lastSequence: {} producerId: \
             {} producerEpoch: {} partitionLeaderEpoch: {} isTransactional: {} isControl: {} \
             deleteHorizonMs: {horizon} position: {} {}: {} size: {} magic: {} compresscodec: \
             {codec} crc: {} isvalid: {}",
            it.base_offset,
            it.last_offset(),
            it.record_count,
            it.base_sequence,
            it.last_sequence(),
            it.producer_id,
            it.producer_epoch,
            it.leader_epoch,
            it.is_transactional(),
            it.is_control(),
            self.position,
            self.time_type(),
            it.max_timestamp,
            self.bytes.len(),
            it.magic,
            it.crc,
            crc_matches(&self.bytes)
        )
    }

    fn time_type(&self) -> &'static str {
        if self.header.is_log_append_time() { "LogAppendTime" } else { "CreateTime" }
    }

    /// The greatest time of a record.
    pub(super) fn max_timestamp(&self) -> Result<i64, String> {
        let mut greatest = -1;
        let mut all =
            records(&self.bytes, DECOMPRESSED_BYTES_MAX).map_err(|error| error.to_string())?;
        while let Some(record) = all.next() {
            let record = record.map_err(|error| error.to_string())?;
            greatest = greatest.max(record.timestamp_ms(&self.header));
        }
        Ok(greatest)
    }
}

/// The records of one batch, on their way out.
struct Deep<'a> {
    batch: &'a Batch,
    ask: &'a Ask,
    path: &'a Path,
    out: &'a mut Output,
    found: &'a mut Found,
}

impl Deep<'_> {
    /// Prints them; returns the offset of the last one.
    fn dump(&mut self, mut last: i64) -> Result<i64, Failure> {
        let header = &self.batch.header;
        let broken = |error: &dyn std::fmt::Display| {
            let path = self.path.display();
            Failure::told(format_args!("{path}: batch at {}: {error}", header.base_offset))
        };
        let mut all =
            records(&self.batch.bytes, DECOMPRESSED_BYTES_MAX).map_err(|error| broken(&error))?;
        let mut line = Vec::new();
        while let Some(record) = all.next() {
            let record = record.map_err(|error| broken(&error))?;
            let offset = record.offset(header);
            if offset != last + 1 {
                self.found.gap(self.path, last, offset);
            }
            last = offset;
            line.clear();
            if !self.ask.skips_metadata {
                self.metadata(&record, &mut line);
            }
            if self.ask.prints && !header.is_control() {
                let front = if self.ask.skips_metadata { "| " } else { " " };
                self.ask.decoder.put(offset, &record, front, &mut line)?;
            }
            line.push(b'\n');
            self.out.bytes(&line)?;
        }
        Ok(last)
    }

    fn metadata(&self, record: &Record<'_>, line: &mut Vec<u8>) {
        let header = &self.batch.header;
        let len = |part: Option<&[u8]>| {
            part.map_or(-1, |part| i64::try_from(part.len()).unwrap_or(i64::MAX))
        };
        let names: Vec<_> =
            record.headers.map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
        let sequence = if header.base_sequence < 0 {
            -1
        } else {
            (i64::from(header.base_sequence) + i64::from(record.offset_delta)).rem_euclid(1 << 31)
        };
        // To write to memory cannot fail.
        drop(write!(
            line,
            "| offset: {} {}: {} keySize: {} valueSize: {} sequence: {sequence} headerKeys: [{}]",
            record.offset(header),
            self.batch.time_type(),
            record.timestamp_ms(header),
            len(record.key),
            len(record.value),
            names.join(",")
        ));
        if header.is_control() {
            line.extend(control(record).into_bytes());
        }
    }
}

/// What a control record says.
fn control(record: &Record<'_>) -> String {
    let (key, value) = (record.key.unwrap_or_default(), record.value.unwrap_or_default());
    let kind = ControlKind::from_key(key).unwrap_or(ControlKind::Unknown(-1));
    let marker = |name| {
        let epoch = coordinator_epoch(value).unwrap_or(-1);
        format!(" endTxnMarker: {name} coordinatorEpoch: {epoch}")
    };
    let name = match kind {
        ControlKind::Commit => return marker("COMMIT"),
        ControlKind::Abort => return marker("ABORT"),
        ControlKind::LeaderChange => "LeaderChange:",
        ControlKind::SnapshotHeader => "SnapshotHeader",
        ControlKind::SnapshotFooter => "SnapshotFooter",
        ControlKind::KRaftVersion => "KRaftVersion",
        ControlKind::Voters => "KRaftVoters",
        ControlKind::Unknown(code) => return format!(" controlType: UNKNOWN({code})"),
    };
    match Control::read(key, value) {
        Ok(control) => {
            let mut shown = fields(control.shown());
            if let Control::LeaderChange(message) = &control
                && 1 <= message.version
            {
                name_directories(&mut shown);
            }
            format!(" {name} {shown}")
        }
        Err(why) => format!(" {name} is malformed: {}", why.0),
    }
}

/// Version 1 names a directory of each voter, which nobody reads: it stands for none.
fn name_directories(message: &mut Json) {
    let Json::Object(members) = message else { return };
    for (_, list) in members {
        let Json::List(voters) = list else { continue };
        for voter in voters {
            if let Json::Object(fields) = voter {
                let none = "A".repeat(22);
                fields.push(("voterDirectoryId".to_owned(), Json::Text(none)));
            }
        }
    }
}
