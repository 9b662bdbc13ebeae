//! Apache Kafka's own reader of log files finds nothing wrong in any file that we wrote.

use compat_tests::broker::Broker;
use compat_tests::clients::Client;
use compat_tests::kafka::{dump, kafka_tool};
use compat_tests::lines::input;
use compat_tests::process::run;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Every file under `dir` whose name ends in one of `ends`.
pub(super) fn files(dir: &Path, ends: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ends));
        } else if ends.iter().any(|end| path.display().to_string().ends_with(end)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Has `kafka-dump-log` read every log, index, producer snapshot and metadata snapshot of a node.
pub(super) fn everything(data: &Path) {
    let of_metadata = |path: &PathBuf| path.display().to_string().contains("__cluster_metadata-0");
    let (metadata, logs): (Vec<_>, Vec<_>) =
        files(data, &[".log"]).into_iter().partition(of_metadata);
    if !logs.is_empty() {
        dump(&logs, &["--deep-iteration"]);
    }
    dump(&metadata, &["--cluster-metadata-decoder", "--skip-record-metadata"]);
    for checkpoint in files(data, &[".checkpoint"]) {
        dump(&[checkpoint], &["--cluster-metadata-decoder"]);
    }
    let indexes: Vec<_> = files(data, &[".index", ".timeindex", ".txnindex", ".snapshot"])
        .into_iter()
        .filter(|path| !of_metadata(path) && 0 < path.metadata().unwrap().len())
        .collect();
    if !indexes.is_empty() {
        dump(&indexes, &[]);
    }
}

#[test]
fn kafka_dump_log_reads_every_file_that_a_node_wrote() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("lines");
    input(&file, 6_000_000);
    let mut broker = Broker::start(dir.path(), "log.segment.bytes=1048576\n");
    let bootstrap = broker.bootstrap();
    for codec in ["none", "zstd"] {
        let args =
            ["--bootstrap-server", &bootstrap, "--create", "--topic", codec, "--partitions", "2"];
        kafka_tool("kafka-topics", &args).ok();
        run(&mut Client::Java.produce(&bootstrap, codec, &file, codec), Duration::from_secs(300))
            .ok();
    }
    assert!(broker.stop().success());
    everything(&broker.data());
    // After a kill, and after the recovery from it.
    broker.start_again();
    run(&mut Client::Java.produce(&bootstrap, "none", &file, "gzip"), Duration::from_secs(300))
        .ok();
    broker.kill();
    broker.start_again();
    assert!(broker.stop().success());
    everything(&broker.data());
}
