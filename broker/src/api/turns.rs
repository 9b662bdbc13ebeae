//! Turns: one at a time, in the order in which they come.

use tokio::sync::{Semaphore, SemaphorePermit};

#[derive(Debug)]
pub struct Turns(Semaphore);

impl Default for Turns {
    fn default() -> Turns {
        Turns(Semaphore::new(1))
    }
}

impl Turns {
    /// Waits until whoever came before has dropped this. Always some: nobody closes it.
    pub(super) async fn take(&self) -> Option<SemaphorePermit<'_>> {
        self.0.acquire().await.ok()
    }
}
