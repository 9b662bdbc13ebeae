//! librdkafka's own test suite: each test that the baseline says passes, in a process of its own.
//! The tests of groups pass with both protocols. The others need what there is not yet;
//! `compat-tests/librdkafka` runs them too, by hand.

use compat_tests::broker::Broker;
use compat_tests::home::{root, tool};
use compat_tests::process::run;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Most of a test's time it waits, so more run at once than there are cores.
const AT_ONCE: usize = 6;
/// What the suite expects of a broker's configuration.
const MORE: &str = "num.partitions=4\ngroup.initial.rebalance.delay.ms=500\n";

#[test]
fn what_passes_with_the_classic_protocol_passes() {
    what_the_baseline_says_passes_passes("classic", 1);
}

#[test]
fn what_passes_with_the_consumer_protocol_passes() {
    what_the_baseline_says_passes_passes("consumer", 2);
}

#[track_caller]
#[expect(clippy::print_stdout, reason = "shown with a failure: how each test went")]
fn what_the_baseline_says_passes_passes(protocol: &'static str, column: usize) {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), MORE);
    let home = tool("librdkafka");
    let baseline = std::fs::read_to_string(root().join("compat-tests/librdkafka.tsv")).unwrap();
    let row = |line: &str| {
        let columns: Vec<_> = line.split('\t').collect();
        let in_ci = !columns[3].starts_with("by hand");
        (in_ci && columns[column] == "PASS").then(|| columns[0].to_owned())
    };
    let mut shares = vec![Vec::new(); AT_ONCE];
    let passing = baseline.lines().filter_map(row).enumerate();
    passing.for_each(|(at, test)| shares[at % AT_ONCE].push(test));
    assert!(shares.iter().all(|share| 3 < share.len()), "{shares:?}");
    let share = |(number, tests): (usize, Vec<String>)| {
        let mut command = Command::new(root().join("compat-tests/librdkafka"));
        command.arg(broker.bootstrap()).args(tests).env("PROTOCOL", protocol);
        command.env("TRIES", "2");
        command.env("RESULTS", home.join(format!("results.{protocol}.{number}.tsv")));
        std::thread::spawn(move || run(&mut command, Duration::from_secs(1800)))
    };
    let running: Vec<_> = shares.into_iter().enumerate().map(share).collect();
    // All of them, before one that failed ends the broker.
    let done: Vec<_> = running.into_iter().map(|share| share.join().unwrap()).collect();
    for share in done {
        println!("{}", share.ok());
    }
}
