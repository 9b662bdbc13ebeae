//! `highwater produce`, `consume`, `config`, `group` and `topic`, as a new user tries them: what is
//! not there is told at once, what was read is delivered, and nothing is left behind.

use compat_tests::broker::Broker;
use compat_tests::home::highwater;
use compat_tests::process::until;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Far below the minute that a question may take in all.
const AT_ONCE: Duration = Duration::from_secs(15);

fn start(bootstrap: &str, words: &str) -> Child {
    let mut command = Command::new(highwater());
    command.args(words.split(' '));
    let flag = if words.starts_with("kafka-") { "--bootstrap-server" } else { "-b" };
    command.args([flag, bootstrap]).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs one to its end, with `input`: how it ended, what it printed and what it complained of.
fn run(bootstrap: &str, words: &str, input: &str) -> (i32, String, String) {
    let mut child = start(bootstrap, words);
    // Who refuses before it reads has closed its end.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let done = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

#[track_caller]
fn well(bootstrap: &str, words: &str, input: &str) -> String {
    let (code, out, err) = run(bootstrap, words, input);
    assert_eq!(code, 0, "{words}: {err}");
    out
}

#[test]
fn what_is_not_there_is_told_at_once_and_what_to_do() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "auto.create.topics.enable=false\n");
    let server = broker.bootstrap();
    well(&server, "topic create here -p 2", "");
    for (words, want) in [
        ("consume nope", "`highwater topic list`"),
        ("consume nope -g readers", "`highwater topic list`"),
        ("consume nope --partition 0", "`highwater topic list`"),
        ("consume here --partition 7", "topic here has no partition 7: it has 0 to 1"),
        ("produce nope", "`highwater topic create nope`"),
        ("topic describe nope", "`highwater topic list`"),
        ("topic delete nope", "`highwater topic list`"),
        ("topic grow nope -p 3", "`highwater topic list`"),
        ("group describe nope", "`highwater group list`"),
        ("group delete nope", "`highwater group list`"),
        ("config get topic nope", "`highwater topic list`"),
        ("config set topic nope retention.ms=1", "`highwater topic list`"),
        ("config get broker 7", "there is no broker 7 in the cluster now: its brokers are 1"),
        ("config set broker 7 log.cleaner.threads=2", "there is no broker 7"),
        ("config get broker one", "say its id"),
        ("kafka-configs --describe --all --broker 7", "there is no broker 7"),
        ("kafka-configs --alter --broker 7 --add-config log.cleaner.threads=2", "no broker 7"),
    ] {
        let began = Instant::now();
        let (code, out, err) = run(&server, words, "a\n");
        assert!(began.elapsed() < AT_ONCE, "{words} took {:?}", began.elapsed());
        // As Apache Kafka's, kafka-configs says first whose configs would follow.
        let is_silent = out.is_empty() || words.starts_with("kafka-configs --describe --all");
        assert!(code == 1 && err.contains(want) && is_silent, "{words}: {code} {err}{out}");
    }
}

#[test]
fn lines_before_one_that_cannot_be_read_are_stored() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "");
    let server = broker.bootstrap();
    let (code, out, err) = run(&server, "produce t -k :", "a:1\nb:2\nno key\nc:3\n");
    assert_eq!((code, out.as_str()), (1, "2 records are stored in t\n"), "{err}");
    assert!(err.contains("line 3 has no `:` in it"), "{err}");
    let read = well(&server, "consume t --from earliest -n 2", "");
    assert_eq!(read, "t-0 0\ta\t1\nt-0 1\tb\t2\n");
}

#[test]
fn records_that_find_no_room_are_told_with_the_brokers_reason() {
    let dir = TempDir::new().unwrap();
    // No disk has as much room as that.
    let broker = Broker::start(dir.path(), "highwater.log.dir.reserve.bytes=9000000000000000000\n");
    let server = broker.bootstrap();
    well(&server, "topic create t", "");
    until("the broker has looked at its disk", Duration::from_secs(30), || {
        let log = std::fs::read_to_string(&broker.server.log).unwrap();
        log.contains("produce is refused").then_some(())
    });
    let file = dir.path().join("impatient.properties");
    std::fs::write(&file, "delivery.timeout.ms=3000\nrequest.timeout.ms=1000\nlinger.ms=0\n")
        .unwrap();
    let file = file.display();
    for words in ["produce t --command-config", "kafka-console-producer --topic t --command-config"]
    {
        let (code, _, err) = run(&server, &format!("{words} {file}"), "a\n");
        let why = "org.apache.kafka.common.errors.KafkaStorageException: ";
        assert!(code == 1 && err.contains(why) && err.contains("make room"), "{words}: {err}");
    }
}

#[test]
fn who_consumes_without_a_group_leaves_none_and_sees_new_partitions() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "");
    let server = broker.bootstrap();
    well(&server, "topic create t -p 2", "");
    well(&server, "produce t", "one\n");
    let mut child = start(&server, "consume t --from earliest -n 2");
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.ends_with(" 0\t-\tone\n"), "{line}");
    assert_eq!(well(&server, "group list -o json", ""), "[]\n");
    // The key finds a partition that was not there when it began.
    well(&server, "topic grow t -p 40", "");
    until("the record is on a new partition", Duration::from_secs(30), || {
        let (code, ..) = run(&server, "produce t -k :", "new:two\n");
        (code == 0).then_some(())
    });
    line.clear();
    out.read_line(&mut line).unwrap();
    assert!(line.ends_with("\tnew\ttwo\n") && !line.starts_with("t-0 "), "{line}");
    assert!(!line.starts_with("t-1 "), "{line}");
    assert!(child.wait().unwrap().success());
    assert_eq!(well(&server, "group list -o json", ""), "[]\n");
}

#[test]
fn a_bootstrap_server_without_a_port_is_told_or_taken() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("impatient.properties");
    std::fs::write(&file, "default.api.timeout.ms=100\n").unwrap();
    for words in ["topic list", "produce t", "consume t"] {
        let words = format!("{words} --command-config {}", file.display());
        let (code, _, err) = run("kafka.invalid", &words, "");
        assert!(code == 1 && err.contains("kafka.invalid:9092"), "{words}: {err}");
    }
    for words in [
        "kafka-topics --list",
        "kafka-console-producer --topic t",
        "kafka-console-consumer --topic t",
        "kafka-producer-perf-test --topic t --num-records 1 --record-size 1 --throughput 1",
        "kafka-consumer-perf-test --topic t --num-records 1",
        "kafka-verifiable-producer --topic t",
        "kafka-verifiable-consumer --topic t --group-id g",
    ] {
        let (code, out, err) = run("kafka.invalid", words, "");
        let want =
            "Invalid url in bootstrap.servers: kafka.invalid: a bootstrap server is host:port";
        assert!(code == 1 && err.contains(want), "{words}: {out}{err}");
    }
}
