//! The task that follows the metadata: partitions first, then what a changed config says of
//! connections.

use super::limits;
use crate::config::DynamicConfig;
use crate::net::{Limits, Roster};
use crate::reconcile::Reconciler;
use arc_swap::ArcSwap;
use kraft::image::Image;
use std::sync::Arc;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, spawn_blocking};

/// Each listener's limits, by its name.
type ByListener = Vec<(String, Arc<ArcSwap<Limits>>)>;

/// The task; stops between two images.
#[derive(Debug)]
pub(super) struct Reload {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Reload {
    pub(super) fn start(
        reconciler: Reconciler,
        images: watch::Receiver<Arc<Image>>,
        config: DynamicConfig,
        (roster, listeners): (Arc<Roster>, ByListener),
    ) -> Reload {
        let (stop, stopped) = oneshot::channel();
        let follow = follow(reconciler, images, config, (roster, listeners));
        let task = tokio::spawn(async move {
            let follow = follow;
            tokio::pin!(follow);
            tokio::select! {
                biased;
                _ = stopped => {}
                () = &mut follow => {}
            }
        });
        Reload { stop, task }
    }

    /// Comes back when nothing more is changed.
    pub(super) async fn stop(self) {
        drop(self.stop);
        // An error is a panic, which the log has told.
        drop(self.task.await);
    }
}

async fn follow(
    mut reconciler: Reconciler,
    mut images: watch::Receiver<Arc<Image>>,
    config: DynamicConfig,
    (roster, listeners): (Arc<Roster>, ByListener),
) {
    let mut known = config.load();
    while images.changed().await.is_ok() {
        let image = Arc::clone(&images.borrow_and_update());
        let applied = spawn_blocking(move || {
            reconciler.apply(image);
            reconciler
        });
        reconciler = match applied.await {
            Ok(reconciler) => reconciler,
            Err(panic) => {
                tracing::error!("Nothing follows the metadata any more: {panic}");
                return;
            }
        };
        let now = config.load();
        if !Arc::ptr_eq(&now, &known) {
            roster.set_connections_max(limits::connections(&now));
            for (name, limits) in &listeners {
                limits.store(Arc::new(limits::of_listener(&now, name).await));
            }
            known = now;
        }
    }
}
