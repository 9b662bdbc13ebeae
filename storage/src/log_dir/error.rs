//! Why a log directory cannot be used: one line each, which says what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

#[derive(Debug)]
pub enum OpenError {
    /// Another process holds it.
    Held { dir: PathBuf },
    /// It is empty: format it first.
    NotFormatted { dir: PathBuf },
    /// It holds something, but nothing says whose it is.
    Foreign { dir: PathBuf, found: String },
    /// It is formatted already.
    Formatted { dir: PathBuf },
    /// It belongs to another cluster.
    OtherCluster { dir: PathBuf, found: String, expected: String },
    /// It belongs to another node of the cluster.
    OtherNode { dir: PathBuf, found: i32, expected: i32 },
    /// Two directories claim to be the same, as after one was copied.
    SameId { dir: PathBuf, other: PathBuf },
    /// `meta.properties` does not say what it should.
    Malformed { path: PathBuf, reason: String },
    /// The disk failed.
    Disk { dir: PathBuf, error: io::Error },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Held { dir } => write!(
                f,
                "Failed to acquire lock on file .lock in {0}. A Kafka instance in another process \
                 or thread is using this directory: stop that one, or set log.dirs to another.",
                dir.display()
            ),
            OpenError::NotFormatted { dir } => {
                write!(f, "{} is not formatted: run `highwater format` first.", dir.display())
            }
            OpenError::Foreign { dir, found } => write!(
                f,
                "{} holds '{found}' but no meta.properties, so it may belong to something else: \
                 empty it, or set log.dirs to another directory.",
                dir.display()
            ),
            OpenError::Formatted { dir } => write!(
                f,
                "Log directory {} is already formatted. Use --ignore-formatted to ignore this \
                 directory and format the others.",
                dir.display()
            ),
            OpenError::OtherCluster { dir, found, expected } => write!(
                f,
                "{} belongs to cluster '{found}', not '{expected}': set log.dirs to this \
                 cluster's directory.",
                dir.display()
            ),
            OpenError::OtherNode { dir, found, expected } => write!(
                f,
                "{} belongs to node {found}, but node.id is {expected}: set node.id to {found}, \
                 or log.dirs to this node's directory.",
                dir.display()
            ),
            OpenError::SameId { dir, other } => write!(
                f,
                "{} and {} have the same directory.id: remove the one that is a copy.",
                dir.display(),
                other.display()
            ),
            OpenError::Malformed { path, reason } => write!(
                f,
                "{} cannot be read: {reason}. Restore it, or empty the directory and format it.",
                path.display()
            ),
            OpenError::Disk { dir, error } => {
                write!(f, "{} cannot be used: {error}.", dir.display())
            }
        }
    }
}

impl std::error::Error for OpenError {}
