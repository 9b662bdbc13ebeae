//! Handing a segment's batches to the device ahead of the sync that makes them durable.

use super::Segment;
use std::io;
use std::sync::atomic::Ordering;

/// Goes at once, and begins and ends between two pages however large the kernel makes them.
const UNIT_BYTES: u64 = 256 << 10;

impl Segment {
    /// Hands what was appended to the device and waits until that has it, but for the last pages:
    /// the kernel holds a page locked until the device has room for it, and whoever appends to it
    /// meanwhile waits. A failure is one of a sync.
    pub fn write_out(&self) -> io::Result<()> {
        let upto = self.size() / UNIT_BYTES * UNIT_BYTES;
        let from = self.written_out.fetch_max(upto, Ordering::Relaxed);
        if from < upto { self.file.write_out(from, upto - from) } else { Ok(()) }
    }
}
