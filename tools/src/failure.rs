//! How a tool ends, if not well.

use std::fmt;

/// Why a tool stops. What it exits with is Apache Kafka's: 1, but for help and version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The arguments ask for nothing that there is: the message and the usage go to stderr.
    Usage(String),
    /// `--help`: the usage is what was asked for.
    Help,
    /// `--version`.
    Version,
    /// The message goes to stderr.
    Told(String),
    /// All is said; this is the exit code.
    Exit(u8),
    /// Whoever read the output has had enough (`| head`): nothing is wrong.
    Closed,
}

impl Failure {
    pub fn usage(message: impl fmt::Display) -> Failure {
        Failure::Usage(message.to_string())
    }

    pub fn told(message: impl fmt::Display) -> Failure {
        Failure::Told(message.to_string())
    }
}
