//! What is wrong, in words, and what to do: decided from what was seen alone.

use super::seen::{Cluster, End, Seen, Visit};
use crate::client::{Address, Node};
use std::net::IpAddr;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A client cannot work, or works only by chance.
    Fault,
    /// It works here; elsewhere it may not.
    Warning,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub level: Level,
    /// A word for scripts.
    pub code: &'static str,
    pub address: Address,
    /// The broker that is told to be there; none for a bootstrap address.
    pub node: Option<i32>,
    pub what: String,
    pub advice: String,
}

/// All that is wrong, bootstrap addresses first.
#[must_use]
pub fn diagnose(seen: &Seen) -> Vec<Finding> {
    let mut found: Vec<Finding> = seen.bootstrap.iter().filter_map(of_bootstrap).collect();
    let Some((teller, cluster)) = seen.teller() else { return found };
    for visit in &seen.bootstrap {
        found.extend(visit.cluster().and_then(|other| of_two(teller, cluster, visit, other)));
    }
    if cluster.nodes.is_empty() {
        found.push(fault("NO_BROKERS", teller, None, (
            "answers, but names no broker to connect to".to_owned(),
            "Wait until the broker has registered, and see that advertised.listeners names the \
             listener of this port"
                .to_owned(),
        )));
    }
    found
        .extend(seen.told.iter().filter_map(|(node, visit)| of_told(teller, cluster, node, visit)));
    found
}

type Words = (String, String);

fn fault(code: &'static str, visit: &Visit, node: Option<i32>, (what, advice): Words) -> Finding {
    let address = visit.address.clone();
    Finding { level: Level::Fault, code, address, node, what, advice }
}

fn of_bootstrap(visit: &Visit) -> Option<Finding> {
    let port = visit.address.port;
    let (code, what, advice) = match &visit.end {
        End::Kafka(_) => return None,
        End::Unknown(why) => (
            "NAME_UNKNOWN",
            format!("the name does not resolve here ({why})"),
            "Check the spelling. A name of a compose file is known only to containers on the \
             same network: from the host use localhost and the published port"
                .to_owned(),
        ),
        End::Refused => (
            "NOTHING_LISTENS",
            "nothing listens there".to_owned(),
            format!(
                "Start the broker, or correct the port. For a container see that the port is \
                 published (docker ps shows `->{port}/tcp`)"
            ),
        ),
        End::Closed => (
            "CLOSED_AT_ONCE",
            "the connection is taken and closed before anything is answered".to_owned(),
            "A published port does this while nothing in the container listens on all its \
             addresses: set listeners=PLAINTEXT://:9092 there, and not localhost. Else the \
             broker is starting, or refuses this machine"
                .to_owned(),
        ),
        other @ (End::NoRoute(_)
        | End::Late
        | End::Failed(_)
        | End::Silent
        | End::Http
        | End::Tls
        | End::Garbage
        | End::Controller
        | End::Old
        | End::Dismissed) => general(other),
    };
    Some(fault(code, visit, None, (what, advice)))
}

/// What is the same for every address.
fn general(end: &End) -> (&'static str, String, String) {
    let (code, what, advice) = match end {
        End::Kafka(_) => ("", String::new(), ""),
        End::Unknown(why) => {
            ("NAME_UNKNOWN", format!("the name does not resolve here ({why})"), "")
        }
        End::Refused => ("NOTHING_LISTENS", "nothing listens there".to_owned(), ""),
        End::NoRoute(why) => (
            "NO_ROUTE",
            format!("no network leads there from here ({why})"),
            "Use an address of a network that this machine is on",
        ),
        End::Late => (
            "CONNECT_TIMEOUT",
            "no connection is made in time".to_owned(),
            "A firewall drops what is sent there, or the address belongs to a network that is \
             not reached from here",
        ),
        End::Failed(why) => (
            "CONNECT_FAILED",
            format!("the connection fails: {why}"),
            "This machine's network has to be seen to first",
        ),
        End::Silent => (
            "NO_ANSWER",
            "something takes the connection, and does not answer".to_owned(),
            "It is no Kafka broker, one that is stuck, or a proxy without anybody behind it",
        ),
        End::Closed => (
            "CLOSED_AT_ONCE",
            "the connection is taken and closed before anything is answered".to_owned(),
            "Nothing listens behind a published port or a proxy, or what listens is no broker",
        ),
        End::Http => (
            "HTTP",
            "a web server answers, not a Kafka broker".to_owned(),
            "Use the port of a Kafka listener: an admin or REST port is another one",
        ),
        End::Tls => (
            "TLS",
            "it speaks TLS, and was spoken to in plain".to_owned(),
            "Clients need security.protocol=SSL (or SASL_SSL) here; or use a PLAINTEXT listener. \
             This tool speaks PLAINTEXT only",
        ),
        End::Garbage => (
            "NOT_KAFKA",
            "what answers is no Kafka broker".to_owned(),
            "See which program listens on that port",
        ),
        End::Controller => (
            "CONTROLLER",
            "a controller answers, not a broker: it has no topics and no records".to_owned(),
            "Use the port of a broker's listener, not one of controller.listener.names",
        ),
        End::Old => (
            "TOO_OLD",
            "the broker speaks only versions of the protocol that are gone".to_owned(),
            "It is older than Apache Kafka 0.10: clients of today cannot use it",
        ),
        End::Dismissed => (
            "DISMISSED",
            "the broker says what it serves, and then closes the connection".to_owned(),
            "It wants clients to authenticate first: security.protocol=SASL_PLAINTEXT, which this \
             tool does not speak",
        ),
    };
    (code, what, advice.to_owned())
}

/// That a controller answers at `address` in the place of a broker, and what to do.
#[must_use]
pub fn controller(address: &Address) -> String {
    let (_, what, advice) = general(&End::Controller);
    format!("{address}: {what}. {advice}.")
}

/// Two bootstrap addresses that lead to different clusters.
fn of_two(first: &Visit, one: &Cluster, visit: &Visit, other: &Cluster) -> Option<Finding> {
    if one.id == other.id {
        return None;
    }
    let id = |cluster: &Cluster| cluster.id.clone().unwrap_or_else(|| "unnamed".to_owned());
    let what = format!("it belongs to cluster {}, and {} to {}", id(other), first.address, id(one));
    let advice = "A client takes whichever answers first: give it the addresses of one cluster";
    Some(fault("OTHER_CLUSTER", visit, None, (what, advice.to_owned())))
}

/// What is wrong with an address that a client is sent to.
fn of_told(teller: &Visit, cluster: &Cluster, node: &Node, visit: &Visit) -> Option<Finding> {
    let fault =
        |code, what: String, advice| Some(fault(code, visit, Some(node.id), (what, advice)));
    let remedy = remedy(teller);
    let host = &visit.address.host;
    if host.parse::<IpAddr>().is_ok_and(|ip| ip.is_unspecified()) || host.is_empty() {
        let what = "this is no address that can be dialled: to a client it means itself or nothing";
        return fault("WILDCARD", what.to_owned(), remedy);
    }
    let is_loopback = is_loopback(&visit.ips);
    let is_away = !is_loopback_or_unknown(&teller.ips) && is_loopback;
    let reached =
        visit.cluster().filter(|there| there.id == cluster.id && there.mistaken.is_none());
    if is_away {
        return Some(on_loopback(node, visit, reached.is_some(), remedy));
    }
    match &visit.end {
        End::Kafka(there) => match &there.mistaken {
            _ if there.id != cluster.id => {
                let id = there.id.as_deref().unwrap_or("unnamed");
                fault("OTHER_CLUSTER", format!("another cluster answers there: {id}"), remedy)
            }
            Some(said) => fault("OTHER_BROKER", format!("another broker answers there: {said}"), {
                format!("Each broker needs an address of its own. {remedy}")
            }),
            None => None,
        },
        End::Unknown(why) => fault(
            "NAME_UNKNOWN",
            format!(
                "the client is sent there, and the name does not resolve here ({why}); other \
                 containers may know it"
            ),
            remedy,
        ),
        End::Refused if is_same_host(teller, visit) => fault(
            "PORT",
            format!(
                "the client is sent there, and nothing listens: it came in by port {}, so the \
                 port is published or forwarded under another number",
                teller.address.port
            ),
            remedy,
        ),
        End::Refused => fault(
            "NOTHING_LISTENS",
            "the client is sent there, and nothing listens".to_owned(),
            remedy,
        ),
        End::Late | End::NoRoute(_) => {
            let (code, what, _) = general(&visit.end);
            fault(code, format!("the client is sent there, and {what}"), remedy)
        }
        other @ (End::Failed(_)
        | End::Silent
        | End::Closed
        | End::Http
        | End::Tls
        | End::Garbage
        | End::Controller
        | End::Old
        | End::Dismissed) => {
            let (code, what, advice) = general(other);
            fault(code, format!("the client is sent there, and {what}"), {
                format!("{advice}. {remedy}")
            })
        }
    }
}

/// A loopback address, told by a broker on another machine.
fn on_loopback(node: &Node, visit: &Visit, is_reached: bool, advice: String) -> Finding {
    let (level, what) = if is_reached {
        (
            Level::Warning,
            "works from this machine only: from another one it leads to that one itself",
        )
    } else {
        let what = "to the client this is the client's own machine, and the broker is on another";
        (Level::Fault, what)
    };
    let (address, node, what) = (visit.address.clone(), Some(node.id), what.to_owned());
    Finding { level, code: "LOOPBACK", address, node, what, advice }
}

/// What would make the address right, for whoever came in as the doctor did.
fn remedy(teller: &Visit) -> String {
    format!(
        "Give the broker advertised.listeners=PLAINTEXT://{} (the name of its listener before \
         `://`), or a second listener for clients of this network",
        teller.address
    )
}

fn is_loopback(ips: &[IpAddr]) -> bool {
    !ips.is_empty() && ips.iter().all(|ip| ip.to_canonical().is_loopback())
}

fn is_loopback_or_unknown(ips: &[IpAddr]) -> bool {
    ips.is_empty() || ips.iter().any(|ip| ip.to_canonical().is_loopback())
}

fn is_same_host(one: &Visit, other: &Visit) -> bool {
    one.address.host == other.address.host || one.ips.iter().any(|ip| other.ips.contains(ip))
}

#[cfg(test)]
mod tests;
