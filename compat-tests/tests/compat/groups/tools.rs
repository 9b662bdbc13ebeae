//! Apache Kafka's tools for groups work unchanged, with both protocols.

use super::{LIMIT, QUICK, send};
use compat_tests::admin::{committed, create_topic};
use compat_tests::broker::Broker;
use compat_tests::clients::Client;
use compat_tests::kafka::kafka_tool;
use compat_tests::member::{Member, Mode};
use compat_tests::process::until;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

const PROTOCOLS: [&str; 2] = ["classic", "consumer"];

/// Runs a tool, whatever its status, and gives all that it said with single spaces.
#[track_caller]
fn say(broker: &Broker, tool: &str, args: &[&str]) -> String {
    let bootstrap = broker.bootstrap();
    let said = kafka_tool(tool, &[&["--bootstrap-server", &bootstrap], args].concat());
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = said.out.lines().chain(said.err.lines()).map(words);
    lines.collect::<Vec<_>>().join("\n")
}

/// Runs a tool and checks that it says each of `want`, with single spaces.
#[track_caller]
fn check(broker: &Broker, tool: &str, args: &[&str], want: &[&str]) -> String {
    let said = say(broker, tool, args);
    for words in want {
        assert!(said.contains(words), "{tool} {args:?} does not say `{words}`:\n{said}");
    }
    said
}

/// A broker with a topic of two partitions of 100 records each.
fn world(dir: &Path) -> Broker {
    let broker = Broker::start(dir, QUICK);
    create_topic(broker.port, "one", 2);
    send(&broker.bootstrap(), "one", 2, 100);
    broker
}

/// Has the console consumer read `count` records as a member of `group`.
#[track_caller]
fn read(broker: &Broker, group: &str, protocol: &str, count: usize) {
    let (count_text, property) = (count.to_string(), format!("group.protocol={protocol}"));
    let args = ["--topic", "one", "--group", group, "--from-beginning", "--max-messages"];
    let said = kafka_tool(
        "kafka-console-consumer",
        &[
            &["--bootstrap-server", &broker.bootstrap()],
            &args[..],
            &[&count_text, "--command-property", &property, "--timeout-ms", "60000"],
        ]
        .concat(),
    );
    assert_eq!(said.clone().ok().lines().count(), count, "{said:?}");
}

fn offsets(broker: &Broker, group: &str) -> BTreeMap<i32, i64> {
    committed(broker.port, group).into_iter().map(|((_, it), offset)| (it, offset)).collect()
}

#[test]
fn a_console_consumer_goes_on_where_its_group_was() {
    let dir = TempDir::new().unwrap();
    let broker = world(dir.path());
    for protocol in PROTOCOLS {
        read(&broker, protocol, protocol, 120);
        assert_eq!(offsets(&broker, protocol).values().sum::<i64>(), 120);
        read(&broker, protocol, protocol, 80);
        assert_eq!(offsets(&broker, protocol), BTreeMap::from([(0, 100), (1, 100)]));
    }
}

#[test]
fn groups_are_listed_by_state_type_and_protocol() {
    let dir = TempDir::new().unwrap();
    let broker = world(dir.path());
    for protocol in PROTOCOLS {
        read(&broker, protocol, protocol, 200);
    }
    let simple = ["--group", "simple", "--topic", "one", "--reset-offsets", "--execute"];
    let said = [&simple[..], &["--to-latest"]].concat();
    check(&broker, "kafka-consumer-groups", &said, &["simple one 0 100", "simple one 1 100"]);
    let groups = |args: &[&str], want: &[&str]| {
        check(&broker, "kafka-consumer-groups", &[&["--list"], args].concat(), want)
    };
    groups(&[], &PROTOCOLS);
    let all = ["classic Classic Empty", "consumer Consumer Empty", "simple Classic Empty"];
    groups(&["--state", "--type"], &all);
    assert!(!groups(&["--state", "stable"], &[]).contains("classic"));
    assert!(!groups(&["--type", "consumer"], &["consumer Consumer"]).contains("classic"));
    let all = ["classic Classic consumer", "consumer Consumer consumer", "simple Classic"];
    check(&broker, "kafka-groups", &["--list"], &all);
    let said = check(&broker, "kafka-groups", &["--list", "--group-type", "classic"], &["simple"]);
    assert!(!said.contains("Consumer"), "{said}");
}

/// A member that reads topic `one` until all 200 records are committed.
fn settled(broker: &Broker, dir: &Path, mode: Mode) -> (Member, &'static str) {
    let group = mode.name();
    let words = [&broker.bootstrap(), group, "one"];
    let member = Member::start(Client::Java, mode, dir, group, words);
    until("all is read", LIMIT, || {
        (offsets(broker, group).values().sum::<i64>() == 200).then_some(())
    });
    (member, group)
}

#[test]
fn an_active_group_is_described_and_protected() {
    let dir = TempDir::new().unwrap();
    let broker = world(dir.path());
    for mode in [Mode::Eager, Mode::Consumer] {
        let (_member, group) = settled(&broker, dir.path(), mode);
        let tool = |args: &[&str], want: &[&str]| {
            check(&broker, "kafka-consumer-groups", &[&["--group", group], args].concat(), want)
        };
        let at = |partition| format!("{group} one {partition} 100 100 0 ");
        tool(&["--describe"], &[&at(0), &at(1), " /127.0.0.1 consumer-"]);
        let (state, epochs) = match mode {
            Mode::Consumer => ("uniform Stable 2 2 1", "2 2 one:0,1 2 one:0,1"),
            Mode::Eager | Mode::Cooperative => ("range Stable - - 1", "2 - one:0,1 - -"),
        };
        tool(&["--describe", "--state", "--verbose"], &[state]);
        tool(&["--describe", "--members", "--verbose"], &[epochs]);
        tool(
            &["--reset-offsets", "--topic", "one", "--to-earliest", "--execute"],
            &["can only be reset if the group", "the current state is Stable"],
        );
        tool(&["--delete-offsets", "--topic", "one"], &["GroupSubscribedToTopicException"]);
        tool(&["--delete"], &["GroupNotEmptyException"]);
        let said = check(
            &broker,
            "kafka-consumer-groups",
            &["--list", "--state", "stable"],
            &[&format!("{group} Stable")],
        );
        assert!(!said.contains("Empty"), "{said}");
    }
}

/// Resets the group's offsets and checks what the tool says, and what is then committed.
#[track_caller]
fn reset(broker: &Broker, group: &str, how: &[&str], want: [i64; 2]) {
    let args = [&["--reset-offsets", "--group", group, "--execute"], how].concat();
    let said = say(broker, "kafka-consumer-groups", &args);
    let found = offsets(broker, group);
    let want = BTreeMap::from([(0, want[0]), (1, want[1])]);
    assert_eq!(found, want, "{how:?}: {said}");
}

#[test]
fn offsets_are_reset_in_every_form() {
    let dir = TempDir::new().unwrap();
    let broker = world(dir.path());
    let file = dir.path().join("offsets.csv");
    let path = file.display().to_string();
    for (group, form) in PROTOCOLS.iter().flat_map(|it| [(*it, "one"), (*it, "all")]) {
        // Every form once, with one protocol's groups here and the other's there.
        if form == "one" {
            read(&broker, group, group, 200);
            reset(&broker, group, &["--topic", "one", "--to-offset", "40"], [40, 40]);
            reset(&broker, group, &["--topic", "one:1", "--shift-by", "-15"], [40, 25]);
            std::fs::write(&file, "one,0,77\none,1,78\n").unwrap();
            reset(&broker, group, &["--from-file", &path], [77, 78]);
        } else if group == "classic" {
            reset(&broker, group, &["--topic", "one", "--to-earliest"], [0, 0]);
            reset(&broker, group, &["--all-topics", "--to-latest"], [100, 100]);
            reset(&broker, group, &["--all-topics", "--by-duration", "PT1H"], [0, 0]);
        } else {
            let long_ago = "2020-01-01T00:00:00.000";
            reset(&broker, group, &["--topic", "one", "--to-datetime", long_ago], [0, 0]);
            reset(&broker, group, &["--all-topics", "--by-duration", "PT0S"], [100, 100]);
            reset(&broker, group, &["--all-topics", "--to-current"], [100, 100]);
        }
    }
    let dry = ["--reset-offsets", "--group", "classic", "--topic", "one", "--to-latest"];
    let said = [&dry[..], &["--dry-run", "--export"]].concat();
    check(&broker, "kafka-consumer-groups", &said, &["one,0,100", "one,1,100"]);
    assert_eq!(offsets(&broker, "classic"), BTreeMap::from([(0, 0), (1, 0)]));
}

#[test]
fn offsets_and_groups_are_deleted() {
    let dir = TempDir::new().unwrap();
    let broker = world(dir.path());
    for protocol in PROTOCOLS {
        read(&broker, protocol, protocol, 200);
        let delete = ["--delete-offsets", "--group", protocol, "--topic", "one:1"];
        check(&broker, "kafka-consumer-groups", &delete, &["one 1 Successful"]);
        assert_eq!(offsets(&broker, protocol), BTreeMap::from([(0, 100)]));
    }
    let both = ["--delete", "--group", "classic", "--group", "consumer"];
    check(&broker, "kafka-consumer-groups", &both, &["was successful"]);
    let none = ["--delete", "--group", "nobody"];
    check(&broker, "kafka-consumer-groups", &none, &["GroupIdNotFoundException"]);
    let said = say(&broker, "kafka-consumer-groups", &["--list"]);
    assert_eq!(said.trim(), "", "{said}");
}

#[test]
fn the_consumers_that_measure_and_verify_read_all() {
    let dir = TempDir::new().unwrap();
    let broker = world(dir.path());
    for protocol in PROTOCOLS {
        let property = format!("group.protocol={protocol}");
        let group = format!("perf-{protocol}");
        let perf = ["--topic", "one", "--num-records", "200", "--group", &group];
        let perf = [&perf[..], &["--command-property", &property]].concat();
        check(&broker, "kafka-consumer-perf-test", &perf, &[" 200, "]);
        assert_eq!(offsets(&broker, &group), BTreeMap::from([(0, 100), (1, 100)]));
        let group = format!("verifiable-{protocol}");
        let capitals = protocol.to_uppercase();
        let verify = ["--topic", "one", "--group-id", &group, "--max-messages", "200"];
        let said = check(
            &broker,
            "kafka-verifiable-consumer",
            &[&verify[..], &["--group-protocol", &capitals]].concat(),
            &["partitions_assigned", "partitions_revoked", "shutdown_complete"],
        );
        assert!(!said.contains("\"success\":false"), "{said}");
        assert_eq!(offsets(&broker, &group), BTreeMap::from([(0, 100), (1, 100)]));
    }
}
