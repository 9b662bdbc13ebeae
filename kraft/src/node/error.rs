//! Why a request to the controller has no answer.

use crate::raft::quorum::Stopped;
use std::fmt;

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskError {
    /// The controller is of no use any more; the process is about to end. Whether the request was
    /// carried out is not known.
    Stopped(Stopped),
    /// The time that whoever asked would wait is over. It was not decided on, and will not be.
    Late,
    /// The decision contradicts the image, which is a bug: nothing was written.
    Contradiction(String),
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskError::Stopped(stopped) => stopped.fmt(f),
            AskError::Late => f.write_str("it was not carried out in time"),
            AskError::Contradiction(why) => write!(f, "a decision contradicts the image: {why}"),
        }
    }
}

impl std::error::Error for AskError {}

impl From<Stopped> for AskError {
    fn from(stopped: Stopped) -> AskError {
        AskError::Stopped(stopped)
    }
}
