//! The files of a cleaned segment while it is written: `.cleaned`, and nobody's concern if the
//! process dies.

use crate::disk::File;
use crate::error::Error;
use crate::segment::Home;
use crate::segment::index::{Entry, OffsetEntry, TimeEntry};
use crate::segment::name::{Fate, Kind, OF_A_SEGMENT};
use crate::txn_index::AbortedTxn;
use protocol::records::batch::BatchHeader;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// After so many bytes they are synced, so that no sync has to wait for much.
const SYNC_EVERY_BYTES: u64 = 64 << 20;

#[derive(Debug)]
pub(super) struct Output<'a> {
    home: &'a Home,
    base: i64,
    file: Arc<dyn File>,
    /// Bytes that stand in the file, and those of them that are synced.
    written: u64,
    synced: u64,
    buffer: Vec<u8>,
    buffer_bytes: usize,
    offsets: Vec<OffsetEntry>,
    times: Vec<TimeEntry>,
    largest: Option<TimeEntry>,
    /// Bytes since the last index entry.
    unindexed: u64,
}

/// Where a batch stands in the order of offsets and of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stands {
    pub(super) last_offset: i64,
    pub(super) max_timestamp: i64,
}

impl From<&BatchHeader> for Stands {
    fn from(header: &BatchHeader) -> Stands {
        Stands { last_offset: header.last_offset(), max_timestamp: header.max_timestamp }
    }
}

impl<'a> Output<'a> {
    pub(super) fn create(home: &'a Home, base: i64, buffer_bytes: usize) -> io::Result<Output<'a>> {
        remove_all(home, base, Fate::Cleaned)?;
        let file = home.disk.create(&Fate::Cleaned.path(&home.path(Kind::Log, base)))?;
        Ok(Output {
            home,
            base,
            file,
            written: 0,
            synced: 0,
            buffer: Vec::new(),
            buffer_bytes,
            offsets: Vec::new(),
            times: Vec::new(),
            largest: None,
            unindexed: 0,
        })
    }

    /// Bytes of batches.
    pub(super) fn size(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Writes a batch behind those before it. `FileTooLarge`: a segment ends before 4 GiB.
    pub(super) fn put(&mut self, batch: &[u8], stands: Stands) -> io::Result<()> {
        self.index(stands, batch.len() as u64)?;
        if self.buffer_bytes < self.buffer.len() + batch.len() {
            self.write_out()?;
        }
        self.buffer.extend_from_slice(batch);
        Ok(())
    }

    fn index(&mut self, stands: Stands, size: u64) -> io::Result<()> {
        let too_large = |_| io::Error::from(ErrorKind::FileTooLarge);
        let relative = u32::try_from(stands.last_offset - self.base).map_err(too_large)?;
        let position = u32::try_from(self.size()).map_err(too_large)?;
        if self.largest.map_or(-1, |it| it.timestamp) < stands.max_timestamp {
            self.largest = Some(TimeEntry { timestamp: stands.max_timestamp, relative });
        }
        let interval = u64::from(self.home.index_interval_bytes.load(Ordering::Relaxed));
        if self.unindexed <= interval {
            self.unindexed += size;
            return Ok(());
        }
        self.offsets.push(OffsetEntry { relative, position });
        self.finish_times();
        self.unindexed = size;
        Ok(())
    }

    fn finish_times(&mut self) {
        let said = self.times.last().map_or(-1, |it| it.timestamp);
        self.times.extend(self.largest.filter(|it| said < it.timestamp));
    }

    fn write_out(&mut self) -> io::Result<()> {
        self.file.write_all_at(self.written, &self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        if SYNC_EVERY_BYTES <= self.written - self.synced {
            self.file.sync()?;
            self.synced = self.written;
        }
        Ok(())
    }

    /// Makes all durable: the file of the batches, and how long it is.
    pub(super) fn finish(mut self, aborted: &[AbortedTxn]) -> io::Result<(Arc<dyn File>, u32)> {
        self.write_out()?;
        self.finish_times();
        self.file.sync()?;
        self.write_beside(Kind::OffsetIndex, &encoded(&self.offsets))?;
        self.write_beside(Kind::TimeIndex, &encoded(&self.times))?;
        if !aborted.is_empty() {
            let entries: Vec<u8> = aborted.iter().flat_map(AbortedTxn::encode).collect();
            self.write_beside(Kind::TxnIndex, &entries)?;
        }
        let size = u32::try_from(self.written).map_err(|_| ErrorKind::FileTooLarge)?;
        Ok((self.file, size))
    }

    fn write_beside(&self, kind: Kind, bytes: &[u8]) -> io::Result<()> {
        let file = self.home.disk.create(&Fate::Cleaned.path(&self.home.path(kind, self.base)))?;
        file.write_all_at(0, bytes)?;
        file.sync()
    }
}

fn encoded<E: Entry>(entries: &[E]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(entries.len() * 12);
    entries.iter().for_each(|entry| entry.encode(&mut bytes));
    bytes
}

/// Removes those of a segment's files that have come to `fate`; the log first, without which the
/// others are nothing.
pub(super) fn remove_all(home: &Home, base: i64, fate: Fate) -> io::Result<()> {
    for kind in OF_A_SEGMENT {
        match home.disk.remove(&fate.path(&home.path(kind, base))) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    Ok(())
}

/// Renames those of a segment's files that have come to `from`; the log last.
pub(super) fn rename_all(home: &Home, base: i64, from: Fate, to: Fate) -> Result<(), Error> {
    for kind in crate::segment::name::LOG_LAST {
        let live = home.path(kind, base);
        let (from, to): (PathBuf, PathBuf) = (from.path(&live), to.path(&live));
        match home.disk.rename(&from, &to) {
            // Without aborted transactions there is no index of them.
            Err(error) if error.kind() == ErrorKind::NotFound && kind == Kind::TxnIndex => {}
            renamed => renamed?,
        }
    }
    Ok(())
}
