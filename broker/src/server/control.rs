//! The control runtime: a thread of its own for the metadata log, the controller and heartbeats,
//! so that whatever holds up the data does not cost the broker its place.

use super::error::StartError;
use std::io;
use std::thread;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Ends its thread, and all that runs on it, when dropped.
#[derive(Debug)]
pub(super) struct Control {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Control {
    pub(super) fn start() -> Result<Control, StartError> {
        let failed = |error: io::Error| StartError::System("control thread", error);
        let runtime = Builder::new_current_thread()
            .enable_all()
            .thread_name("control-io")
            .thread_stack_size(STACK_BYTES)
            .build()
            .map_err(failed)?;
        let (handle, (stop, stopped)) = (runtime.handle().clone(), oneshot::channel());
        let thread = thread::Builder::new()
            .name("control".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                // Ends with a value or with its sender.
                drop(runtime.block_on(stopped));
                runtime.shutdown_background();
            })
            .map_err(failed)?;
        Ok(Control { handle, stop: Some(stop), thread: Some(thread) })
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// Of threads that run no deep recursion.
pub(super) const STACK_BYTES: usize = 1 << 20;

impl Drop for Control {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("The control thread has panicked");
        }
    }
}
