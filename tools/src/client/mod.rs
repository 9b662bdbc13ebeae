//! A small client for the requests of tools: it finds the right broker, speaks the newest version
//! that both sides know, and tries again what may pass.

mod address;
mod cluster;
mod connection;
mod refused;

pub use address::{Address, addresses, with_port};
pub use cluster::{Client, Entrance, Node, To};
pub use connection::Connection;
pub use refused::Refused;

use crate::failure::Failure;

/// Runs a tool's conversation to its end, in this thread.
///
/// # Errors
/// What `conversation` says, or the system has no room for a runtime.
pub fn block_on<T>(conversation: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| Failure::Told(format!("cannot start: {error}")))?;
    let done = runtime.block_on(conversation);
    // A look-up of a name may still hang in the system; nobody waits for it.
    runtime.shutdown_background();
    done
}

#[cfg(test)]
mod tests;
