//! What was said and has no effect: each key once, by the reason.

use super::given::Given;
use super::providers;
use super::settle::{OLD_ADDRESSES, ZOOKEEPER_CONNECT};
use protocol::config::nearest::nearest;
use protocol::config::node::NodeConfig;
use protocol::config::{BROKER, TOPIC, find};
use std::collections::BTreeMap;

/// Keys that brokers had in older releases.
const OLDER: [&str; 13] = [
    "broker.id.generation.enable",
    "control.plane.listener.name",
    "controlled.shutdown.max.retries",
    "controlled.shutdown.retry.backoff.ms",
    "enable.zookeeper",
    "inter.broker.protocol.version",
    "leader.imbalance.per.broker.percentage",
    "log.message.downconversion.enable",
    "log.message.format.version",
    "log.message.timestamp.difference.max.ms",
    "quota.consumer.default",
    "quota.producer.default",
    "reserved.broker.max.id",
];

/// Keys that only clients have.
const CLIENTS: [&str; 30] = [
    "acks",
    "auto.commit.interval.ms",
    "auto.offset.reset",
    "batch.size",
    "bootstrap.servers",
    "buffer.memory",
    "client.id",
    "delivery.timeout.ms",
    "enable.auto.commit",
    "enable.idempotence",
    "fetch.max.wait.ms",
    "fetch.min.bytes",
    "group.id",
    "heartbeat.interval.ms",
    "isolation.level",
    "key.deserializer",
    "key.serializer",
    "linger.ms",
    "max.block.ms",
    "max.in.flight.requests.per.connection",
    "max.partition.fetch.bytes",
    "max.poll.interval.ms",
    "max.poll.records",
    "max.request.size",
    "metadata.max.age.ms",
    "receive.buffer.bytes",
    "retries",
    "retry.backoff.ms",
    "send.buffer.bytes",
    "session.timeout.ms",
];

/// Keys of authorization, which are in no table of Apache Kafka's either.
const AUTHORITY: [&str; 2] = ["allow.everyone.if.no.acl.found", "super.users"];

/// Why a key has no effect, in the order in which that is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    ZooKeeper,
    Older,
    Clients,
    Confluent,
    Authority,
    Unknown,
    Inert,
}

impl Reason {
    fn line(self) -> &'static str {
        match self {
            Reason::ZooKeeper => "Keys of ZooKeeper are ignored",
            Reason::Older => "Keys of older releases are ignored",
            Reason::Clients => "Keys of clients are ignored",
            Reason::Confluent => "Keys of Confluent's own server are ignored",
            Reason::Authority => "Keys of an authorizer are ignored, since there is none",
            Reason::Unknown => "Unknown keys are ignored",
            Reason::Inert => "These keys have no effect here",
        }
    }
}

impl Given {
    /// What the operator should know of, a line each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.notes().to_vec();
        warnings.extend(lines(self));
        warnings
    }
}

/// A line for each reason, with the keys that it holds for.
fn lines(given: &Given) -> Vec<String> {
    let mut by_reason = BTreeMap::<Reason, Vec<String>>::new();
    for name in given.settings().keys() {
        if let Some(reason) = reason(given, name) {
            let near = (reason == Reason::Unknown).then(|| meant(name)).flatten();
            let shown = near.map_or(name.clone(), |near| format!("{name} ({near}?)"));
            by_reason.entry(reason).or_default().push(shown);
        }
    }
    let line =
        |(reason, names): (Reason, Vec<String>)| format!("{}: {}", reason.line(), names.join(", "));
    by_reason.into_iter().map(line).collect()
}

fn reason(given: &Given, name: &str) -> Option<Reason> {
    if let Some(key) = find(BROKER, name) {
        return (!key.has_effect).then_some(Reason::Inert);
    }
    // A note tells of those.
    let is_told = name == ZOOKEEPER_CONNECT && !given.says(NodeConfig::process_roles());
    if is_told || OLD_ADDRESSES.contains(&name) || name.starts_with(providers::PREFIX) {
        return None;
    }
    let starts_with = |fronts: &[&str]| fronts.iter().any(|front| name.starts_with(front));
    Some(if starts_with(&["listener.name."]) {
        Reason::Inert // Of TLS or SASL: all others are in the tables.
    } else if starts_with(&["zookeeper."]) {
        Reason::ZooKeeper
    } else if OLDER.contains(&name) {
        Reason::Older
    } else if CLIENTS.contains(&name) {
        Reason::Clients
    } else if starts_with(&["confluent.", "kafka.rest.", "io.confluent."]) {
        Reason::Confluent
    } else if AUTHORITY.contains(&name) {
        Reason::Authority
    } else {
        Reason::Unknown
    })
}

/// The key that was probably meant: what a topic's key is called for brokers, or the nearest.
fn meant(name: &str) -> Option<&'static str> {
    if let Some(key) = find(TOPIC, name) {
        return key.synonyms.first().map(|(name, _)| *name);
    }
    nearest(name, BROKER.iter().copied().flatten().filter(|key| !key.internal).map(|key| key.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let given = Given::parse("f", text.replace("; ", "\n").as_bytes()).unwrap();
        assert_eq!(lines(&given), want, "{text}");
    }

    #[test]
    fn each_key_is_told_once_by_its_reason() {
        check("num.partitions=1; port=1; zookeeper.connect=z:1", &[]);
        check(
            "zookeeper.connect=z:1; process.roles=broker; zookeeper.session.timeout.ms=1; \
             max.request.size=1; confluent.support.metrics.enable=false; num.io.threads=3; \
             super.users=User:a; inter.broker.protocol.version=2.8; some.plugin=x",
            &[
                "Keys of ZooKeeper are ignored: zookeeper.connect, zookeeper.session.timeout.ms",
                "Keys of older releases are ignored: inter.broker.protocol.version",
                "Keys of clients are ignored: max.request.size",
                "Keys of Confluent's own server are ignored: confluent.support.metrics.enable",
                "Keys of an authorizer are ignored, since there is none: super.users",
                "Unknown keys are ignored: some.plugin",
                "These keys have no effect here: num.io.threads",
            ],
        );
    }

    #[test]
    fn a_typo_is_told_with_what_was_meant() {
        check(
            "num.partition=1; max.message.bytes=1; auto.create.topics.enabled=true",
            &[
                "Unknown keys are ignored: auto.create.topics.enabled (auto.create.topics.enable?), \
             max.message.bytes (message.max.bytes?), num.partition (num.partitions?)",
            ],
        );
    }
}
