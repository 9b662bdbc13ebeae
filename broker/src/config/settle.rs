//! What was said, brought to one spelling: older names, ids that nobody gave, and counts of replicas
//! that one node cannot keep.

use super::given::{Given, Origin};
use super::listeners::Endpoint;
use protocol::config::log::LogConfig;
use protocol::config::net::NetConfig;
use protocol::config::node::{CreationConfig, NodeConfig, QuorumConfig};
use protocol::config::offsets_topic::OffsetsTopicConfig;

pub(super) const ZOOKEEPER_CONNECT: &str = "zookeeper.connect";

/// Names that listeners and what they advertise had until Kafka 3.0.
pub(super) const OLD_ADDRESSES: [&str; 4] =
    ["host.name", "port", "advertised.host.name", "advertised.port"];

/// Settles all of it. Doing so twice is the same as once.
pub(super) fn settle(given: &mut Given) {
    read_old_addresses(given);
    settle_id(given);
    lower_replicas(given);
}

/// Listeners from their older names, where nobody says the newer ones.
pub(super) fn read_old_addresses(given: &mut Given) {
    let said: Vec<&str> =
        OLD_ADDRESSES.into_iter().filter(|name| given.get(name).is_some()).collect();
    if said.is_empty() {
        return;
    }
    let text = |name: &str| given.get(name).map(str::trim).unwrap_or_default().to_owned();
    let (host, port, told, told_port) =
        (text("host.name"), text("port"), text("advertised.host.name"), text("advertised.port"));
    let (listeners, advertised) = (NetConfig::listeners(), NetConfig::advertised_listeners());
    let are_new = given.get(listeners.name).is_some() || given.get(advertised.name).is_some();
    if are_new {
        let is_derived = |name| matches!(given.origin(name), Some(Origin::Derived { .. }));
        if !is_derived(listeners.name) {
            given.note(format!(
                "Older names are ignored beside {} or {}: {}",
                listeners.name,
                advertised.name,
                said.join(", ")
            ));
        }
        return;
    }
    let port = if port.is_empty() { "9092".to_owned() } else { port };
    let from = |from| Origin::Derived { from };
    given.say(listeners.name, &format!("PLAINTEXT://{host}:{port}"), from("port"));
    if !told.is_empty() || !told_port.is_empty() {
        let told_port = if told_port.is_empty() { &port } else { &told_port };
        let endpoint = format!("PLAINTEXT://{told}:{told_port}");
        given.say(advertised.name, &endpoint, from("advertised.host.name"));
    }
}

/// The id of a node that nobody gives one: that of the one controller, else 1.
fn settle_id(given: &mut Given) {
    let (id, older) = (NodeConfig::node_id(), NodeConfig::broker_id());
    let is_left_to_zookeeper = given.get(older.name).is_some_and(|text| text.trim() == "-1");
    if is_left_to_zookeeper {
        given.unsay(older.name);
    }
    given.mirror(id, older);
    if given.get(id.name).is_none() && given.says(NodeConfig::process_roles()) {
        let (key, text) = (QuorumConfig::voters(), given.get(QuorumConfig::voters().name));
        let (found, from) = match text.and_then(only_voter) {
            Some(found) => (found, key.name),
            None => ("1".to_owned(), NodeConfig::process_roles().name),
        };
        given.note(format!("{} is not set: {found} is taken", id.name));
        given.say(id.name, &found, Origin::Derived { from });
        given.mirror(id, older);
    }
    if given.get(ZOOKEEPER_CONNECT).is_some() && !given.says(NodeConfig::process_roles()) {
        let found = given.get(id.name).unwrap_or("1").to_owned();
        given.note(format!(
            "{ZOOKEEPER_CONNECT} is not used: this node, {found}, is broker and controller in one, \
             a cluster of its own; brokers that share a ZooKeeper do not find each other"
        ));
    }
}

fn only_voter(text: &str) -> Option<String> {
    let mut voters = text.split(',').map(str::trim).filter(|voter| !voter.is_empty());
    let (id, endpoint) = voters.next()?.split_once('@')?;
    Endpoint::parse(endpoint)?;
    let id: u32 = id.trim().parse().ok()?;
    voters.next().is_none().then(|| id.to_string())
}

/// How many replicas topics have, and how many of them must be in sync: with one node that is one.
fn lower_replicas(given: &mut Given) {
    let names = [
        CreationConfig::default_replication_factor().name,
        OffsetsTopicConfig::replication_factor().name,
        LogConfig::min_insync_replicas().name,
        "transaction.state.log.replication.factor",
        "transaction.state.log.min.isr",
        "share.coordinator.state.topic.replication.factor",
        "share.coordinator.state.topic.min.isr",
    ];
    let too_many = |name: &&str| {
        let count: Option<i32> = given.get(name).and_then(|text| text.trim().parse().ok());
        count.is_some_and(|count| 1 < count)
    };
    let names: Vec<&str> = names.into_iter().filter(too_many).collect();
    if names.is_empty() {
        return;
    }
    let said: Vec<String> = (names.iter())
        .map(|name| format!("{name}={}", given.get(name).unwrap_or_default().trim()))
        .collect();
    given.note(format!("One node keeps one replica, so these are taken as 1: {}", said.join(", ")));
    names.into_iter().for_each(|name| given.change(name, "1"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[(&str, &str)], notes: &[&str]) {
        let mut given = Given::parse("f", text.replace("; ", "\n").as_bytes()).unwrap();
        settle(&mut given);
        for (name, value) in want {
            assert_eq!(given.get(name), Some(*value), "{name} in {text}");
        }
        assert_eq!(given.notes(), notes, "{text}");
        let once = given.clone();
        settle(&mut given);
        assert_eq!(given, once, "{text}");
    }

    #[test]
    fn older_names_of_addresses_are_read() {
        check("port=19092", &[("listeners", "PLAINTEXT://:19092")], &[]);
        check(
            "host.name=a; advertised.host.name=b",
            &[("listeners", "PLAINTEXT://a:9092"), ("advertised.listeners", "PLAINTEXT://b:9092")],
            &[],
        );
        check(
            "port=9; advertised.host.name=b; advertised.port=10",
            &[("listeners", "PLAINTEXT://:9"), ("advertised.listeners", "PLAINTEXT://b:10")],
            &[],
        );
        check(
            "listeners=A://:1; advertised.host.name=b",
            &[("listeners", "A://:1")],
            &[
                "Older names are ignored beside listeners or advertised.listeners: advertised.host.name",
            ],
        );
    }

    #[test]
    fn a_node_without_an_id_gets_one() {
        check("broker.id=3", &[("node.id", "3")], &[]);
        check(
            "process.roles=broker; controller.quorum.voters=7@a:1",
            &[("node.id", "7")],
            &["node.id is not set: 7 is taken"],
        );
        check(
            "process.roles=broker; controller.quorum.voters=7@a:1,8@b:1",
            &[("node.id", "1")],
            &["node.id is not set: 1 is taken"],
        );
        check(
            "broker.id=-1; zookeeper.connect=z:2181",
            &[],
            &["zookeeper.connect is not used: this node, 1, is broker and controller in one, a \
             cluster of its own; brokers that share a ZooKeeper do not find each other"],
        );
    }

    #[test]
    fn one_node_keeps_one_replica() {
        check(
            "default.replication.factor=3; min.insync.replicas= 2; offsets.topic.replication.factor=1",
            &[("default.replication.factor", "1"), ("min.insync.replicas", "1")],
            &[
                "One node keeps one replica, so these are taken as 1: default.replication.factor=3, \
               min.insync.replicas=2",
            ],
        );
        check("default.replication.factor=x", &[("default.replication.factor", "x")], &[]);
    }
}
