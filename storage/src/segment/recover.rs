//! A segment's end: found again after a crash, or made the place of appends again after a cut.

use super::index::{Index, OffsetEntry, Place, TimeEntry};
use super::indexes::Indexes;
use super::outcome::{Recovered, Trust};
use super::recent::Mark;
use super::scan::{self, Flaw, HEADERS, ScanError};
use super::{Home, Segment};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// Only segments of this size had blocks ahead.
const RESERVED_FROM: u64 = 1 << 20;

impl Segment {
    /// Makes it the segment that is appended to, as it stands, after it was sealed or cut: index
    /// entries at or above its end go, and what no entry covers is walked over.
    pub fn activate(&mut self, home: &Home) -> Result<(), ScanError> {
        let end = self.recent.end();
        let from = self.prepare(home, end, Trust::Offsets)?;
        let dir = home.dir();
        let place = self.place(home, &dir);
        self.visit(from, |found| {
            match self.indexes.get() {
                Some(indexes) if from == 0 => self.index(place, indexes, found, home)?,
                _ => self.see_time(found),
            }
            Ok(())
        })?;
        if from == 0 {
            return Ok(());
        }
        let unindexed = u64::from(end.position).saturating_sub(from);
        self.unindexed.store(u32::try_from(unindexed).unwrap_or(u32::MAX), Ordering::Relaxed);
        Ok(())
    }

    /// Opens the indexes for appends, without entries at or above `border`, or makes them empty if
    /// that is all they are good for. Returns where the batch begins that the last entry is about.
    fn prepare(&mut self, home: &Home, border: Mark, trust: Trust) -> Result<u64, ScanError> {
        let dir = home.dir();
        let place = self.place(home, &dir);
        self.sealed.store(false, Ordering::Release);
        self.indexes = OnceLock::new();
        if let Some(indexes) = self.usable_indexes(place, border, trust)? {
            let from = indexes.offsets.last().map_or(0, |it| u64::from(it.position));
            *self.largest.lock() = indexes.times.last();
            self.unindexed.store(0, Ordering::Relaxed);
            if trust == Trust::All || self.see_times_up_to(place, &indexes, from)? {
                self.indexes = OnceLock::from(indexes);
                return Ok(from);
            }
        }
        self.indexes = OnceLock::from(self.fresh_indexes());
        Ok(0)
    }

    /// Whether a batch that is as it was written begins there.
    fn is_intact_at(&self, position: u64) -> Result<bool, ScanError> {
        let mut scan = self.scan(position, scan::WHOLE);
        match scan.next() {
            Ok(Some(found)) => Ok(scan.is_intact(&found)?),
            Ok(None) | Err(ScanError::Flawed(_)) => Ok(false),
            Err(error @ ScanError::Disk(_)) => Err(error),
        }
    }

    /// Up to where its batches below `border` (an offset) are indexed.
    fn position_below(&self, place: Place<'_>, border: i64) -> io::Result<u64> {
        let (Some(relative), Some(indexes)) = (self.relative(border), self.indexes.get()) else {
            return Ok(0);
        };
        let below = indexes.offsets.floor(place, |it| it.relative < relative)?;
        Ok(below.map_or(0, |it| u64::from(it.position)))
    }

    fn usable_indexes(
        &self,
        place: Place<'_>,
        border: Mark,
        trust: Trust,
    ) -> Result<Option<Indexes>, ScanError> {
        let (offsets, times) = if trust == Trust::All {
            (Index::open(place, false)?, Index::open(place, false)?)
        } else {
            let offsets = Index::salvage(place, |it: OffsetEntry| {
                it.relative < border.relative && it.position < border.position
            })?;
            let times = Index::salvage(place, |it: TimeEntry| {
                0 <= it.timestamp && it.relative < border.relative
            })?;
            (offsets, times)
        };
        let Some(offsets) = offsets else { return Ok(None) };
        let mut times = match times {
            Some(times) => times,
            None if trust == Trust::All => return Ok(None),
            // Where timestamps do not grow it is not made before the segment is sealed.
            None => Index::empty(),
        };
        if let Some(last) = offsets.last()
            && !self.points_at_its_batch(last)?
        {
            return Ok(None);
        }
        if let Some(last) = times.last()
            && !self.is_time_of_its_batch(place, &offsets, last)?
        {
            if trust == Trust::All {
                return Ok(None);
            }
            times = Index::empty();
        }
        Ok(Some(Indexes { offsets, times }))
    }

    /// The two files reach the disk one by one, so the time index may know less: what it does not
    /// cover, up to `position`, is looked at. False: not all of it can be read.
    fn see_times_up_to(
        &self,
        place: Place<'_>,
        indexes: &Indexes,
        position: u64,
    ) -> Result<bool, ScanError> {
        let covered = match indexes.times.last() {
            Some(last) => indexes.offsets.floor(place, |it| it.relative <= last.relative)?,
            None => None,
        };
        let mut seen_to = covered.map_or(0, |it| u64::from(it.position));
        self.visit_behind(seen_to, position, &mut |found| {
            self.see_time(found);
            seen_to = found.end();
            Ok(())
        })?;
        Ok(seen_to == position)
    }

    /// Walks over what no index entry below `indexed` (an offset) covers, to the end of the file or
    /// the first flaw at or above `border` (another), and ends there. What is checked of those at or
    /// above the border is a matter of trust. Flaws below are damage, and are passed over.
    pub fn recover(
        &mut self,
        home: &Home,
        (border, indexed): (i64, i64),
        trust: Trust,
    ) -> Result<Recovered, ScanError> {
        let verify = trust != Trust::All;
        // It was opened just now, as long as its file is.
        let (size, position) = (self.size(), self.recent.end().position);
        self.recent.extend(Mark { relative: u32::MAX, position });
        let relative = self.relative(indexed.max(self.base)).unwrap_or(u32::MAX);
        let mut from = self.prepare(home, Mark { relative, position }, trust)?;
        if border < indexed && from != 0 && !self.is_intact_at(from)? {
            // Then what stands before it is no more sure.
            self.indexes = OnceLock::from(self.fresh_indexes());
            from = 0;
        }
        let dir = home.dir();
        let place = self.place(home, &dir);
        let block = if verify { scan::WHOLE } else { HEADERS };
        let mut scan = self.scan(from, block);
        let mut next_offset = self.base;
        // Behind an index entry nothing tells what the first batch should begin with.
        let mut knows_next = from == 0;
        let flaw = loop {
            let flaw = match scan.next() {
                Ok(Some(found)) => {
                    let is_new = verify && border <= found.last_offset;
                    let has_gap = knows_next && next_offset < found.base_offset;
                    if is_new && has_gap && trust == Trust::Nothing {
                        scan.jump(found.position, next_offset);
                        Flaw::Order
                    } else if is_new && !scan.is_intact(&found)? {
                        scan.jump(found.position, found.base_offset);
                        Flaw::Checksum
                    } else {
                        knows_next = true;
                        let Some(indexes) = self.indexes.get() else { break None };
                        self.index(place, indexes, &found, home)?;
                        next_offset = found.last_offset.saturating_add(1);
                        continue;
                    }
                }
                Ok(None) => break None,
                Err(ScanError::Flawed(flaw)) => flaw,
                Err(error @ ScanError::Disk(_)) => return Err(error),
            };
            if border <= scan.floor() {
                break Some(flaw);
            }
            let damage = self.damage_before(&mut scan, border)?;
            scan.jump(damage.end_position, damage.next_offset);
            next_offset = damage.next_offset;
        };
        let end = scan.position();
        self.extend(next_offset, end);
        if verify {
            let written_out = self.position_below(place, border)?;
            self.written_out.store(written_out.min(end), Ordering::Relaxed);
        }
        if verify && RESERVED_FROM <= end && flaw.is_none() {
            self.file.truncate(end)?; // Gives back blocks that were held ahead.
        }
        Ok(Recovered { flaw, next_offset, scanned: end - from, cut_bytes: size - end })
    }

    /// Drops what stands in the file behind the end.
    pub fn cut(&self) -> io::Result<()> {
        self.file.truncate(self.size())?;
        self.file.sync()
    }
}
