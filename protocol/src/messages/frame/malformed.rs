//! What is no message, and why.

use std::fmt;

/// Bytes that the codec refuses, or a message that its version cannot carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl Malformed {
    pub(crate) fn of(error: impl fmt::Display) -> Malformed {
        Malformed(error.to_string())
    }

    pub(super) fn too_long() -> Malformed {
        Malformed("a frame is at most 2 GiB".to_owned())
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}
