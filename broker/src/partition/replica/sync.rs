//! Making a partition's log durable, for the flusher of its directory.

use super::Partition;
use crate::partition::dir::{LOG_BEHIND_BYTES, Lags, Syncs};
use crate::partition::leader::Event;
use std::sync::Arc;
use storage::error::Error;
use storage::log::Log;
use tokio::time::Instant;

impl Partition {
    /// Bytes that a crash of the machine could take.
    pub fn behind_bytes(&self) -> u64 {
        self.unsynced.bytes()
    }

    /// Notes what of its log, which was just opened, may not be durable.
    pub fn note_unsynced(&self) {
        let bytes = self.log.unsynced_bytes();
        self.unsynced.add(bytes);
        self.dir.found_unsynced(bytes);
    }

    /// Puts what is known of its producers on the disk, if much came since: a sync does that too,
    /// but none may come for long. True: it took time.
    pub fn note_producers(&self) -> bool {
        self.in_log("noting the producers of", Log::snapshot_if_due)
    }

    /// Does something with its log, if that can be used; a failure is one of the directory.
    fn in_log<T: Default>(&self, what: &str, work: impl FnOnce(&Log) -> Result<T, Error>) -> T {
        if self.dir.failure().is_some() || !self.takes_part() {
            return T::default();
        }
        work(&self.log).unwrap_or_else(|error| {
            if self.takes_part() {
                self.dir.fail(&format!("{what} {}: {error}", self.name()));
            }
            T::default()
        })
    }

    /// Hands on up to `most` bytes of its log; returns how many they were.
    pub fn hand_over(&self, most: u64) -> u64 {
        self.in_log("writing back", |log| log.write_back(most))
    }

    /// Whether `flush.ms` or `flush.messages` ask for a sync.
    pub fn flush_is_due(&self, now_ms: i64) -> bool {
        self.log.is_flush_due(now_ms)
    }

    /// Asks the flusher for a sync, if a promise or `flush.messages` needs one.
    pub(super) fn want_sync(self: &Arc<Partition>, is_promised: bool) {
        let wants_sync = is_promised || self.log.is_flush_due_by_count();
        if wants_sync && self.unsynced.must_queue() {
            self.dir.sync_soon(Arc::clone(self) as _);
        }
    }
}

impl Syncs for Partition {
    fn sync(&self) -> bool {
        self.unsynced.dequeued();
        let behind = self.unsynced.take();
        self.dir.synced(behind);
        if self.dir.failure().is_some() || !self.takes_part() {
            self.wake_all();
            return true;
        }
        let upto = self.log.log_end();
        let began = Instant::now();
        let synced = self.log.flush(upto);
        self.dir.syncs.record(began.elapsed());
        if let Err(error) = synced {
            // After a failed sync nobody knows what is on the disk; a folder that was renamed
            // under the sync says nothing of it, and one that lacked room has not begun.
            let is_untried = matches!(error, Error::Full(_)) && self.log.failure().is_none();
            if is_untried && self.takes_part() {
                self.dir.not_synced(behind);
                self.unsynced.add(behind);
                return false;
            }
            if self.takes_part() {
                self.dir.fail(&format!("syncing {}: {error}", self.name()));
            }
            self.wake_all();
            return true;
        }
        let effects = {
            let mut role = self.role.lock();
            let Some(leader) = role.leader_mut() else { return true };
            self.stepped(leader, Event::Synced { upto })
        };
        self.tell(effects);
        true
    }
}

impl Lags for Partition {
    fn write_back(&self, most: u64) {
        let handed = self.hand_over(most);
        if handed < most && LOG_BEHIND_BYTES <= self.behind_bytes() {
            // What lacks something is asked again when it has grown.
            let _is_done = self.sync();
        }
    }
}
