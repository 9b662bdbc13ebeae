//! What can go wrong with the cluster's metadata, by what the caller must do about it.

use crate::record::RecordError;
use std::fmt;

/// The metadata log cannot be followed any further: the node must stop rather than guess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A record that cannot be read.
    Unreadable { offset: i64, error: RecordError },
    /// A record that contradicts those before it.
    Contradiction { offset: i64, record: &'static str, why: String },
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unreadable { offset, error } => {
                write!(f, "the metadata log cannot be read at offset {offset}: {error}")
            }
            Error::Contradiction { offset, record, why } => {
                write!(f, "the metadata log contradicts itself at offset {offset}: {record}: {why}")
            }
        }
    }
}
