//! What the controller says where it does not do as it is asked.

use protocol::error::ErrorCode;
use protocol::messages::StrBytes;

/// A "no", in Kafka's code and our words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub code: ErrorCode,
    pub message: String,
}

impl Refusal {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into() }
    }

    pub(super) fn text(&self) -> StrBytes {
        text(&self.message)
    }
}

/// A message's own string.
pub(super) fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}
