//! A storm over one group: members join, leave and crash at random while records come. Then it is
//! checked, by what the members said, that no partition had two owners at once, that nothing was
//! skipped or read again after its commit, that no committed offset went back, and that the group
//! settled in time. `KEEP` names a folder for what the members said, if anything was wrong.
//! `cargo run -p compat-tests --example storm -- --help`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a program run by hand, which stops at the first surprise"
)]

use clap::Parser;
use compat_tests::admin::{await_coordinator, committed, create_topic};
use compat_tests::broker::Broker;
use compat_tests::clients::Client;
use compat_tests::member::{Event, Mode, Said, Story, owned, stories};
use compat_tests::ownership::{is_fair, overlaps, readings};
use compat_tests::process::{Server, until, until_every};
use nix::sys::signal::Signal;
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

const TOPIC: &str = "storm";
/// Of the members: as they say it to the coordinator, or as the broker's properties say it.
const SESSION: Duration = Duration::from_secs(10);
const REBALANCE: Duration = Duration::from_secs(30);

#[derive(Debug, Parser)]
struct Options {
    /// eager, cooperative or consumer.
    #[arg(long, default_value = "consumer")]
    mode: Mode,
    #[arg(long, default_value_t = 200)]
    members: usize,
    #[arg(long, default_value_t = 500)]
    partitions: usize,
    /// Processes that the members live in; a crash takes a process.
    #[arg(long, default_value_t = 10)]
    pools: usize,
    /// How long members come and go.
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// Seconds between two crashes of a process.
    #[arg(long, default_value_t = 10)]
    crash_every: u64,
    /// Seconds between two kills of the broker; 0: none.
    #[arg(long, default_value_t = 0)]
    kill_every: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

/// A process of members, by the file of what they say.
struct Pool {
    server: Server,
    log: PathBuf,
}

struct Storm {
    options: Options,
    dir: TempDir,
    bootstrap: String,
    calm: u64,
    alive: Vec<Pool>,
    dead: Vec<Pool>,
    chance: u64,
}

impl Storm {
    fn random(&mut self, below: usize) -> usize {
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.chance >> 33).unwrap() % below
    }

    fn begin(&mut self) {
        let name = format!("pool-{}", self.alive.len() + self.dead.len());
        let log = self.dir.path().join(format!("{name}.log"));
        let words = [&self.bootstrap, TOPIC, TOPIC, &name];
        let count = self.options.members / self.options.pools;
        let rebalance = format!("max.poll.interval.ms={}", REBALANCE.as_millis());
        let session = format!("session.timeout.ms={}", SESSION.as_millis());
        let mut more = vec![rebalance.as_str()];
        if self.options.mode != Mode::Consumer {
            more.extend([session.as_str(), "heartbeat.interval.ms=1000"]);
        }
        let mut command = Client::pool(words, self.options.mode, count, self.calm, &more);
        self.alive.push(Pool { server: Server::start(&mut command, &log), log });
    }

    fn crash(&mut self) {
        let at = self.random(self.alive.len());
        let mut pool = self.alive.remove(at);
        pool.server.signal(Signal::SIGKILL);
        pool.server.wait(Duration::from_secs(10));
        self.dead.push(pool);
        self.begin();
    }

    fn story(&self, pools: &[Pool]) -> Story {
        pools.iter().flat_map(|pool| stories(&pool.log)).collect()
    }

    /// Waits until the members that are there have fair shares; when the last was given.
    fn settle(&mut self) -> u64 {
        let limit = SESSION + REBALANCE + Duration::from_secs(30);
        let end = Instant::now() + limit;
        let wait = limit + Duration::from_secs(1);
        until_every(Duration::from_millis(500), "the members settle", wait, || {
            for pool in &mut self.alive {
                assert!(pool.server.is_up(), "a pool ended: {}", pool.server.tail());
            }
            let story = self.story(&self.alive);
            let is_there = |said: &&Vec<Said>| !said.iter().any(|it| it.event == Event::Closed);
            let shares: Vec<_> = story.values().filter(is_there).map(|said| owned(said)).collect();
            let all = self.calm <= now() && shares.len() == self.options.members;
            if all && is_fair(&shares, self.options.partitions) {
                let given = |it: &&Said| matches!(it.event, Event::Own(_) | Event::Give(_));
                let last = story.values().flatten().filter(given).map(|it| it.at).max();
                return Some(last.unwrap_or(0));
            }
            if end <= Instant::now() {
                let sizes: Vec<_> = shares.iter().map(BTreeSet::len).collect();
                self.keep_logs();
                panic!("{} members do not settle: {sizes:?}", shares.len());
            }
            None
        })
    }

    /// Keeps what the members said, where `KEEP` says.
    fn keep_logs(&self) {
        let Some(to) = std::env::var_os("KEEP").map(PathBuf::from) else { return };
        std::fs::create_dir_all(&to).unwrap();
        for pool in self.alive.iter().chain(&self.dead) {
            std::fs::copy(&pool.log, to.join(pool.log.file_name().unwrap())).unwrap();
        }
    }
}

/// Whether the storm is over, which is waited for so long.
fn is_over(ended: &Receiver<()>, patience: Duration) -> bool {
    ended.recv_timeout(patience) != Err(RecvTimeoutError::Timeout)
}

/// Sends a record to each partition every second until `ended` closes, and says how many it sent to
/// each.
fn produce(bootstrap: &str, partitions: usize, ended: Receiver<()>) -> JoinHandle<usize> {
    let mut config = ClientConfig::new();
    let config = config.set("bootstrap.servers", bootstrap).set("message.timeout.ms", "300000");
    let producer: BaseProducer = config.set("enable.idempotence", "true").create().unwrap();
    spawn(move || {
        let mut sent = 0;
        while !is_over(&ended, Duration::from_millis(900)) {
            for partition in 0..partitions {
                let record = BaseRecord::<str, str>::to(TOPIC).payload("storm");
                producer.send(record.partition(i32::try_from(partition).unwrap())).unwrap();
            }
            sent += 1;
            producer.poll(Duration::from_secs(1));
        }
        producer.flush(Duration::from_secs(60)).unwrap();
        sent
    })
}

/// Asks every second what is committed until `ended` closes, and collects what went back.
fn watch(port: u16, ended: Receiver<()>) -> JoinHandle<Vec<String>> {
    spawn(move || {
        let (mut last, mut back) = (BTreeMap::new(), Vec::new());
        while !is_over(&ended, Duration::from_secs(1)) {
            for (key, offset) in committed(port, TOPIC) {
                let before = last.insert(key.clone(), offset).unwrap_or_default();
                if offset < before {
                    back.push(format!("{key:?}: {offset} after {before}"));
                }
            }
        }
        back
    })
}

fn properties() -> String {
    let session = SESSION.as_millis();
    format!(
        "group.initial.rebalance.delay.ms=0\ngroup.consumer.min.session.timeout.ms={session}\n\
         group.consumer.session.timeout.ms={session}\ngroup.consumer.max.size=2147483647\n\
         group.consumer.min.heartbeat.interval.ms=1000\ngroup.consumer.heartbeat.interval.ms=1000\n"
    )
}

fn blow(storm: &mut Storm, broker: &mut Broker) {
    let (mut crash, mut kill) = (now(), now());
    let limit = Duration::from_secs(storm.options.seconds + 120);
    until_every(Duration::from_millis(200), "the storm ends", limit, || {
        if crash + 1000 * storm.options.crash_every < now() {
            storm.crash();
            crash = now();
        }
        if storm.options.kill_every != 0 && kill + 1000 * storm.options.kill_every < now() {
            broker.kill();
            broker.start_again();
            kill = now();
        }
        (storm.calm <= now() + 2000).then_some(())
    });
}

fn caught_up(port: u16, partitions: usize, sent: usize) -> bool {
    let found = committed(port, TOPIC);
    found.len() == partitions && found.values().all(|&it| it == i64::try_from(sent).unwrap())
}

/// What of the story is not as it must be.
fn wrong(story: &Story, partitions: usize, sent: usize) -> Vec<String> {
    let mut found = overlaps(story);
    let readings = readings(story);
    for partition in 0..i32::try_from(partitions).unwrap() {
        let reading = readings.get(&partition).cloned().unwrap_or_default();
        found.extend(reading.wrong);
        if reading.times.len() != sent {
            found.push(format!("{partition}: {} of {sent} read", reading.times.len()));
        }
    }
    found
}

fn report(storm: &Storm, settled: u64, story: &Story) {
    let count =
        |want: fn(&Event) -> bool| story.values().flatten().filter(|it| want(&it.event)).count();
    let joins = count(|it| *it == Event::Join);
    let leaves = count(|it| *it == Event::Closed);
    let last =
        story.values().flatten().filter(|it| matches!(it.event, Event::Join | Event::Closed));
    let last = last.map(|it| it.at).filter(|at| *at <= settled).max().unwrap_or_default();
    let epoch = story.values().flatten().filter_map(|it| it.event.epoch());
    println!(
        "{}: {joins} joins, {leaves} leaves, {} crashes of a process, {} commits, {} refused, {} times lost; \
         epoch {}; settled {} ms after the last event",
        storm.options.mode.name(),
        storm.dead.len(),
        count(|it| matches!(it, Event::Kept(..))),
        count(|it| *it == Event::Refused),
        count(|it| matches!(it, Event::Lost(_))),
        epoch.max().unwrap_or_default(),
        settled.saturating_sub(last),
    );
}

fn main() {
    let options = Options::parse();
    let dir = TempDir::new().unwrap();
    let mut broker = Broker::start(dir.path(), &properties());
    create_topic(broker.port, TOPIC, options.partitions);
    await_coordinator(broker.port, TOPIC);
    let (bootstrap, port) = (broker.bootstrap(), broker.port);
    let (partitions, pools) = (options.partitions, options.pools);
    let (calm, chance) = (now() + 1000 * options.seconds, options.seed);
    let mut storm =
        Storm { options, dir, bootstrap, calm, alive: Vec::new(), dead: Vec::new(), chance };
    (0..pools).for_each(|_| storm.begin());
    let ((end_sending, sent), (end_watching, watched)) = (channel(), channel());
    let sending = produce(&storm.bootstrap, partitions, sent);
    let watching = watch(port, watched);
    blow(&mut storm, &mut broker);
    let settled = storm.settle();
    drop((end_sending, end_watching));
    let (sent, mut found) = (sending.join().unwrap(), watching.join().unwrap());
    let limit = Duration::from_secs(60);
    until("all is committed", limit, || caught_up(port, partitions, sent).then_some(()));
    for pool in &mut storm.alive {
        pool.server.signal(Signal::SIGTERM);
        pool.server.wait(Duration::from_secs(60));
    }
    let story: Story =
        storm.story(&storm.alive).into_iter().chain(storm.story(&storm.dead)).collect();
    report(&storm, settled, &story);
    found.extend(wrong(&story, partitions, sent));
    if !found.is_empty() {
        storm.keep_logs();
    }
    assert!(
        found.is_empty(),
        "{} things are wrong: {:#?}",
        found.len(),
        &found[..found.len().min(20)]
    );
    println!(
        "{}: one owner a partition, nothing skipped, nothing went back",
        storm.options.mode.name()
    );
}
