//! One partition's log: its segments, its end, and everything that is known of what it holds.
//!
//! The write side stands behind one lock, which is held across an `fsync` only by a cut and by the
//! close, when nobody appends. The read side takes none: it loads the list of segments and reads
//! atomics. The order of the locks is `replacing`, `flushing`, `swapping`, `writer`, `epochs`.

mod append;
mod checked;
pub mod clean;
pub mod config;
mod epochs;
mod flush;
mod lookup;
mod offsets;
mod open;
pub mod outcome;
mod read;
mod recover;
mod retain;
mod rewrite;
mod roll;
mod snapshot;
mod truncate;
mod validate;
mod writer;

pub use config::{LogConfig, Open, Recompression};
pub use outcome::{
    AppendContext, AppendError, Appended, Cut, Damage, Doomed, EpochEnd, Origin, ReadError, Reason,
    RecordError, Recovery, Refusal, Retained, Slice, TimestampOffset,
};
pub use validate::one_batch;

use crate::epoch::LeaderEpochs;
use crate::segment::{Home, Segment};
use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize};
use writer::Writer;

/// In the order of their bases; never empty; the last one is the active one.
type Segments = Vec<Arc<Segment>>;

/// The log of one partition.
#[derive(Debug)]
pub struct Log {
    home: Home,
    segments: ArcSwap<Segments>,
    config: ArcSwap<LogConfig>,
    log_start: AtomicI64,
    /// The offset that the next record gets.
    log_end: AtomicI64,
    high_watermark: AtomicI64,
    /// The first offset of the oldest open transaction; `i64::MAX`: none is open.
    first_unstable: AtomicI64,
    /// Everything below is on the disk for good.
    recovery_point: AtomicI64,
    /// When the oldest record that is not synced was appended, in milliseconds.
    unflushed_since_ms: AtomicI64,
    /// Bytes appended since the last snapshot of the producers.
    unsnapshotted_bytes: AtomicU64,
    /// Of this process there are snapshots that are not durable.
    has_loose_snapshots: AtomicBool,
    /// Whether blocks may be taken ahead of the end.
    may_reserve: AtomicBool,
    is_closed: AtomicBool,
    is_failed: AtomicBool,
    /// Why nothing is appended any more.
    failure: Mutex<Option<String>>,
    epochs: RwLock<LeaderEpochs>,
    /// They have changed since they were written down.
    epochs_unsaved: AtomicBool,
    saving_epochs: Mutex<()>,
    writer: Mutex<Writer>,
    /// How many producers were known when somebody last asked and nobody appended.
    producers_seen: AtomicUsize,
    flushing: Mutex<()>,
    /// Held by whoever takes segments out of the list, or puts others in their place.
    replacing: Mutex<()>,
    /// Held while the files of segments are replaced by those of cleaned ones.
    swapping: RwLock<()>,
}

#[cfg(test)]
mod tests;
