//! How `kafka-configs` tells that the cluster refuses.

use crate::client::Refused;
use crate::failure::Failure;
use protocol::error::ErrorCode;

/// Why the cluster refuses, by Kafka's class and the broker's words.
pub(super) fn refusal(refused: Refused) -> Failure {
    if refused.code == ErrorCode::UnsupportedVersion {
        return refused.into();
    }
    Failure::Told(format!(
        "Error while executing config command: {}: {}",
        refused.exception(),
        refused.text
    ))
}
