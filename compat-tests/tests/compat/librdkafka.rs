//! librdkafka's own test suite: each test that the baseline says passes, in a process of its own.
//! The others need what there is not yet; `compat-tests/librdkafka` runs them too, by hand.

use compat_tests::broker::Broker;
use compat_tests::home::{root, tool};
use compat_tests::process::run;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Most of a test's time it waits, so more run at once than there are cores.
const AT_ONCE: usize = 4;

#[test]
#[expect(clippy::print_stdout, reason = "shown with a failure: how each test went")]
fn what_the_baseline_says_passes_passes() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "num.partitions=4\n");
    let home = tool("librdkafka");
    let baseline = std::fs::read_to_string(root().join("compat-tests/librdkafka.tsv")).unwrap();
    let row = |line: &str| {
        let mut columns = line.split('\t').map(str::to_owned);
        Some((columns.next()?, columns.next()?))
    };
    let passing = baseline.lines().filter_map(row).filter(|(_, want)| want == "PASS");
    let mut shares = vec![Vec::new(); AT_ONCE];
    passing.enumerate().for_each(|(at, (test, _))| shares[at % AT_ONCE].push(test));
    assert!(shares.iter().all(|share| 5 < share.len()), "{shares:?}");
    let share = |(number, tests): (usize, Vec<String>)| {
        let mut command = Command::new(root().join("compat-tests/librdkafka"));
        command.arg(broker.bootstrap()).args(tests);
        command.env("RESULTS", home.join(format!("results.{number}.tsv")));
        std::thread::spawn(move || run(&mut command, Duration::from_secs(1800)))
    };
    let running: Vec<_> = shares.into_iter().enumerate().map(share).collect();
    for share in running {
        println!("{}", share.join().unwrap().ok());
    }
}
