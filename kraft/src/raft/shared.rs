//! What the log store, its readers and the state machine have in common: the open log, the vote,
//! the memberships, and whether the disk has failed.

use super::batch;
use super::log::Log;
use super::snapshot::SnapshotFile;
use super::types::{Entry, LogId, Payload, Vote, Voters};
use super::vote::QuorumState;
use crate::env::Clock;
use crate::record::control::Control;
use parking_lot::Mutex;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use storage::disk::Disk;
use storage::error::is_shortage;
use tokio::sync::watch;
use tokio::time::timeout;

/// How soon what lacked room or files is tried again, at first and at last.
const AGAIN_AFTER: Duration = Duration::from_millis(50);
const AGAIN_AFTER_MAX: Duration = Duration::from_secs(1);

/// Who waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncOn {
    /// A thread beside the runtime, so that raft's own tasks never wait.
    Thread,
    /// The task that asks. A simulation lives in one thread, and its disk does not wait.
    Task,
}

impl SyncOn {
    /// Runs what may wait for the disk.
    pub(super) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        match self {
            SyncOn::Task => work(),
            SyncOn::Thread => tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?,
        }
    }
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: PathBuf,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) sync_on: SyncOn,
    // Held for memory, for appending, and while a segment begins or goes; not while who waits is
    // synced.
    pub(super) log: Mutex<Log>,
    pub(super) memberships: Mutex<Memberships>,
    pub(super) vote: Mutex<Option<Vote>>,
    /// What `quorum-state` holds. Held while it is written, so that no older vote comes later.
    pub(super) written: Mutex<Option<QuorumState>>,
    /// The snapshots on disk with their raft indexes, ascending.
    pub(super) snapshots: Mutex<Vec<(u64, SnapshotFile)>>,
    /// Until raft runs, it reads the log for memberships only.
    pub(super) is_starting: AtomicBool,
    is_stopping: watch::Sender<bool>,
    failure: Mutex<Option<String>>,
}

/// The membership before the log begins, and each that an entry states.
#[derive(Debug)]
pub(super) struct Memberships(pub(super) Vec<(LogId, Voters)>);

impl Memberships {
    pub(super) fn last(&self) -> Option<&(LogId, Voters)> {
        self.0.last()
    }

    /// Entries behind `index` are cut.
    pub(super) fn truncate_after(&mut self, index: u64) {
        self.0.retain(|(id, _)| id.index <= index);
    }
}

impl Shared {
    pub(super) fn new(
        (disk, clock): (Arc<dyn Disk>, Arc<dyn Clock>),
        (dir, log): (PathBuf, Log),
        sync_on: SyncOn,
    ) -> Shared {
        Shared {
            disk,
            dir,
            clock,
            sync_on,
            log: Mutex::new(log),
            memberships: Mutex::new(Memberships(Vec::new())),
            vote: Mutex::default(),
            written: Mutex::default(),
            snapshots: Mutex::default(),
            is_starting: AtomicBool::new(true),
            is_stopping: watch::Sender::new(false),
            failure: Mutex::default(),
        }
    }

    /// After a failed write or sync nothing is known of the disk, so nothing is done any more.
    pub(super) fn check(&self) -> io::Result<()> {
        match &*self.failure.lock() {
            Some(why) => Err(io::Error::other(why.clone())),
            None => Ok(()),
        }
    }

    /// Remembers the first failure.
    pub(super) fn fail_on<T>(&self, what: &str, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| {
            let why = format!("{what} in {} failed: {error}", self.dir.display());
            self.failure.lock().get_or_insert(why);
        })
    }

    /// Why nothing is done any more.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }

    /// Does `work`, which changes nothing where room on the disk or files lack, and then again in a
    /// moment, until they are there or the quorum stops. Any other failure is remembered.
    pub(super) async fn with_room<T, W: Future<Output = io::Result<T>>>(
        &self,
        what: &str,
        mut work: impl FnMut() -> W,
    ) -> io::Result<T> {
        let (mut pause, mut stopping) = (AGAIN_AFTER, self.is_stopping.subscribe());
        loop {
            match work().await {
                Err(error) if is_shortage(&error) && !*stopping.borrow() => {
                    if pause == AGAIN_AFTER {
                        let dir = self.dir.display();
                        tracing::error!("{what} in {dir} waits for room: {error}");
                    }
                    drop(timeout(pause, stopping.wait_for(|is_stopping| *is_stopping)).await);
                    pause = (2 * pause).min(AGAIN_AFTER_MAX);
                }
                result => {
                    if pause != AGAIN_AFTER && result.is_ok() {
                        tracing::info!("{what} in {} goes on", self.dir.display());
                    }
                    return self.fail_on(what, result);
                }
            }
        }
    }

    /// From now on what lacks room is given up: it was promised to nobody.
    pub(super) fn stop_waiting(&self) {
        self.is_stopping.send_replace(true);
    }

    /// Makes all that was appended so far durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.check()?;
        let mut unsynced = self.log.lock().take_unsynced();
        unsynced.sync(&*self.disk, &self.dir).inspect_err(|_| self.log.lock().owe(unsynced))
    }

    /// Makes the vote durable as it stands now.
    pub(super) fn write_vote(&self) -> io::Result<()> {
        self.check()?;
        let mut written = self.written.lock();
        let Some(vote) = *self.vote.lock() else { return Ok(()) };
        let state = QuorumState::of(&vote);
        if *written != Some(state) {
            state.write(&*self.disk, &self.dir)?;
            *written = Some(state);
        }
        Ok(())
    }

    /// The entries of a range that the log has, up to `bytes_max` but for the first.
    pub(super) fn entries(&self, from: u64, to: u64, bytes_max: usize) -> io::Result<Vec<Entry>> {
        self.check()?;
        let log = self.log.lock();
        let (mut entries, mut bytes) = (Vec::new(), 0);
        let from = from.max(log.start().id.index + 1);
        for index in from..to.min(log.last().id.index + 1) {
            let (Some(at), Some(border)) = (log.batch(index), log.border_after(index)) else {
                break;
            };
            let mut payload = Payload::default();
            if at.is_control || !self.is_starting.load(Ordering::Relaxed) {
                payload.batch = log.read(index)?;
            }
            if at.is_control {
                payload.membership = membership_in(&payload.batch)?;
            }
            bytes += payload.batch.len();
            if bytes_max < bytes && !entries.is_empty() {
                break;
            }
            entries.push(Entry { log_id: border.id, payload });
        }
        Ok(entries)
    }

    pub(super) fn is_started(&self) {
        self.is_starting.store(false, Ordering::Relaxed);
    }

    /// The bytes of an entry that has none yet: this node leads and is the first to write it.
    pub(super) fn make_batch(&self, entry: &Entry, leader: i32) -> Result<bytes::Bytes, String> {
        let now_ms = self.clock.wall_ms();
        match &entry.payload.membership {
            Some(voters) => batch::control(&batch::membership(voters), now_ms),
            None => {
                let memberships = self.memberships.lock();
                let voters: Vec<i32> = (memberships.last().into_iter())
                    .flat_map(|(_, voters)| voters.voter_ids().map(|voter| voter.id))
                    .collect();
                let change = batch::leader_change(leader, &voters, entry.log_id.index);
                batch::control(&[change], now_ms)
            }
        }
    }
}

/// The voters that a control batch states, the last of them where it states more.
pub(super) fn membership_in(bytes: &[u8]) -> io::Result<Option<Voters>> {
    let controls = batch::read_control(bytes).map_err(io::Error::other)?;
    let stated = controls.iter().rev().find_map(|control| match control {
        Control::Voters(record) => Some(batch::membership_of(record)),
        Control::LeaderChange(_)
        | Control::SnapshotHeader(_)
        | Control::SnapshotFooter(_)
        | Control::KRaftVersion(_) => None,
    });
    stated.transpose().map_err(io::Error::other)
}
