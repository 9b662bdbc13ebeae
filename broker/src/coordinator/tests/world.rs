//! A broker that has nothing but a coordinator of toys.

use super::toy::{Ask, Said, Toy, built};
use crate::config::{BrokerConfig, DynamicConfig, Given};
use crate::coordinator::load::{Failure, load};
use crate::coordinator::scene::Scene;
use crate::coordinator::{Asked, Coordinator, World as Parts, partition_of};
use crate::partition::dir::Syncs;
use crate::partition::{Dir, Partition, Place, Rules, Settings, Table, Term, Topic};
use kraft::env::{Clock, Env, os};
use kraft::image::Image;
use kraft::record::{PartitionRecord, Record, RemoveTopicRecord, TopicRecord};
use protocol::config::describe::Settings as Overrides;
use protocol::error::ErrorCode;
use protocol::ids::{TopicPartition, Uuid};
use protocol::records::batches;
use protocol::records::builder::BatchBuilder;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use storage::disk::Disk;
use storage::disk::sim::SimDisk;
use storage::last_stop::LastStop;
use storage::log::{Log, Open};
use storage::log_dir::{Claim, MetaProperties};
use tokio::time::Instant;

pub(crate) const NODE: i32 = 1;
pub(crate) const SEGMENT_BYTES: usize = 4_000_000;
const TOPIC: Uuid = Uuid([7; 16]);

/// The time that tokio's timers go by.
#[derive(Debug)]
struct TimerClock(Instant);

impl Clock for TimerClock {
    fn wall_ms(&self) -> i64 {
        1_700_000_000_000 + i64::try_from(self.monotonic().as_millis()).unwrap()
    }
    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
}

pub(crate) struct World {
    pub(crate) coordinator: Arc<Coordinator<Toy>>,
    parts: Parts,
    dir: Arc<Dir>,
    partitions: Vec<Arc<Partition>>,
    image: Image,
    overrides: Overrides,
    epoch: i32,
}

impl World {
    /// One whose toys are kept in so many shards.
    pub(crate) async fn new(shards: i32) -> World {
        let disk = Arc::new(SimDisk::default());
        let clock = Arc::new(TimerClock(Instant::now()));
        let env = Env { disk: Arc::clone(&disk) as _, clock, ..os::env() };
        let config = BrokerConfig::of(Given::standalone(), "localhost").unwrap();
        let claim = Claim::take(disk as Arc<dyn Disk>, Path::new("/data")).unwrap();
        let log_dir = claim.format(MetaProperties::new("cluster", NODE, Uuid([1; 16]))).unwrap();
        let parts =
            Parts { env, config: DynamicConfig::new(config), table: Arc::new(Table::default()) };
        let mut world = World {
            coordinator: Coordinator::new(parts.clone()),
            parts,
            dir: Arc::new(Dir::new(Arc::new(log_dir), LastStop::Clean, 0)),
            partitions: Vec::new(),
            image: Image::default(),
            overrides: Overrides::from([("segment.bytes".to_owned(), SEGMENT_BYTES.to_string())]),
            epoch: 0,
        };
        world.create_toys(shards);
        world.open();
        world.all_loaded().await;
        world
    }

    fn create_toys(&mut self, shards: i32) {
        let topic =
            TopicRecord { name: "toys".to_owned(), topic_id: TOPIC, ..TopicRecord::default() };
        let partition = |partition_id| {
            let leader = NODE;
            PartitionRecord { partition_id, topic_id: TOPIC, leader, ..PartitionRecord::default() }
        };
        self.records([topic.into()]);
        self.records((0..shards).map(|number| partition(number).into()));
    }

    fn records(&mut self, records: impl IntoIterator<Item = Record>) {
        for record in records {
            let offset = self.image.offset + 1;
            self.image.apply(&record, offset).unwrap();
            self.image.offset = offset;
        }
    }

    fn settings(&self) -> Settings {
        let config = self.parts.config.load();
        Settings::of(&config.topic(&self.overrides), &config.values.own)
    }

    /// Opens the logs, leads, and has the coordinator follow.
    fn open(&mut self) {
        let count = self.image.topic("toys").unwrap().partitions.len();
        let at = |partition| TopicPartition { topic: "toys".into(), partition };
        let log_dir = Arc::clone(self.dir.log_dir().unwrap());
        let open = |number: i32| {
            let config = Arc::new(self.settings().log);
            let path = log_dir.partition_path(&at(number));
            let disk = Arc::clone(log_dir.disk());
            let log =
                Log::open(Open { last_stop: LastStop::Clean, ..Open::new(disk, path, config, 0) })
                    .unwrap()
                    .0;
            let dir = Arc::clone(&self.dir);
            Arc::new(Partition::new(at(number), TOPIC, dir, Arc::new(log)))
        };
        self.partitions = (0..i32::try_from(count).unwrap()).map(open).collect();
        let places = (0..).zip(self.partitions.iter().cloned().map(Place::Open)).collect();
        self.parts.table.change(vec![Topic::new("toys".into(), TOPIC, places)], &[]);
        for number in 0..self.partitions.len() {
            self.lead(number, NODE);
        }
    }

    /// Has that node lead the partition, in a new epoch.
    pub(crate) fn lead(&mut self, number: usize, node: i32) {
        self.epoch += 1;
        let partition = &self.partitions[number];
        if node == NODE {
            partition.lead(self.term(self.epoch, &[NODE]), self.settings().rules);
        } else {
            partition.resign();
        }
        self.follow();
    }

    fn term(&self, epoch: i32, isr: &[i32]) -> Term {
        Term { epoch, replicas: [NODE, 2].into(), isr: isr.into() }
    }

    fn follow(&self) {
        self.coordinator.apply(&Arc::new(self.image.clone()));
    }

    pub(crate) fn ask(&self, id: &str, ask: Ask) -> Asked<Said> {
        self.coordinator.ask(id, ask)
    }

    /// Waits until `id` gets the answer that is wanted: looks every millisecond of the paused clock,
    /// and gives up after a hundred seconds of it.
    pub(crate) async fn until(&self, id: &str, is: impl Fn(&Result<Said, ErrorCode>) -> bool) {
        let mut looks = tokio::time::interval(Duration::from_millis(1));
        let answered = async {
            while !is(&self.ask(id, Ask::Get).reply().await) {
                looks.tick().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(100), answered).await.unwrap();
    }

    /// Waits until the shard that keeps `id` is loaded.
    pub(crate) async fn loaded(&self, id: &str) {
        self.until(id, Result::is_ok).await;
    }

    async fn all_loaded(&self) {
        for id in ["a", "b"] {
            self.loaded(id).await;
        }
    }

    /// Another coordinator on the same logs, which have not changed hands.
    pub(crate) async fn restart(&mut self) {
        self.reopen().await;
        self.all_loaded().await;
    }

    pub(crate) async fn reopen(&mut self) {
        self.coordinator.stop().await;
        self.coordinator = Coordinator::new(self.parts.clone());
        for partition in std::mem::take(&mut self.partitions) {
            partition.log().close().unwrap();
        }
        self.open();
    }

    /// Puts a batch at the end of a log, whoever may have written it.
    pub(crate) fn put(&self, number: i32, batch: impl Fn(i32) -> BatchBuilder) {
        let partition = &self.partitions[usize::try_from(number).unwrap()];
        let epoch = partition.leader_epoch(-1).unwrap();
        partition.append_own(built(batch(epoch)), epoch, 0).unwrap();
    }

    /// How many records each batch of a log has.
    pub(crate) fn batches(&self, number: usize) -> Vec<i32> {
        let log = self.partitions[number].log();
        let slice = log.read(0, 1 << 20, i64::MAX, true).unwrap();
        let counts = batches(slice.read().unwrap()).map(|it| it.unwrap().header.record_count);
        counts.collect()
    }

    pub(crate) fn configure(&mut self, key: &str, value: &str) {
        self.overrides.insert(key.to_owned(), value.to_owned());
        let Settings { log, rules } = self.settings();
        let log = Arc::new(log);
        self.partitions.iter().for_each(|it| it.configure(Arc::clone(&log), rules));
    }

    pub(crate) fn min_in_sync(&mut self, count: usize) {
        let rules = Rules { min_insync_replicas: count, durable: false };
        let log = Arc::new(self.settings().log);
        self.partitions.iter().for_each(|it| it.configure(Arc::clone(&log), rules));
    }

    pub(crate) fn epoch(&self) -> i32 {
        self.epoch
    }

    /// Reads the first shard's log as its leader in that epoch; where it ends.
    pub(crate) fn load(&self, epoch: i32) -> Result<i64, Failure> {
        let Parts { env, config, .. } = self.parts.clone();
        let partition = Arc::clone(&self.partitions[0]);
        let scene = Scene { env, config, partition, epoch };
        load::<Toy>(&scene, &self.image, || true).map(|(_, end)| end)
    }

    pub(crate) fn fail_disk(&self) {
        self.dir.fail("asked for");
    }

    /// Syncs all logs, as the flusher would.
    pub(crate) fn sync(&self) {
        self.partitions.iter().for_each(|it| assert!(it.sync()));
    }

    pub(crate) fn create(&mut self, name: &str) {
        let topic_id = Uuid([8; 16]);
        let topic = TopicRecord { name: name.to_owned(), topic_id, ..TopicRecord::default() };
        self.records([topic.into()]);
        self.follow();
    }

    pub(crate) fn delete(&mut self) {
        let record = RemoveTopicRecord { topic_id: TOPIC, ..RemoveTopicRecord::default() };
        self.records([record.into()]);
        self.partitions.iter().for_each(|it| it.retire());
        self.parts.table.change(Vec::new(), &[TOPIC]);
        self.follow();
    }
}

/// Of two.
pub(crate) fn shard_of(id: &str) -> i32 {
    partition_of(id, 2).unwrap()
}
