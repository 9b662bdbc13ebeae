//! A data directory moves from Apache Kafka to Highwater and back, and nothing is lost.

use super::dump::everything;
use compat_tests::broker::Broker;
use compat_tests::clients::{CODECS, Client};
use compat_tests::kafka::{Kafka, Quorum, kafka_tool};
use compat_tests::lines::{check, input, partitions};
use compat_tests::process::run;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(300);

fn tool(bootstrap: &str, name: &str, args: &[&str]) -> String {
    kafka_tool(name, &[&["--bootstrap-server", bootstrap], args].concat()).ok()
}

/// A topic in each codec, with the lines in it, and a config of its own.
fn fill(bootstrap: &str, prefix: &str, file: &Path) {
    for codec in CODECS {
        let topic = format!("{prefix}-{codec}");
        let args = [
            "--create",
            "--topic",
            &topic,
            "--partitions",
            "2",
            "--config",
            "segment.bytes=1048576",
        ];
        tool(bootstrap, "kafka-topics", &args);
        run(&mut Client::Java.produce(bootstrap, &topic, file, codec), LIMIT).ok();
    }
}

fn verify(bootstrap: &str, prefix: &str, dir: &Path, lines: &[String]) {
    for codec in CODECS {
        let topic = format!("{prefix}-{codec}");
        let out = dir.join(format!("{topic}.out"));
        run(&mut Client::Java.consume(bootstrap, &topic, &out), LIMIT).ok();
        check(&partitions(&out, 2), lines);
        let said = tool(
            bootstrap,
            "kafka-configs",
            &["--entity-type", "topics", "--entity-name", &topic, "--describe"],
        );
        assert!(said.contains("segment.bytes=1048576"), "{said}");
    }
}

fn there_and_back(quorum: Quorum) {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("lines");
    let lines = input(&file, 3_000_000);
    let mut kafka = Kafka::start(dir.path(), quorum);
    fill(&kafka.bootstrap(), "theirs", &file);
    kafka.stop();

    // Voters that the log does not name stand in the properties, as they did for Apache Kafka.
    let more = match quorum {
        Quorum::Static => "controller.quorum.voters=1@127.0.0.1:CONTROLLER_PORT\n",
        Quorum::Dynamic => "",
    };
    let mut broker = Broker::start(dir.path(), more);
    verify(&broker.bootstrap(), "theirs", dir.path(), &lines);
    fill(&broker.bootstrap(), "ours", &file);
    tool(
        &broker.bootstrap(),
        "kafka-topics",
        &["--alter", "--topic", "theirs-none", "--partitions", "3"],
    );
    assert!(broker.stop().success());
    everything(&broker.data());

    let mut kafka = Kafka::start(dir.path(), quorum);
    verify(&kafka.bootstrap(), "ours", dir.path(), &lines);
    verify(&kafka.bootstrap(), "theirs", dir.path(), &lines);
    let said = tool(&kafka.bootstrap(), "kafka-topics", &["--describe", "--topic", "theirs-none"]);
    assert!(said.contains("PartitionCount: 3"), "{said}");
    fill(&kafka.bootstrap(), "again", &file);
    kafka.stop();

    let broker = Broker::start(dir.path(), more);
    for prefix in ["theirs", "ours", "again"] {
        verify(&broker.bootstrap(), prefix, dir.path(), &lines);
    }
}

#[test]
fn a_directory_of_static_voters_goes_there_and_back() {
    there_and_back(Quorum::Static);
}

#[test]
fn a_standalone_directory_goes_there_and_back() {
    there_and_back(Quorum::Dynamic);
}

#[test]
fn a_directory_that_highwater_formatted_opens_in_apache_kafka() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("lines");
    let lines = input(&file, 3_000_000);
    let mut broker = Broker::start(dir.path(), "");
    fill(&broker.bootstrap(), "ours", &file);
    assert!(broker.stop().success());
    let kafka = Kafka::start(dir.path(), Quorum::Dynamic);
    verify(&kafka.bootstrap(), "ours", dir.path(), &lines);
}
