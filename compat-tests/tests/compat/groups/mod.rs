//! Groups of real clients: tools, rebalances, crashes, and what lies on the disk.

mod applications;
mod kills;
mod on_disk;
mod rebalance;
mod tools;

use compat_tests::admin::{committed, create_topic};
use compat_tests::clients::Client;
use compat_tests::member::{Member, Mode, Story};
use compat_tests::ownership::{is_fair, overlaps, readings};
use compat_tests::process::until;
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::time::Duration;
use tempfile::TempDir;

/// Rebalances without the waits that are kind to people, and crashes that are noticed soon.
const QUICK: &str = "group.initial.rebalance.delay.ms=0\n\
    group.consumer.min.session.timeout.ms=6000\ngroup.consumer.session.timeout.ms=6000\n\
    group.consumer.min.heartbeat.interval.ms=500\ngroup.consumer.heartbeat.interval.ms=500\n";
const LIMIT: Duration = Duration::from_secs(60);

/// Sends `count` small records to each partition.
pub(crate) fn send(bootstrap: &str, topic: &str, partitions: usize, count: usize) {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", bootstrap).set("linger.ms", "5");
    let producer: BaseProducer = config.create().unwrap();
    for number in 0..count {
        for partition in 0..partitions {
            let (key, value) = (number.to_string(), format!("{partition}/{number}"));
            let record = BaseRecord::to(topic).key(&key).payload(&value);
            producer.send(record.partition(i32::try_from(partition).unwrap())).unwrap();
        }
        producer.poll(Duration::ZERO);
    }
    producer.flush(LIMIT).unwrap();
}

/// A topic, and the members of one group that read it.
struct Group {
    port: u16,
    bootstrap: String,
    dir: TempDir,
    name: String,
    partitions: usize,
    sent: usize,
    members: Vec<Member>,
    gone: Vec<Member>,
}

impl Group {
    /// A group and a topic of one name.
    fn new(port: u16, name: &str, partitions: usize) -> Group {
        create_topic(port, name, partitions);
        Group::found(port, name, partitions, 0)
    }

    /// A group and a topic that are there, with so many records a partition.
    fn found(port: u16, name: &str, partitions: usize, sent: usize) -> Group {
        let (members, gone) = (Vec::new(), Vec::new());
        let (dir, name) = (TempDir::new().unwrap(), name.to_owned());
        let bootstrap = format!("127.0.0.1:{port}");
        Group { port, bootstrap, dir, name, partitions, sent, members, gone }
    }

    fn send(&mut self, count: usize) {
        send(&self.bootstrap, &self.name, self.partitions, count);
        self.sent += count;
    }

    fn join(&mut self, client: Client, mode: Mode) {
        let number = self.members.len() + self.gone.len();
        let name = format!("{number}-{client:?}-{mode:?}");
        let words = [&self.bootstrap, self.name.as_str(), &self.name];
        self.members.push(Member::start(client, mode, self.dir.path(), &name, words));
    }

    fn leave(&mut self, at: usize) {
        let mut member = self.members.remove(at);
        member.leave();
        self.gone.push(member);
    }

    fn crash(&mut self, at: usize) {
        let mut member = self.members.remove(at);
        member.crash();
        self.gone.push(member);
    }

    /// Waits until the members own all partitions in fair shares.
    #[track_caller]
    fn settle(&mut self) {
        until("fair shares", LIMIT, || {
            let alive = self
                .members
                .iter_mut()
                .find_map(|it| (!it.server.is_up()).then(|| it.server.tail()));
            assert_eq!(alive, None, "a member of {} ended", self.name);
            let shares: Vec<_> = self.members.iter().map(Member::owned).collect();
            is_fair(&shares, self.partitions).then_some(())
        });
    }

    /// Waits until everything that was sent is committed.
    #[track_caller]
    fn catch_up(&self) {
        let (sent, topic) = (i64::try_from(self.sent).unwrap(), &self.name);
        until("all is committed", LIMIT, || {
            let found = committed(self.port, &self.name);
            let all = (0..i32::try_from(self.partitions).unwrap())
                .all(|it| found.get(&(topic.clone(), it)) == Some(&sent));
            all.then_some(())
        });
    }

    fn story(&self) -> Story {
        let members = self.members.iter().chain(&self.gone);
        members.map(|it| (it.name.clone(), it.said())).collect()
    }

    /// Checks that no two members had a partition at once, that every record was read, and none
    /// again after it was committed.
    #[track_caller]
    fn check(&self) {
        let story = self.story();
        assert_eq!(overlaps(&story), Vec::<String>::new(), "two owners at once: {story:#?}");
        let readings = readings(&story);
        for partition in 0..i32::try_from(self.partitions).unwrap() {
            let reading = readings.get(&partition).cloned().unwrap_or_default();
            assert_eq!(reading.wrong, Vec::<String>::new(), "{story:#?}");
            assert_eq!(reading.times.len(), self.sent, "{partition}: {story:#?}");
        }
    }

    /// Checks besides that none was read twice, as none need be where nobody crashed.
    #[track_caller]
    fn check_once(&self) {
        self.check();
        for (partition, reading) in readings(&self.story()) {
            let twice: Vec<_> = reading.times.iter().filter(|(_, times)| 1 < **times).collect();
            assert!(twice.is_empty(), "{partition}: {twice:?}: {:#?}", self.story());
        }
    }
}
