//! The flusher of one log directory: group commit, and write-back ahead of the kernel.
//!
//! A thread of its own, because a sync stalls for milliseconds. All logs that wait when it looks
//! share one round, so that under load many acknowledgements cost one sync.

use super::pace::{Pace, STEP, STEP_BYTES};
use crate::partition::dir::{Dir, Syncs};
use crate::partition::replica::Partition;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Syncs of different files that are under way at once: with more the disk gains nothing.
const SYNCS_AT_ONCE_MAX: usize = 8;

/// After so many bytes the new recovery points are written down, so that a crash leaves little to
/// check however long the interval of the checkpoint is.
pub(super) const CHECKPOINT_STEP_BYTES: u64 = 64 << 20;

/// Syncs all of `logs`, several at once, and returns when the last is done. `again` is given those
/// that lacked something.
pub(super) fn sync_all(logs: &[Arc<dyn Syncs>], again: impl Fn(Arc<dyn Syncs>) + Sync) {
    let sync = |log: &Arc<dyn Syncs>| {
        if !log.sync() {
            again(Arc::clone(log));
        }
    };
    if let [log] = logs {
        return sync(log);
    }
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(log) = logs.get(next.fetch_add(1, Ordering::Relaxed)) {
            sync(log);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..logs.len().min(SYNCS_AT_ONCE_MAX) {
            scope.spawn(work);
        }
        work();
    });
}

/// Syncs the logs that somebody waits for by now.
fn serve_urgent(dir: &Dir) {
    sync_all(&dir.take_urgent(), |log| dir.sync_again(log));
}

/// Serves `dir` until it is told to stop. `partitions` lists what is open in it, `checkpoint`
/// writes its recovery points down, `now` is monotonic.
pub(super) fn run(
    dir: &Dir,
    partitions: impl Fn() -> Vec<Arc<Partition>>,
    checkpoint: impl Fn(),
    now: impl Fn() -> Duration,
) {
    let (mut written_down, mut pace) = (0, Pace::new(now(), dir.written_bytes()));
    loop {
        let looks_again = pace.is_flooded() || dir.is_behind();
        let work = dir.next_work(if looks_again { STEP } else { Duration::from_secs(3600) });
        sync_all(&work.urgent, |log| dir.sync_again(log));
        let was_flooded = pace.is_flooded();
        let is_new_step = pace.look(now(), dir.written_bytes());
        dir.set_flooded(pace.is_flooded());
        if dir.is_too_far_behind() {
            catch_up(dir, partitions(), u64::MAX, || dir.is_half_too_far_behind());
        } else if pace.is_flooded() {
            if is_new_step {
                for partition in partitions() {
                    if partition.note_producers() {
                        serve_urgent(dir);
                    }
                }
            }
        } else {
            if let Some(log) = work.behind {
                log.write_back(STEP_BYTES);
            }
            if work.all_behind || was_flooded || (is_new_step && dir.is_behind()) {
                catch_up(dir, partitions(), STEP_BYTES, || dir.is_half_behind());
            }
        }
        if work.stop {
            return;
        }
        let synced = dir.synced_bytes();
        // What was taken for synced and was not has it fall back.
        if CHECKPOINT_STEP_BYTES <= synced.saturating_sub(written_down) {
            written_down = synced;
            checkpoint();
        }
    }
}

/// Hands over what the logs hold that hold most, and syncs them, while `goes_on`; but it hands over
/// no more than `most` bytes.
///
/// One after the other, while the disk follows: it has most of them already, and a sync that finds
/// the device busy holds up who appends to its log. Whoever waits for a sync is served meanwhile.
fn catch_up(dir: &Dir, mut partitions: Vec<Arc<Partition>>, most: u64, goes_on: impl Fn() -> bool) {
    partitions.retain(|it| 0 < it.behind_bytes());
    partitions.sort_by_cached_key(|it| std::cmp::Reverse(it.behind_bytes()));
    let mut left = most;
    let mut rest = partitions.as_slice();
    while goes_on() {
        let at_once = if dir.is_far_behind() { SYNCS_AT_ONCE_MAX } else { 1 };
        let (some, others) = rest.split_at(at_once.min(rest.len()));
        rest = others;
        for log in some {
            // What comes meanwhile is for the next time.
            let mut of_it = log.behind_bytes().min(left);
            while 0 < of_it {
                let handed = log.hand_over(STEP_BYTES.min(of_it));
                (of_it, left) = (of_it.saturating_sub(handed), left - handed);
                serve_urgent(dir);
                if handed == 0 {
                    break;
                }
            }
        }
        if some.is_empty() || left == 0 {
            break;
        }
        let some: Vec<_> = some.iter().map(|it| Arc::clone(it) as Arc<dyn Syncs>).collect();
        // What lacks something now is asked again when it has grown.
        sync_all(&some, drop);
        serve_urgent(dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::leader::ACKS_LEADER;
    use crate::partition::replica::tests::{partition, rules};
    use protocol::records::builder::BatchBuilder;
    use std::sync::atomic::AtomicU64;
    use tokio::time::Instant;

    /// Has the flusher end, whatever becomes of the test.
    #[derive(Debug)]
    struct Stopper<'a>(&'a Dir);

    impl Drop for Stopper<'_> {
        fn drop(&mut self) {
            self.0.stop_flusher();
        }
    }

    /// Waits for the flusher.
    #[track_caller]
    fn until(is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(60), "the flusher does not do it");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_flood_waits_for_its_end_or_for_who_asks() {
        const MB: u64 = 1 << 20;
        let partition = partition(rules(false));
        let dir = &partition.dir;
        let (now_ms, looks, checkpoints) =
            (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let batch = BatchBuilder::new(0).key_value(0, b"", &[0; 1_000_000]).build().unwrap();
        let append = |bytes| {
            for _ in 0..(bytes / batch.len() as u64) {
                partition.append(batch.clone(), ACKS_LEADER, 0).unwrap();
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let checkpoint = || {
                    checkpoints.fetch_add(1, Ordering::Relaxed);
                };
                let now = || {
                    looks.fetch_add(1, Ordering::Relaxed);
                    Duration::from_millis(now_ms.load(Ordering::Relaxed))
                };
                run(dir, || vec![Arc::clone(&partition)], checkpoint, now);
            });
            let _stopper = Stopper(dir);
            dir.sync_soon(Arc::clone(&partition) as _);
            until(|| 2 <= looks.load(Ordering::Relaxed));
            // Time stands still, so all of it comes in one step: enough for a flood, but not for a
            // sync before it is known for one.
            append(STEP_BYTES + 3 * MB);
            until(|| dir.is_flooded());
            partition.sync();
            append(70 * MB);
            let behind = partition.behind_bytes();
            assert!(69 * MB < behind, "nobody syncs a flood: {behind}");

            dir.sync_soon(Arc::clone(&partition) as _);
            until(|| partition.behind_bytes() == 0);
            until(|| checkpoints.load(Ordering::Relaxed) == 1);

            append(70 * MB);
            assert_eq!(partition.behind_bytes(), behind);
            until(|| {
                now_ms.fetch_add(1, Ordering::Relaxed);
                partition.behind_bytes() == 0 && !dir.is_flooded()
            });
            until(|| checkpoints.load(Ordering::Relaxed) == 2);
        });
    }
}
