//! Tools that are interrupted, killed, or heard by nobody: what they committed, and what they stored.

use compat_tests::admin::{committed, create_topic};
use compat_tests::broker::Broker;
use compat_tests::home::highwater;
use compat_tests::process::{run, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;

const NO_DELAY: &str = "group.initial.rebalance.delay.ms=0\noffsets.topic.num.partitions=1\n";
/// How long it may take, on a machine that has much else to do, until a tool has ended that has
/// nothing more to wait for, or until a group's offsets have a topic and its members their records.
const SOON: Duration = Duration::from_secs(60);

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(highwater());
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn said(mut from: impl Read) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

/// The exit code of one that ends soon.
#[track_caller]
fn code(child: &mut Child) -> Option<i32> {
    until("it ends", SOON, || child.try_wait().unwrap()).code()
}

#[track_caller]
fn ours(words: &[&str]) -> String {
    run(&mut command(words), SOON).ok()
}

/// How many records a topic has.
fn end(server: &str, topic: &str) -> u64 {
    let told = ours(&["kafka-get-offsets", "--bootstrap-server", server, "--topic", topic]);
    told.lines().map(|line| line.rsplit(':').next().unwrap().parse::<u64>().unwrap()).sum()
}

#[track_caller]
fn read_all(server: &str, topic: &str) -> String {
    let count = end(server, topic).to_string();
    ours(&[
        "kafka-console-consumer",
        "--bootstrap-server",
        server,
        "--topic",
        topic,
        "--partition",
        "0",
        "--from-beginning",
        "--max-messages",
        &count,
    ])
}

/// Stores the lines in topic `t`.
fn store(server: &str, lines: &str) {
    let mut child = command(&["kafka-console-producer", "--bootstrap-server", server])
        .args(["--topic", "t"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// What a member of a group is called with, of each tool that prints records.
fn members<'a>(server: &'a str, group: &'a str, count: &'a str) -> [Vec<&'a str>; 2] {
    let console = ["kafka-console-consumer", "--bootstrap-server", server, "--topic", "t"];
    let often = ["--command-property", "auto.commit.interval.ms=20"];
    let more = ["--group", group, "--from-beginning", "--max-messages", count];
    let own = ["consume", "t", "--bootstrap", server, "--group", group, "--from", "earliest"];
    [[&console[..], &often, &more].concat(), [&own[..], &["--count", count]].concat()]
}

#[test]
fn what_could_not_be_printed_is_not_committed() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), NO_DELAY);
    let server = broker.bootstrap();
    store(&server, "one\ntwo\nthree\n");
    for at in 0..2 {
        let group = format!("g{at}");
        let of_group = |group: &str| committed(broker.port, group).into_values().next();
        let start = |stdout: Stdio| {
            let words = &members(&server, &group, "3")[at];
            let mut child = command(words).stdout(stdout).spawn().unwrap();
            let code = code(&mut child);
            (code, said(child.stderr.take().unwrap()))
        };
        let full = File::options().write(true).open("/dev/full").unwrap();
        let (code, err) = start(full.into());
        assert_eq!((code, of_group(&group)), (Some(1), None), "{err}");
        assert!(err.contains("cannot write to stdout: "), "{err}");
        // A reader that has gone.
        let (theirs, mine) = std::io::pipe().unwrap();
        drop(theirs);
        let (code, err) = start(mine.into());
        assert_eq!((code, of_group(&group)), (Some(0), None), "{err}");
        // Who listens gets all of it.
        let printed = ours(&members(&server, &group, "3")[at]);
        assert_eq!((printed.lines().count(), of_group(&group)), (3, Some(3)), "{printed}");
    }
}

#[test]
fn who_is_killed_has_committed_no_more_than_it_printed() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), NO_DELAY);
    let server = broker.bootstrap();
    // More than a pipe holds, which nobody reads.
    store(&server, &("x".repeat(99) + "\n").repeat(5000));
    let mut child = command(&members(&server, "g", "5000")[0]).spawn().unwrap();
    let count =
        until("something is committed", SOON, || committed(broker.port, "g").into_values().next());
    signal(&child, Signal::SIGKILL);
    child.wait().unwrap();
    let printed = said(child.stdout.take().unwrap()).matches('\n').count();
    assert!(count <= i64::try_from(printed).unwrap(), "{count} committed, {printed} printed");
    // The next one goes on there, and misses nothing.
    let last = committed(broker.port, "g").into_values().next().unwrap();
    assert!(last <= i64::try_from(printed).unwrap(), "{last} committed, {printed} printed");
}

/// The numbers that are printed, as lines, or as the values in lines of JSON.
fn numbers(printed: &str) -> Vec<u64> {
    let number = |line: &str| match line.split_once("\"value\":\"") {
        Some((_, from)) => from.split_once('"')?.0.parse().ok(),
        None => line.parse().ok(),
    };
    printed.lines().filter_map(number).collect()
}

#[test]
fn partitions_change_hands_without_a_record_twice_or_missing() {
    let verifiable = ["kafka-verifiable-consumer", "--verbose", "--group-id"];
    for (case, (tool, more)) in [
        (&["kafka-console-consumer", "--from-beginning", "--group"], &[][..]),
        (&verifiable, &["--enable-autocommit"]),
        (&verifiable, &[]),
    ]
    .into_iter()
    .enumerate()
    {
        let dir = TempDir::new().unwrap();
        let broker = Broker::start(dir.path(), NO_DELAY);
        let server = broker.bootstrap();
        create_topic(broker.port, "t", 4);
        let place = ["--bootstrap-server", &server, "--topic", "t"];
        let start = |name: &str| {
            let file = File::create(dir.path().join(name)).unwrap();
            let words = [&tool[..], &["g"], &place, more].concat();
            command(&words).stdout(file).spawn().unwrap()
        };
        let printed =
            |name: &str| numbers(&std::fs::read_to_string(dir.path().join(name)).unwrap());
        let mut one = start("one");
        // More than there is time for.
        let pace = ["--throughput", "5000", "--max-messages", "1000000"];
        let words = [&["kafka-verifiable-producer"], &place[..], &pace];
        let mut sender = command(&words.concat()).stdout(Stdio::null()).spawn().unwrap();
        until("the first member prints", SOON, || (!printed("one").is_empty()).then_some(()));
        let mut two = start("two");
        // It gets partitions only once the first one has heard that it is there.
        until("the second member prints", SOON, || (!printed("two").is_empty()).then_some(()));
        signal(&sender, Signal::SIGINT);
        assert_eq!(code(&mut sender), Some(130));
        let count = end(&server, "t");
        let both = || [printed("one"), printed("two")].concat();
        until("all is printed", SOON, || (count <= both().len() as u64).then_some(()));
        for member in [&mut one, &mut two] {
            signal(member, Signal::SIGINT);
            assert_eq!(code(member), Some(130));
        }
        let mut numbers = both();
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(0..count), "{case}: {} of {count}", numbers.len());
    }
}

/// Writes numbers faster than they are taken, until nobody takes them; counts them.
fn feed(mut to: ChildStdin) -> (Arc<AtomicU64>, JoinHandle<()>) {
    const AT_ONCE: u64 = 10_000;
    let count = Arc::new(AtomicU64::new(0));
    let counted = count.clone();
    let feeding = std::thread::spawn(move || {
        loop {
            let first = counted.fetch_add(AT_ONCE, Ordering::SeqCst);
            let lines: String =
                (first..first + AT_ONCE).map(|number| format!("{number}\n")).collect();
            if to.write_all(lines.as_bytes()).is_err() {
                return;
            }
        }
    });
    (count, feeding)
}

#[test]
fn a_producer_that_is_interrupted_ends_and_stores_what_it_has_sent() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "");
    let server = broker.bootstrap();
    for (came, want) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        for tool in ["kafka-console-producer", "produce"] {
            let topic = format!("{tool}-{want}");
            create_topic(broker.port, &topic, 1);
            let words = match tool {
                "produce" => vec!["produce", topic.as_str(), "--bootstrap", &server],
                tool => vec![tool, "--bootstrap-server", &server, "--topic", &topic],
            };
            let mut child = command(&words).spawn().unwrap();
            let (count, feeding) = feed(child.stdin.take().unwrap());
            until("something is stored", SOON, || (0 < end(&server, &topic)).then_some(()));
            signal(&child, came);
            let fed = count.load(Ordering::SeqCst);
            assert_eq!(code(&mut child), Some(want), "{tool}");
            feeding.join().unwrap();
            let told = said(child.stdout.take().unwrap());
            let stored = end(&server, &topic);
            // What it may take until it has heard of the signal is far less than that.
            assert!(stored < fed + 1_000_000, "{tool}: {stored} of {fed} and what came behind");
            if tool == "produce" {
                assert_eq!(told, format!("{stored} records are stored in {topic}\n"));
            }
            let all = read_all(&server, &topic);
            let numbers = all.lines().map(|line| line.parse::<u64>().unwrap());
            assert!(numbers.eq(0..stored), "{tool}: a line is missing or there twice");
        }
    }
}

#[test]
fn a_measuring_producer_that_is_interrupted_ends_and_tells_what_is_stored() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "");
    let server = broker.bootstrap();
    for (tool, more) in [
        ("kafka-verifiable-producer", &[][..]),
        ("kafka-producer-perf-test", &["--num-records", "900000000", "--record-size", "10"]),
    ] {
        create_topic(broker.port, tool, 1);
        let front = [tool, "--bootstrap-server", &server, "--topic", tool, "--throughput", "2000"];
        let mut child = command(&[&front[..], more].concat()).spawn().unwrap();
        let told = child.stdout.take().unwrap();
        let told = std::thread::spawn(move || said(told));
        until("something is stored", SOON, || (0 < end(&server, tool)).then_some(()));
        signal(&child, Signal::SIGINT);
        assert_eq!(code(&mut child), Some(130), "{tool}");
        let (told, stored) = (told.join().unwrap(), end(&server, tool));
        let last = told.lines().last().unwrap();
        let wants =
            [format!("\"sent\":{stored},\"acked\":{stored},"), format!("{stored} records sent, ")];
        assert!(wants.iter().any(|want| last.contains(want)), "{stored}: {last}");
    }
    // Nothing is sent yet, because there is no broker.
    let nowhere = ["--bootstrap-server", "127.0.0.1:1", "--topic", "t", "--num-records", "1"];
    let more = ["--record-size", "10", "--throughput", "-1"];
    let words = [&["kafka-producer-perf-test"][..], &nowhere, &more].concat();
    let mut child = command(&words).spawn().unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    err.read_line(&mut String::new()).unwrap();
    signal(&child, Signal::SIGTERM);
    assert_eq!(code(&mut child), Some(143));
}
