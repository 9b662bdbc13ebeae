//! What follows the metadata while the broker runs: its partitions, then what a changed config
//! says of connections.

use super::limited::Limited;
use crate::config::DynamicConfig;
use crate::partition::Table;
use crate::reconcile::{Reconciler, follow};
use kraft::image::Image;
use std::sync::Arc;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// The two tasks.
#[derive(Debug)]
pub(super) struct Reload {
    /// Hands the images on; the partitions end with it.
    images: JoinHandle<()>,
    partitions: JoinHandle<()>,
    failed: watch::Receiver<bool>,
    /// Has the latest image handed on once more, for a configuration that changed beside it.
    again: Arc<Notify>,
}

impl Reload {
    pub(super) fn start(
        reconciler: Reconciler,
        images: watch::Receiver<Arc<Image>>,
        (table, config): (Arc<Table>, DynamicConfig),
        limited: Limited,
    ) -> Reload {
        let (sender, receiver) = watch::channel(Arc::clone(&images.borrow()));
        let (has_failed, failed) = watch::channel(false);
        let partitions = tokio::spawn(async move {
            if let Err(panic) = follow(reconciler, receiver).await {
                tracing::error!("Nothing follows the metadata any more: {panic}");
                has_failed.send_replace(true);
            }
        });
        let again = Arc::new(Notify::new());
        let asked = Arc::clone(&again);
        let images = tokio::spawn(hand_on((images, asked), sender, (table, config), limited));
        Reload { images, partitions, failed, again }
    }

    /// Has what is open told the configuration as it is now.
    pub(super) fn again(&self) {
        self.again.notify_one();
    }

    /// Comes back when the partitions follow the metadata no more, which is a bug.
    pub(super) async fn failed(&self) {
        let mut failed = self.failed.clone();
        if failed.wait_for(|failed| *failed).await.is_err() {
            std::future::pending().await // It was stopped.
        }
    }

    /// Comes back when no partition is changed any more.
    pub(super) async fn stop(self) {
        self.images.abort();
        // Either way it has ended.
        drop(self.images.await);
        drop(self.partitions.await);
    }
}

async fn hand_on(
    (mut images, again): (watch::Receiver<Arc<Image>>, Arc<Notify>),
    to: watch::Sender<Arc<Image>>,
    (table, config): (Arc<Table>, DynamicConfig),
    limited: Limited,
) {
    loop {
        let image = Arc::clone(&images.borrow_and_update());
        let offset = image.offset;
        to.send_replace(image);
        table.when_applied(offset).await;
        limited.put_in_force(config.load());
        let ended = tokio::select! {
            biased;
            changed = images.changed() => changed.is_err(),
            () = again.notified() => false,
        };
        if ended {
            return;
        }
    }
}
