//! What was said, brought to one spelling: older names, ids that nobody gave, and counts of replicas
//! that one node cannot keep.

use super::given::{Given, Origin};
use super::listeners::Endpoint;
use protocol::config::log::LogConfig;
use protocol::config::net::NetConfig;
use protocol::config::node::{CreationConfig, NodeConfig, QuorumConfig};
use protocol::config::offsets_topic::OffsetsTopicConfig;
use protocol::config::start::{StartConfig, TopicWanted};
use protocol::config::typed::items;
use std::collections::BTreeMap;

pub(super) const ZOOKEEPER_CONNECT: &str = "zookeeper.connect";

/// Names that listeners and what they advertise had until Kafka 3.0.
pub(super) const OLD_ADDRESSES: [&str; 4] =
    ["host.name", "port", "advertised.host.name", "advertised.port"];

/// Settles all of it. Doing so twice is the same as once.
pub(super) fn settle(given: &mut Given) {
    read_old_addresses(given);
    settle_id(given);
    settle_zookeeper(given);
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
}

/// A broker beside a ZooKeeper is a cluster of its own here. One is what most people have; where
/// several seem to be meant, each would have topics, records and groups that the others do not have,
/// and a client finds them or not, by the broker that it happens to ask.
fn settle_zookeeper(given: &mut Given) {
    let is_for_zookeeper =
        given.get(ZOOKEEPER_CONNECT).is_some() && !given.says(NodeConfig::process_roles());
    // Once told, the counts of replicas that it was told by are lowered.
    if !is_for_zookeeper || given.alarm().is_some() {
        return;
    }
    let id = NodeConfig::node_id().name;
    let found = given.get(id).unwrap_or("1").to_owned();
    let number: Option<i32> = found.trim().parse().ok();
    let is_a_later_one = number.is_some_and(|id| 1 < id && id != FIRST_GIVEN_BY_ZOOKEEPER);
    let of_several = is_a_later_one.then(|| format!("{}={found}", NodeConfig::broker_id().name));
    let of_several: Vec<String> =
        of_several.into_iter().chain(replicas_beyond_one(given).into_values()).collect();
    if of_several.is_empty() {
        given.note(format!(
            "{ZOOKEEPER_CONNECT} is not used: this node, {found}, is broker and controller in one, \
             a cluster of its own; brokers that share a ZooKeeper do not find each other"
        ));
    } else {
        given.warn_of(format!(
            "Several brokers seem to be meant ({}), and they will not be one cluster: \
             {ZOOKEEPER_CONNECT} is not used, and this node, {found}, is a cluster of its own. \
             What is written to one of them is on no other, and nothing is replicated. Run one \
             broker, and give clients its address alone",
            of_several.join(", ")
        ));
    }
}

/// What ZooKeeper's Kafka called the first broker that had no `broker.id`.
const FIRST_GIVEN_BY_ZOOKEEPER: i32 = 1001;

fn only_voter(text: &str) -> Option<String> {
    let mut voters = text.split(',').map(str::trim).filter(|voter| !voter.is_empty());
    let (id, endpoint) = voters.next()?.split_once('@')?;
    Endpoint::parse(endpoint)?;
    let id: u32 = id.trim().parse().ok()?;
    voters.next().is_none().then(|| id.to_string())
}

/// How many replicas topics have, and how many of them must be in sync: with one node that is one.
fn lower_replicas(given: &mut Given) {
    let said = replicas_beyond_one(given);
    if !said.is_empty() {
        let shown: Vec<&str> = said.values().map(String::as_str).collect();
        let shown = shown.join(", ");
        given.note(format!("One node keeps one replica, so these are taken as 1: {shown}"));
        said.into_keys().for_each(|name| given.change(name, "1"));
    }
    let wanted = given.get(StartConfig::create_topics().name).unwrap_or_default();
    let topics = items(wanted).filter_map(TopicWanted::parse).filter(|topic| 1 < topic.replicas);
    let names: Vec<String> = topics.map(|topic| topic.name).collect();
    if !names.is_empty() {
        let key = StartConfig::create_topics().name;
        let names = names.join(", ");
        given
            .note(format!("One node keeps one replica, so these topics of {key} get one: {names}"));
    }
}

/// Counts of replicas, or of those in sync, that are above 1: the keys, each with what it says.
fn replicas_beyond_one(given: &Given) -> BTreeMap<&'static str, String> {
    let names = [
        CreationConfig::default_replication_factor().name,
        OffsetsTopicConfig::replication_factor().name,
        LogConfig::min_insync_replicas().name,
        "transaction.state.log.replication.factor",
        "transaction.state.log.min.isr",
        "share.coordinator.state.topic.replication.factor",
        "share.coordinator.state.topic.min.isr",
    ];
    let beyond_one = |name: &'static str| {
        let text = given.get(name)?.trim();
        let count: i32 = text.parse().ok()?;
        (1 < count).then(|| (name, format!("{name}={text}")))
    };
    names.into_iter().filter_map(beyond_one).collect()
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
    fn several_brokers_beside_a_zookeeper_are_an_alarm() {
        let alarm = |text: &str| {
            let mut given = Given::parse("f", text.replace("; ", "\n").as_bytes()).unwrap();
            settle(&mut given);
            settle(&mut given);
            given.alarm().map(str::to_owned)
        };
        for of_several in ["broker.id=2", "default.replication.factor=3", "min.insync.replicas=2"] {
            let told = alarm(&format!("zookeeper.connect=z:2181; {of_several}")).unwrap();
            assert!(told.contains(&format!("meant ({of_several})")), "{told}");
            assert_eq!(alarm(&format!("process.roles=broker,controller; {of_several}")), None);
        }
        for one in
            ["broker.id=0", "broker.id=1", "broker.id=-1", "broker.id=1001", "num.partitions=9"]
        {
            assert_eq!(alarm(&format!("zookeeper.connect=z:2181; {one}")), None);
        }
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
        check(
            "highwater.create.topics=a:1:3,b:1:1,c:9:2",
            &[],
            &[
                "One node keeps one replica, so these topics of highwater.create.topics get one: a, c",
            ],
        );
        check("default.replication.factor=x", &[("default.replication.factor", "x")], &[]);
    }
}
