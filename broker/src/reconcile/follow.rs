//! The task that follows the metadata, image after image.

use super::reconciler::Reconciler;
use kraft::image::Image;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, sleep_until};

/// How soon after the last try what lacked room or files is tried again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Applies every image, or the latest where several came meanwhile, until `images` ends. An error
/// is a bug of ours that has left the partitions half-way: the process must end.
pub async fn follow(
    mut reconciler: Reconciler,
    mut images: watch::Receiver<Arc<Image>>,
) -> Result<(), JoinError> {
    // What came between the start and the subscription.
    images.mark_changed();
    let mut next_try = Instant::now() + AGAIN_AFTER;
    loop {
        // However often images come, what lacked something has its turn.
        let image = tokio::select! {
            biased;
            () = sleep_until(next_try), if reconciler.is_lacking() => None,
            changed = images.changed() => match changed {
                Ok(()) => Some(Arc::clone(&images.borrow_and_update())),
                Err(_) => return Ok(()),
            },
        };
        let is_retry = image.is_none();
        // Folders are made and renamed: no work for a thread that others share.
        let applied = spawn_blocking(move || {
            match image {
                Some(image) => reconciler.apply(image),
                None => reconciler.try_again(),
            }
            reconciler
        });
        reconciler = applied.await?;
        if is_retry {
            next_try = Instant::now() + AGAIN_AFTER; // A try may take longer than that.
        }
    }
}
