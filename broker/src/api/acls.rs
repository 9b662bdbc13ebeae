//! What the requests for ACLs have in common: nothing guards this cluster, so that there are none.

use super::reply::{Close, Outcome};
use protocol::error::ErrorCode;
use protocol::messages::StrBytes;

/// The code of every answer.
pub(super) const CODE: ErrorCode = ErrorCode::SecurityDisabled;

/// Apache Kafka's UNKNOWN of resource types, pattern types, operations and permissions alike.
const UNKNOWN: i8 = 0;

/// As Apache Kafka, which does not read a request that names an UNKNOWN.
pub(super) fn check_kinds(kinds: impl IntoIterator<Item = i8>) -> Outcome<()> {
    match kinds.into_iter().any(|kind| kind == UNKNOWN) {
        true => Err(Close(ErrorCode::InvalidRequest)),
        false => Ok(()),
    }
}

/// What is said beside a code.
pub(super) fn words(code: ErrorCode) -> Option<StrBytes> {
    Some(if code == CODE {
        StrBytes::from_static_str("This cluster has no authorizer, and so no ACLs.")
    } else {
        code.message().into()
    })
}
