//! Where a broker is: `host:port`, and lists of it.

use crate::failure::Failure;
use std::fmt;

/// A host, by name or address (without brackets), and a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    pub host: String,
    pub port: u16,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Address { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// Reads `host:port,host:port`, as bootstrap lists are written. `PROTOCOL://` before a host is
/// passed over, and so are empty places.
///
/// # Errors
/// A place is no address, or there is none at all.
pub fn addresses(list: &str) -> Result<Vec<Address>, Failure> {
    let places = list.split(',').map(str::trim).filter(|place| !place.is_empty());
    let found = places.map(address).collect::<Result<Vec<_>, _>>()?;
    if found.is_empty() {
        return Err(Failure::Told("no bootstrap server is given: name one as host:port".into()));
    }
    Ok(found)
}

fn address(place: &str) -> Result<Address, Failure> {
    let bare = place.split_once("://").map_or(place, |(_, bare)| bare);
    let read = bare.rsplit_once(':').and_then(|(host, port)| {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = port.parse().ok().filter(|port| 0 < *port)?;
        (!host.is_empty()).then(|| Address { host: host.to_owned(), port })
    });
    read.ok_or_else(|| {
        Failure::Told(format!(
            "Invalid url in bootstrap.servers: {place}: a bootstrap server is host:port, as \
             localhost:9092"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read() {
        let read = |list| {
            let found = addresses(list)?;
            Ok::<_, Failure>(found.iter().map(Address::to_string).collect::<Vec<_>>())
        };
        assert_eq!(read("a:1, b:2,").unwrap(), ["a:1", "b:2"]);
        assert_eq!(read("[::1]:9092").unwrap(), ["[::1]:9092"]);
        assert_eq!(read("PLAINTEXT://kafka_1:9092").unwrap(), ["kafka_1:9092"]);
        for wrong in ["", ",", "a", "a:", ":1", "a:0", "a:65536", "a:x"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
