//! A log directory: whether it can be used, and what in it waits for the disk.

use super::checkpoints::Checkpoints;
use crate::metrics::{Timer, TotalTraffic};
use parking_lot::{Condvar, Mutex};
use protocol::ids::Uuid;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use storage::disk::Disk;
use storage::error::is_shortage;
use storage::last_stop::LastStop;
use storage::log::Origin;
use storage::log_dir::LogDir;

/// After so many bytes of one log they are handed to the device: in small pieces, so that a sync
/// never finds much, and far below where the kernel throttles writers.
const WRITE_BACK_BYTES: u64 = 4 << 20;
/// So much of one log may be unsynced: little to check after a crash. A sync of a log that grows
/// holds up who appends to it, so there are few.
pub(super) const LOG_BEHIND_BYTES: u64 = 32 << 20;
/// The same for all logs of a directory together, of which many may have a little each: a stop syncs
/// what is left of them.
const DIR_BEHIND_BYTES: u64 = 64 << 20;
/// With so much unsynced all is synced, however fast it comes and whatever the device makes of it: a
/// start after a crash of the machine has to check it, and a stop to sync it.
const DIR_FAR_BYTES: u64 = 3 << 30;
/// The room of the disk is looked at again after so many bytes, besides every second.
const SPACE_STEP_BYTES: u64 = 4 << 20;
/// What the records of coordinators leave of the reserve: the metadata log goes on with it, so that
/// a topic can be deleted when nothing else is possible any more.
const LAST_BYTES: u64 = 8 << 20;

/// When a sync that lacked something is tried again, at the latest.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Something that a sync makes durable.
pub trait Syncs: Debug + Send + Sync {
    /// Makes what it holds now durable, and tells whoever waits for that. False: only something
    /// lacked that comes back, so it is to be asked again.
    fn sync(&self) -> bool;
}

/// Something that grows, and should be handed to the device bit by bit.
pub trait Lags: Debug + Send + Sync {
    /// Hands on what it holds now, up to `most` bytes. If that was all, and much, it is synced.
    fn write_back(&self, most: u64);
}

/// One directory of `log.dirs`.
#[derive(Debug)]
pub struct Dir {
    pub disk: Arc<dyn Disk>,
    pub path: PathBuf,
    pub id: Uuid,
    /// None: it could not be opened when the process started.
    log_dir: Option<Arc<LogDir>>,
    /// How the last process that used it came to its end.
    pub last_stop: LastStop,
    /// It is marked as one whose logs hold what they should.
    is_marked: AtomicBool,
    /// A log was made that no checkpoint names yet.
    has_unnamed: AtomicBool,
    /// What a start reads to know where each log stands.
    pub checkpoints: Checkpoints,
    /// `highwater.log.dir.reserve.bytes`
    reserve_bytes: AtomicU64,
    /// Why it went offline. It stays so until the process starts again.
    failure: OnceLock<String>,
    is_below_reserve: AtomicBool,
    /// The logs were told so.
    is_told_below: AtomicBool,
    /// As seen last.
    free_bytes: AtomicU64,
    /// A write found no room, though the reserve did not say so.
    is_short: AtomicBool,
    /// Bytes appended but not yet synced, over all logs.
    behind: AtomicU64,
    /// Bytes appended since the start, and those that it found unsynced.
    written: AtomicU64,
    /// More comes than is handed on: for now that is left to the kernel.
    is_flooded: AtomicBool,
    /// Of all partitions that are or were in it.
    pub traffic: TotalTraffic,
    /// How long syncs of its logs took.
    pub syncs: Timer,
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Told when it fails.
    on_failure: OnceLock<Box<dyn Notified>>,
}

/// Who wants to know that a directory failed.
pub trait Notified: Debug + Send + Sync {
    fn notify(&self, dir: &Dir);
}

/// What the directory's flusher has to do next.
#[derive(Debug)]
pub(super) struct Work {
    /// Somebody waits for these.
    pub(super) urgent: Vec<Arc<dyn Syncs>>,
    /// Nobody waits for this one, but it holds much.
    pub(super) behind: Option<Arc<dyn Lags>>,
    /// All logs together hold much.
    pub(super) all_behind: bool,
    pub(super) stop: bool,
}

#[derive(Debug, Default)]
struct Queue {
    urgent: Vec<Arc<dyn Syncs>>,
    /// Somebody waits for these too, but what they lacked a moment ago they would lack now.
    again: Vec<Arc<dyn Syncs>>,
    behind: VecDeque<Arc<dyn Lags>>,
    all_behind: bool,
    stop: bool,
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.urgent.is_empty() && self.behind.is_empty() && !self.all_behind && !self.stop
    }
}

impl Dir {
    /// `last_stop`: as its marks tell, of which that of a clean stop was removed.
    pub fn new(log_dir: Arc<LogDir>, last_stop: LastStop, reserve_bytes: u64) -> Dir {
        let id = log_dir.id().unwrap_or(Uuid::ZERO);
        let disk = Arc::clone(log_dir.disk());
        let mut dir = Dir::empty(disk, log_dir.path(), id);
        dir.log_dir = Some(log_dir);
        dir.last_stop = last_stop;
        dir.is_marked = AtomicBool::new(last_stop == LastStop::Killed);
        dir.set_reserve(reserve_bytes);
        dir
    }

    /// One that cannot be used from the start.
    pub fn lost(disk: Arc<dyn Disk>, path: &Path, reason: &str) -> Dir {
        let dir = Dir::empty(disk, path, Uuid::ZERO);
        dir.fail(reason);
        dir
    }

    fn empty(disk: Arc<dyn Disk>, path: &Path, id: Uuid) -> Dir {
        Dir {
            disk,
            path: path.to_owned(),
            id,
            log_dir: None,
            last_stop: LastStop::Crashed,
            is_marked: AtomicBool::new(false),
            has_unnamed: AtomicBool::new(false),
            checkpoints: Checkpoints::default(),
            reserve_bytes: AtomicU64::new(0),
            failure: OnceLock::new(),
            is_below_reserve: AtomicBool::new(false),
            is_told_below: AtomicBool::new(false),
            free_bytes: AtomicU64::new(u64::MAX),
            is_short: AtomicBool::new(false),
            behind: AtomicU64::new(0),
            written: AtomicU64::new(0),
            is_flooded: AtomicBool::new(false),
            traffic: TotalTraffic::default(),
            syncs: Timer::default(),
            queue: Mutex::default(),
            wake: Condvar::new(),
            on_failure: OnceLock::new(),
        }
    }

    /// The folder that this process holds, while it can be used.
    pub fn log_dir(&self) -> Option<&Arc<LogDir>> {
        self.log_dir.as_ref().filter(|_| self.failure().is_none())
    }

    /// Marks it as one whose logs hold what they should, once.
    pub(super) fn mark_running(&self) {
        let Some(log_dir) = self.log_dir() else { return };
        if self.is_marked.load(Ordering::Relaxed) {
            return;
        }
        match log_dir.mark_running() {
            Ok(()) => {
                self.is_marked.store(true, Ordering::Relaxed);
                if self.failure().is_some() {
                    self.unmark(log_dir); // It failed meanwhile.
                }
            }
            // Without the mark a start checks more, and that is all.
            Err(error) if is_shortage(&error) => {}
            Err(error) => tracing::warn!("{} could not be marked: {error}", self.path.display()),
        }
    }

    /// Notes that a log is open in it that its checkpoint may not name yet.
    pub fn has_new_log(&self) {
        self.has_unnamed.store(true, Ordering::Relaxed);
    }

    /// Whether that is so.
    pub(super) fn has_unnamed(&self) -> bool {
        self.has_unnamed.load(Ordering::Relaxed)
    }

    /// The same; who asks writes the checkpoint, or notes it again.
    pub(super) fn take_unnamed(&self) -> bool {
        self.has_unnamed.swap(false, Ordering::Relaxed)
    }

    fn unmark(&self, log_dir: &LogDir) {
        if let Err(error) = log_dir.unmark_running() {
            tracing::error!("{} keeps its mark: {error}", self.path.display());
        }
    }

    /// Why it is offline, if it is.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Takes it offline; only the first reason counts. After a failed write or sync nobody knows
    /// what stands on the disk, so nothing of it is used again by this process.
    pub fn fail(&self, reason: &str) {
        if self.failure.set(reason.to_owned()).is_err() {
            return;
        }
        if let Some(log_dir) = &self.log_dir {
            log_dir.go_offline(reason);
            self.unmark(log_dir);
        }
        tracing::error!("Stopping serving logs in dir {}: {reason}", self.path.display());
        if let Some(told) = self.on_failure.get() {
            told.notify(self);
        }
    }

    /// Has `told` called when the directory fails. Once.
    pub fn when_failed(&self, told: Box<dyn Notified>) {
        debug_assert!(self.on_failure.get().is_none(), "one looks after a directory");
        self.on_failure.get_or_init(|| told);
    }

    /// No client appends anything until space is back.
    pub(super) fn is_below_reserve(&self) -> bool {
        self.is_below_reserve.load(Ordering::Relaxed)
    }

    /// Notes what the logs were told of the reserve; says what they were told before.
    pub(super) fn tell_below(&self, is_below: bool) -> bool {
        self.is_told_below.swap(is_below, Ordering::Relaxed)
    }

    /// Appends are refused for want of room: all of them, or those that need more than there is.
    pub fn is_full(&self) -> bool {
        self.is_below_reserve() || self.is_short.load(Ordering::Relaxed)
    }

    /// Why not everything can be appended to it, in words for people.
    pub fn refusal(&self) -> Option<String> {
        let path = self.path.display();
        match self.failure() {
            Some(reason) => Some(format!("{path} is offline: {reason}")),
            None => self.is_full().then(|| format!("{path} is full")),
        }
    }

    pub fn set_reserve(&self, reserve_bytes: u64) {
        self.reserve_bytes.store(reserve_bytes, Ordering::Relaxed);
    }

    /// Whether `bytes` more may be written. Small appends go by what was seen last. Coordinators may
    /// use the reserve: who reads in a group, or commits what it has read, fills no disk.
    pub(super) fn has_room(&self, bytes: u64, origin: Origin) -> bool {
        if SPACE_STEP_BYTES <= bytes {
            return self.has_room_now(bytes, origin);
        }
        self.kept_from(origin) <= self.free_bytes.load(Ordering::Relaxed)
    }

    /// The same, by what is free now.
    pub(super) fn has_room_now(&self, bytes: u64, origin: Origin) -> bool {
        let needed_bytes = self.kept_from(origin).saturating_add(bytes);
        self.look_for_room().is_some_and(|free_bytes| needed_bytes <= free_bytes)
    }

    /// Bytes that are not for these records.
    fn kept_from(&self, origin: Origin) -> u64 {
        let reserve_bytes = self.reserve_bytes.load(Ordering::Relaxed);
        match origin {
            Origin::Client | Origin::Replica => reserve_bytes,
            Origin::Coordinator => reserve_bytes.min(LAST_BYTES),
        }
    }

    /// Looks how many bytes are free, and says so when that changes something. None: it cannot be
    /// told, and the directory is offline.
    pub(super) fn look_for_room(&self) -> Option<u64> {
        let free_bytes = match self.disk.free_bytes(&self.path) {
            Ok(free_bytes) => free_bytes,
            Err(error) => {
                self.fail(&format!("asking for free space: {error}"));
                return None;
            }
        };
        self.set_free(free_bytes, self.reserve_bytes.load(Ordering::Relaxed));
        if SPACE_STEP_BYTES <= free_bytes && self.is_short.swap(false, Ordering::Relaxed) {
            let path = self.path.display();
            tracing::info!("{path} has {free_bytes} bytes left: what was refused is tried again");
        }
        Some(free_bytes)
    }

    fn set_free(&self, free_bytes: u64, reserve_bytes: u64) {
        self.free_bytes.store(free_bytes, Ordering::Relaxed);
        let is_below = free_bytes < reserve_bytes;
        if self.is_below_reserve.swap(is_below, Ordering::Relaxed) == is_below {
            return;
        }
        let path = self.path.display();
        if is_below {
            tracing::warn!(
                "{path} has {free_bytes} bytes left, less than highwater.log.dir.reserve.bytes \
                 ({reserve_bytes}): produce is refused until there is more"
            );
        } else {
            tracing::info!("{path} has {free_bytes} bytes left: produce is accepted again");
        }
    }

    /// Notes that a write found no room, and says so once until there is some again: without a
    /// reserve nothing else would.
    pub(super) fn lacks_room(&self, reason: &str) {
        if !self.is_short.swap(true, Ordering::Relaxed) && !self.is_below_reserve() {
            let path = self.path.display();
            tracing::warn!("{path}: {reason}: produce that needs more is refused until there is");
        }
    }

    /// Notes that `bytes` were appended to a log, and has it count them: `add` says how many unsynced
    /// ones it holds then. In this order, or a sync would take them back before they are noted.
    /// True: the log is to be given to [`Dir::write_back`].
    pub(super) fn appended(&self, bytes: u64, add: impl FnOnce() -> u64) -> bool {
        let before = self.behind.fetch_add(bytes, Ordering::Relaxed);
        let log_behind = add();
        if before < DIR_BEHIND_BYTES && DIR_BEHIND_BYTES <= before + bytes {
            self.queue.lock().all_behind = true;
            self.wake.notify_one();
        }
        let written = self.written.fetch_add(bytes, Ordering::Relaxed);
        if written / SPACE_STEP_BYTES != (written + bytes) / SPACE_STEP_BYTES {
            self.look_for_room();
        }
        !self.is_flooded()
            && log_behind.saturating_sub(bytes) / WRITE_BACK_BYTES != log_behind / WRITE_BACK_BYTES
    }

    /// Bytes appended since the start, and those that it found unsynced.
    pub(super) fn written_bytes(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Notes whether more comes than is handed on; then no log asks for that.
    pub(super) fn set_flooded(&self, is_flooded: bool) {
        self.is_flooded.store(is_flooded, Ordering::Relaxed);
    }

    pub(super) fn is_flooded(&self) -> bool {
        self.is_flooded.load(Ordering::Relaxed)
    }

    /// Notes that a log that was just opened holds so much that may not be durable.
    pub(super) fn found_unsynced(&self, bytes: u64) {
        let before = self.behind.fetch_add(bytes, Ordering::Relaxed);
        self.written.fetch_add(bytes, Ordering::Relaxed);
        if DIR_BEHIND_BYTES <= before + bytes {
            self.queue.lock().all_behind = true;
            self.wake.notify_one();
        }
    }

    /// Whether the logs hold too much to wait for more.
    pub(super) fn is_behind(&self) -> bool {
        DIR_BEHIND_BYTES <= self.behind.load(Ordering::Relaxed)
    }

    /// Whether they hold so much that it must be synced, whatever comes meanwhile.
    pub(super) fn is_too_far_behind(&self) -> bool {
        DIR_FAR_BYTES <= self.behind.load(Ordering::Relaxed)
    }

    /// Whether they hold half of that.
    pub(super) fn is_half_too_far_behind(&self) -> bool {
        DIR_FAR_BYTES / 2 <= self.behind.load(Ordering::Relaxed)
    }

    /// Notes that `bytes` are durable now, or gone.
    pub(super) fn synced(&self, bytes: u64) {
        let less = |behind: u64| Some(behind.saturating_sub(bytes));
        let _before = self.behind.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Notes that `bytes` are not durable yet after all.
    pub(super) fn not_synced(&self, bytes: u64) {
        self.behind.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Whether they hold half of what [`Dir::is_behind`] asks for.
    pub(super) fn is_half_behind(&self) -> bool {
        DIR_BEHIND_BYTES / 2 <= self.behind.load(Ordering::Relaxed)
    }

    /// Whether more is appended than synced one log at a time.
    pub(super) fn is_far_behind(&self) -> bool {
        DIR_BEHIND_BYTES * 2 <= self.behind.load(Ordering::Relaxed)
    }

    /// Bytes that became durable since the start, or are about to, or are gone.
    pub(super) fn synced_bytes(&self) -> u64 {
        // In this order: what is appended in between counts as unsynced.
        let written = self.written_bytes();
        written.saturating_sub(self.behind.load(Ordering::Relaxed))
    }

    /// Somebody waits for `log` to be durable.
    pub(super) fn sync_soon(&self, log: Arc<dyn Syncs>) {
        self.queue.lock().urgent.push(log);
        self.wake.notify_one();
    }

    /// The same for one that lacked something, in a moment.
    pub(super) fn sync_again(&self, log: Arc<dyn Syncs>) {
        let again = &mut self.queue.lock().again;
        // An append that came meanwhile has asked for it too.
        if !again.iter().any(|it| std::ptr::addr_eq(Arc::as_ptr(it), Arc::as_ptr(&log))) {
            again.push(log);
        }
    }

    /// `log` holds much that is not yet durable.
    pub(super) fn write_back(&self, log: Arc<dyn Lags>) {
        self.queue.lock().behind.push_back(log);
        self.wake.notify_one();
    }

    pub(super) fn stop_flusher(&self) {
        self.queue.lock().stop = true;
        self.wake.notify_one();
    }

    /// What there is to do; waits for it, but no longer than `patience`.
    pub(super) fn next_work(&self, patience: Duration) -> Work {
        let mut queue = self.queue.lock();
        let waits_again = !queue.again.is_empty();
        if queue.is_empty() {
            let patience = if waits_again { patience.min(AGAIN_AFTER) } else { patience };
            self.wake.wait_for(&mut queue, patience);
        }
        let again = std::mem::take(&mut queue.again);
        queue.urgent.extend(again);
        Work {
            urgent: std::mem::take(&mut queue.urgent),
            behind: queue.behind.pop_front(),
            all_behind: std::mem::take(&mut queue.all_behind),
            stop: queue.stop,
        }
    }

    /// Those for which somebody waits.
    pub(super) fn take_urgent(&self) -> Vec<Arc<dyn Syncs>> {
        std::mem::take(&mut self.queue.lock().urgent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::disk::sim::SimDisk;

    fn dir() -> Dir {
        Dir::empty(Arc::new(SimDisk::default()), Path::new("/"), Uuid::ZERO)
    }

    #[test]
    fn the_first_failure_is_the_one_that_counts() {
        let dir = dir();
        assert_eq!(dir.failure(), None);
        dir.fail("fsync");
        dir.fail("write");
        assert_eq!(dir.failure(), Some("fsync"));
    }

    #[test]
    fn full_is_a_state_that_ends_by_itself() {
        let dir = dir();
        for (free, full) in [(100, false), (99, true), (50, true), (100, false)] {
            dir.set_free(free, 100);
            assert_eq!((dir.is_full(), dir.refusal().is_some()), (full, full), "{free}");
        }
    }

    #[test]
    fn who_reads_in_a_group_does_so_on_a_full_disk_but_not_to_its_last_byte() {
        let dir = dir();
        dir.set_reserve(64 << 20);
        let at = |free_bytes| {
            dir.set_free(free_bytes, 64 << 20);
            [Origin::Client, Origin::Coordinator].map(|origin| dir.has_room(100, origin))
        };
        assert_eq!(at(64 << 20), [true, true]);
        assert_eq!(at((64 << 20) - 1), [false, true]);
        assert_eq!(at(8 << 20), [false, true]);
        assert_eq!(at((8 << 20) - 1), [false, false]);
        dir.set_reserve(0);
        assert_eq!(at(0), [true, true], "the write itself finds out");
    }

    #[test]
    fn without_a_reserve_a_write_that_finds_no_room_is_what_says_so() {
        let disk = SimDisk::default();
        let dir = Dir::empty(Arc::new(disk.clone()), Path::new("/"), Uuid::ZERO);
        disk.set_capacity(0);
        dir.lacks_room("no space");
        dir.look_for_room();
        assert!(dir.is_full() && !dir.is_below_reserve());
        disk.set_capacity(1 << 30);
        dir.look_for_room();
        assert!(!dir.is_full());
    }

    #[test]
    fn a_sync_that_lacked_something_is_asked_again_in_a_moment() {
        #[derive(Debug)]
        struct Log;
        impl Syncs for Log {
            fn sync(&self) -> bool {
                false
            }
        }
        let (dir, log) = (dir(), Arc::new(Log));
        dir.sync_again(Arc::clone(&log) as _);
        dir.sync_again(log);
        assert_eq!(dir.next_work(Duration::from_secs(3600)).urgent.len(), 1);
        assert_eq!(dir.next_work(Duration::ZERO).urgent.len(), 0);
    }

    #[test]
    fn a_log_is_written_back_once_for_each_step() {
        let dir = dir();
        let step = WRITE_BACK_BYTES / 2;
        let asked: Vec<_> = (1..=4).map(|count| dir.appended(step, || count * step)).collect();
        assert_eq!(asked, [false, true, false, true]);
    }

    #[test]
    fn a_flood_asks_for_nothing_until_there_is_too_much_of_it() {
        let dir = dir();
        dir.set_flooded(true);
        let appended = |bytes| dir.appended(bytes, || bytes);
        assert!(!appended(WRITE_BACK_BYTES) && !appended(DIR_FAR_BYTES - WRITE_BACK_BYTES - 1));
        dir.next_work(Duration::ZERO);
        assert!(!dir.is_too_far_behind());
        dir.appended(1, || 1);
        // While it is behind, the flusher looks at each step.
        assert!(dir.is_behind() && dir.is_too_far_behind());
        dir.synced(DIR_FAR_BYTES);
        dir.set_flooded(false);
        assert!(dir.appended(WRITE_BACK_BYTES, || WRITE_BACK_BYTES));
    }

    #[test]
    fn what_a_start_finds_unsynced_is_looked_at_if_it_is_much() {
        let dir = dir();
        dir.found_unsynced(DIR_BEHIND_BYTES - 1);
        assert!(!dir.next_work(Duration::ZERO).all_behind && !dir.is_behind());
        dir.found_unsynced(1);
        assert!(dir.next_work(Duration::ZERO).all_behind && dir.is_behind());
    }

    #[test]
    fn many_logs_with_a_little_each_are_written_back_together() {
        let dir = dir();
        dir.appended(DIR_BEHIND_BYTES - 1, || 1);
        assert!(!dir.next_work(Duration::ZERO).all_behind);
        dir.appended(1, || 1);
        assert!(dir.next_work(Duration::ZERO).all_behind && dir.is_half_behind());
        dir.synced(DIR_BEHIND_BYTES);
        assert!(!dir.is_half_behind());
        dir.appended(DIR_BEHIND_BYTES, || 1);
        assert!(dir.next_work(Duration::ZERO).all_behind);
    }
}
