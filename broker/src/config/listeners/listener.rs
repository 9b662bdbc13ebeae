//! A listener, and an address as it is dialled.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host and a port, as a client dials them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// A name or an address, IPv6 without brackets.
    pub host: String,
    pub port: u16,
}

impl Endpoint {
    /// Reads `host:port` and `[address]:port`.
    pub fn parse(text: &str) -> Option<Endpoint> {
        let (host, port) = text.rsplit_once(':')?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        // Rust would take a sign.
        let is_number = port.bytes().all(|it| it.is_ascii_digit());
        let port = port.parse().ok().filter(|_| is_number)?;
        is_host(bare).then_some(Endpoint { host: bare.to_owned(), port })
    }

    /// Whether both cannot be bound at once, or nobody can say: a name may stand for any address.
    pub fn clashes_with(&self, other: &Endpoint) -> bool {
        let address =
            |it: &Endpoint| it.host.parse().ok().filter(|ip: &IpAddr| !ip.is_unspecified());
        self.port != 0
            && self.port == other.port
            && address(self).is_none_or(|one| address(other).is_none_or(|it| it == one))
    }
}

/// Whether it could be a host: nothing, an address, or a name. Underscores are of Docker's names.
fn is_host(text: &str) -> bool {
    let label = |label: &str| {
        let fits = |it: u8| it.is_ascii_alphanumeric() || b"-_".contains(&it);
        (1..=63).contains(&label.len()) && label.bytes().all(fits)
    };
    if text.contains(':') {
        // Behind `%` stands the name of a link.
        text.split('%').next().is_some_and(|it| it.parse::<Ipv6Addr>().is_ok())
    } else if text.bytes().all(|it| it.is_ascii_digit() || it == b'.') {
        text.is_empty() || text.parse::<Ipv4Addr>().is_ok()
    } else {
        text.len() <= 253 && text.strip_suffix('.').unwrap_or(text).split('.').all(label)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Endpoint { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// One door of the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// In capitals, as Kafka tells it.
    pub name: String,
    /// An empty host is every address, `localhost` both of its addresses; port 0 is any that is free.
    pub bind: Endpoint,
    /// What stands in the metadata; none for a listener that is told to nobody. Port 0: the one
    /// bound.
    pub advertised: Option<Endpoint>,
    /// Whether nobody said what others are told, so that it depends on who they are ([`super::told`]).
    pub is_told_by_peer: bool,
    pub is_controller: bool,
}

impl Listener {
    /// Whether every address of the machine is meant.
    pub fn is_everywhere(&self) -> bool {
        is_wildcard(&self.bind.host)
    }
}

pub(super) fn is_wildcard(host: &str) -> bool {
    matches!(host, "" | "0.0.0.0" | "::")
}
