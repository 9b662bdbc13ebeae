//! Apache Kafka from Maven: one combined node, and its command-line tools.

use crate::broker::{free_port, properties};
use crate::home::tool;
use crate::process::{Output, Server, run, until};
use crate::wire::Connection;
use nix::sys::signal::Signal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How a directory is formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quorum {
    /// Voters by `controller.quorum.voters` (kraft.version 0).
    Static,
    /// Voters in the log, `--standalone` (kraft.version 1).
    Dynamic,
}

/// A running node of Apache Kafka.
#[derive(Debug)]
pub struct Kafka {
    pub server: Server,
    pub port: u16,
}

/// A java command with Apache Kafka's jars and our clients, logging to standard error.
pub fn java() -> Command {
    java_of(&["libs/*", "classes"])
}

/// A distributed worker of Kafka Connect that has the file connectors, as `properties` say.
pub fn connect(properties: &Path) -> Command {
    // In this order: of the older jars only what the newer ones lack.
    let mut command = java_of(&["libs/*", "file/*"]);
    command.arg("org.apache.kafka.connect.cli.ConnectDistributed").arg(properties);
    command
}

fn java_of(classes: &[&str]) -> Command {
    let home = tool("kafka");
    let mut command = Command::new("java");
    command.args(["-Xmx512m", "-XX:TieredStopAtLevel=1"]);
    command.arg(format!("-Dlog4j2.configurationFile={}", home.join("log4j2.xml").display()));
    let paths = classes.iter().map(|it| home.join(it).display().to_string());
    command.arg("-cp").arg(paths.collect::<Vec<_>>().join(":"));
    command
}

/// Runs one of Apache Kafka's tools, by the name of its script or of its class.
#[track_caller]
pub fn kafka_tool(name: &str, args: &[&str]) -> Output {
    run(java().arg(class(name)).args(args), Duration::from_secs(120))
}

/// The Java class of a tool, by the name of its script.
pub fn class(name: &str) -> String {
    let class = match name {
        "kafka-topics" => "TopicCommand",
        "kafka-configs" => "ConfigCommand",
        "kafka-console-producer" => "ConsoleProducer",
        "kafka-console-consumer" => "consumer.ConsoleConsumer",
        "kafka-get-offsets" => "GetOffsetShell",
        "kafka-delete-records" => "DeleteRecordsCommand",
        "kafka-log-dirs" => "LogDirsCommand",
        "kafka-broker-api-versions" => "BrokerApiVersionsCommand",
        "kafka-cluster" => "ClusterTool",
        "kafka-metadata-quorum" => "MetadataQuorumCommand",
        "kafka-features" => "FeatureCommand",
        "kafka-transactions" => "TransactionsCommand",
        "kafka-consumer-groups" => "consumer.group.ConsumerGroupCommand",
        "kafka-groups" => "GroupsCommand",
        "kafka-consumer-perf-test" => "ConsumerPerformance",
        "kafka-verifiable-consumer" => "VerifiableConsumer",
        "kafka-producer-perf-test" => "ProducerPerformance",
        "kafka-verifiable-producer" => "VerifiableProducer",
        "kafka-dump-log" => "DumpLogSegments",
        class => return class.to_owned(),
    };
    format!("org.apache.kafka.tools.{class}")
}

impl Kafka {
    /// Starts a node on `dir/data`, formatted if it is empty.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn start(dir: &Path, quorum: Quorum) -> Kafka {
        Kafka::start_with(dir, quorum, "")
    }

    /// As [`Kafka::start`], with `more` lines in its properties.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn start_with(dir: &Path, quorum: Quorum, more: &str) -> Kafka {
        let (port, controller_port) = (free_port(), free_port());
        let mut text = properties(port, controller_port, dir);
        text.push_str("offsets.topic.replication.factor=1\n");
        text.push_str(more);
        if quorum == Quorum::Static {
            let dynamic = "controller.quorum.bootstrap.servers=";
            text = text.replace(dynamic, "controller.quorum.voters=1@");
        }
        let file = dir.join("kafka.properties");
        std::fs::write(&file, text).expect("a properties file");
        if !dir.join("data/meta.properties").exists() {
            format(&file, quorum);
        }
        let mut command = java();
        command.arg("kafka.Kafka").arg(&file);
        let mut server = Server::start(&mut command, &dir.join("kafka.log"));
        until("Apache Kafka answers", Duration::from_secs(90), || {
            assert!(server.is_up(), "Apache Kafka ended:\n{}", server.tail());
            Connection::open(port).ok()?.brokers().ok().filter(|&count| 0 < count)
        });
        Kafka { server, port }
    }

    pub fn bootstrap(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Stops it cleanly.
    pub fn stop(&mut self) {
        self.server.signal(Signal::SIGTERM);
        self.server.wait(Duration::from_secs(60));
    }
}

fn format(properties: &Path, quorum: Quorum) {
    let mut command = java();
    command.args(["kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg"]);
    command.args((quorum == Quorum::Dynamic).then_some("--standalone"));
    run(command.arg("-c").arg(properties), Duration::from_secs(60)).ok();
}

/// What `kafka-dump-log` says of files, with every record read. Fails where it finds an error.
///
/// # Panics
/// When the tool fails or reports anything wrong.
#[track_caller]
pub fn dump(files: &[PathBuf], more: &[&str]) -> String {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let names = names.join(",");
    let args = [["--files", &names].as_slice(), more].concat();
    let Output { status, out, err } = kafka_tool("kafka-dump-log", &args);
    let bad = [
        "Mismatches",
        "Exception",
        "corrupt",
        "isValid: false",
        "not consistent",
        "Found timestamp mismatch",
        "out of order",
    ];
    let found =
        out.lines().chain(err.lines()).find(|line| bad.iter().any(|word| line.contains(word)));
    assert!(status.success() && found.is_none(), "{names}: {found:?}\n{err}");
    out
}
