//! SIGINT and SIGTERM, which let a tool finish what it has begun.

use crate::failure::Failure;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// What a process exits with that Java ends for SIGINT, and for SIGTERM.
const INTERRUPTED: u8 = 128 + 2;
const TERMINATED: u8 = 128 + 15;

/// Which thread ends the process, where the one that is told of a signal cannot wake the one that
/// waits for input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ending(Arc<AtomicBool>);

impl Ending {
    /// Whether the caller has to end the process: the first one that asks.
    pub(crate) fn is_mine(&self) -> bool {
        !self.0.swap(true, Ordering::SeqCst)
    }

    /// Goes on if the caller has to end the process, else waits for the other thread to do so.
    pub(crate) fn take(&self) {
        if !self.is_mine() {
            loop {
                std::thread::park();
            }
        }
    }
}

/// Whether, and by what, the process was asked to end.
#[derive(Debug)]
pub(crate) struct Interrupt {
    code: Arc<AtomicU8>,
    /// Never sends; its other end goes when a signal comes.
    came: Receiver<()>,
}

impl Interrupt {
    /// From now on neither signal ends the process at once; whoever asks is told of it. `at_once`
    /// is called in a thread of its own when one comes.
    ///
    /// # Errors
    /// The system does not hand the signals over.
    pub(crate) fn listen(at_once: impl FnOnce(u8) + Send + 'static) -> Result<Interrupt, Failure> {
        Interrupt::of_system(at_once)
            .map_err(|error| Failure::told(format_args!("cannot wait for signals: {error}")))
    }

    fn of_system(at_once: impl FnOnce(u8) + Send + 'static) -> io::Result<Interrupt> {
        let code = Arc::new(AtomicU8::new(0));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let (mut interrupt, mut terminate) = {
            let _entered = runtime.enter();
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
        };
        let seen = code.clone();
        let (goes, came) = mpsc::channel();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let came = runtime.block_on(async {
                tokio::select! {
                    biased;
                    _ = interrupt.recv() => INTERRUPTED,
                    _ = terminate.recv() => TERMINATED,
                }
            });
            seen.store(came, Ordering::SeqCst);
            drop(goes);
            at_once(came);
        })?;
        Ok(Interrupt { code, came })
    }

    /// What to exit with, if the process was asked to end.
    pub(crate) fn code(&self) -> Option<u8> {
        Some(self.code.load(Ordering::SeqCst)).filter(|code| *code != 0)
    }

    /// How a tool ends whose work has ended so: as one that was interrupted if it was, unless
    /// something went wrong. A reader of its output that has gone changes nothing of that.
    pub(crate) fn end(&self, done: Result<(), Failure>) -> Result<(), Failure> {
        match (self.code(), done) {
            (Some(code), Ok(()) | Err(Failure::Closed)) => Err(Failure::Exit(code)),
            (_, done) => done,
        }
    }

    /// Waits so long, or until the process is asked to end.
    pub(crate) fn wait(&self, most: Duration) {
        // Either way there is nothing more to do than to look.
        let _: Result<(), _> = self.came.recv_timeout(most);
    }
}
