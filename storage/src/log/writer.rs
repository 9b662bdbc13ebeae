//! What only an appender touches, behind the lock.

use crate::producer::Producers;
use crate::segment::Segment;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(super) struct Writer {
    pub active: Arc<Segment>,
    pub producers: Producers,
    /// Greatest timestamp of the active segment's first batch; None: not known yet.
    pub first_timestamp: Option<i64>,
    /// Drawn once for each log; what `segment.jitter.ms` takes of it.
    pub jitter: u64,
    /// Blocks of the active segment are held up to here.
    pub reserved_to: u64,
    /// The file system has no such call, or no room for it.
    pub cannot_reserve: bool,
    /// Offset of the newest snapshot of the producers.
    pub snapshot: i64,
}
