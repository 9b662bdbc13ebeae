//! The settings of Java's clients, which users write, as those of librdkafka.

use crate::client::addresses;
use crate::failure::Failure;
use crate::properties::refuse_protection;
use rdkafka::ClientConfig;
use std::collections::BTreeMap;

/// Which client the settings are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Producer,
    Consumer,
}

/// What becomes of a setting of Java's client.
#[derive(Clone, Copy, Debug)]
enum How {
    /// The name and the values are the same.
    Same,
    /// The values are the same.
    Named(&'static str),
    /// Bytes there, kilobytes here.
    Kilobytes(&'static str),
    /// -1 there leaves it to the system, 0 here.
    SystemAtMinusOne(&'static str),
    /// A number that is 1 or more here.
    AtLeastOne(&'static str),
    /// Names of assignors.
    Assignors,
    /// Where to begin without a committed offset.
    Reset,
    /// CLASSIC and CONSUMER are written small here.
    Small,
    /// It tells Java's client how to do what is done here anyway, or is read by the tool itself.
    NoNeed,
}

use How::{Assignors, AtLeastOne, Kilobytes, Named, NoNeed, Reset, Same, Small, SystemAtMinusOne};

const BOTH: [(&str, How); 24] = [
    ("bootstrap.servers", Same),
    ("client.id", Same),
    ("client.dns.lookup", Same),
    ("client.rack", Same),
    ("connections.max.idle.ms", Same),
    ("enable.metrics.push", Same),
    ("metadata.max.age.ms", Same),
    ("metadata.recovery.rebootstrap.trigger.ms", Same),
    ("metadata.recovery.strategy", Same),
    ("receive.buffer.bytes", SystemAtMinusOne("socket.receive.buffer.bytes")),
    ("reconnect.backoff.max.ms", Same),
    ("reconnect.backoff.ms", Same),
    ("retry.backoff.max.ms", Same),
    ("retry.backoff.ms", Same),
    ("send.buffer.bytes", SystemAtMinusOne("socket.send.buffer.bytes")),
    ("socket.connection.setup.timeout.ms", Same),
    ("auto.include.jmx.reporter", NoNeed),
    ("interceptor.classes", NoNeed),
    ("metric.reporters", NoNeed),
    ("metrics.num.samples", NoNeed),
    ("metrics.recording.level", NoNeed),
    ("metrics.sample.window.ms", NoNeed),
    ("security.protocol", NoNeed),
    ("socket.connection.setup.timeout.max.ms", NoNeed),
];

const OF_PRODUCERS: [(&str, How); 22] = [
    ("acks", Same),
    ("batch.size", AtLeastOne("batch.size")),
    ("buffer.memory", Kilobytes("queue.buffering.max.kbytes")),
    ("compression.gzip.level", Named("compression.level")),
    ("compression.lz4.level", Named("compression.level")),
    ("compression.type", Same),
    ("compression.zstd.level", Named("compression.level")),
    ("delivery.timeout.ms", Same),
    ("enable.idempotence", Same),
    ("linger.ms", Same),
    ("max.block.ms", NoNeed),
    ("max.in.flight.requests.per.connection", Same),
    ("max.request.size", Named("message.max.bytes")),
    ("metadata.max.idle.ms", NoNeed),
    ("partitioner.adaptive.partitioning.enable", NoNeed),
    ("partitioner.availability.timeout.ms", NoNeed),
    ("request.timeout.ms", Same),
    ("retries", Same),
    ("transaction.timeout.ms", Same),
    ("transactional.id", Same),
    ("key.serializer", NoNeed),
    ("value.serializer", NoNeed),
];

const OF_CONSUMERS: [(&str, How); 26] = [
    ("allow.auto.create.topics", Same),
    ("auto.commit.interval.ms", Same),
    ("auto.offset.reset", Reset),
    ("check.crcs", Same),
    ("default.api.timeout.ms", NoNeed),
    ("enable.auto.commit", Same),
    ("exclude.internal.topics", NoNeed),
    ("fetch.max.bytes", Same),
    ("fetch.max.wait.ms", Named("fetch.wait.max.ms")),
    ("fetch.min.bytes", AtLeastOne("fetch.min.bytes")),
    ("group.id", Same),
    ("group.instance.id", Same),
    ("group.protocol", Small),
    ("group.remote.assignor", Same),
    ("heartbeat.interval.ms", Same),
    ("isolation.level", Same),
    ("key.deserializer", NoNeed),
    ("max.partition.fetch.bytes", Same),
    ("max.poll.interval.ms", Same),
    ("max.poll.records", NoNeed),
    ("partition.assignment.strategy", Assignors),
    ("request.timeout.ms", Named("socket.timeout.ms")),
    ("session.timeout.ms", Same),
    ("share.acknowledgement.mode", NoNeed),
    ("value.deserializer", NoNeed),
    ("internal.leave.group.on.close", NoNeed),
];

/// What librdkafka would do otherwise than Java's clients as they come.
const DEFAULTS_OF_PRODUCERS: [(&str, &str); 6] = [
    ("batch.size", "16384"),
    ("delivery.timeout.ms", "120000"),
    ("max.in.flight.requests.per.connection", "5"),
    ("message.max.bytes", "1048576"),
    ("metadata.max.age.ms", "300000"),
    ("queue.buffering.max.kbytes", "32768"),
];

/// `transaction.timeout.ms`, of both.
const TRANSACTION_MS: i64 = 60_000;

const DEFAULTS_OF_CONSUMERS: [(&str, &str); 4] = [
    ("allow.auto.create.topics", "true"),
    ("check.crcs", "true"),
    ("isolation.level", "read_uncommitted"),
    ("metadata.max.age.ms", "300000"),
];

/// No setting of Java's, and needed to do what Java's producer does: a key goes to the same
/// partition, and only bytes count towards what may be in memory.
const FIXED_OF_PRODUCERS: [(&str, &str); 2] =
    [("partitioner", "murmur2_random"), ("queue.buffering.max.messages", "0")];

/// What is read ahead is asked for again soon, and not a second after there was room.
const FIXED_OF_CONSUMERS: [(&str, &str); 1] = [("fetch.queue.backoff.ms", "20")];

/// Settings as librdkafka takes them.
#[derive(Debug)]
pub(crate) struct Mapped {
    pub(crate) config: ClientConfig,
    /// The names that no client knows.
    pub(crate) unknown: Vec<String>,
}

/// Translates. Whoever asks for TLS or SASL is refused: this build has neither, and what was meant
/// to be secret must not go out in plain.
///
/// # Errors
/// Why a client with these settings cannot be had, in words.
pub(crate) fn map(role: Role, given: &BTreeMap<String, String>) -> Result<Mapped, Failure> {
    refuse_protection(given)?;
    if let Some(servers) = given.get("bootstrap.servers") {
        // librdkafka would take 9092 for a port that is missing.
        addresses(servers)?;
    }
    translate(role, given).map_err(Failure::Told)
}

fn translate(role: Role, given: &BTreeMap<String, String>) -> Result<Mapped, String> {
    let mut config = ClientConfig::new();
    let mut unknown = Vec::new();
    let (known, defaults, fixed) = match role {
        Role::Producer => (&OF_PRODUCERS[..], &DEFAULTS_OF_PRODUCERS[..], &FIXED_OF_PRODUCERS[..]),
        Role::Consumer => (&OF_CONSUMERS[..], &DEFAULTS_OF_CONSUMERS[..], &FIXED_OF_CONSUMERS[..]),
    };
    for (name, value) in defaults.iter().chain(fixed) {
        config.set(*name, *value);
    }
    if role == Role::Producer {
        check_acks(given)?;
        config.set("enable.idempotence", idempotent(given)?.to_string());
    }
    for (name, value) in given {
        let how = known.iter().chain(&BOTH).find(|(known, _)| known == name);
        match how {
            Some((_, how)) => {
                if let Some((name, value)) = translated(name, value.trim(), *how)? {
                    config.set(name, value);
                }
            }
            // Of no effect in plain, as in Java's clients.
            None if name.starts_with("ssl.") || name.starts_with("sasl.") => {}
            None => unknown.push(name.clone()),
        }
    }
    // A record that outlives its transaction is lost with it, and librdkafka takes no such setting.
    if config.get("transactional.id").is_some() {
        let ms = |name: &str| config.get(name).and_then(|it| it.parse::<i64>().ok());
        let transaction = ms("transaction.timeout.ms").unwrap_or(TRANSACTION_MS);
        if ms("delivery.timeout.ms").is_some_and(|delivery| transaction < delivery) {
            config.set("delivery.timeout.ms", transaction.to_string());
        }
    }
    Ok(Mapped { config, unknown })
}

/// librdkafka takes any number, and brokers then refuse each record.
fn check_acks(given: &BTreeMap<String, String>) -> Result<(), String> {
    match given.get("acks").map(|acks| acks.trim()) {
        None | Some("all" | "-1" | "0" | "1") => Ok(()),
        Some(other) => Err(format!(
            "Invalid value {other} for configuration acks: String must be one of: all, -1, 0, 1"
        )),
    }
}

/// Whether Java's producer would be idempotent: unless it is told not to be, or something else
/// that it is told excludes it.
fn idempotent(given: &BTreeMap<String, String>) -> Result<bool, String> {
    let is = |name: &str, value: &str| given.get(name).is_some_and(|it| it.trim() == value);
    let acks = given.get("acks").map_or("all", |acks| acks.trim());
    let excluded = !["all", "-1"].contains(&acks) || is("retries", "0");
    let in_flight = given.get("max.in.flight.requests.per.connection");
    let many = in_flight.and_then(|it| it.trim().parse().ok()).is_some_and(|it: i64| 5 < it);
    let asked = given.get("enable.idempotence").map(|it| it.trim().eq_ignore_ascii_case("true"));
    if asked == Some(true) && (excluded || many) {
        return Err("enable.idempotence=true needs acks=all, retries above 0, and at most 5 \
                    max.in.flight.requests.per.connection"
            .to_owned());
    }
    Ok(asked.unwrap_or(!excluded && !many))
}

/// The setting of librdkafka; None where there is nothing to set.
fn translated(name: &str, value: &str, how: How) -> Result<Option<(String, String)>, String> {
    let number = || {
        value.parse::<i64>().map_err(|_| format!("Invalid value {value} for {name}: not a number"))
    };
    let (name, value) = match how {
        Same => (name, value.to_owned()),
        Named(other) => (other, value.to_owned()),
        Kilobytes(other) => (other, (number()? / 1024).max(1).to_string()),
        SystemAtMinusOne(other) => (other, number()?.max(0).to_string()),
        AtLeastOne(other) => (other, number()?.max(1).to_string()),
        Small => (name, value.to_ascii_lowercase()),
        Reset => (name, reset(value)?.to_owned()),
        Assignors => (name, assignors(value)?),
        NoNeed => return Ok(None),
    };
    Ok(Some((name.to_owned(), value)))
}

fn reset(value: &str) -> Result<&'static str, String> {
    match value.to_ascii_lowercase().as_str() {
        "earliest" => Ok("earliest"),
        "latest" => Ok("latest"),
        "none" => Ok("error"),
        _ => Err(format!("auto.offset.reset={value}: earliest, latest and none are known here")),
    }
}

/// One of a list: librdkafka cannot mix cooperative assignors with others, so of Java's default,
/// range first and cooperative-sticky to move to, it takes the first.
fn assignors(value: &str) -> Result<String, String> {
    let first = value.split(',').next().unwrap_or_default().trim();
    let class = first.rsplit('.').next().unwrap_or_default();
    match class {
        "RangeAssignor" | "range" => Ok("range".to_owned()),
        "RoundRobinAssignor" | "roundrobin" => Ok("roundrobin".to_owned()),
        "CooperativeStickyAssignor" | "cooperative-sticky" => Ok("cooperative-sticky".to_owned()),
        _ => Err(format!(
            "partition.assignment.strategy={first}: RangeAssignor, RoundRobinAssignor and \
             CooperativeStickyAssignor are known here"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// What one setting of Java's gives: of `want` each must be set so.
    #[track_caller]
    fn check(role: Role, pairs: &[(&str, &str)], want: &[(&str, &str)]) {
        let mapped = translate(role, &given(pairs)).unwrap();
        for (name, value) in want {
            assert_eq!(mapped.config.get(name), Some(*value), "{pairs:?}: {name}");
        }
    }

    #[test]
    fn settings_of_java_find_those_of_librdkafka() {
        let producer = |name, value, other, there| {
            check(Role::Producer, &[(name, value)], &[(other, there)]);
        };
        producer("max.request.size", "2000000", "message.max.bytes", "2000000");
        producer("buffer.memory", "1048576", "queue.buffering.max.kbytes", "1024");
        producer("buffer.memory", "10", "queue.buffering.max.kbytes", "1");
        producer("batch.size", "0", "batch.size", "1");
        producer("linger.ms", "7", "linger.ms", "7");
        producer("send.buffer.bytes", "-1", "socket.send.buffer.bytes", "0");
        producer("compression.zstd.level", "4", "compression.level", "4");
        let consumer = |name, value, other, there| {
            check(Role::Consumer, &[(name, value)], &[(other, there)]);
        };
        consumer("fetch.max.wait.ms", "9", "fetch.wait.max.ms", "9");
        consumer("auto.offset.reset", "none", "auto.offset.reset", "error");
        consumer("group.protocol", "CONSUMER", "group.protocol", "consumer");
        let range = "org.apache.kafka.clients.consumer.RangeAssignor";
        let both = format!("{range}, org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
        consumer("partition.assignment.strategy", &both, "partition.assignment.strategy", "range");
    }

    #[test]
    fn without_a_word_they_do_what_java_s_do() {
        let want = [
            ("partitioner", "murmur2_random"),
            ("enable.idempotence", "true"),
            ("delivery.timeout.ms", "120000"),
            ("message.max.bytes", "1048576"),
        ];
        check(Role::Producer, &[], &want);
        let want = [("isolation.level", "read_uncommitted"), ("allow.auto.create.topics", "true")];
        check(Role::Consumer, &[], &want);
    }

    #[test]
    fn a_producer_is_idempotent_unless_something_excludes_it() {
        let check = |pairs: &[(&str, &str)], want: Option<&str>| {
            let mapped = translate(Role::Producer, &given(pairs)).ok();
            let got = mapped.as_ref().and_then(|it| it.config.get("enable.idempotence"));
            assert_eq!(got, want, "{pairs:?}");
        };
        check(&[("acks", "-1")], Some("true"));
        check(&[("acks", "1")], Some("false"));
        check(&[("retries", "0")], Some("false"));
        check(&[("max.in.flight.requests.per.connection", "6")], Some("false"));
        check(&[("enable.idempotence", "false")], Some("false"));
        check(&[("enable.idempotence", "true"), ("acks", "1")], None);
    }

    #[test]
    fn no_record_outlives_its_transaction() {
        let check = |pairs: &[(&str, &str)], want: &str| {
            let id = [("transactional.id", "t")];
            check(Role::Producer, &[&id, pairs].concat(), &[("delivery.timeout.ms", want)]);
        };
        check(&[], "60000");
        check(&[("transaction.timeout.ms", "7000")], "7000");
        check(&[("delivery.timeout.ms", "500"), ("linger.ms", "1")], "500");
    }

    #[test]
    fn secrets_do_not_go_out_in_plain() {
        for wanted in ["SSL", "SASL_PLAINTEXT", "sasl_ssl", "nonsense"] {
            let refused = map(Role::Consumer, &given(&[("security.protocol", wanted)]));
            let Err(Failure::Told(why)) = refused else { panic!("{wanted} is taken") };
            assert!(why.to_lowercase().contains(&wanted.to_lowercase()), "{why}");
        }
        let plain = [("security.protocol", "plaintext"), ("sasl.mechanism", "PLAIN")];
        assert_eq!(map(Role::Consumer, &given(&plain)).unwrap().unknown, [""; 0]);
    }

    #[test]
    fn what_nobody_knows_is_told_and_what_cannot_be_is_refused() {
        let mapped = translate(Role::Producer, &given(&[("my.own", "1"), ("acks", "1")])).unwrap();
        assert_eq!(mapped.unknown, ["my.own"]);
        for pair in [("batch.size", "x"), ("buffer.memory", "")] {
            assert!(translate(Role::Producer, &given(&[pair])).unwrap_err().contains(pair.0));
        }
        for pair in [("auto.offset.reset", "soon"), ("partition.assignment.strategy", "a.Mine")] {
            assert!(translate(Role::Consumer, &given(&[pair])).unwrap_err().contains(pair.1));
        }
    }

    #[test]
    fn librdkafka_takes_every_name_that_is_set() {
        for (role, known) in
            [(Role::Producer, &OF_PRODUCERS[..]), (Role::Consumer, &OF_CONSUMERS[..])]
        {
            let mut all = BTreeMap::new();
            for (name, how) in known.iter().chain(&BOTH) {
                let value = match how {
                    Kilobytes(_) | SystemAtMinusOne(_) | AtLeastOne(_) => "1048576",
                    Same | Named(_) | Assignors | Reset | Small | NoNeed => continue,
                };
                all.insert((*name).to_owned(), value.to_owned());
            }
            let config = translate(role, &all).unwrap().config;
            let native = config.create_native_config();
            assert!(native.is_ok(), "{:?}", native.err());
        }
    }

    #[test]
    fn acks_are_of_kafkas_four_words() {
        for acks in ["all", "-1", "0", " 1"] {
            check(Role::Producer, &[("acks", acks)], &[("acks", acks.trim())]);
        }
        let why = translate(Role::Producer, &given(&[("acks", "7")])).unwrap_err();
        assert!(why.contains("must be one of: all, -1, 0, 1"), "{why}");
    }
}
