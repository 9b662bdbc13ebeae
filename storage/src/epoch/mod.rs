//! Where each leader epoch of a partition starts: what a follower or a client asks to find where
//! its log and the leader's part (KIP-101, KIP-320).

use crate::checkpoint;
use crate::disk::Disk;
use crate::error::Error;
use std::io;
use std::path::Path;

/// No epoch, or no offset.
pub const UNDEFINED: i32 = -1;

/// Epochs with their first offsets, both strictly growing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaderEpochs {
    entries: Vec<(i32, i64)>,
}

impl LeaderEpochs {
    /// Reads the checkpoint of a partition; None without one: then the batches tell the epochs.
    /// Entries that do not grow are settled as if they had been assigned in their order.
    pub fn load(disk: &dyn Disk, dir: &Path) -> Result<Option<LeaderEpochs>, Error> {
        let read = checkpoint::read_epochs(disk, &dir.join(checkpoint::LEADER_EPOCH))?;
        Ok(read.map(|entries| {
            let mut epochs = LeaderEpochs::default();
            for (epoch, start) in entries {
                epochs.assign(epoch, start);
            }
            epochs
        }))
    }

    /// Replaces the checkpoint, durably.
    pub fn save(&self, disk: &dyn Disk, dir: &Path) -> io::Result<()> {
        checkpoint::write_epochs(disk, &dir.join(checkpoint::LEADER_EPOCH), &self.entries)
    }

    /// Notes that `epoch` starts at `start` (offset); says whether that is news. Entries that
    /// contradict it are older knowledge and go.
    pub fn assign(&mut self, epoch: i32, start: i64) -> bool {
        if epoch < 0 || start < 0 {
            return false;
        }
        if let Some((last, from)) = self.entries.last()
            && *last == epoch
            && *from <= start
        {
            return false;
        }
        while self.entries.pop_if(|(other, from)| epoch <= *other || start <= *from).is_some() {}
        self.entries.push((epoch, start));
        true
    }

    /// The largest epoch up to the asked one, and the offset behind its last record, as
    /// OffsetForLeaderEpoch answers it; (-1, -1) if the log knows nothing of it.
    pub fn end_offset_for(&self, epoch: i32, log_end: i64) -> (i32, i64) {
        let undefined = (UNDEFINED, i64::from(UNDEFINED));
        if epoch == UNDEFINED {
            return undefined;
        }
        if self.latest().is_some_and(|(last, _)| last == epoch) {
            return (epoch, log_end);
        }
        let above = self.entries.partition_point(|(other, _)| *other <= epoch);
        match self.entries.get(above) {
            None => undefined,
            Some((_, end)) => {
                let floor = above.checked_sub(1).and_then(|at| self.entries.get(at));
                (floor.map_or(epoch, |(floor, _)| *floor), *end)
            }
        }
    }

    /// The epoch in which the record at an offset was appended.
    pub fn epoch_of(&self, offset: i64) -> Option<i32> {
        let above = self.entries.partition_point(|(_, start)| *start <= offset);
        self.entries.get(above.checked_sub(1)?).map(|(epoch, _)| *epoch)
    }

    /// The last epoch and its first offset.
    pub fn latest(&self) -> Option<(i32, i64)> {
        self.entries.last().copied()
    }

    /// The first epoch that the log still holds, and its first offset.
    pub fn earliest(&self) -> Option<(i32, i64)> {
        self.entries.first().copied()
    }

    /// The log now ends at `log_end`; says whether an epoch went.
    pub fn truncate_from_end(&mut self, log_end: i64) -> bool {
        let kept = self.entries.partition_point(|(_, start)| *start < log_end);
        let went = kept < self.entries.len();
        self.entries.truncate(kept);
        went
    }

    /// The log now starts at `log_start`; says whether something changed. The epoch of the first
    /// record stays, from there on.
    pub fn truncate_from_start(&mut self, log_start: i64) -> bool {
        let above = self.entries.partition_point(|(_, start)| *start <= log_start);
        let Some(at) = above.checked_sub(1) else { return false };
        let changed = self.entries.get(at).is_some_and(|(_, start)| *start != log_start);
        self.entries.drain(..at);
        if let Some((_, start)) = self.entries.first_mut() {
            *start = log_start;
        }
        changed || 0 < at
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Epochs with their first offsets.
    pub fn entries(&self) -> &[(i32, i64)] {
        &self.entries
    }

    /// Gives back memory that growth took ahead.
    pub fn shrink(&mut self) {
        self.entries.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests;
