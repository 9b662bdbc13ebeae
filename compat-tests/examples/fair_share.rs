//! How long members that join at once take to a fair share, on Apache Kafka and on Highwater in
//! turn, with the same members and settings. `cargo run -p compat-tests --example fair_share`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a program run by hand, which stops at the first surprise"
)]

use clap::Parser;
use compat_tests::admin::create_topic;
use compat_tests::broker::Broker;
use compat_tests::clients::Client;
use compat_tests::kafka::{Kafka, Quorum};
use compat_tests::member::{Event, Mode, Story, owned, stories};
use compat_tests::ownership::is_fair;
use compat_tests::process::{Server, until};
use nix::sys::signal::Signal;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// No delay of the first rebalance in both; all else as it comes.
const PROPERTIES: &str = "group.initial.rebalance.delay.ms=0\n";
/// What the Java client has by itself: the members' own settings are for quick tests.
const CLIENT: [&str; 2] = ["session.timeout.ms=45000", "heartbeat.interval.ms=3000"];

#[derive(Debug, Parser)]
struct Options {
    #[arg(long, default_value_t = 10)]
    members: usize,
    #[arg(long, default_value_t = 900)]
    partitions: usize,
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// One group's way to fair shares.
struct Way {
    /// From the first member's call to the last partition's new owner.
    ms: u64,
    /// The group's last generation or epoch: one more with each rebalance.
    epoch: i64,
    /// Calls of all members' listeners.
    calls: usize,
}

fn way(port: u16, options: &Options, mode: Mode, name: &str, dir: &Path) -> Way {
    create_topic(port, name, options.partitions);
    let log = dir.join(format!("{name}.log"));
    let bootstrap = format!("127.0.0.1:{port}");
    let more = if mode == Mode::Consumer { [].as_slice() } else { &CLIENT };
    let words = [&bootstrap, name, name, "member"];
    let mut pool = Server::start(&mut Client::pool(words, mode, options.members, 0, more), &log);
    until("fair shares", Duration::from_secs(120), || {
        std::thread::sleep(Duration::from_millis(200));
        assert!(pool.is_up(), "{}", pool.tail());
        let shares: Vec<_> = stories(&log).values().map(|said| owned(said)).collect();
        (shares.len() == options.members && is_fair(&shares, options.partitions)).then_some(())
    });
    let way = measure(&stories(&log));
    pool.signal(Signal::SIGTERM);
    pool.wait(Duration::from_secs(60));
    way
}

fn measure(story: &Story) -> Way {
    let all = || story.values().flatten();
    let given = |event: &Event| matches!(event, Event::Own(_) | Event::Give(_) | Event::Lost(_));
    let first = all().filter(|it| it.event == Event::Join).map(|it| it.at).min();
    let last = all().filter(|it| given(&it.event)).map(|it| it.at).max();
    let epoch = all().filter_map(|it| it.event.epoch());
    Way {
        ms: last.unwrap_or_default().saturating_sub(first.unwrap_or_default()),
        epoch: epoch.max().unwrap_or_default(),
        calls: all().filter(|it| given(&it.event)).count(),
    }
}

fn main() {
    let options = Options::parse();
    let (theirs, ours, logs) =
        (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let kafka = Kafka::start_with(theirs.path(), Quorum::Dynamic, PROPERTIES);
    let broker = Broker::start(ours.path(), PROPERTIES);
    println!("broker\tmode\tround\tms\tepoch\tcalls");
    for round in 0..options.rounds {
        for mode in [Mode::Cooperative, Mode::Consumer] {
            for (broker, port) in [("kafka", kafka.port), ("highwater", broker.port)] {
                let name = format!("{broker}-{}-{round}", mode.name());
                let Way { ms, epoch, calls } = way(port, &options, mode, &name, logs.path());
                println!("{broker}\t{}\t{round}\t{ms}\t{epoch}\t{calls}", mode.name());
            }
        }
    }
}
