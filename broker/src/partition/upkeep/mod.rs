//! What keeps the log directories in order behind the requests: flushing, retention, compaction,
//! checkpoints.
//!
//! One flusher thread for each directory, the cleaner's, and one for all that comes from time to time.

mod checkpoints;
mod cleaner;
mod complain;
pub mod doomed;
mod flusher;
mod pace;
mod schedule;

pub use doomed::Doomed;
pub use schedule::{Chore, Intervals};

use super::dir::{Dir, Notified, Syncs};
use super::replica::Partition;
use super::table::Table;
use crate::config::DynamicConfig;
use cleaner::Cleaner;
use complain::failed;
use kraft::env::{Clock, Env};
use parking_lot::{Condvar, Mutex};
use schedule::Schedule;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use tokio::sync::Notify;

/// The threads; dropped without [`Upkeep::stop`] they go on until the process ends.
#[derive(Debug)]
pub struct Upkeep {
    chores: Arc<Chores>,
    threads: Vec<JoinHandle<()>>,
}

/// What the threads do, to be called by hand where time is simulated.
#[derive(Debug)]
pub struct Chores {
    clock: Arc<dyn Clock>,
    table: Arc<Table>,
    dirs: Arc<[Arc<Dir>]>,
    doomed: Arc<Doomed>,
    cleaner: Arc<Cleaner>,
    halt: Arc<Halt>,
    config: DynamicConfig,
    stop: Mutex<bool>,
    wake: Condvar,
}

impl Chores {
    pub fn new(
        env: &Env,
        table: Arc<Table>,
        dirs: &[Arc<Dir>],
        doomed: Arc<Doomed>,
        config: DynamicConfig,
    ) -> Arc<Chores> {
        let usable = dirs.iter().filter(|dir| dir.failure().is_none()).count();
        let halt =
            Arc::new(Halt { dirs_left: AtomicUsize::new(usable), all_failed: Notify::new() });
        if usable == 0 {
            halt.all_failed.notify_one();
        }
        let dirs: Arc<[Arc<Dir>]> = dirs.into();
        let cleaner = {
            let (table, doomed) = (Arc::clone(&table), Arc::clone(&doomed));
            Arc::new(Cleaner::new(env, table, Arc::clone(&dirs), doomed, config.clone()))
        };
        let chores = Arc::new(Chores {
            clock: Arc::clone(&env.clock),
            table,
            dirs,
            doomed,
            cleaner,
            halt,
            config,
            stop: Mutex::default(),
            wake: Condvar::new(),
        });
        for dir in chores.dirs.iter() {
            let (table, halt) = (Arc::clone(&chores.table), Arc::clone(&chores.halt));
            if dir.failure().is_none() {
                dir.when_failed(Box::new(Waker { table, halt }));
            }
        }
        chores
    }

    /// Waits until no directory is left that works: then there is nothing to go on for.
    pub async fn all_failed(&self) {
        self.halt.all_failed.notified().await;
    }

    /// Does one chore, in every directory that works.
    pub fn run(&self, chore: Chore) {
        let (now, now_ms) = (self.clock.monotonic(), self.clock.wall_ms());
        let table = &*self.table;
        for dir in self.dirs.iter() {
            if dir.failure().is_some() {
                continue;
            }
            let open = || table.partitions_in(dir);
            match chore {
                Chore::Space => {
                    look_for_room(dir, open);
                    // So that a start after kill -9 knows that they are not somebody else's.
                    if dir.has_unnamed() {
                        checkpoints::recovery_points(dir, table);
                    }
                }
                // Who reads them still can: a file that is unlinked goes when nobody has it open.
                Chore::Unlink if dir.is_full() => self.doomed.bring_forward(&dir.path, now),
                Chore::Unlink => {}
                Chore::Flush => open().iter().filter(|it| it.flush_is_due(now_ms)).for_each(sync),
                Chore::Watermarks => checkpoints::watermarks(dir, table),
                Chore::LogStarts => {
                    checkpoints::log_starts(dir, table);
                }
                Chore::RecoveryPoints => {
                    checkpoints::recovery_points(dir, table);
                    self.mark_running(dir);
                }
                Chore::Retention => {
                    let doomed: Vec<_> = open().iter().map(|it| retain(it, now_ms)).collect();
                    // Before the files go, so that no start finds a log that begins behind its
                    // files, or files before its log.
                    checkpoints::log_starts(dir, table);
                    for (path, delay) in doomed.into_iter().flatten() {
                        self.doomed.put(path, now.saturating_add(delay));
                    }
                }
                Chore::Producers => {
                    let config = self.config.load();
                    let expiration_ms = i64::from(config.values.producer.id_expiration_ms);
                    for partition in open() {
                        partition.log().expire_producers(now_ms, expiration_ms);
                    }
                }
            }
        }
        if chore == Chore::Unlink
            && let Some(dir) = self.dirs.first()
        {
            self.doomed.remove_due(&*dir.disk, now);
        }
    }

    /// Writes down where the logs of `dir` start. False: it could not be done, and a crash may bring
    /// back what was deleted.
    pub fn write_log_starts(&self, dir: &Arc<Dir>) -> bool {
        checkpoints::log_starts(dir, &self.table)
    }

    /// Compacts the log that needs it most. False: none needs it, or it could not be done.
    pub fn clean_next(&self) -> bool {
        self.cleaner.clean_next()
    }

    /// Closes every log and writes all down, so that the next start has nothing to check.
    fn close(&self) {
        for dir in self.dirs.iter() {
            if dir.failure().is_some() {
                continue;
            }
            let open = self.table.partitions_in(dir);
            let closing: Vec<_> =
                open.iter().map(|it| Arc::new(Closing(Arc::clone(it))) as Arc<dyn Syncs>).collect();
            flusher::sync_all(&closing, drop);
            checkpoints::recovery_points(dir, &self.table);
            checkpoints::log_starts(dir, &self.table);
            checkpoints::watermarks(dir, &self.table);
        }
    }

    /// Whether all that lies in `dir` was open, and nothing of it failed: what is closed then is
    /// whole. Of what could not be opened nobody knows, until it can be or is deleted.
    fn is_whole(&self, dir: &Arc<Dir>) -> bool {
        dir.failure().is_none() && self.table.unopened_in(dir).is_empty()
    }

    /// Notes for the next start, if this process is killed, that it need not check what was written
    /// before.
    fn mark_running(&self, dir: &Arc<Dir>) {
        if self.is_whole(dir) {
            dir.mark_running();
        }
    }

    /// What follows when the logs that a start has found are open.
    pub fn logs_are_open(&self) {
        for dir in self.dirs.iter().filter(|dir| dir.failure().is_none()) {
            look_for_room(dir, || self.table.partitions_in(dir));
            self.mark_running(dir);
        }
    }

    /// The thread of all that comes from time to time.
    fn serve(&self, every: &Intervals) {
        let mut schedule = Schedule::new(every, self.clock.monotonic());
        loop {
            let mut stop = self.stop.lock();
            if !*stop {
                self.wake.wait_for(&mut stop, schedule.patience(self.clock.monotonic()));
            }
            if *stop {
                return;
            }
            drop(stop);
            for chore in schedule.take(self.clock.monotonic()) {
                self.run(chore);
            }
        }
    }
}

impl Upkeep {
    pub fn start(chores: Arc<Chores>) -> io::Result<Upkeep> {
        let every = Intervals::of(&chores.config.load());
        let mut threads = Vec::new();
        for (index, dir) in chores.dirs.iter().enumerate() {
            let (chores, dir) = (Arc::clone(&chores), Arc::clone(dir));
            let serve = move || {
                let open = || chores.table.partitions_in(&dir);
                let checkpoint = || {
                    checkpoints::recovery_points(&dir, &chores.table);
                };
                flusher::run(&dir, open, checkpoint, || chores.clock.monotonic());
            };
            threads.push(Builder::new().name(format!("flusher-{index}")).spawn(serve)?);
        }
        let thread = Arc::clone(&chores);
        let serve = move || thread.serve(&every);
        threads.push(Builder::new().name("upkeep".to_owned()).spawn(serve)?);
        threads.extend(chores.cleaner.start()?);
        Ok(Upkeep { chores, threads })
    }

    /// Ends the threads, closes the logs, and writes all down. Returns the directories that are
    /// whole, for their clean-shutdown markers. Blocks: not for a runtime's thread.
    pub fn stop(self) -> Vec<Arc<Dir>> {
        *self.chores.stop.lock() = true;
        self.chores.wake.notify_all();
        self.chores.cleaner.stop();
        for dir in self.chores.dirs.iter() {
            dir.stop_flusher();
        }
        for thread in self.threads {
            if thread.join().is_err() {
                tracing::error!("A thread of upkeep has panicked");
            }
        }
        self.chores.close();
        self.chores.dirs.iter().filter(|dir| self.chores.is_whole(dir)).cloned().collect()
    }
}

/// Closes instead of syncing, for [`flusher::sync_all`].
#[derive(Debug)]
struct Closing(Arc<Partition>);

impl Syncs for Closing {
    fn sync(&self) -> bool {
        self.0.leave();
        if let Err(error) = self.0.log().close() {
            self.0.dir.fail(&format!("closing {}: {error}", self.0.name()));
        }
        true
    }
}

/// Wakes everybody who waits for a partition of a failed directory.
#[derive(Debug)]
struct Waker {
    table: Arc<Table>,
    halt: Arc<Halt>,
}

#[derive(Debug)]
struct Halt {
    dirs_left: AtomicUsize,
    all_failed: Notify,
}

impl Notified for Waker {
    fn notify(&self, dir: &Dir) {
        for partition in self.table.partitions() {
            if std::ptr::eq(&*partition.dir, dir) {
                partition.wake_all();
            }
        }
        if self.halt.dirs_left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.halt.all_failed.notify_one();
        }
    }
}

/// What lacks something is still due the next time.
fn sync(partition: &Arc<Partition>) {
    let _is_done = partition.sync();
}

/// What retention lets go of, and for how long it stays on the disk.
fn retain(partition: &Partition, now_ms: i64) -> Vec<(PathBuf, Duration)> {
    match partition.log().retain(now_ms) {
        Ok(retained) => {
            let delay = partition.log().config().file_delete_delay_ms;
            let delay = Duration::from_millis(u64::try_from(delay).unwrap_or(0));
            retained.doomed.paths.into_iter().map(|path| (path, delay)).collect()
        }
        Err(error) => {
            failed(partition, "retention", &error);
            Vec::new()
        }
    }
}

/// Below the reserve no blocks are taken ahead of what is written, either: nor for partitions that
/// were opened since, or where an append has seen it first.
fn look_for_room(dir: &Dir, open: impl Fn() -> Vec<Arc<Partition>>) {
    dir.look_for_room();
    let is_below = dir.is_below_reserve();
    if dir.tell_below(is_below) || is_below {
        open().iter().for_each(|it| it.log().allow_preallocation(!is_below));
    }
}
