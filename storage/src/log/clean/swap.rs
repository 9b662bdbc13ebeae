//! Cleaned segments take the place of those they were made of, so that a crash at any point leaves
//! the one or the other.
//!
//! The steps are Kafka's (`LocalLog.replaceSegments`): `.cleaned` becomes `.swap`, and from then on
//! a start finishes what a crash interrupts (`recover::tidy_up`); the old files become `.deleted`,
//! and `.swap` loses its suffix. In each step a segment's log goes last: where it stands, the files
//! beside it stand too.

use super::error::CleanError;
use super::output::{Output, remove_all, rename_all};
use crate::error::{Error, is_out_of_files};
use crate::log::writer::Writer;
use crate::log::{Doomed, Log, Segments};
use crate::segment::Segment;
use crate::segment::name::{Fate, Kind, LOG_LAST};
use crate::segment::recent::Mark;
use crate::txn_index::AbortedTxn;
use parking_lot::RwLockReadGuard;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Log {
    /// While this is held, no segment is replaced by a cleaned one: what is read of a segment and
    /// of its index of aborted transactions belongs together.
    pub fn hold_segments(&self) -> RwLockReadGuard<'_, ()> {
        self.swapping.read()
    }

    /// Puts `output` in the place of `group`, whose old files it returns. They are renamed, and
    /// readers may still have them open.
    pub(super) fn put_in_place(
        &self,
        group: &[Arc<Segment>],
        output: Output<'_>,
        aborted: &[AbortedTxn],
    ) -> Result<Doomed, CleanError> {
        let Some(first) = group.first() else { return Ok(Doomed::default()) };
        let base = first.base();
        let (file, position) = output.finish(aborted)?;
        for segment in group {
            // Look-ups that go on in it find other files under its names.
            segment.hold_indexes(&self.home)?;
        }
        let _replacing = self.replacing.lock();
        let Some(next) = self.next_base(group).filter(|_| self.failure().is_none()) else {
            return Err(CleanError::Stopped);
        };
        self.announce(base)?;
        let relative = u32::try_from(next - base).unwrap_or(u32::MAX);
        let created_ms = group.last().map_or(0, |it| it.created_ms());
        let new = Segment::open(base, file, Mark { relative, position }, created_ms);
        self.replace(group, Arc::new(new)).map_err(|error| self.disk_failed(error).into())
    }

    /// Where the log goes on behind `group`. None: it is not, or no more, a part of the log.
    fn next_base(&self, group: &[Arc<Segment>]) -> Option<i64> {
        let segments = self.segments.load();
        let (at, _) = Log::segment_of(&segments, group.first()?.base())?;
        let there = segments.get(at..at + group.len())?;
        let is_same = there.iter().zip(group).all(|(there, it)| Arc::ptr_eq(there, it));
        segments.get(at + group.len()).filter(|_| is_same).map(|next| next.base())
    }

    /// From now on a start puts the cleaned segment in place.
    fn announce(&self, base: i64) -> Result<(), Error> {
        let announced = rename_all(&self.home, base, Fate::Cleaned, Fate::Swap)
            .and_then(|()| Ok(self.home.disk.sync_dir(&self.home.dir())?));
        announced.inspect_err(|_| {
            // It must not take the place of what the log may become without it.
            if let Err(error) = remove_all(&self.home, base, Fate::Swap) {
                self.disk_failed(error);
            }
        })
    }

    fn replace(&self, group: &[Arc<Segment>], new: Arc<Segment>) -> Result<Doomed, Error> {
        let mut doomed = Doomed::default();
        let swapping = self.swapping.write();
        for old in group.iter().rev() {
            old.retire();
            self.rename_away(old.base(), LOG_LAST, &mut doomed)?;
            doomed.segments.push(old.base());
        }
        rename_all(&self.home, new.base(), Fate::Swap, Fate::Live)?;
        let mut writer = self.writer.lock();
        let mut segments = Segments::clone(&self.segments.load());
        if let Some((at, _)) = Log::segment_of(&segments, new.base()) {
            segments.splice(at..at + group.len(), [new]);
        }
        self.segments.store(Arc::new(segments));
        let snapshots = self.snapshots_between(group, &mut writer);
        drop(writer);
        drop(swapping);
        for base in snapshots {
            self.rename_away(base, [Kind::Snapshot], &mut doomed)?;
        }
        match self.home.disk.sync_dir(&self.home.dir()) {
            // It was not tried, and a start does the same again from what `announce` made durable.
            Err(error) if is_out_of_files(&error) => {
                self.home.names_unsynced.store(true, Ordering::Release);
            }
            synced => synced?,
        }
        Ok(doomed)
    }

    /// Where snapshots of the producers stood because a segment began there, and none does any more.
    fn snapshots_between(&self, group: &[Arc<Segment>], writer: &mut Writer) -> Vec<i64> {
        let bases = group.iter().skip(1).map(|it| it.base());
        bases.filter(|base| *base != writer.snapshot).collect()
    }
}
