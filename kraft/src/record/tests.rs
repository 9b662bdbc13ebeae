//! Records against what Apache Kafka writes, and against bytes that nobody should have written.

use super::*;
use proptest::prelude::*;

const EVERY_VERSION: &str = include_str!("golden/every_version.txt");
const LOG: &str = include_str!("golden/log.txt");

pub(crate) fn from_hex(hex: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2).unwrap(), 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

fn lines(golden: &'static str) -> impl Iterator<Item = &'static str> {
    golden.lines().filter(|line| !line.starts_with('#'))
}

/// Name, version, value, and Kafka's reading.
fn every_version() -> impl Iterator<Item = (&'static str, i16, Vec<u8>, &'static str)> {
    lines(EVERY_VERSION).map(|line| {
        let mut words = line.splitn(4, ' ');
        let mut next = || words.next().unwrap();
        (next(), next().parse().unwrap(), from_hex(next()), next())
    })
}

/// Our reading, as Kafka spells it.
fn spelt_as_kafka(record: &Record) -> String {
    let text = format!("{record:?}").replace(", unknown: Unknown(None)", "");
    let text = text.replace("unknown: Unknown(None)", "").replace(": ", "=").replace('"', "'");
    let text = text.replace(" { ", "(").replace(" }", ")").replace("None", "null");
    let (mut spelt, mut closes_some, mut rest) = (String::new(), Vec::new(), text.as_str());
    while let Some(next) = rest.chars().next() {
        if let Some(inside) = rest.strip_prefix("Some(") {
            closes_some.push(true);
            rest = inside;
            continue;
        }
        let mut behind = rest.chars();
        behind.next();
        rest = behind.as_str();
        match next {
            '(' => closes_some.push(false),
            ')' if closes_some.pop().unwrap() => continue,
            _ => {}
        }
        // `broker_id` is Kafka's `brokerId`.
        match behind.next() {
            Some(letter) if next == '_' && letter.is_ascii_lowercase() => {
                spelt.push(letter.to_ascii_uppercase());
                rest = behind.as_str();
            }
            Some(_) | None => spelt.push(next),
        }
    }
    spelt
}

/// What a reading says, field by field; Kafka's order of fields is not ours.
fn fields(reading: &str) -> Vec<String> {
    let inside = reading.split_once("Record(").unwrap().1.strip_suffix(')').unwrap();
    let inside =
        inside.replace("BrokerEndpoint", "Endpoint").replace("ControllerEndpoint", "Endpoint");
    let inside =
        inside.replace("BrokerFeature", "FeatureRange").replace("EntityData", "QuotaEntity");
    let inside = inside.replace("ControllerFeature", "FeatureRange");
    // Strings in lists are not quoted by Kafka.
    let inside = inside.replace('\'', "");
    let mut fields: Vec<String> = inside.split(", ").map(str::to_owned).collect();
    fields.sort();
    fields
}

#[test]
fn every_record_at_every_version_is_kafkas() {
    for (name, version, value, reading) in every_version() {
        let record = Record::read(&value).unwrap();
        assert_eq!(record.kind(), name);
        assert_eq!(record.write(version), value, "{name} {version}");
        let ours = spelt_as_kafka(&record);
        let ours = ours.split_once('(').unwrap().1.strip_suffix(')').unwrap();
        assert_eq!(fields(ours), fields(reading), "{name} {version}");
    }
}

#[test]
fn defaults_are_kafkas() {
    let mut names: Vec<&str> = every_version().map(|(name, ..)| name).collect();
    names.dedup();
    for kind in names {
        let (_, version, value, _) = every_version().filter(|it| it.0 == kind).last().unwrap();
        let record = Record::read(&value).unwrap();
        let default = default_like(&record);
        assert_eq!(default.write(version), value, "{kind}");
    }
}

/// The default record of the same kind, where a default is not its type's own.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others have nothing to get wrong")]
fn default_like(record: &Record) -> Record {
    match record {
        Record::RegisterBroker(read) => {
            // Kafka's default rack is "", ours is none.
            RegisterBrokerRecord { rack: read.rack.clone(), ..Default::default() }.into()
        }
        Record::Partition(_) => PartitionRecord::default().into(),
        Record::PartitionChange(_) => PartitionChangeRecord::default().into(),
        Record::ProducerIds(_) => ProducerIdsRecord::default().into(),
        Record::BrokerRegistrationChange(_) => BrokerRegistrationChangeRecord::default().into(),
        Record::BeginTransaction(_) => BeginTransactionRecord::default().into(),
        other => other.clone(),
    }
}

#[test]
fn the_versions_are_those_that_kafka_writes() {
    for line in lines(LOG) {
        let value = from_hex(line.split_once(' ').unwrap().1);
        assert_eq!(Record::read(&value).unwrap().to_value(33), value, "{line}");
    }
}

#[test]
fn an_older_cluster_gets_older_versions() {
    let check = |record: Record, level, version: u8| {
        assert_eq!(record.to_value(level)[2], version, "{} at {level}", record.kind());
    };
    for (level, version) in [(0, 0), (7, 1), (8, 2), (17, 3), (30, 4), (33, 4)] {
        check(RegisterBrokerRecord::default().into(), level, version);
    }
    for (level, version) in [(7, 0), (17, 1), (22, 1), (23, 2)] {
        check(PartitionRecord::default().into(), level, version);
        check(PartitionChangeRecord::default().into(), level, version);
    }
}

#[test]
fn a_tag_that_we_do_not_know_is_handed_on() {
    let known = from_hex("01050100000001000000000000000000000000000000000101040000000a");
    let mut value = known[..known.len() - 7].to_vec();
    value.extend(from_hex("030104000000 0a6302cafe7f00".replace(' ', "").as_str()));
    let record = Record::read(&value).unwrap();
    let Record::PartitionChange(change) = &record else { panic!("{record:?}") };
    assert_eq!(change.leader, 10);
    assert_eq!(record.write(1), value);
}

#[test]
fn what_is_no_record_is_refused_by_name() {
    let check = |hex: &str, want: &str| {
        let error = Record::read(&from_hex(hex)).unwrap_err();
        assert!(error.to_string().contains(want), "{error}");
    };
    check("", "ends before its type");
    check("0102", "ends before its type");
    check("02020000", "frame of version 2");
    check("01640000", "unknown type 100");
    check("01060000", "unknown type 6");
    check("01020100", "TopicRecord of unknown version 1");
    check("0114050000", "NoOpRecord of unknown version 5");
    check("0114000000", "NoOpRecord is malformed: 1 bytes are left over");
    check("010200056162", "TopicRecord is malformed: name: 4 bytes are due, and 2 are left");
    check("010200ffffffff7f", "no varint of 32 bits stands here");
    check("010200808080808000", "no varint of 32 bits stands here");
    check("01020000", "name: null where a value is due");
    check("0102000280", "a string is not UTF-8");
}

#[test]
fn a_record_cut_short_is_an_error_wherever_it_is_cut() {
    for (name, _, value, _) in every_version() {
        for len in 0..value.len() {
            assert!(Record::read(&value[..len]).is_err(), "{name} cut to {len} bytes");
        }
    }
}

proptest! {
    #[test]
    fn bytes_are_a_record_or_an_error(
        number in 0u8..32, version in 0u8..5, body in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut value = vec![1, number, version];
        value.extend(body);
        if let Ok(record) = Record::read(&value) {
            let version = i16::from(version);
            let again = Record::read(&record.write(version)).unwrap();
            // Not by `==`: a quota may be no number.
            prop_assert_eq!(again.write(version), record.write(version));
        }
    }
}

#[test]
fn every_field_of_a_version_is_shown_by_its_name() {
    for (name, version, value, _) in every_version() {
        let record = Record::read(&value).unwrap();
        assert_eq!(Record::version_of(&value), version, "{name}");
        let names = |text: &str| text.split(['(', ',']).filter(|it| it.contains('=')).count();
        let shown = record.shown(version);
        assert!(shown.len() <= names(&spelt_as_kafka(&record)), "{name}: {shown:?}");
    }
    let change = PartitionChangeRecord {
        leader: 3,
        eligible_leader_replicas: Some(vec![1]),
        directories: Some(Vec::new()),
        ..Default::default()
    };
    let fields = Record::from(change).shown(2);
    let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
    let want = ["partition_id", "topic_id", "leader", "directories", "eligible_leader_replicas"];
    assert_eq!(names, want);
    assert_eq!(fields[2].1, Shown::Int(3));
    assert_eq!(fields[3].1, Shown::List(Vec::new()));
}
