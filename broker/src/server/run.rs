//! The process around a broker: its threads, its signals, its panics.

use super::control::STACK_BYTES;
use super::error::StartError;
use super::limits;
use crate::config::BrokerConfig;
use std::future::Future;
use std::io::{self, IsTerminal};
use std::num::NonZero;
use std::thread::available_parallelism;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::{error, info};

/// Threads for what blocks and is not a cold read: opening logs, syncing them.
const BLOCKING_THREADS: usize = 4;

/// Runs `future` on the data runtime: a worker per core.
pub fn block_on<T>(
    config: &BrokerConfig,
    future: impl Future<Output = T>,
) -> Result<T, StartError> {
    limits::raise_open_files();
    log_panics();
    let own = &config.values.own;
    let threads = usize::try_from(own.worker_threads).ok().filter(|threads| *threads != 0);
    let cores = || available_parallelism().map_or(1, NonZero::get);
    let cold_readers = usize::try_from(own.cold_read_threads).unwrap_or(1);
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads.unwrap_or_else(cores))
        .max_blocking_threads(cold_readers + BLOCKING_THREADS)
        .thread_name("data")
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()
        .map_err(|error| StartError::System("threads", error))?;
    let result = runtime.block_on(future);
    runtime.shutdown_background();
    Ok(result)
}

/// Comes back at SIGTERM or SIGINT.
pub async fn listen_for_signals() -> io::Result<()> {
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let name = tokio::select! {
        biased;
        _ = term.recv() => "SIGTERM",
        _ = int.recv() => "SIGINT",
    };
    info!("Terminating process due to signal {name}");
    Ok(())
}

/// SIGHUPs, which ask for the configuration to be read anew. None where a person started the broker
/// at a terminal: there it means that the terminal is gone, and ends the process as ever.
pub fn listen_for_hangups() -> io::Result<Option<Signal>> {
    if io::stdin().is_terminal() {
        return Ok(None);
    }
    signal(SignalKind::hangup()).map(Some)
}

/// A panic ends a task, and is a bug; it is told where operators look.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| error!("A bug, please report it: {panic}")));
}
