//! What a segment's indexes weigh, and how they are held when their files go.

use super::index::{Entry, OffsetEntry, TimeEntry};
use super::scan::ScanError;
use super::{Home, Segment};

impl Segment {
    /// Bytes of the offset index and of the time index.
    pub fn index_bytes(&self, home: &Home) -> Result<(u64, u64), ScanError> {
        let indexes = self.indexes(home)?;
        let bytes = |len: u32, size: u32| u64::from(len) * u64::from(size);
        let offsets = bytes(indexes.offsets.len(), OffsetEntry::SIZE);
        Ok((offsets, bytes(indexes.times.len(), TimeEntry::SIZE)))
    }

    /// Another segment will take the names of this sealed one: whoever still reads it finds all it
    /// needs in memory.
    pub fn hold_indexes(&self, home: &Home) -> Result<(), ScanError> {
        let indexes = self.indexes(home)?;
        let dir = home.dir();
        let place = self.place(home, &dir);
        indexes.offsets.hold(place)?;
        indexes.times.hold(place)?;
        Ok(())
    }
}
