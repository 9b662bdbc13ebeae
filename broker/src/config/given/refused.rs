//! Why a broker cannot start with its configuration.

use super::origin::Origin;
use protocol::config::key::Invalid;
use std::fmt;

/// One line each, which says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    Unreadable { file: String, why: String },
    Malformed { file: String, line: usize, why: &'static str },
    NoOverride { text: String },
    Value { origin: Option<Origin>, invalid: Invalid },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Unreadable { file, why } => write!(f, "cannot read {file}: {why}"),
            Refused::Malformed { file, line, why } => write!(f, "{file}:{line}: {why}"),
            Refused::NoOverride { text } => {
                write!(f, "--override {text}: must be a key, `=` and a value")
            }
            Refused::Value { origin: Some(origin), invalid } => write!(f, "{origin}: {invalid}"),
            Refused::Value { origin: None, invalid } => write!(f, "{invalid}"),
        }
    }
}

impl std::error::Error for Refused {}
