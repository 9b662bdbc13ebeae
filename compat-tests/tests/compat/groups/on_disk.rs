//! `__consumer_offsets` as Apache Kafka reads it: by its dump tool, and as its own directory.

use super::super::dump::files;
use super::{Group, LIMIT, QUICK};
use compat_tests::admin::{commit, committed};
use compat_tests::broker::Broker;
use compat_tests::clients::Client;
use compat_tests::kafka::{Kafka, Quorum, dump, kafka_tool};
use compat_tests::member::Mode;
use compat_tests::ownership::readings;
use compat_tests::process::until;
use compat_tests::wire::Connection;
use std::path::Path;
use tempfile::TempDir;

const PARTITIONS: usize = 3;

/// What the tools say of all groups: kinds, states, offsets, and the epochs of their members.
fn described(bootstrap: &str) -> String {
    let tool = |args: &[&str]| {
        let said = kafka_tool(
            "kafka-consumer-groups",
            &[&["--bootstrap-server", bootstrap], args].concat(),
        );
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut lines: Vec<_> = said.ok().lines().map(words).collect();
        lines.sort();
        lines.join("\n")
    };
    let all = [
        tool(&["--list", "--state", "--type"]),
        tool(&["--describe", "--all-groups", "--offsets", "--verbose"]),
        tool(&["--describe", "--all-groups", "--state", "--verbose"]),
    ];
    // Where it listens is its own.
    all.join("\n").replace(bootstrap, "BOOTSTRAP")
}

/// Has a member of each protocol read a topic of its own, and a group without members commit.
fn fill(port: u16, prefix: &str) {
    for mode in [Mode::Eager, Mode::Consumer] {
        let name = format!("{prefix}-{}", mode.name());
        let mut group = Group::new(port, &name, PARTITIONS);
        group.send(20);
        group.join(Client::Java, mode);
        group.join(Client::ConfluentPython, mode);
        group.settle();
        group.catch_up();
        group.leave(0);
        group.settle();
        group.leave(0);
        group.check();
    }
    until("an offset is committed", LIMIT, || {
        let mut connection = Connection::open(port).ok()?;
        let (group, topic) = (format!("{prefix}-simple"), format!("{prefix}-eager"));
        commit(&mut connection, &group, &topic, 1, 7).ok()
    });
}

/// The lines of the dump of `__consumer_offsets` that hold a record, from its key on.
fn records(data: &Path) -> Vec<String> {
    let of_offsets = |path: &std::path::PathBuf| {
        path.display().to_string().contains("/__consumer_offsets-")
            && 0 < path.metadata().unwrap().len()
    };
    let logs: Vec<_> = files(data, &[".log"]).into_iter().filter(of_offsets).collect();
    let said = dump(&logs, &["--offsets-decoder"]);
    said.lines().filter_map(|line| line.split_once("key: ")).map(|(_, it)| it.to_owned()).collect()
}

/// Every kind of record that these groups need is there, and Apache Kafka knows what it means.
#[track_caller]
fn check_records(data: &Path, prefix: &str) {
    let records = records(data);
    let count = |kind: &str, group: &str| {
        let key = format!("{{\"type\":\"{kind}\",\"data\":{{\"group");
        let group = format!("\"{prefix}-{group}\"");
        records.iter().filter(|it| it.starts_with(&key) && it.contains(&group)).count()
    };
    let consumer: Vec<usize> =
        ["1", "3", "5", "6", "7", "8"].iter().map(|kind| count(kind, "consumer")).collect();
    let classic: Vec<usize> = ["1", "2"].iter().map(|kind| count(kind, "eager")).collect();
    let simple = count("1", "simple");
    let all = consumer.iter().chain(&classic).chain([&simple]).all(|&it| 0 < it);
    assert!(all, "{consumer:?} {classic:?} {simple}: {records:#?}");
    let decoded = |it: &&String| it.contains("payload: {\"version\"") || it.ends_with("<DELETE>");
    let strange: Vec<_> = records.iter().filter(|it| !decoded(it)).collect();
    assert!(strange.is_empty(), "{strange:#?}");
}

#[test]
fn groups_move_to_apache_kafka_and_back() {
    let dir = TempDir::new().unwrap();
    let mut broker = Broker::start(dir.path(), QUICK);
    fill(broker.port, "ours");
    let ours = described(&broker.bootstrap());
    let offsets = committed(broker.port, "ours-consumer");
    assert_eq!(offsets.len(), PARTITIONS);
    broker.stop();
    check_records(&broker.data(), "ours");

    let mut kafka = Kafka::start(dir.path(), Quorum::Dynamic);
    assert_eq!(committed(kafka.port, "ours-consumer"), offsets);
    assert_eq!(described(&kafka.bootstrap()), ours);
    kafka.stop();

    // Apache Kafka's properties stand beside ours; the directory is the same.
    broker.start_again();
    assert_eq!(described(&broker.bootstrap()), ours);
    fill(broker.port, "again");
}

#[test]
fn groups_come_from_apache_kafka() {
    let dir = TempDir::new().unwrap();
    let mut kafka = Kafka::start_with(dir.path(), Quorum::Dynamic, QUICK);
    fill(kafka.port, "theirs");
    let theirs = described(&kafka.bootstrap());
    kafka.stop();

    let mut broker = Broker::start(dir.path(), QUICK);
    assert_eq!(described(&broker.bootstrap()), theirs);
    // The groups that Apache Kafka left go on here: members of both protocols join them.
    for mode in [Mode::Eager, Mode::Consumer] {
        let mut group =
            Group::found(broker.port, &format!("theirs-{}", mode.name()), PARTITIONS, 20);
        group.send(20);
        group.join(Client::Java, mode);
        group.settle();
        group.catch_up();
        group.leave(0);
        let first = readings(&group.story())
            .values()
            .filter_map(|it| it.times.keys().next().copied())
            .min();
        assert_eq!(first, Some(20), "what was committed at Apache Kafka is not read again");
    }
    broker.stop();
    check_records(&broker.data(), "theirs");
}
