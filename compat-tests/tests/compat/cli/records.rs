//! The tools that produce, consume and measure: what one writes the other reads, byte for byte,
//! and both say the same of it, on Highwater and on Apache Kafka.

use compat_tests::broker::Broker;
use compat_tests::home::highwater;
use compat_tests::java_tools::JavaTools;
use compat_tests::kafka::{Kafka, Quorum, class, java};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Starts one of our tools.
fn start(tool: &str, args: &[&str]) -> Child {
    let mut command = Command::new(highwater());
    command.arg(tool).args(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Runs a command to its end, with `input`.
fn fed(mut child: Child, input: &[u8]) -> Output {
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

/// What one of our tools prints, which ends well.
#[track_caller]
fn ours(tool: &str, args: &[&str], input: &[u8]) -> String {
    let Output { status, stdout, stderr } = fed(start(tool, args), input);
    let err = String::from_utf8_lossy(&stderr).into_owned();
    assert!(status.success(), "{tool} {args:?}: {status}\n{err}");
    String::from_utf8(stdout).unwrap()
}

/// Apache Kafka's producer, which reads its own standard input.
#[track_caller]
fn theirs_produce(args: &[&str], input: &[u8]) {
    let mut command = java();
    command.arg(class("kafka-console-producer")).args(args);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let done = fed(command.spawn().unwrap(), input);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[track_caller]
fn theirs(java: &mut JavaTools, tool: &str, args: &[&str]) -> String {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let said = java.run(tool, &args);
    assert_eq!(said.code, 0, "{tool} {args:?}: {}", said.err);
    said.out
}

/// Lines that have keys, headers twice, nulls, nothing at all, and letters of four bytes.
const LINES: &str =
    "h:1,h:2\tk1\tvalue one\nNUL\tNUL\tgrün 𝄞\ni:NUL\tk2\tNUL\nx:\t\t\nNUL\tk1\t\"q\"\tu\n";

const READER: [&str; 6] = [
    "--reader-property",
    "parse.key=true",
    "--reader-property",
    "parse.headers=true",
    "--reader-property",
    "null.marker=NUL",
];

const FORMATTER: [&str; 10] = [
    "--formatter-property",
    "print.key=true",
    "--formatter-property",
    "print.headers=true",
    "--formatter-property",
    "print.partition=true",
    "--formatter-property",
    "print.offset=true",
    "--formatter-property",
    "null.literal=<null>",
];

#[test]
fn what_one_console_writes_the_other_reads() {
    let (dir, their_dir) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let broker = Broker::start(dir.path(), "num.partitions=3\n");
    let kafka = Kafka::start_with(their_dir.path(), Quorum::Dynamic, "num.partitions=3\n");
    let mut java = JavaTools::start();
    let want = "Offset:0\th:1,h:2\tk1\tvalue one\n";
    for server in [broker.bootstrap(), kafka.bootstrap()] {
        let to = |topic| [&["--bootstrap-server", &server, "--topic", topic][..], &READER].concat();
        ours("kafka-console-producer", &to("ours"), LINES.as_bytes());
        theirs_produce(&to("theirs"), LINES.as_bytes());
        let mut all = Vec::new();
        for topic in ["ours", "theirs"] {
            for partition in ["0", "1", "2"] {
                let front = ["--bootstrap-server", &server, "--topic", topic];
                let of = ["--partition", partition, "--offset", "earliest"];
                let ends = ["kafka-get-offsets"];
                let end = theirs(
                    &mut java,
                    ends[0],
                    &[&front[..], &["--partitions", partition]].concat(),
                );
                let count = end.trim().rsplit(':').next().unwrap().to_owned();
                let args = [&front[..], &of, &["--max-messages", &count], &FORMATTER].concat();
                let read = ours("kafka-console-consumer", &args, b"");
                assert_eq!(read, theirs(&mut java, "kafka-console-consumer", &args), "{args:?}");
                all.extend(read.lines().map(str::to_owned));
            }
        }
        assert_eq!(all.len(), 10, "{all:?}");
        // A key finds the same partition whoever sends it.
        let keyed = |line: &&String| line.contains("value one");
        let places: Vec<_> = all.iter().filter(keyed).collect();
        assert_eq!(places[0], places[1]);
        assert!(places[0].ends_with(want.trim_end()), "{places:?}");
        let front = ["--bootstrap-server", &server, "--topic", "ours"];
        let place = places[0].split([':', '\t']).nth(1).unwrap();
        let of = ["--partition", place, "--offset", "0", "--max-messages", "1"];
        let with = ["--formatter-property", "print.epoch=true"];
        let said = ours("kafka-console-consumer", &[&front[..], &of, &with].concat(), b"");
        assert!(said.starts_with("Epoch:0\t"), "{said}");
    }
}

#[test]
fn a_consumer_that_is_interrupted_tells_its_total_and_commits() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "group.initial.rebalance.delay.ms=0\n");
    let server = broker.bootstrap();
    let front = ["--bootstrap-server", &server, "--topic", "t"];
    ours("kafka-console-producer", &front, b"one\ntwo\n");
    let member = [&front[..], &["--group", "g", "--from-beginning"]].concat();
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let mut child = start("kafka-console-consumer", &member);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        let lines = if code == 130 { 2 } else { 1 };
        if code == 143 {
            ours("kafka-console-producer", &front, b"three\n");
        }
        for _ in 0..lines {
            out.read_line(&mut line).unwrap();
        }
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{err}");
        assert!(err.contains(&format!("Processed a total of {lines} messages")), "{err}");
        // The second member goes on where the first was.
        assert_eq!(line, if code == 130 { "one\ntwo\n" } else { "three\n" });
        let committed = compat_tests::admin::committed(broker.port, "g");
        let want = if code == 130 { 2 } else { 3 };
        assert_eq!(committed.into_values().collect::<Vec<_>>(), [want]);
    }
}

#[test]
fn consoles_end_when_nobody_listens_or_nothing_comes_or_nothing_can_be_done() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "group.initial.rebalance.delay.ms=0\n");
    let server = broker.bootstrap();
    let front = ["--bootstrap-server", &server, "--topic", "t"];
    let many = "x".repeat(99) + "\n";
    ours("kafka-console-producer", &front, many.repeat(5000).as_bytes());
    // A reader that goes away, as `| head -1` does.
    let all = [&front[..], &["--partition", "0", "--from-beginning"]].concat();
    let mut child = start("kafka-console-consumer", &all);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    let err = String::from_utf8(stderr).unwrap();
    assert!(status.success() && err.contains("Unable to write to standard out"), "{err}");
    // Nothing more comes.
    let timed = [&all[..], &["--timeout-ms", "3000"]].concat();
    let done = fed(start("kafka-console-consumer", &timed), b"");
    let err = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.success() && err.contains("Processed a total of 5000 messages"), "{err}");
    assert!(err.contains("org.apache.kafka.common.errors.TimeoutException"), "{err}");
    // Lines before the one that cannot be read are stored.
    let keyed = [&front[..], &["--reader-property", "parse.key=true"]].concat();
    let done = fed(start("kafka-console-producer", &keyed), b"k\tlast\nno key\n");
    let err = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{err}");
    assert!(err.contains("No key separator found on line number 2: 'no key'"), "{err}");
    let last = [&front[..], &["--partition", "0", "--offset", "5000", "--max-messages", "1"]];
    assert_eq!(ours("kafka-console-consumer", &last.concat(), b""), "last\n");
    // A record that is too large is told of, and those around it are stored.
    let large = format!("before\n{}\nafter\n", "x".repeat(2_000_000));
    let done = fed(start("kafka-console-producer", &front), large.as_bytes());
    let err = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{err}");
    let want = "key: null, value: 2000000 bytes with error: \
                org.apache.kafka.common.errors.RecordTooLargeException: ";
    assert!(err.contains(want) && err.contains("max.request.size"), "{err}");
    let last = [&front[..], &["--partition", "0", "--offset", "5001", "--max-messages", "2"]];
    assert_eq!(ours("kafka-console-consumer", &last.concat(), b""), "before\nafter\n");
    // No broker.
    let nowhere = ["--bootstrap-server", "127.0.0.1:1", "--topic", "t", "--max-block-ms", "300"];
    let done = fed(start("kafka-console-producer", &nowhere), b"lost\n");
    assert_eq!(done.status.code(), Some(1));
    let err = String::from_utf8(done.stderr).unwrap();
    assert!(err.contains("Topic t not present in metadata after 300 ms"), "{err}");
}

/// A line with each number as `#`, so that only its words are left.
fn words(line: &str) -> String {
    let mut text = String::new();
    for letter in line.chars() {
        match letter {
            '0'..='9' if text.ends_with('#') => {}
            '.' if text.ends_with('#') => {}
            '0'..='9' => text.push('#'),
            letter => text.push(letter),
        }
    }
    text
}

#[test]
fn performance_is_told_in_the_same_words() {
    let (dir, their_dir) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let broker = Broker::start(dir.path(), "group.initial.rebalance.delay.ms=0\n");
    let kafka = Kafka::start_with(
        their_dir.path(),
        Quorum::Dynamic,
        "group.initial.rebalance.delay.ms=0\n",
    );
    let mut java = JavaTools::start();
    let shape = |said: &str| said.lines().map(words).collect::<Vec<_>>();
    for server in [broker.bootstrap(), kafka.bootstrap()] {
        let front = ["--bootstrap-server", &server, "--topic", "t"];
        let send = ["--num-records", "2000", "--record-size", "100", "--throughput", "-1"];
        let send = [&front[..], &send, &["--warmup-records", "500"]].concat();
        let (said, their) = (
            ours("kafka-producer-perf-test", &send, b""),
            theirs(&mut java, "kafka-producer-perf-test", &send),
        );
        assert_eq!(shape(&said), shape(&their));
        assert!(said.contains("\n2000 records sent, ") && said.contains("\n1500 steady state "));
        let props = format!("bootstrap.servers={server}");
        let old =
            ["--topic", "t", "--num-records", "10", "--payload-monotonic", "--throughput", "1000"];
        let old = [&old[..], &["--producer-props", &props, "acks=1"]].concat();
        let (said, their) = (
            ours("kafka-producer-perf-test", &old, b""),
            theirs(&mut java, "kafka-producer-perf-test", &old),
        );
        // Apache Kafka's puts a word about the old flag before it.
        assert_eq!(shape(&said).last(), shape(&their).last());
        for more in
            [&[][..], &["--hide-header"], &["--show-detailed-stats", "--reporting-interval", "1"]]
        {
            let read = [&front[..], &["--num-records", "4000"], more].concat();
            let (said, their) = (
                ours("kafka-consumer-perf-test", &read, b""),
                theirs(&mut java, "kafka-consumer-perf-test", &read),
            );
            let (said, their) = (shape(&said), shape(&their));
            assert_eq!(said.first(), their.first(), "{more:?}");
            // How many intervals there are is chance.
            let rest = |lines: &[String]| lines.get(1).cloned();
            if more.len() < 3 {
                assert_eq!(rest(&said), rest(&their), "{more:?}");
            }
        }
        // The same letters as the Java tool sends.
        let at = |offset| {
            let args =
                [&front[..], &["--partition", "0", "--offset", offset, "--max-messages", "1"]];
            ours("kafka-console-consumer", &args.concat(), b"")
        };
        assert_eq!(at("0"), at("2000"));
    }
}

/// Lines of JSON without their times and ids.
fn events(said: &str) -> Vec<String> {
    let lines = said.lines().filter(|line| line.starts_with('{'));
    let normal = |line: &str| {
        let (_, rest) = line.split_once(',').unwrap();
        let rest = rest.split("\"avg_throughput\"").next().unwrap();
        rest.to_owned()
    };
    lines.map(normal).collect()
}

#[test]
fn verifiable_clients_tell_the_same_events() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "group.initial.rebalance.delay.ms=0\n");
    let server = broker.bootstrap();
    // Java's tells the rest when its process ends, so each has one of its own.
    let both = |tool: &str, args: &[&str]| {
        let mine = ours(tool, args, b"");
        let mut command = java();
        command.arg(class(tool)).args(args).stdin(Stdio::null()).stderr(Stdio::null());
        let their = command.output().unwrap();
        (events(&mine), events(&String::from_utf8(their.stdout).unwrap()))
    };
    let send = ["--bootstrap-server", &server, "--topic", "t", "--max-messages", "3"];
    let send = [&send[..], &["--value-prefix", "7", "--repeating-keys", "2"]].concat();
    let (mut mine, their) = both("kafka-verifiable-producer", &send);
    let later = |line: &String| line.replace("\"offset\":3", "\"offset\":0");
    let later = |line: &String| {
        later(line).replace("\"offset\":4", "\"offset\":1").replace("\"offset\":5", "\"offset\":2")
    };
    let mut their: Vec<_> = their.iter().map(later).collect();
    // Ours may hear of two records in two threads, and tell of the second one first.
    for all in [&mut mine, &mut their] {
        all[1..4].sort(); // Behind the start.
    }
    assert_eq!(mine, their);
    for (group, more) in [
        ("classic", &["--verbose"][..]),
        ("consumer", &["--group-protocol", "consumer", "--verbose"]),
        ("auto", &["--enable-autocommit", "--group-instance-id", "one"]),
    ] {
        let read = |group: &str| {
            let front = ["--bootstrap-server", &server, "--topic", "t", "--max-messages", "6"];
            let all = [&front[..], &["--group-id", group], more].concat();
            all.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>()
        };
        let (mine, their) = (read(group), read(&format!("{group}-java")));
        let mine: Vec<_> = mine.iter().map(String::as_str).collect();
        let their: Vec<_> = their.iter().map(String::as_str).collect();
        let mine = events(&ours("kafka-verifiable-consumer", &mine, b""));
        let mut command = java();
        command.arg(class("kafka-verifiable-consumer")).args(their);
        let their = command.stdin(Stdio::null()).stderr(Stdio::null()).output().unwrap();
        assert_eq!(mine, events(&String::from_utf8(their.stdout).unwrap()), "{group}");
    }
}

#[test]
fn a_group_has_committed_what_was_printed_and_no_more() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "offsets.topic.num.partitions=1\n");
    let bootstrap = broker.bootstrap();
    let server = ["--bootstrap-server", &bootstrap, "--topic", "t"];
    let lines: String = (0..1000).map(|number| format!("{number}\n")).collect();
    ours("kafka-console-producer", &server, lines.as_bytes());
    for protocol in ["classic", "consumer"] {
        let property = format!("group.protocol={protocol}");
        let from = ["--from-beginning", "--max-messages", "5", "--group", protocol];
        let args = [&server[..], &from, &["--command-property", &property]].concat();
        let all: String = (0..3).map(|_| ours("kafka-console-consumer", &args, b"")).collect();
        let want: String = (0..15).map(|number| format!("{number}\n")).collect();
        assert_eq!(all, want, "{protocol}");
        let committed = compat_tests::admin::committed(broker.port, protocol);
        assert_eq!(committed.values().copied().collect::<Vec<_>>(), [15], "{protocol}");
    }
}

#[test]
fn separators_of_a_file_keep_their_blanks() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "");
    let server = broker.bootstrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let reader = "parse.key=true \nparse.headers : true\nkey.separator=-> \n\
                  headers.delimiter=\\t\nheaders.separator=\\ \nnull.marker  NUL";
    let reader = file("reader.properties", reader);
    let lines = b"a:1 b:2\tkey-> value\nc:NUL\tNUL-> \n";
    let to = |topic| ["--bootstrap-server", &server, "--topic", topic, "--reader-config", &reader];
    ours("kafka-console-producer", &to("ours"), lines);
    theirs_produce(&to("theirs"), lines);
    let formatter = "print.key=true\t\nprint.headers=true\nkey.separator:\\u0020|\\t\n\
                     line.separator=;\\n \\\n    .\nheaders.separator=\\   \nnull.literal =  none ";
    let formatter = file("formatter.properties", formatter);
    let mut java = JavaTools::start();
    for topic in ["ours", "theirs"] {
        let front = ["--bootstrap-server", &server, "--topic", topic, "--partition", "0"];
        let more = ["--from-beginning", "--max-messages", "2", "--formatter-config", &formatter];
        let args = [&front[..], &more].concat();
        let want = "a:1   b:2 |\tkey |\tvalue;\n .c:none  |\tnone  |\t;\n .";
        assert_eq!(ours("kafka-console-consumer", &args, b""), want, "{topic}");
        assert_eq!(theirs(&mut java, "kafka-console-consumer", &args), want, "{topic}");
    }
}
