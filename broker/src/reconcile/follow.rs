//! The task that follows the metadata, image after image.

use super::reconciler::Reconciler;
use kraft::image::Image;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::{JoinError, spawn_blocking};

/// Applies every image, or the latest where several came meanwhile, until `images` ends. An error
/// is a bug of ours that has left the partitions half-way: the process must end.
pub async fn follow(
    mut reconciler: Reconciler,
    mut images: watch::Receiver<Arc<Image>>,
) -> Result<(), JoinError> {
    // What came between the start and the subscription.
    images.mark_changed();
    while images.changed().await.is_ok() {
        let image = Arc::clone(&images.borrow_and_update());
        // Folders are made and renamed: no work for a thread that others share.
        let applied = spawn_blocking(move || {
            reconciler.apply(image);
            reconciler
        });
        reconciler = applied.await?;
    }
    Ok(())
}
