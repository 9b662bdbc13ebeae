//! What a segment has in its two indexes.

use super::index::{Index, OffsetEntry, TimeEntry};

#[derive(Debug)]
pub(super) struct Indexes {
    pub(super) offsets: Index<OffsetEntry>,
    pub(super) times: Index<TimeEntry>,
}

impl Indexes {
    pub(super) fn empty() -> Indexes {
        Indexes { offsets: Index::empty(), times: Index::empty() }
    }
}
