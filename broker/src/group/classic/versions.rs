//! What a JoinGroup means by its version.

use crate::group::request::Client;
use protocol::messages::JoinGroupRequest;

/// From this version on a dynamic member is given its id first, and joins with it (KIP-394).
const ID_FIRST_SINCE: i16 = 4;
/// Before this version a member says one time-out for both.
const REBALANCE_TIMEOUT_SINCE: i16 = 1;

/// Whether a dynamic member without an id is only given one.
pub(in crate::group) fn takes_id_first(client: &Client) -> bool {
    ID_FIRST_SINCE <= client.version
}

pub(in crate::group) fn rebalance_timeout_ms(client: &Client, request: &JoinGroupRequest) -> i32 {
    match client.version {
        REBALANCE_TIMEOUT_SINCE.. => request.rebalance_timeout_ms,
        _ => request.session_timeout_ms,
    }
}
