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

/// The same list with Kafka's usual port where none is named, for who is not held to Kafka's form.
#[must_use]
pub fn with_port(list: &str) -> String {
    let complete = |place: &str| {
        let bare = place.split_once("://").map_or(place, |(_, bare)| bare);
        let host_end = bare.rfind(']').unwrap_or_default();
        let has_port = bare.rfind(':').is_some_and(|at| host_end <= at);
        if bare.is_empty() || has_port { place.to_owned() } else { format!("{place}:9092") }
    };
    list.split(',').map(|place| complete(place.trim())).collect::<Vec<_>>().join(",")
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

    #[test]
    fn a_port_is_9092_where_none_is_named() {
        assert_eq!(with_port("a, b:1,[::1],[::1]:2"), "a:9092,b:1,[::1]:9092,[::1]:2");
        assert_eq!(with_port("PLAINTEXT://kafka_1"), "PLAINTEXT://kafka_1:9092");
        assert_eq!(with_port("a,"), "a:9092,");
    }
}
