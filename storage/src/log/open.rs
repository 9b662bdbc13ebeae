//! Opening a log: what stands in its folder, what a crash left of it, and what is known of it.

use super::Log;
use super::config::Open;
use super::outcome::Recovery;
use super::recover::{self, Loaded};
use super::writer::Writer;
use crate::disk::{self, Entry};
use crate::epoch::LeaderEpochs;
use crate::error::Error;
use crate::last_stop::LastStop;
use crate::producer::{Producers, snapshot};
use crate::segment::{Home, Segment};
use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};

/// What a log begins with.
struct Found {
    loaded: Loaded,
    recovery_point: i64,
    epochs: LeaderEpochs,
    epochs_unsaved: bool,
    producers: Producers,
    /// The offset of the newest snapshot of them.
    snapshot: i64,
    /// Bytes of the batches behind it.
    unsnapshotted_bytes: u64,
}

impl Log {
    /// Opens a log, or makes a new one. After a crash this reads what was written since the recovery
    /// point, and no more; if only the process ended, what no index covers, and headers.
    pub fn open(open: Open) -> Result<(Log, Recovery), Error> {
        let listed = match open.disk.list(&open.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                disk::mkdir_all(&*open.disk, &open.dir)?;
                Vec::new()
            }
            listed => listed?,
        };
        let home = home(&open);
        let mut recovery = Recovery::default();
        let found = found(&home, &open, &listed, &mut recovery)?;
        Ok((with(home, open, found)?, recovery))
    }

    /// A new log in a folder that was made just now: nothing is looked for in it.
    pub fn create(open: Open) -> Result<Log, Error> {
        let home = home(&open);
        home.id_unsynced.store(true, Ordering::Release);
        let start = open.log_start_offset;
        let segment = Segment::create(&home, start, open.now_ms)?;
        let found = Found {
            loaded: Loaded {
                segments: vec![Arc::new(segment)],
                snapshots: Vec::new(),
                log_start: start,
                log_end: start,
            },
            recovery_point: start,
            epochs: LeaderEpochs::default(),
            epochs_unsaved: false,
            producers: Producers::starting_at(start),
            snapshot: start,
            unsnapshotted_bytes: 0,
        };
        with(home, open, found)
    }
}

fn home(open: &Open) -> Home {
    Home::new(open.disk.clone(), open.dir.clone(), open.config.index_interval_bytes)
}

fn found(
    home: &Home,
    open: &Open,
    listed: &[Entry],
    recovery: &mut Recovery,
) -> Result<Found, Error> {
    let loaded = recover::segments(home, open, listed, recovery)?;
    let Loaded { segments, snapshots, log_start, log_end } = &loaded;
    let (log_start, log_end) = (*log_start, *log_end);
    let dir = home.dir();
    let mut epochs = match LeaderEpochs::load(&*open.disk, &dir) {
        // As without it: the batches tell them.
        Err(Error::Malformed { .. }) => None,
        loaded => loaded?,
    };
    let expiry = (open.now_ms, open.producer_id_expiration_ms);
    let is_base = |at| Log::begins_at(segments, at);
    let range = (log_start, log_end);
    let place = (&*open.disk, &*dir);
    let mut producers = snapshot::latest_of(snapshots, place, range, expiry, is_base)?;
    let newest = producers.end();
    let was = epochs.clone();
    let is_clean = open.last_stop == LastStop::Clean;
    if !is_clean {
        // A process that died may have left them to be synced by this one.
        home.names_unsynced.store(true, Ordering::Release);
        home.id_unsynced.store(true, Ordering::Release);
    }
    let from = if epochs.is_none() { log_start } else { newest };
    let known = epochs.get_or_insert_default();
    let replayed = recover::replay(home, segments, from, (&mut producers, known))?;
    // What a snapshot has seen is in the indexes, see `Log::snapshot_at_end`.
    let border = if is_clean { i64::MAX } else { open.recovery_point.max(newest) };
    recover::mend_aborted(home, segments, border, &replayed.aborted)?;
    producers.expire(open.now_ms, open.producer_id_expiration_ms);
    let mut epochs = epochs.unwrap_or_default();
    epochs.truncate_from_end(log_end);
    epochs.truncate_from_start(log_start);
    epochs.shrink();
    // The next flush writes them: what brought them to this will do so again.
    let epochs_unsaved =
        was.as_ref() != Some(&epochs) && !(was.is_none() && epochs.entries().is_empty());
    // What was deleted may be what it is.
    let damages = segments.iter().flat_map(|segment| segment.damages());
    recovery.damaged = damages.filter(|damage| log_start < damage.next_offset).collect();
    let recovery_point = if is_clean { log_end } else { open.recovery_point.min(log_end) };
    Ok(Found {
        loaded,
        recovery_point,
        epochs,
        epochs_unsaved,
        producers,
        snapshot: newest,
        unsnapshotted_bytes: replayed.bytes,
    })
}

fn with(home: Home, open: Open, found: Found) -> Result<Log, Error> {
    let Loaded { segments, log_start, log_end, .. } = found.loaded;
    let Some(active) = segments.last().cloned() else { return Err(Error::Missing) };
    let unstable = found.producers.first_unstable_offset().unwrap_or(i64::MAX);
    let is_durable = open.config.is_durable();
    let log = Log {
        home,
        segments: ArcSwap::from_pointee(segments),
        config: ArcSwap::new(open.config),
        log_start: AtomicI64::new(log_start),
        log_end: AtomicI64::new(log_end),
        high_watermark: AtomicI64::new(open.high_watermark.clamp(log_start, log_end)),
        first_unstable: AtomicI64::new(unstable),
        recovery_point: AtomicI64::new(found.recovery_point),
        unflushed_since_ms: AtomicI64::new(open.now_ms),
        unsnapshotted_bytes: AtomicU64::new(found.unsnapshotted_bytes),
        has_loose_snapshots: AtomicBool::new(false),
        may_reserve: AtomicBool::new(true),
        is_closed: AtomicBool::new(false),
        is_failed: AtomicBool::new(false),
        failure: Mutex::new(None),
        epochs: RwLock::new(found.epochs),
        epochs_unsaved: AtomicBool::new(found.epochs_unsaved),
        saving_epochs: Mutex::new(()),
        writer: Mutex::new(Writer {
            active,
            producers: found.producers,
            first_timestamp: None,
            jitter: open.jitter,
            reserved_to: 0,
            cannot_reserve: false,
            snapshot: found.snapshot,
        }),
        producers_seen: AtomicUsize::new(0),
        flushing: Mutex::default(),
        replacing: Mutex::default(),
        swapping: RwLock::default(),
    };
    if is_durable {
        // No reader may pass what is synced, and what was read here counts as acknowledged.
        log.flush(log.log_end())?;
    }
    Ok(log)
}
