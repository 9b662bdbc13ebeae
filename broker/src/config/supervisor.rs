//! What the one who started this process left in its environment.

use std::ffi::OsString;

/// Where a service manager wants to hear how far the broker is (sd_notify(3)).
pub fn notify_socket() -> Option<OsString> {
    std::env::var_os("NOTIFY_SOCKET")
}
