//! The cleaner: which log is compacted next, by whom, and how fast.
//!
//! As many threads as `log.cleaner.threads` says; each takes the log whose share of dirty bytes is
//! the greatest, as Kafka's `LogCleaner` does. The first thread starts the others.

mod progress;
mod throttle;

use super::checkpoints;
use super::complain::failed;
use super::doomed::Doomed;
use crate::config::DynamicConfig;
use crate::partition::dir::{Dir, Syncs};
use crate::partition::replica::Partition;
use crate::partition::table::Table;
use kraft::env::{Clock, Env};
use parking_lot::{Condvar, Mutex};
use progress::Progress;
use protocol::config::log::CleanerConfig;
use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use storage::log::Origin;
use storage::log::clean::{CleanError, CleanOptions, Cleanable, Cleaned, Supervisor};
use throttle::Throttle;

/// The buffers of a thread are at least so large, in bytes.
const BUFFER_BYTES_MIN: usize = 16 << 10;

#[derive(Debug)]
pub(super) struct Cleaner {
    clock: Arc<dyn Clock>,
    table: Arc<Table>,
    dirs: Arc<[Arc<Dir>]>,
    doomed: Arc<Doomed>,
    config: DynamicConfig,
    secret: [u64; 2],
    throttle: Throttle,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct State {
    progress: Progress,
    /// The checkpoints were read.
    is_loaded: bool,
    is_stopping: bool,
    /// All but the first, by their place.
    others: Vec<JoinHandle<()>>,
}

impl Cleaner {
    pub(super) fn new(
        env: &Env,
        table: Arc<Table>,
        dirs: Arc<[Arc<Dir>]>,
        doomed: Arc<Doomed>,
        config: DynamicConfig,
    ) -> Cleaner {
        Cleaner {
            clock: Arc::clone(&env.clock),
            table,
            dirs,
            doomed,
            config,
            secret: [env.rng.next_u64(), env.rng.next_u64()],
            throttle: Throttle::default(),
            state: Mutex::default(),
            wake: Condvar::new(),
        }
    }

    /// The first thread. None: the broker is told not to compact.
    pub(super) fn start(self: &Arc<Cleaner>) -> io::Result<Option<JoinHandle<()>>> {
        if !self.settings().enable {
            return Ok(None);
        }
        self.spawn(0).map(Some)
    }

    fn spawn(self: &Arc<Cleaner>, place: usize) -> io::Result<JoinHandle<()>> {
        let cleaner = Arc::clone(self);
        let serve = move || cleaner.serve(place);
        Builder::new().name(format!("cleaner-{place}")).spawn(serve)
    }

    /// Tells the threads to end; the first one waits for the others.
    pub(super) fn stop(&self) {
        self.state.lock().is_stopping = true;
        self.wake.notify_all();
    }

    /// The thread at `place`; all but the first end when there are to be fewer.
    fn serve(self: &Arc<Cleaner>, place: usize) {
        loop {
            let settings = self.settings();
            let is_wanted = place < threads(&settings);
            if place == 0 {
                self.grow(threads(&settings));
            } else if !is_wanted {
                return;
            }
            let is_done = is_wanted && self.clean_next();
            let mut state = self.state.lock();
            if !is_done && !state.is_stopping {
                let rest_ms = u64::try_from(settings.backoff_ms).unwrap_or(0);
                self.wake.wait_for(&mut state, Duration::from_millis(rest_ms.max(1)));
            }
            if state.is_stopping {
                let others = std::mem::take(&mut state.others);
                drop(state);
                if place == 0 {
                    others.into_iter().for_each(join);
                }
                return;
            }
        }
    }

    /// Sees to it that there are `count` threads, if that is more than there are.
    fn grow(self: &Arc<Cleaner>, count: usize) {
        let mut state = self.state.lock();
        while state.others.last().is_some_and(JoinHandle::is_finished) {
            state.others.pop().into_iter().for_each(join);
        }
        while !state.is_stopping && state.others.len() + 1 < count {
            match self.spawn(state.others.len() + 1) {
                Ok(thread) => state.others.push(thread),
                Err(error) => return tracing::warn!("Could not start a cleaner: {error}"),
            }
        }
    }

    fn settings(&self) -> CleanerConfig {
        self.config.load().values.cleaner.clone()
    }

    /// Cleans the log that needs it most, of those that can be cleaned. False: none needs it, or
    /// it could not be done.
    pub(super) fn clean_next(&self) -> bool {
        self.load();
        while let Some((partition, cleanable)) = self.claim() {
            if self.clean_one(&partition, &cleanable) {
                return true;
            }
        }
        self.state.lock().progress.begin_round();
        self.write_down();
        false
    }

    /// False: it could not be done.
    fn clean_one(&self, partition: &Partition, cleanable: &Cleanable) -> bool {
        let outcome = self.clean(partition, cleanable);
        let mut state = self.state.lock();
        state.progress.release(partition);
        match &outcome {
            Ok(cleaned) => state.progress.set_clean_to(partition, cleaned.end),
            Err(CleanError::Unreadable { .. }) => state.progress.give_up(partition),
            // It stays the dirtiest, and others are due.
            Err(CleanError::Stopped | CleanError::Failed(_)) => state.progress.pass_over(partition),
        }
        drop(state);
        match &outcome {
            Ok(_) => self.write_down(),
            Err(CleanError::Stopped) => {
                tracing::debug!("Compaction of {} was stopped", partition.name());
            }
            Err(error @ CleanError::Unreadable { .. }) => tracing::error!(
                "{} is not compacted any more until the broker starts again: {error}",
                partition.name()
            ),
            Err(CleanError::Failed(error)) => failed(partition, "compaction", error),
        }
        outcome.is_ok()
    }

    fn clean(&self, partition: &Partition, cleanable: &Cleanable) -> Result<Cleaned, CleanError> {
        if !self.secure(partition, cleanable) {
            return Err(CleanError::Stopped); // It is due again in the next round.
        }
        let settings = self.settings();
        let options = self.options(&settings);
        let started = self.clock.monotonic();
        let mut watch = Watch { cleaner: self, partition };
        let cleaned = partition.log().clean(cleanable, &options, &mut watch)?;
        tracing::info!(
            "Compacted {} up to offset {}: {} keys were new, {} bytes became {}, in {} ms",
            partition.name(),
            cleaned.end,
            cleaned.keys,
            cleaned.read_bytes,
            cleaned.written_bytes,
            self.clock.monotonic().saturating_sub(started).as_millis()
        );
        Ok(cleaned)
    }

    /// A pass leaves gaps. Above the recovery point a start may take one for a loss, should the
    /// topic not be compacted any more by then. False: the disk does not say yet where that is.
    fn secure(&self, partition: &Partition, cleanable: &Cleanable) -> bool {
        if partition.log().recovery_point() < cleanable.upto && !partition.sync() {
            return false;
        }
        checkpoints::recovery_points(&partition.dir, &self.table)
    }

    fn options(&self, settings: &CleanerConfig) -> CleanOptions {
        let each = |bytes: i64| {
            let bytes = usize::try_from(bytes).unwrap_or(0) / threads(settings).max(1);
            bytes.min(i32::MAX.unsigned_abs() as usize)
        };
        CleanOptions {
            now_ms: self.clock.wall_ms(),
            map_bytes: each(settings.dedupe_buffer_size),
            load_factor: settings.io_buffer_load_factor,
            buffer_bytes: (each(settings.io_buffer_size.into()) / 2).max(BUFFER_BYTES_MIN),
            secret: self.secret,
        }
    }

    /// Chooses the dirtiest log that is due, and that nobody else has.
    fn claim(&self) -> Option<(Arc<Partition>, Cleanable)> {
        let now_ms = self.clock.wall_ms();
        let mut due: Vec<_> = (self.table.partitions().into_iter())
            .filter_map(|partition| Some((self.cleanable(&partition, now_ms)?, partition)))
            .collect();
        due.sort_by(|(a, _), (b, _)| a.dirty_ratio().total_cmp(&b.dirty_ratio()));
        let mut state = self.state.lock();
        while let Some((cleanable, partition)) = due.pop() {
            if !state.is_stopping && state.progress.claim(&partition) {
                return Some((partition, cleanable));
            }
        }
        None
    }

    /// None: it is not due, or cannot be cleaned.
    fn cleanable(&self, partition: &Partition, now_ms: i64) -> Option<Cleanable> {
        let config = partition.log().config();
        if !config.compact
            || partition.dir.failure().is_some()
            || partition.log().failure().is_some()
        {
            return None;
        }
        let clean_to = {
            let state = self.state.lock();
            if !state.progress.is_free(partition) {
                return None;
            }
            state.progress.clean_to(partition)
        };
        match partition.log().cleanable(clean_to, now_ms) {
            Ok(cleanable) if cleanable.is_due(&config) => {
                // A segment is written before the old ones go.
                let bytes = (cleanable.clean_bytes + cleanable.dirty_bytes)
                    .min(config.segment_bytes.into());
                partition.dir.has_room_now(bytes, Origin::Client).then_some(cleanable)
            }
            Ok(_) => None,
            Err(error) => {
                failed(partition, "compaction", &error);
                None
            }
        }
    }

    /// Reads the checkpoints, once. Without them all is cleaned anew, which changes little.
    fn load(&self) {
        let mut state = self.state.lock();
        if std::mem::replace(&mut state.is_loaded, true) {
            return;
        }
        for dir in self.dirs.iter() {
            let Some(checkpoint) = checkpoints::read_clean_offsets(dir) else { continue };
            for partition in self.table.partitions_in(dir) {
                state.progress.load(&partition, &checkpoint);
            }
        }
    }

    /// Writes down how far the logs are clean; those that are gone are forgotten.
    fn write_down(&self) {
        let open = self.table.partitions();
        self.state.lock().progress.keep(open.iter().map(|it| &**it));
        for dir in self.dirs.iter() {
            let of = |partition: &Partition| self.state.lock().progress.clean_to(partition);
            checkpoints::clean_offsets(dir, &self.table, of);
        }
    }

    /// Waits, unless all is to end. False: it is.
    fn wait(&self, patience: Duration) -> bool {
        let until = self.clock.monotonic().saturating_add(patience);
        let mut state = self.state.lock();
        while !state.is_stopping {
            let left = until.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return true;
            }
            self.wake.wait_for(&mut state, left);
        }
        false
    }
}

fn threads(settings: &CleanerConfig) -> usize {
    usize::try_from(settings.threads).unwrap_or(0).min(THREADS_MAX)
}

/// Threads that clean, however many are asked for.
const THREADS_MAX: usize = 256;

fn join(thread: JoinHandle<()>) {
    if thread.join().is_err() {
        tracing::error!("A cleaner has panicked");
    }
}

/// One pass, under the eyes of the cleaner.
#[derive(Debug)]
struct Watch<'a> {
    cleaner: &'a Cleaner,
    partition: &'a Partition,
}

impl Supervisor for Watch<'_> {
    fn may_go_on(&mut self, bytes: u64) -> bool {
        let cleaner = self.cleaner;
        let rate = cleaner.settings().io_max_bytes_per_second;
        let patience = cleaner.throttle.spend(bytes, rate, cleaner.clock.monotonic());
        self.partition.dir.failure().is_none() && cleaner.wait(patience)
    }

    fn replaced(&mut self, doomed: storage::log::Doomed) {
        let delay_ms = self.partition.log().config().file_delete_delay_ms;
        let delay = Duration::from_millis(u64::try_from(delay_ms).unwrap_or(0));
        let due = self.cleaner.clock.monotonic().saturating_add(delay);
        doomed.paths.into_iter().for_each(|path| self.cleaner.doomed.put(path, due));
    }
}

#[cfg(test)]
mod tests;
