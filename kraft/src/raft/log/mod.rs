//! The files of `__cluster_metadata-0`, batch by batch: append, read, cut, drop.
//!
//! One batch is one raft entry, so an index is a count of batches. Nothing here knows of votes.

pub(super) mod scan;
mod torn;

use super::types::{LogId, Term, log_id};
use bytes::Bytes;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use storage::disk::{Disk, File, sync_dir};
use storage::error::is_shortage;

/// The bytes of a batch that the leader fills in: base offset, length (kept), leader epoch.
const PATCHED: usize = 16;

/// When a segment has lasted long enough.
#[derive(Clone, Copy, Debug)]
pub struct RollAt {
    /// `metadata.log.segment.bytes`.
    pub segment_bytes: u64,
    /// `metadata.log.segment.ms`.
    pub segment_ms: i64,
}

/// One batch on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchAt {
    pub(super) base: i64,
    pub(super) term: Term,
    /// Where it stands in its segment. Segments end below 4 GiB.
    position: u32,
    size: u32,
    /// LeaderChange, KRaftVersion, Voters: what may hold a membership.
    pub(super) is_control: bool,
}

#[derive(Debug)]
pub(super) struct Segment {
    base: i64,
    path: PathBuf,
    file: Arc<dyn File>,
    size: u64,
    /// The time of its first batch; None while it is empty.
    first_ms: Option<i64>,
}

/// A place between two batches: the last entry before it, and the offset after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Border {
    pub(super) id: LogId,
    pub(super) end: i64,
}

/// What must be synced before an append counts.
#[derive(Debug, Default)]
pub(super) struct Unsynced {
    files: Vec<Arc<dyn File>>,
    dir: bool,
}

impl Unsynced {
    /// What is left in it, because no file could be opened for it, may be synced later.
    pub(super) fn sync(&mut self, disk: &dyn Disk, dir: &Path) -> io::Result<()> {
        self.files.drain(..).try_for_each(|file| synced(&*file))?;
        if self.dir {
            sync_dir(disk, dir)?;
            self.dir = false;
        }
        Ok(())
    }
}

/// Whatever a failed sync lacked, it is not asked again: so it is no longer told.
fn synced(file: &dyn File) -> io::Result<()> {
    file.sync().map_err(io::Error::other)
}

#[derive(Debug)]
pub(super) struct Log {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    roll_at: RollAt,
    /// Ascending by base.
    segments: VecDeque<Segment>,
    /// Everything behind `start`.
    batches: VecDeque<BatchAt>,
    /// What was purged last.
    start: Border,
    end: i64,
    unsynced: Unsynced,
}

impl Log {
    pub(super) fn start(&self) -> Border {
        self.start
    }

    /// The last batch, or what was purged last.
    pub(super) fn last(&self) -> Border {
        let index = self.start.id.index + self.batches.len() as u64;
        let term = self.batches.back().map_or(self.start.id.leader_id.term, |batch| batch.term);
        Border { id: log_id(term, index), end: self.end }
    }

    /// The first offset that is in no batch yet.
    pub(super) fn end(&self) -> i64 {
        self.end
    }

    /// Bytes of all segments.
    pub(super) fn size_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.size).sum()
    }

    /// Bytes of the segments that lie wholly before an offset.
    pub(super) fn bytes_before(&self, offset: i64) -> u64 {
        let nexts = self.segments.iter().skip(1);
        let before = self.segments.iter().zip(nexts).take_while(|(_, next)| next.base <= offset);
        before.map(|(segment, _)| segment.size).sum()
    }

    /// Bytes of the batches from an offset on.
    pub(super) fn bytes_from(&self, offset: i64) -> u64 {
        let newer = self.batches.iter().rev().take_while(|batch| offset <= batch.base);
        newer.map(|batch| u64::from(batch.size)).sum()
    }

    fn slot(&self, index: u64) -> Option<usize> {
        index.checked_sub(self.start.id.index + 1).and_then(|slot| usize::try_from(slot).ok())
    }

    pub(super) fn batch(&self, index: u64) -> Option<BatchAt> {
        self.batches.get(self.slot(index)?).copied()
    }

    /// The place behind an entry that is in the log or was purged last.
    pub(super) fn border_after(&self, index: u64) -> Option<Border> {
        if index == self.start.id.index {
            return Some(self.start);
        }
        let end = self.batch(index + 1).map_or(self.end, |next| next.base);
        Some(Border { id: log_id(self.batch(index)?.term, index), end })
    }

    /// The last entry of each run of entries that have one term, and the last of all.
    pub(super) fn first_of_terms(&self, from: u64, to: u64) -> Vec<LogId> {
        let mut firsts: Vec<LogId> = Vec::new();
        let mut last = None;
        for index in from..=to {
            let at = self.border_after(index).map(|border| border.id);
            if let Some(id) = at {
                if last != Some(id.leader_id.term) {
                    firsts.push(id);
                }
                last = Some(id.leader_id.term);
                if index == to && firsts.last() != Some(&id) {
                    firsts.push(id);
                }
            }
        }
        firsts
    }

    /// The bytes of one entry's batch.
    pub(super) fn read(&self, index: u64) -> io::Result<Bytes> {
        let batch = self.batch(index).ok_or(ErrorKind::NotFound)?;
        let behind = self.segments.partition_point(|segment| segment.base <= batch.base);
        let segment = behind.checked_sub(1).and_then(|at| self.segments.get(at));
        let mut bytes = vec![0; usize::try_from(batch.size).map_err(io::Error::other)?];
        segment
            .ok_or(ErrorKind::NotFound)?
            .file
            .read_exact_at(batch.position.into(), &mut bytes)?;
        Ok(bytes.into())
    }

    /// Writes a batch at the end, with its offset and term; not yet durable. Where room or files
    /// lacked ([`is_shortage`]), nothing has changed, and it may be asked again.
    pub(super) fn append(&mut self, term: Term, bytes: &[u8], is_control: bool) -> io::Result<i64> {
        let header = protocol::records::BatchHeader::read(bytes).map_err(io::Error::other)?;
        let invalid = |what: &str| io::Error::new(ErrorKind::InvalidInput, what.to_owned());
        if header.size() != bytes.len() {
            return Err(invalid("a batch whose length is not its own"));
        }
        let size = u32::try_from(bytes.len()).map_err(|_| invalid("a batch of 4 GiB"))?;
        let epoch = i32::try_from(term).map_err(|_| invalid("a term beyond Kafka's epochs"))?;
        if self.is_due(header.base_timestamp, u64::from(size)) {
            self.roll()?;
        }
        let base = self.end;
        let end = base.checked_add(i64::from(header.last_offset_delta) + 1);
        let end = end.ok_or_else(|| invalid("an offset beyond all offsets"))?;
        let segment = self.segments.back_mut().ok_or(ErrorKind::NotFound)?;
        let position = u32::try_from(segment.size).map_err(io::Error::other)?;
        let mut head = [0; PATCHED];
        let (length, rest) = bytes.split_at_checked(PATCHED).ok_or(ErrorKind::UnexpectedEof)?;
        let fields = base.to_be_bytes().into_iter();
        let fields = fields.chain(length.get(8..12).unwrap_or_default().iter().copied());
        head.iter_mut().zip(fields.chain(epoch.to_be_bytes())).for_each(|(to, byte)| *to = byte);
        let parts = &mut [IoSlice::new(&head), IoSlice::new(rest)];
        if let Err(error) = segment.file.write_at(segment.size, parts) {
            if is_shortage(&error) {
                segment.file.truncate(segment.size).map_err(io::Error::other)?;
            }
            return Err(error);
        }
        segment.size += u64::from(size);
        segment.first_ms.get_or_insert(header.base_timestamp);
        if !self.unsynced.files.iter().any(|file| Arc::ptr_eq(file, &segment.file)) {
            self.unsynced.files.push(segment.file.clone());
        }
        self.batches.push_back(BatchAt { base, term, position, size, is_control });
        self.end = end;
        Ok(base)
    }

    fn is_due(&self, now_ms: i64, more: u64) -> bool {
        let RollAt { segment_bytes, segment_ms } = self.roll_at;
        self.segments.back().is_none_or(|segment| {
            let is_old = |first: i64| segment_ms < now_ms.saturating_sub(first);
            segment
                .first_ms
                .is_some_and(|first| segment_bytes < segment.size + more || is_old(first))
        })
    }

    /// Begins a segment. The one before it is made durable first, so that only the last segment
    /// can ever be torn.
    fn roll(&mut self) -> io::Result<()> {
        // A sync of it may be under way beside this, and may come too late.
        if let Some(last) = self.segments.back() {
            synced(&*last.file)?;
        }
        self.unsynced.files.clear();
        let path = self.dir.join(format!("{:020}.log", self.end));
        let file = self.disk.create(&path)?;
        self.segments.push_back(Segment { base: self.end, path, file, size: 0, first_ms: None });
        self.unsynced.dir = true;
        Ok(())
    }

    /// Hands out what must be synced for everything appended so far to be durable.
    pub(super) fn take_unsynced(&mut self) -> Unsynced {
        std::mem::take(&mut self.unsynced)
    }

    /// Takes back what of it was not synced.
    pub(super) fn owe(&mut self, unsynced: Unsynced) {
        self.unsynced.files.extend(unsynced.files);
        self.unsynced.dir |= unsynced.dir;
    }

    /// Cuts everything behind an entry, from the end backwards, durably.
    pub(super) fn truncate_after(&mut self, index: u64) -> io::Result<()> {
        let Some(border) = self.border_after(index) else {
            return Err(io::Error::new(ErrorKind::InvalidInput, "cut before what was purged"));
        };
        let mut size = self.batch(index + 1).map(|cut| u64::from(cut.position));
        while self.segments.len() > 1
            && self.segments.back().is_some_and(|it| border.end <= it.base)
        {
            if let Some(segment) = self.segments.pop_back() {
                size = size.filter(|_| border.end < segment.base);
                self.remove(&segment)?;
            }
        }
        if let Some(segment) = self.segments.back_mut() {
            if let Some(size) = size {
                segment.file.truncate(size)?;
                segment.size = size;
                segment.first_ms = segment.first_ms.filter(|_| 0 < size);
            }
            segment.file.sync()?;
        }
        self.unsynced.files.clear();
        self.batches.truncate(self.slot(index + 1).unwrap_or(0));
        self.end = border.end;
        Ok(())
    }

    /// Forgets everything up to a border, and drops the segments that lie wholly before it. One
    /// beyond the end is that of a snapshot which this log had not reached: the log restarts there.
    pub(super) fn purge(&mut self, border: Border) -> io::Result<()> {
        let last = self.last();
        if last.id.index < border.id.index {
            self.batches.clear();
            (self.start, self.end) = (border, border.end);
            while let Some(segment) = self.segments.pop_back() {
                self.remove(&segment)?;
            }
            self.unsynced.files.clear();
            return Ok(());
        }
        if border.id.index <= self.start.id.index {
            return Ok(());
        }
        self.batches.drain(..self.slot(border.id.index + 1).unwrap_or(0));
        self.start = border;
        self.drop_segments_before(border.end)
    }

    fn drop_segments_before(&mut self, offset: i64) -> io::Result<()> {
        while self.segments.get(1).is_some_and(|next| next.base <= offset) {
            if let Some(segment) = self.segments.pop_front() {
                self.remove(&segment)?;
            }
        }
        Ok(())
    }

    /// A segment goes, and what Kafka keeps beside it. Durably, before the next one does: a crash
    /// may bring back the last removed, and must not leave a gap.
    fn remove(&self, segment: &Segment) -> io::Result<()> {
        remove_derived(&*self.disk, &segment.path)?;
        self.disk.remove(&segment.path)?;
        self.disk.sync_dir(&self.dir)
    }
}

/// The files that Kafka derives from a segment, and rebuilds where they are missing.
fn remove_derived(disk: &dyn Disk, segment: &Path) -> io::Result<()> {
    for extension in ["index", "timeindex", "snapshot"] {
        match disk.remove(&segment.with_extension(extension)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
