//! How long members that join at once take to a fair share, or (`--newcomers`) those who join a group
//! that is settled, on Apache Kafka and on Highwater in turn, with the same members and settings;
//! with `--fresh` in the first group that a started broker has. `cargo run -p compat-tests --example fair_share`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a program run by hand, which stops at the first surprise"
)]

use clap::Parser;
use compat_tests::admin::create_topic;
use compat_tests::broker::Broker;
use compat_tests::clients::Client;
use compat_tests::kafka::{Kafka, Quorum};
use compat_tests::member::{Event, Mode, Story, owned, stories};
use compat_tests::ownership::is_fair;
use compat_tests::process::{Server, until_every};
use nix::sys::signal::Signal;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// No delay of the first rebalance in both; all else as it comes.
const PROPERTIES: &str = "group.initial.rebalance.delay.ms=0\n";
/// Between two looks at what members said, which take time from them.
const LOOK: Duration = Duration::from_millis(200);
/// What the Java client has by itself: the members' own settings are for quick tests.
const CLIENT: [&str; 2] = ["session.timeout.ms=45000", "heartbeat.interval.ms=3000"];

#[derive(Debug, Parser)]
struct Options {
    #[arg(long, default_value_t = 10)]
    members: usize,
    /// Who join at once when the others have their shares; 0: those are measured.
    #[arg(long, default_value_t = 0)]
    newcomers: usize,
    #[arg(long, default_value_t = 900)]
    partitions: usize,
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Both brokers are started anew, on empty directories, for each group.
    #[arg(long)]
    fresh: bool,
}

/// Both brokers, and where their data is.
struct Pair {
    kafka: Kafka,
    broker: Broker,
    /// Last, so that nobody writes there any more.
    _dirs: [TempDir; 2],
}

impl Pair {
    fn start() -> Pair {
        let dirs = [TempDir::new().unwrap(), TempDir::new().unwrap()];
        let [theirs, ours] = &dirs;
        let kafka = Kafka::start_with(theirs.path(), Quorum::Dynamic, PROPERTIES);
        let broker = Broker::start(ours.path(), PROPERTIES);
        Pair { kafka, broker, _dirs: dirs }
    }
}

/// One group's way to fair shares.
struct Way {
    /// From the first (new) member's call to the last partition's new owner.
    ms: u64,
    /// The group's last generation or epoch: one more with each rebalance.
    epoch: i64,
    /// Calls of all members' listeners.
    calls: usize,
}

fn way(port: u16, options: &Options, mode: Mode, name: &str, dir: &Path) -> Way {
    create_topic(port, name, options.partitions);
    let bootstrap = format!("127.0.0.1:{port}");
    let more = if mode == Mode::Consumer { [].as_slice() } else { &CLIENT };
    let (mut pools, mut logs, mut count) = (Vec::new(), Vec::new(), 0);
    for (pool, members) in [("member", options.members), ("newcomer", options.newcomers)] {
        if members == 0 {
            continue;
        }
        let log = dir.join(format!("{name}-{pool}.log"));
        let words = [&bootstrap, name, name, pool];
        pools.push(Server::start(&mut Client::pool(words, mode, members, 0, more), &log));
        logs.push(log);
        count += members;
        until_every(LOOK, "fair shares", Duration::from_secs(120), || {
            pools.iter_mut().for_each(|pool| assert!(pool.is_up(), "{}", pool.tail()));
            let shares: Vec<_> = told(&logs).values().map(|said| owned(said)).collect();
            (shares.len() == count && is_fair(&shares, options.partitions)).then_some(())
        });
    }
    let newest = logs.last().map(|log| stories(log)).unwrap_or_default();
    let joins = newest.values().flatten().filter(|it| it.event == Event::Join);
    let way = measure(&told(&logs), joins.map(|it| it.at).min().unwrap_or_default());
    for mut pool in pools {
        pool.signal(Signal::SIGTERM);
        pool.wait(Duration::from_secs(60));
    }
    way
}

fn told(logs: &[PathBuf]) -> Story {
    logs.iter().flat_map(|log| stories(log)).collect()
}

fn measure(story: &Story, first: u64) -> Way {
    let all = || story.values().flatten().filter(|it| first <= it.at);
    let given = |event: &Event| matches!(event, Event::Own(_) | Event::Give(_) | Event::Lost(_));
    let last = all().filter(|it| given(&it.event)).map(|it| it.at).max();
    let epoch = all().filter_map(|it| it.event.epoch());
    Way {
        ms: last.unwrap_or_default().saturating_sub(first),
        epoch: epoch.max().unwrap_or_default(),
        calls: all().filter(|it| given(&it.event)).count(),
    }
}

fn mean_and_median(mut times: Vec<u64>) -> [f64; 2] {
    times.sort_unstable();
    let seconds = |of: &[u64]| Duration::from_millis(of.iter().sum()).as_secs_f64();
    let middle = times.len() / 2;
    let median = if times.len().is_multiple_of(2) {
        &times[middle - 1..=middle]
    } else {
        &times[middle..=middle]
    };
    [&times, median].map(|of| 1000.0 * seconds(of) / f64::from(u32::try_from(of.len()).unwrap()))
}

fn main() {
    let options = Options::parse();
    let logs = TempDir::new().unwrap();
    let mut running = None;
    let mut times = BTreeMap::<_, Vec<u64>>::new();
    println!("broker\tmode\tround\tms\tepoch\tcalls");
    for round in 0..options.rounds {
        for mode in [Mode::Cooperative, Mode::Consumer] {
            if options.fresh {
                running = None; // Ended before the next ones start.
            }
            let pair = running.get_or_insert_with(Pair::start);
            for (broker, port) in [("kafka", pair.kafka.port), ("highwater", pair.broker.port)] {
                let name = format!("{broker}-{}-{round}", mode.name());
                let Way { ms, epoch, calls } = way(port, &options, mode, &name, logs.path());
                println!("{broker}\t{}\t{round}\t{ms}\t{epoch}\t{calls}", mode.name());
                times.entry((broker, mode.name())).or_default().push(ms);
            }
        }
    }
    println!("\nmode\tms\tkafka\thighwater\tratio");
    for mode in [Mode::Cooperative, Mode::Consumer].map(Mode::name) {
        let of = |broker| times.get(&(broker, mode)).map(|it| mean_and_median(it.clone()));
        let (Some(theirs), Some(ours)) = (of("kafka"), of("highwater")) else { continue };
        for (what, theirs, ours) in [("mean", theirs[0], ours[0]), ("median", theirs[1], ours[1])] {
            println!("{mode}\t{what}\t{theirs:.0}\t{ours:.0}\t{:.2}", theirs / ours);
        }
    }
}
