//! Why a log was not cleaned to the end.

use crate::error::Error;
use crate::segment::scan::ScanError;
use std::fmt;
use std::io;

#[derive(Debug)]
pub enum CleanError {
    /// It was told to stop, or the log has changed under its hands. What it had put in place stays.
    Stopped,
    /// What stands in the log cannot be read, so that cleaning it again is no use.
    Unreadable {
        offset: i64,
        reason: String,
    },
    Failed(Error),
}

impl From<Error> for CleanError {
    fn from(error: Error) -> CleanError {
        CleanError::Failed(error)
    }
}

impl From<io::Error> for CleanError {
    fn from(error: io::Error) -> CleanError {
        CleanError::Failed(error.into())
    }
}

impl From<ScanError> for CleanError {
    fn from(error: ScanError) -> CleanError {
        CleanError::Failed(error.into())
    }
}

impl CleanError {
    pub(super) fn unreadable(offset: i64, reason: &dyn fmt::Display) -> CleanError {
        CleanError::Unreadable { offset, reason: reason.to_string() }
    }
}

impl fmt::Display for CleanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CleanError::Stopped => f.write_str("it was stopped"),
            CleanError::Unreadable { offset, reason } => {
                write!(f, "the batch at offset {offset} cannot be read: {reason}")
            }
            CleanError::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CleanError {}
