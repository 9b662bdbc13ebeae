//! The port of the admin listener, beside those of clients.

use super::listeners::{Endpoint, Listener};
use protocol::config::key::Invalid;
use protocol::config::own::OwnConfig;

/// The address, and whether the broker needs it.
pub(super) fn wanted(own: &OwnConfig) -> (Option<Endpoint>, bool) {
    let text = own.admin_listener.trim();
    let bare = text.strip_suffix('?');
    (Endpoint::parse(bare.unwrap_or(text).trim()), bare.is_none())
}

/// The listener that cannot be beside it.
pub(super) fn having_port_of<'a>(at: &Endpoint, listeners: &'a [Listener]) -> Option<&'a Listener> {
    listeners.iter().find(|listener| listener.bind.clashes_with(at))
}

/// Refuses an address that cannot be, or that a listener has.
pub(super) fn check(own: &OwnConfig, listeners: &[Listener]) -> Result<(), Invalid> {
    let (key, text) = (OwnConfig::admin_listener(), own.admin_listener.trim());
    let clash = match wanted(own) {
        (None, _) if text.is_empty() => None,
        (None, _) => return Err(key.invalid(text, "must name a host and a port that can be")),
        (Some(at), true) => having_port_of(&at, listeners),
        (Some(_), false) => None,
    };
    clash.map_or(Ok(()), |Listener { name, bind, .. }| {
        Err(key.invalid(text, &format!("{name}://{bind} of listeners has this port: change one")))
    })
}
