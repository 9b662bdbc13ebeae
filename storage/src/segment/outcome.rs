//! What is asked of a segment and found out about it, in values that name no segment.

use super::scan::Flaw;

/// A range of a segment that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    pub segment_base: i64,
    pub position: u64,
    /// Behind the last damaged byte.
    pub end_position: u64,
    /// The first offset that is not readable.
    pub offset: i64,
    /// The first readable one behind it.
    pub next_offset: i64,
}

/// Where an offset is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Located {
    /// The first batch that ends at the offset or behind it begins here; `next` is where the one
    /// behind it begins.
    At {
        position: u64,
        next: u64,
    },
    Damaged(Damage),
    /// No batch of this segment reaches so far.
    Behind,
}

/// What a stop left of the batches that may not have been synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It was clean: they are whole.
    All,
    /// A cleaner may have taken some of them: the checksum of each is checked.
    Offsets,
    /// Also, each begins where the one before ended: its offset is outside of its checksum.
    Nothing,
}

/// What `Segment::recover` found.
#[derive(Clone, Copy, Debug)]
pub struct Recovered {
    /// Why it ends before the file does.
    pub flaw: Option<Flaw>,
    pub next_offset: i64,
    /// Bytes that were walked over.
    pub scanned: u64,
    /// Bytes of the file behind the end.
    pub cut_bytes: u64,
}
