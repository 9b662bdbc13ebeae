//! Why the broker does not start: one line, which says what to do.

use crate::config::{Endpoint, Refused};
use kraft::format::FormatError;
use std::fmt;
use std::io;
use std::path::PathBuf;
use storage::log_dir::OpenError;

#[derive(Debug)]
pub enum StartError {
    Config(Refused),
    Dir(OpenError),
    Format(FormatError),
    /// The metadata log, in its directory.
    Metadata(PathBuf, kraft::node::StartError),
    /// A listener, and what the system says to it.
    Listen(String, io::Error),
    /// The address of the admin port, and what the system says to it.
    AdminListen(Endpoint, io::Error),
    /// The controller does not take this broker.
    Registration(String),
    /// The system has no thread, or no timer, left.
    System(&'static str, io::Error),
}

impl From<Refused> for StartError {
    fn from(refused: Refused) -> StartError {
        StartError::Config(refused)
    }
}

impl From<OpenError> for StartError {
    fn from(error: OpenError) -> StartError {
        StartError::Dir(error)
    }
}

impl From<FormatError> for StartError {
    fn from(error: FormatError) -> StartError {
        StartError::Format(error)
    }
}

/// What is wrong with a listener, and what to do.
const ADVICE: [(io::ErrorKind, &str); 3] = [
    (
        io::ErrorKind::AddrInUse,
        "another process listens there: stop it, or set listeners to another port",
    ),
    (
        io::ErrorKind::AddrNotAvailable,
        "this machine has no such address: set listeners to one that it has",
    ),
    (io::ErrorKind::PermissionDenied, "this user may not: set listeners to a port above 1023"),
];

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Config(refused) => refused.fmt(f),
            StartError::Dir(error) => error.fmt(f),
            StartError::Format(error) => error.fmt(f),
            StartError::Metadata(dir, error) => {
                write!(f, "The metadata log in {} cannot be used: {error}", dir.display())
            }
            StartError::Listen(listener, error) => {
                let known = ADVICE.iter().find(|(kind, _)| *kind == error.kind());
                let what = known.map_or(error.to_string(), |(_, what)| (*what).to_owned());
                write!(f, "Cannot listen on {listener}: {what}")
            }
            StartError::AdminListen(at, error) => write!(
                f,
                "Cannot open the admin port on {at}: {error}; set highwater.admin.listener to \
                 another address, or to nothing"
            ),
            StartError::Registration(why) => {
                write!(f, "The controller refuses this broker: {why}")
            }
            StartError::System(what, error) => {
                write!(f, "The system gives no {what}: {error}; see `ulimit -a`")
            }
        }
    }
}

impl std::error::Error for StartError {}
