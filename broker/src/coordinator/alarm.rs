//! Alarm: what wakes a shard's own task, and no sooner than it must.

use super::active::Wanted;
use super::scene::Scene;
use crate::partition::{ACKS_ALL, Wakeup};
use parking_lot::Mutex;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::sleep;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Alarm {
    wanted: Mutex<Wanted>,
    changed: Notify,
    is_rung: AtomicBool,
}

impl Alarm {
    /// Wakes the task for `wanted`, or before. A timer that has moved on, as with each heartbeat,
    /// disturbs nobody: the task looks when the old one has run out.
    pub(super) fn set(&self, wanted: Wanted) {
        let mut now = self.wanted.lock();
        let sooner = Wanted {
            time: sooner(now.time, wanted.time),
            watermark: sooner(now.watermark, wanted.watermark),
        };
        if *now != sooner {
            *now = sooner;
            self.changed.notify_one();
        }
    }

    /// Has the task look at the shard itself.
    pub(super) fn ring(&self) {
        self.is_rung.store(true, Ordering::Release);
        self.changed.notify_one();
    }

    /// Whether it was rung since this was asked last.
    pub(super) fn is_rung(&self) -> bool {
        self.is_rung.swap(false, Ordering::AcqRel)
    }

    /// Waits for so long, or for ever, unless it is rung because of the end that `has_ended` says.
    pub(super) async fn rest(&self, pause: Option<Duration>, has_ended: &AtomicBool) {
        let end = async {
            while !has_ended.load(Ordering::Acquire) {
                self.changed.notified().await;
            }
        };
        tokio::select! {
            biased;
            () = end => {}
            () = pass(pause) => {}
        }
    }

    /// Waits; whether what was wanted has come, which is wanted no more then.
    pub(super) async fn wait(&self, scene: &Scene) -> bool {
        let Wanted { time, watermark } = *self.wanted.lock();
        let now = scene.env.clock.monotonic();
        let pause = time.map(|time| time.saturating_sub(now));
        tokio::select! {
            biased;
            () = self.changed.notified() => return false,
            () = reach(scene, watermark) => {}
            () = pass(pause) => {}
        }
        *self.wanted.lock() = Wanted::default();
        true
    }
}

fn sooner<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    [a, b].into_iter().flatten().min()
}

async fn pass(pause: Option<Duration>) {
    match pause {
        Some(pause) => sleep(pause).await,
        None => pending().await,
    }
}

/// Waits until the high watermark is at `end`, or never will be.
async fn reach(scene: &Scene, end: Option<i64>) {
    let Some(end) = end else { return pending().await };
    let wakeup = Wakeup::for_partitions(1);
    let _forgotten = Forgotten { scene, wakeup: &wakeup };
    scene.partition.await_promise(end, ACKS_ALL, &wakeup);
    wakeup.woken().await;
}

/// Takes a wakeup out of the partition's list, however the wait ends.
struct Forgotten<'a> {
    scene: &'a Scene,
    wakeup: &'a std::sync::Arc<Wakeup>,
}

impl Drop for Forgotten<'_> {
    fn drop(&mut self) {
        self.scene.partition.forget(self.wakeup);
    }
}
