//! Opening a log: what stands in its folder, what a crash left of it, and what is known of it.

use super::append::Writer;
use super::outcome::Recovery;
use super::recover::{self, Loaded};
use super::{Log, LogConfig};
use crate::disk::{self, Disk};
use crate::epoch::LeaderEpochs;
use crate::error::Error;
use crate::producer::snapshot;
use crate::segment::Home;
use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};

/// All that opening a log needs to be told.
#[derive(Clone, Debug)]
pub struct Open {
    pub disk: Arc<dyn Disk>,
    /// The partition's folder; it is made if it is not there.
    pub dir: PathBuf,
    pub config: Arc<LogConfig>,
    /// Wall clock, in milliseconds.
    pub now_ms: i64,
    /// The log directory was closed cleanly: what stands there is trusted.
    pub clean: bool,
    /// As it was checkpointed; 0 without.
    pub recovery_point: i64,
    /// As it was checkpointed; 0 without. A new log begins there.
    pub log_start_offset: i64,
    /// As it was checkpointed; 0 without.
    pub high_watermark: i64,
    /// `producer.id.expiration.ms`.
    pub producer_id_expiration_ms: i64,
    /// A random number, for `segment.jitter.ms`.
    pub jitter: u64,
}

impl Open {
    /// A log at its beginning, with all else as by default.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>, dir: PathBuf, config: Arc<LogConfig>, now_ms: i64) -> Open {
        Open {
            disk,
            dir,
            config,
            now_ms,
            clean: false,
            recovery_point: 0,
            log_start_offset: 0,
            high_watermark: 0,
            producer_id_expiration_ms: 86_400_000,
            jitter: 0,
        }
    }
}

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
        let from = if epochs.is_none() { log_start } else { newest };
        let known = epochs.get_or_insert_default();
        let replayed = recover::replay(&home, &segments, from, (&mut producers, known))?;
        if !open.clean {
            recover::mend_aborted(&home, &segments, open.recovery_point, &replayed.aborted)?;
        }
        producers.expire(open.now_ms, open.producer_id_expiration_ms);
        let mut epochs = epochs.unwrap_or_default();
        epochs.truncate_from_end(log_end);
        epochs.truncate_from_start(log_start);
        epochs.shrink();
        if was.as_ref() != Some(&epochs) && !(was.is_none() && epochs.entries().is_empty()) {
            epochs.save(&*open.disk, &dir)?;
        }
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
            writer: Mutex::new(Writer {
                active,
                producers,
                first_timestamp: None,
                jitter: open.jitter,
                reserved_to: 0,
                cannot_reserve: false,
                snapshot: newest,
            }),
            flushing: Mutex::new(()),
        };
        if is_durable {
            // No reader may pass what is synced, and what was read here counts as acknowledged.
            log.flush(log.log_end())?;
        }
        Ok((log, recovery))
    }
}
