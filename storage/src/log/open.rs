//! Opening a log: what stands in its folder, what a crash left of it, and what is known of it.

use super::Log;
use super::config::Open;
use super::outcome::Recovery;
use super::recover::{self, Loaded};
use super::writer::Writer;
use crate::disk;
use crate::epoch::LeaderEpochs;
use crate::error::Error;
use crate::producer::snapshot;
use crate::segment::Home;
use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

impl Log {
    /// Opens a log, or makes a new one. After an unclean stop this reads what was written since the
    /// recovery point, and no more.
    pub fn open(open: Open) -> Result<(Log, Recovery), Error> {
        disk::mkdir_all(&*open.disk, &open.dir)?;
        let interval = open.config.index_interval_bytes;
        let home = Home::new(open.disk.clone(), open.dir.clone(), interval);
        let mut recovery = Recovery::default();
        let Loaded { segments, log_start, log_end } =
            recover::segments(&home, &open, &mut recovery)?;
        let Some(active) = segments.last().cloned() else { return Err(Error::Missing) };
        let dir = home.dir();
        let mut epochs = LeaderEpochs::load(&*open.disk, &dir)?;
        let expiry = (open.now_ms, open.producer_id_expiration_ms);
        let mut producers = snapshot::load_latest(&*open.disk, &dir, (log_start, log_end), expiry)?;
        let newest = producers.end();
        let was = epochs.clone();
        if !open.clean {
            // A process that died may have left them to be synced by this one.
            home.names_unsynced.store(true, Ordering::Release);
            home.id_unsynced.store(true, Ordering::Release);
        }
        let from = if epochs.is_none() { log_start } else { newest };
        let known = epochs.get_or_insert_default();
        let replayed = recover::replay(&home, &segments, from, (&mut producers, known))?;
        // What a snapshot has seen is in the indexes, see `Log::snapshot_at_end`.
        let border = if open.clean { i64::MAX } else { open.recovery_point.max(newest) };
        recover::mend_aborted(&home, &segments, border, &replayed.aborted)?;
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
        let recovery_point = if open.clean { log_end } else { open.recovery_point.min(log_end) };
        let unstable = producers.first_unstable_offset().unwrap_or(i64::MAX);
        let is_durable = open.config.is_durable();
        let log = Log {
            home,
            segments: ArcSwap::from_pointee(segments),
            config: ArcSwap::new(open.config),
            log_start: AtomicI64::new(log_start),
            log_end: AtomicI64::new(log_end),
            high_watermark: AtomicI64::new(open.high_watermark.clamp(log_start, log_end)),
            first_unstable: AtomicI64::new(unstable),
            recovery_point: AtomicI64::new(recovery_point),
            unflushed_since_ms: AtomicI64::new(open.now_ms),
            unsnapshotted_bytes: AtomicU64::new(replayed.bytes),
            may_reserve: AtomicBool::new(true),
            is_closed: AtomicBool::new(false),
            is_failed: AtomicBool::new(false),
            failure: Mutex::new(None),
            epochs: RwLock::new(epochs),
            epochs_unsaved: AtomicBool::new(epochs_unsaved),
            saving_epochs: Mutex::new(()),
            writer: Mutex::new(Writer {
                active,
                producers,
                first_timestamp: None,
                jitter: open.jitter,
                reserved_to: 0,
                cannot_reserve: false,
                snapshot: newest,
            }),
            flushing: Mutex::default(),
            replacing: Mutex::default(),
            swapping: RwLock::default(),
        };
        if is_durable {
            // No reader may pass what is synced, and what was read here counts as acknowledged.
            log.flush(log.log_end())?;
        }
        Ok((log, recovery))
    }
}
