//! What people build on groups: Kafka Streams, at least once, and Kafka Connect. Each is restarted
//! in the middle, the broker is killed besides, and they go on where they were.

use super::{LIMIT, QUICK};
use compat_tests::admin::create_topic;
use compat_tests::broker::{Broker, free_port};
use compat_tests::clients::Client;
use compat_tests::kafka::{connect, java};
use compat_tests::lines::{input, partitions};
use compat_tests::process::{Server, run, until};
use nix::sys::signal::Signal;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{Read, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

const PARTITIONS: usize = 3;
/// A JVM with an application in it takes its time, and the machine has other tests to run.
const LONG: Duration = Duration::from_secs(120);

fn count<'a>(words: &mut BTreeMap<String, u64>, lines: impl IntoIterator<Item = &'a String>) {
    for line in lines {
        let text = line.split_once('\t').unwrap().1.to_lowercase();
        let found = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        for word in found.filter(|it| !it.is_empty()) {
            *words.entry(word.to_owned()).or_default() += 1;
        }
    }
}

/// The last count of each word in the topic of the results.
fn counted(broker: &Broker, dir: &Path) -> BTreeMap<String, u64> {
    let out = dir.join("counts");
    run(&mut Client::Java.consume(&broker.bootstrap(), "counts", &out), LIMIT).ok();
    let all = partitions(&out, PARTITIONS);
    let text = all.values().map(|bytes| std::str::from_utf8(bytes).unwrap());
    let pairs = text.flat_map(str::lines).map(|line| line.split_once('\t').unwrap());
    pairs.map(|(word, count)| (word.to_owned(), count.parse().unwrap())).collect()
}

fn words(broker: &Broker, dir: &Path, state: &str) -> Server {
    let mut command = java();
    command.args(["Words", &broker.bootstrap(), "words", "text", "counts"]).arg(dir.join(state));
    Server::start(&mut command, &dir.join("words.log"))
}

fn send(broker: &Broker, dir: &Path, lines: &[String]) {
    let mut text = String::new();
    for line in lines {
        writeln!(text, "{line}").unwrap();
    }
    let file = dir.join("text");
    std::fs::write(&file, text).unwrap();
    run(&mut Client::Java.produce(&broker.bootstrap(), "text", &file, "none"), LIMIT).ok();
}

#[test]
fn a_streams_application_counts_words_over_restarts_and_kills() {
    let dir = TempDir::new().unwrap();
    let lines = input(&dir.path().join("input"), 60_000);
    let mut broker = Broker::start(dir.path(), QUICK);
    create_topic(broker.port, "text", PARTITIONS);
    create_topic(broker.port, "counts", PARTITIONS);
    let mut want = BTreeMap::new();
    // The second life has the first one's state, the third restores it from the changelog.
    let (third, lives) = (lines.len() / 3, ["state", "state", "other"]);
    for (life, state) in lives.iter().enumerate() {
        let mut application = words(&broker, dir.path(), state);
        let some = &lines[life * third..(life + 1) * third];
        send(&broker, dir.path(), some);
        count(&mut want, some);
        until("all is counted", LONG, || {
            assert!(application.is_up(), "{}", application.tail());
            (counted(&broker, dir.path()) == want).then_some(())
        });
        application.signal(Signal::SIGTERM);
        application.wait(LONG);
        broker.kill();
        broker.start_again();
    }
}

/// A request to Connect's REST port, and whether it was accepted.
fn rest(port: u16, what: &str, body: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(LONG)).unwrap();
    let length = body.len();
    write!(
        stream,
        "{what} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .ok()?;
    let mut said = String::new();
    stream.read_to_string(&mut said).ok()?;
    said.starts_with("HTTP/1.1 2").then_some(said)
}

fn worker(broker: &Broker, dir: &Path, port: u16) -> Server {
    let text = format!(
        "bootstrap.servers={}\ngroup.id=connect\nlisteners=http://127.0.0.1:{port}\n\
         key.converter=org.apache.kafka.connect.storage.StringConverter\n\
         value.converter=org.apache.kafka.connect.storage.StringConverter\n\
         offset.storage.topic=connect-offsets\noffset.storage.replication.factor=1\n\
         config.storage.topic=connect-configs\nconfig.storage.replication.factor=1\n\
         status.storage.topic=connect-status\nstatus.storage.replication.factor=1\n\
         offset.flush.interval.ms=1000\nscheduled.rebalance.max.delay.ms=0\n\
         session.timeout.ms=6000\nheartbeat.interval.ms=1000\n",
        broker.bootstrap()
    );
    let file = dir.join("worker.properties");
    std::fs::write(&file, text).unwrap();
    Server::start(&mut connect(&file), &dir.join("worker.log"))
}

fn connectors(port: u16, from: &Path, to: &Path) {
    let (from, to) = (from.display(), to.display());
    let source = format!(
        r#"{{"connector.class":"FileStreamSource","tasks.max":"1","file":"{from}","topic":"lines"}}"#
    );
    let sink = format!(
        r#"{{"connector.class":"FileStreamSink","tasks.max":"2","file":"{to}","topics":"lines"}}"#
    );
    for (name, config) in [("source", source), ("sink", sink)] {
        until("the connector is accepted", LONG, || {
            rest(port, &format!("PUT /connectors/{name}/config"), &config)
        });
    }
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn connect_carries_a_file_over_restarts_and_kills() {
    let dir = TempDir::new().unwrap();
    let lines = input(&dir.path().join("input"), 60_000);
    let mut broker = Broker::start(dir.path(), QUICK);
    create_topic(broker.port, "lines", PARTITIONS);
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    std::fs::write(&from, "").unwrap();
    let (half, port) = (lines.len() / 2, free_port());
    let mut sent = String::new();
    for life in 0..2 {
        for line in &lines[life * half..(life + 1) * half] {
            writeln!(sent, "{line}").unwrap();
        }
        let mut worker = worker(&broker, dir.path(), port);
        // Appended: the source goes on behind what it has read.
        let mut file = std::fs::File::options().append(true).open(&from).unwrap();
        file.write_all(&sent.as_bytes()[file.metadata().unwrap().len() as usize..]).unwrap();
        if life == 0 {
            connectors(port, &from, &to);
        }
        until("every line has come", LONG, || {
            assert!(worker.is_up(), "{}", worker.tail());
            let come = std::fs::read_to_string(&to).unwrap_or_default();
            (sent.lines().count() <= come.lines().count()).then_some(())
        });
        worker.signal(Signal::SIGTERM);
        worker.wait(LONG);
        broker.kill();
        broker.start_again();
    }
    // Each once: what was committed at the stop was not read again.
    assert_eq!(sorted(&std::fs::read_to_string(&to).unwrap()), sorted(&sent));
}
