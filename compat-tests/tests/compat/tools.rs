//! Apache Kafka's command-line tools work unchanged.

use compat_tests::broker::Broker;
use compat_tests::kafka::kafka_tool;
use tempfile::TempDir;

/// Runs a tool against the broker and checks that it says each of `want`.
#[track_caller]
fn check(broker: &Broker, tool: &str, args: &[&str], want: &[&str]) -> String {
    let bootstrap = broker.bootstrap();
    let server = ["--bootstrap-server", &bootstrap];
    // Some have the address before their subcommand, one has it behind.
    let args =
        if tool == "kafka-cluster" { [args, &server].concat() } else { [&server, args].concat() };
    let said = kafka_tool(tool, &args).ok();
    for words in want {
        assert!(said.contains(words), "{tool} {args:?} does not say `{words}`:\n{said}");
    }
    said
}

#[test]
fn topics_are_created_described_altered_and_deleted() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "");
    let topics = |args: &[&str], want: &[&str]| check(&broker, "kafka-topics", args, want);
    topics(
        &["--create", "--topic", "one", "--partitions", "3", "--config", "retention.ms=1000000"],
        &["Created topic one."],
    );
    topics(&["--list"], &["one"]);
    topics(
        &["--describe", "--topic", "one"],
        &["PartitionCount: 3", "ReplicationFactor: 1", "retention.ms=1000000", "Leader: 1"],
    );
    topics(&["--alter", "--topic", "one", "--partitions", "5"], &[]);
    topics(&["--describe", "--topic", "one"], &["PartitionCount: 5"]);
    topics(&["--delete", "--topic", "one"], &[]);
    assert!(!topics(&["--list"], &[]).contains("one"));
}

#[test]
fn configs_of_topics_and_brokers_are_read_and_changed() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "");
    check(&broker, "kafka-topics", &["--create", "--topic", "one"], &["Created topic"]);
    let configs = |args: &[&str], want: &[&str]| check(&broker, "kafka-configs", args, want);
    let topic = ["--entity-type", "topics", "--entity-name", "one"];
    let alter =
        ["--alter", "--add-config", "max.message.bytes=2000000,cleanup.policy=[compact,delete]"];
    configs(&[&topic[..], &alter].concat(), &["Completed updating config"]);
    let want =
        ["max.message.bytes=2000000", "cleanup.policy=compact,delete", "DYNAMIC_TOPIC_CONFIG"];
    configs(&[&topic[..], &["--describe"]].concat(), &want);
    let delete = ["--alter", "--delete-config", "max.message.bytes"];
    configs(&[&topic[..], &delete].concat(), &["Completed updating config"]);
    let said = configs(&[&topic[..], &["--describe"]].concat(), &["cleanup.policy"]);
    assert!(!said.contains("max.message.bytes=2000000"), "{said}");
    for name in [["--entity-name", "1"].as_slice(), &["--entity-default"]] {
        let entity = [&["--entity-type", "brokers"], name].concat();
        let alter = ["--alter", "--add-config", "log.retention.ms=86400000"];
        configs(&[&entity[..], &alter].concat(), &["Completed updating"]);
        configs(&[&entity[..], &["--describe"]].concat(), &["log.retention.ms=86400000"]);
    }
    let all = ["--entity-type", "brokers", "--entity-name", "1", "--describe", "--all"];
    configs(&all, &["num.partitions=1", "STATIC_BROKER_CONFIG:node.id=1"]);
}

#[test]
fn records_are_produced_counted_read_and_deleted() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "");
    let bootstrap = broker.bootstrap();
    check(&broker, "kafka-topics", &["--create", "--topic", "one"], &["Created topic"]);
    let perf =
        ["--topic", "one", "--num-records", "20000", "--record-size", "100", "--throughput", "-1"];
    let properties = format!("bootstrap.servers={bootstrap}");
    let said = kafka_tool(
        "kafka-producer-perf-test",
        &[&perf[..], &["--producer-props", &properties]].concat(),
    )
    .ok();
    assert!(said.contains("20000 records sent"), "{said}");
    check(&broker, "kafka-get-offsets", &["--topic", "one"], &["one:0:20000"]);
    check(&broker, "kafka-get-offsets", &["--topic", "one", "--time", "earliest"], &["one:0:0"]);
    check(
        &broker,
        "kafka-get-offsets",
        &["--topic", "one", "--time", "max-timestamp"],
        &["one:0:"],
    );
    let offsets = dir.path().join("offsets.json");
    let json = r#"{"partitions":[{"topic":"one","partition":0,"offset":15000}],"version":1}"#;
    std::fs::write(&offsets, json).unwrap();
    let file = offsets.display().to_string();
    check(
        &broker,
        "kafka-delete-records",
        &["--offset-json-file", &file],
        &["low_watermark: 15000"],
    );
    check(
        &broker,
        "kafka-get-offsets",
        &["--topic", "one", "--time", "earliest"],
        &["one:0:15000"],
    );
    let read =
        ["--topic", "one", "--partition", "0", "--offset", "earliest", "--max-messages", "5000"];
    let said = check(&broker, "kafka-console-consumer", &read, &[]);
    assert_eq!(said.lines().count(), 5000);
    let said = check(
        &broker,
        "kafka-transactions",
        &["describe-producers", "--topic", "one", "--partition", "0"],
        &["ProducerId"],
    );
    assert_eq!(said.lines().count(), 2, "{said}");
}

#[test]
fn the_cluster_describes_itself() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "");
    check(&broker, "kafka-topics", &["--create", "--topic", "one"], &["Created topic"]);
    check(
        &broker,
        "kafka-log-dirs",
        &["--describe"],
        &["\"partition\":\"one-0\"", "\"error\":null"],
    );
    check(&broker, "kafka-broker-api-versions", &[], &["Produce(0): 0 to 13", "Fetch(1): 4 to 18"]);
    check(&broker, "kafka-cluster", &["cluster-id"], &["Cluster ID: "]);
    check(&broker, "kafka-cluster", &["list-endpoints"], &["127.0.0.1"]);
    check(
        &broker,
        "kafka-metadata-quorum",
        &["describe", "--status"],
        &["LeaderId:               1", "HighWatermark"],
    );
    check(&broker, "kafka-metadata-quorum", &["describe", "--replication"], &["Leader"]);
    check(&broker, "kafka-features", &["describe"], &["metadata.version"]);
    let controller = std::fs::read_to_string(dir.path().join("server.properties")).unwrap();
    let controller = controller
        .lines()
        .find_map(|line| line.strip_prefix("controller.quorum.bootstrap.servers="))
        .unwrap();
    let at = ["--bootstrap-controller", controller];
    let said =
        kafka_tool("kafka-metadata-quorum", &[&at[..], &["describe", "--status"]].concat()).ok();
    assert!(said.contains("LeaderId"), "{said}");
    let said = kafka_tool("kafka-cluster", &[&["cluster-id"], &at[..]].concat()).ok();
    assert!(said.contains("Cluster ID"), "{said}");
    let entity = [
        "--entity-type",
        "brokers",
        "--entity-default",
        "--alter",
        "--add-config",
        "log.retention.ms=99",
    ];
    kafka_tool("kafka-configs", &[&["--bootstrap-controller", controller], &entity[..]].concat())
        .ok();
    check(
        &broker,
        "kafka-configs",
        &["--entity-type", "brokers", "--entity-default", "--describe"],
        &["log.retention.ms=99"],
    );
}
