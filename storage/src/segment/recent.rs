//! The last few batches of the active segment, so that a reader at the tail needs no index.

use std::sync::atomic::{AtomicU64, Ordering};

const SLOTS: usize = 16;

/// An offset counted from the segment's base and a position in its file, in one word, so that
/// whoever reads them without a lock sees a pair that belongs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    pub relative: u32,
    pub position: u32,
}

impl Mark {
    fn pack(self) -> u64 {
        u64::from(self.relative) << 32 | u64::from(self.position)
    }

    fn unpack(word: u64) -> Mark {
        let part = |word: u64| u32::try_from(word & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        Mark { relative: part(word >> 32), position: part(word) }
    }
}

/// Written by the one appender, read by anybody. A slot that was never written says that the
/// segment begins at its beginning, which is true.
#[derive(Debug, Default)]
pub struct Recent {
    slots: [AtomicU64; SLOTS],
    next: AtomicU64,
    /// Behind the last batch.
    end: AtomicU64,
}

impl Recent {
    #[must_use]
    pub fn ending_at(end: Mark) -> Recent {
        let recent = Recent::default();
        recent.end.store(end.pack(), Ordering::Release);
        recent
    }

    /// The offset behind the last batch, and where the file's batches end.
    pub fn end(&self) -> Mark {
        Mark::unpack(self.end.load(Ordering::Acquire))
    }

    /// Says where a batch begins; before [`Recent::extend`] has made it visible.
    pub fn note(&self, batch: Mark) {
        let next = self.next.load(Ordering::Relaxed);
        let slot = usize::try_from(next).unwrap_or_default() % SLOTS;
        if let Some(slot) = self.slots.get(slot) {
            slot.store(batch.pack(), Ordering::Release);
        }
        self.next.store(next.wrapping_add(1), Ordering::Relaxed);
    }

    pub fn extend(&self, end: Mark) {
        self.end.store(end.pack(), Ordering::Release);
    }

    /// The latest batch known here that begins at `relative` or before, and where the batch behind
    /// it begins. None: all known ones begin later.
    pub fn floor(&self, relative: u32) -> Option<(Mark, u32)> {
        let (mut best, mut next) = (0, self.end.load(Ordering::Acquire));
        for slot in &self.slots {
            let word = slot.load(Ordering::Acquire);
            if Mark::unpack(word).relative <= relative {
                best = word.max(best);
            } else {
                next = word.min(next);
            }
        }
        (best != 0).then(|| (Mark::unpack(best), Mark::unpack(next).position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_the_last_batch_that_begins_at_or_before() {
        let recent = Recent::default();
        assert_eq!(recent.floor(5), None);
        let mark = |relative, position| Mark { relative, position };
        for batch in 0..20 {
            recent.note(mark(batch * 10, batch * 100));
            recent.extend(mark(batch * 10 + 10, batch * 100 + 100));
        }
        let check = |relative: u32, want: Option<(u32, u32)>| {
            let got = recent.floor(relative).map(|(mark, next)| (mark.position, next));
            assert_eq!(got, want, "{relative}");
        };
        check(30, None);
        check(39, None);
        check(40, Some((400, 500)));
        check(49, Some((400, 500)));
        check(190, Some((1900, 2000)));
        check(199, Some((1900, 2000)));
        assert_eq!(recent.end(), mark(200, 2000));
    }
}
