//! `kafka-dump-log`, ours and Apache Kafka's, on every file that Highwater and Apache Kafka wrote:
//! the same lines.

use crate::dump::files;
use compat_tests::broker::Broker;
use compat_tests::home::highwater;
use compat_tests::java_tools::JavaTools;
use compat_tests::kafka::{Kafka, Quorum};
use compat_tests::process::run;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(60);

fn ours(args: &[&str]) -> (i32, String, String) {
    let done = run(Command::new(highwater()).arg("kafka-dump-log").args(args), LIMIT);
    (done.status.code().unwrap(), done.out, done.err)
}

/// The first line in which both differ.
#[track_caller]
fn same(java: &mut JavaTools, args: &[&str]) -> String {
    let owned: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let their = java.run("kafka-dump-log", &owned);
    let (code, out, err) = ours(args);
    let differs = out.lines().zip(their.out.lines()).find(|(our, their)| our != their);
    assert!(differs.is_none(), "{args:?}:\n  {}\n  {}", differs.unwrap().0, differs.unwrap().1);
    assert_eq!(out.lines().count(), their.out.lines().count(), "{args:?}\n{err}\n{}", their.err);
    assert_eq!(code, their.code, "{args:?}\n{err}\n{}", their.err);
    // Where it cannot go on, Apache Kafka's says where in its code that was.
    let count = |err: &str| if code == 0 { err.lines().count() } else { 0 };
    assert_eq!(count(&err), count(&their.err), "{args:?}\n{err}\n{}", their.err);
    out
}

/// Runs both on all that `data` holds.
fn everything(java: &mut JavaTools, data: &Path) {
    let text = |paths: &[PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(",")
    };
    let all = files(data, &[".log", ".index", ".timeindex", ".snapshot", ".checkpoint"]);
    let is = |word: &'static str| move |path: &&PathBuf| path.display().to_string().contains(word);
    let full = |path: &&PathBuf| 0 < path.metadata().unwrap().len();
    let own: Vec<_> = all.iter().filter(is("/t-")).filter(full).cloned().collect();
    assert!(own.iter().any(|path| path.extension().unwrap() == "timeindex"), "{own:?}");
    same(java, &["--files", &text(&own)]);
    same(java, &["--files", &text(&own), "--deep-iteration", "--verify-index-only"]);
    same(java, &["--files", &text(&own), "--index-sanity-check"]);
    let out = same(java, &["--files", &text(&own), "--print-data-log", "--skip-record-metadata"]);
    assert!(out.contains("| key: k1 payload: value 1"), "{out}");
    same(java, &["--files", &text(&own), "--print-data-log", "--max-bytes", "3000"]);
    let logs: Vec<_> = files(data, &[".log"]);
    // Records of share groups are not read here, so that of the group `g` alone.
    let has_g = |path: &&PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(16).any(|window| window == b"console-consumer")
    };
    let groups: Vec<_> =
        logs.iter().filter(is("__consumer_offsets-")).filter(has_g).cloned().collect();
    let out = same(java, &["--files", &text(&groups), "--offsets-decoder"]);
    assert!(out.contains(r#"key: {"type":"1","data":{"group":"g","#), "{out}");
    let metadata: Vec<_> = all
        .iter()
        .filter(|path| path.display().to_string().contains("__cluster_metadata-0/"))
        .filter(|path| ["log", "checkpoint"].contains(&path.extension().unwrap().to_str().unwrap()))
        .cloned()
        .collect();
    let out = same(java, &["--files", &text(&metadata), "--cluster-metadata-decoder"]);
    assert!(out.contains(r#"payload: {"type":"REGISTER_BROKER_RECORD","#), "{out}");
}

/// Has Apache Kafka write records of transactions and of a share group, and stops it.
fn write_states(java: &mut JavaTools, kafka: &mut Kafka) {
    let server = kafka.bootstrap();
    let front = ["--bootstrap-server", &server, "--topic", "t"];
    let send = ["--num-records", "20", "--record-size", "10", "--throughput", "-1"];
    let send = [&front[..], &send, &["--transactional-id", "tx"]].concat();
    let mut command = Command::new(highwater());
    run(command.arg("kafka-producer-perf-test").args(send), LIMIT).ok();
    let read = [&front[..], &["--group", "share", "--timeout-ms", "4000"]].concat();
    let read: Vec<String> = read.iter().map(|arg| (*arg).to_owned()).collect();
    java.run("org.apache.kafka.tools.consumer.ConsoleShareConsumer", &read);
    kafka.stop();
}

#[test]
fn files_are_told_line_by_line_as_apache_kafka_tells_them() {
    let (dir, their_dir) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let more = "log.index.interval.bytes=200\nlog.segment.bytes=1048576\n";
    let mut broker = Broker::start(dir.path(), more);
    let alone = "transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n\
                 share.coordinator.state.topic.replication.factor=1\n\
                 share.coordinator.state.topic.min.isr=1\n";
    let mut kafka = Kafka::start_with(their_dir.path(), Quorum::Dynamic, &format!("{more}{alone}"));
    for server in [broker.bootstrap(), kafka.bootstrap()] {
        let front = ["--bootstrap-server", &server, "--topic", "t"];
        let lines: String = (0..200).map(|n| format!("h:{n}\tk{n}\tvalue {n}\n")).collect();
        for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
            let args = ["--reader-property", "parse.key=true", "--reader-property"];
            let args = [&front[..], &args, &["parse.headers=true", "--compression-codec", codec]];
            let mut command = Command::new("sh");
            let script = "lines=$1; shift; printf '%s' \"$lines\" | \"$@\"";
            command.args(["-c", script, "sh", &lines]).arg(highwater());
            command.arg("kafka-console-producer").args(args.concat());
            run(command.args(["--batch-size", "1000"]), LIMIT).ok();
        }
        let member = ["--group", "g", "--from-beginning", "--max-messages", "1000"];
        let mut command = Command::new(highwater());
        command.arg("kafka-console-consumer").args(front).args(member);
        assert_eq!(run(&mut command, LIMIT).ok().lines().count(), 1000);
    }
    assert!(broker.stop().success());
    let mut java = JavaTools::start();
    write_states(&mut java, &mut kafka);
    let their_data = their_dir.path().join("data");
    everything(&mut java, &broker.data());
    everything(&mut java, &their_data);
    for (topic, decoder, want) in [
        ("__transaction_state-", "--transaction-log-decoder", r#""transactionStatus":"Ongoing""#),
        ("__share_group_state-", "--share-group-state-decoder", r#""groupId":"share""#),
    ] {
        let logs = files(&their_data, &[".log"]).into_iter();
        let logs: Vec<String> = logs
            .map(|path| path.display().to_string())
            .filter(|path| path.contains(topic) && 0 < std::fs::metadata(path).unwrap().len())
            .collect();
        let out = same(&mut java, &["--files", &logs.join(","), decoder]);
        assert!(out.contains(want), "{decoder}: {out}");
    }
    // A torn end, an index that lies, and a file that is none.
    let log = broker.data().join("t-0/00000000000000000000.log");
    let index = log.with_extension("index");
    let mut bytes = std::fs::read(&log).unwrap();
    bytes.truncate(bytes.len() - 7);
    std::fs::write(&log, &bytes).unwrap();
    let out = same(&mut java, &["--files", &log.display().to_string()]);
    assert!(out.contains("invalid bytes at the end of"), "{out}");
    let mut entries = std::fs::read(&index).unwrap();
    entries[3] = 7;
    std::fs::write(&index, &entries).unwrap();
    same(&mut java, &["--files", &index.display().to_string()]);
    let other = broker.data().join("t-0/partition.metadata");
    same(&mut java, &["--files", &other.display().to_string()]);
}
