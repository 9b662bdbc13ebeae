//! What was seen, and what the doctor makes of it.

use super::*;
use crate::client::addresses;

fn at(text: &str) -> Address {
    addresses(text).unwrap().remove(0)
}

fn node(id: i32, text: &str) -> Node {
    Node { id, address: at(text), rack: None, is_fenced: false }
}

fn visit(text: &str, ips: &str, end: End) -> Visit {
    let ips = ips.split_whitespace().map(|ip| ip.parse().unwrap()).collect();
    Visit { address: at(text), ips, end }
}

fn kafka(id: &str, nodes: &[Node]) -> End {
    End::Kafka(Cluster { id: Some(id.to_owned()), nodes: nodes.to_vec(), mistaken: None })
}

/// A finding in short: its level where that is not a fault, its word, address and broker.
fn short(seen: &Seen) -> Vec<String> {
    let line = |it: &Finding| {
        let level = if it.level == Level::Warning { "warning " } else { "" };
        let node = it.node.map(|id| format!(" broker {id}")).unwrap_or_default();
        format!("{level}{} {}{node}", it.code, it.address)
    };
    diagnose(seen).iter().map(line).collect()
}

#[test]
fn a_bootstrap_address_without_a_broker_is_told_by_what_is_there() {
    for (end, want) in [
        (End::Unknown("no such name".into()), "NAME_UNKNOWN"),
        (End::Refused, "NOTHING_LISTENS"),
        (End::NoRoute("unreachable".into()), "NO_ROUTE"),
        (End::Late, "CONNECT_TIMEOUT"),
        (End::Failed("broken".into()), "CONNECT_FAILED"),
        (End::Silent, "NO_ANSWER"),
        (End::Closed, "CLOSED_AT_ONCE"),
        (End::Http, "HTTP"),
        (End::Tls, "TLS"),
        (End::Garbage, "NOT_KAFKA"),
        (End::Controller, "CONTROLLER"),
        (End::Old, "TOO_OLD"),
        (End::Dismissed, "DISMISSED"),
    ] {
        let bootstrap = vec![visit("kafka:9092", "10.0.0.2", end)];
        let seen = Seen { bootstrap, told: Vec::new() };
        assert_eq!(short(&seen), [format!("{want} kafka:9092")]);
        let finding = diagnose(&seen).remove(0);
        assert!(!finding.what.is_empty() && !finding.advice.is_empty(), "{finding:?}");
    }
}

/// One bootstrap address (and what its name stands for), and the one broker that it names.
fn sent(from: (&str, &str), to: &str, ips: &str, end: End) -> Seen {
    let broker = node(1, to);
    Seen {
        bootstrap: vec![visit(from.0, from.1, kafka("A", std::slice::from_ref(&broker)))],
        told: vec![(broker, visit(to, ips, end))],
    }
}

#[test]
fn an_address_that_a_client_is_sent_to_is_told_by_how_it_differs() {
    let (here, away) = (("localhost:9092", "127.0.0.1 ::1"), ("box:9092", "10.0.0.2"));
    let works = || kafka("A", &[]);
    let other = || {
        End::Kafka(Cluster { id: Some("A".into()), nodes: vec![], mistaken: Some("I am 2".into()) })
    };
    for (from, to, ips, end, want) in [
        (here, "localhost:9092", "127.0.0.1", works(), ""),
        (away, "box:9092", "10.0.0.2", works(), ""),
        (away, "10.0.0.2:9092", "10.0.0.2", works(), ""),
        // The names and ports of a container's own network.
        (here, "kafka:9092", "", End::Unknown("no such name".into()), "NAME_UNKNOWN"),
        (here, "172.18.0.2:9092", "172.18.0.2", End::Late, "CONNECT_TIMEOUT"),
        (here, "172.18.0.2:9092", "172.18.0.2", End::NoRoute("none".into()), "NO_ROUTE"),
        (("localhost:29092", "127.0.0.1"), "localhost:9092", "127.0.0.1", End::Refused, "PORT"),
        (away, "10.0.0.2:29092", "10.0.0.2", End::Refused, "PORT"),
        (away, "rack:9092", "10.0.0.7", End::Refused, "NOTHING_LISTENS"),
        // The client's own machine.
        (away, "localhost:9092", "127.0.0.1 ::1", End::Refused, "LOOPBACK"),
        (away, "127.0.0.1:9092", "127.0.0.1", kafka("B", &[]), "LOOPBACK"),
        (away, "127.0.0.1:9092", "127.0.0.1", works(), "warning LOOPBACK"),
        (here, "0.0.0.0:9092", "0.0.0.0", works(), "WILDCARD"),
        (away, "[::]:9092", "::", End::Refused, "WILDCARD"),
        // Somebody else is there.
        (here, "localhost:9093", "127.0.0.1", kafka("B", &[]), "OTHER_CLUSTER"),
        (here, "localhost:9093", "127.0.0.1", other(), "OTHER_BROKER"),
        (here, "localhost:8080", "127.0.0.1", End::Http, "HTTP"),
        (here, "localhost:9094", "127.0.0.1", End::Tls, "TLS"),
        (here, "localhost:9093", "127.0.0.1", End::Controller, "CONTROLLER"),
        (here, "localhost:9093", "127.0.0.1", End::Closed, "CLOSED_AT_ONCE"),
    ] {
        let seen = sent(from, to, ips, end);
        let want = if want.is_empty() { vec![] } else { vec![format!("{want} {to} broker 1")] };
        assert_eq!(short(&seen), want, "{seen:?}");
    }
}

#[test]
fn the_advice_names_the_address_that_was_asked() {
    let from = ("localhost:29092", "127.0.0.1");
    let found = diagnose(&sent(from, "kafka:9092", "", End::Unknown("no such name".into())));
    assert!(found[0].advice.contains("advertised.listeners=PLAINTEXT://localhost:29092"));
}

#[test]
fn bootstrap_addresses_of_two_clusters_are_a_fault() {
    let (one, two) = (node(1, "a:1"), node(1, "b:1"));
    let seen = Seen {
        bootstrap: vec![
            visit("a:1", "10.0.0.1", kafka("A", std::slice::from_ref(&one))),
            visit("b:1", "10.0.0.2", kafka("B", &[two])),
            visit("c:1", "10.0.0.3", End::Refused),
        ],
        told: vec![(one, visit("a:1", "10.0.0.1", kafka("A", &[])))],
    };
    assert_eq!(short(&seen), ["NOTHING_LISTENS c:1", "OTHER_CLUSTER b:1"]);
}

#[test]
fn a_cluster_without_brokers_is_a_fault() {
    let bootstrap = vec![visit("a:1", "10.0.0.1", kafka("A", &[]))];
    assert_eq!(short(&Seen { bootstrap, told: Vec::new() }), ["NO_BROKERS a:1"]);
}
