//! A broker in this process: a simulated disk, metadata by hand, requests as bytes.

use broker::api::{Answer, Close, Ctx, FetchSessions, ListenerKind, Piece, ProducerIds, Reply};
use broker::api::{RequestContext, SERVED, dispatch};
use broker::config::{BrokerConfig, DynamicConfig, Given};
use broker::coordinator::{Coordinator, World};
use broker::partition::upkeep::{Chores, Doomed, Upkeep};
use broker::partition::{Dir, Partition, Place, Table};
use broker::reconcile::{Parts, Reconciler};
use bytes::Bytes;
use kraft::env::{Clock, Env, os};
use kraft::image::Image;
use kraft::record::{
    ConfigRecord, Endpoint, PartitionChangeRecord, PartitionRecord, Record, RegisterBrokerRecord,
    RemoveTopicRecord, TopicRecord,
};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::Request;
use protocol::records::builder::BatchBuilder;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use storage::disk::Disk;
use storage::disk::sim::SimDisk;
use storage::log_dir::{Claim, Found, MetaProperties};
use tokio::sync::watch;

pub(crate) const NODE: i32 = 1;

/// A clock that moves when it is told to.
#[derive(Debug)]
pub(crate) struct HandClock(AtomicI64);

impl HandClock {
    pub(crate) fn pass(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for HandClock {
    fn wall_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.wall_ms().try_into().unwrap())
    }
}

pub(crate) const NOW_MS: i64 = 1_700_000_000_000;

pub(crate) struct Broker {
    pub(crate) ctx: Ctx,
    pub(crate) disk: Arc<SimDisk>,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) image: Image,
    images: watch::Sender<Arc<Image>>,
    pub(crate) reconciler: Reconciler,
}

impl Broker {
    /// A new broker with the log directory `/data`.
    pub(crate) fn new() -> Broker {
        Broker::with_dirs(Arc::default(), &["/data"], &[])
    }

    /// One whose only topic is `t`, with so many partitions.
    pub(crate) fn with_topic(partitions: i32) -> Broker {
        let mut broker = Broker::new();
        broker.create("t", partitions, &[]);
        broker
    }

    pub(crate) fn with_dirs(disk: Arc<SimDisk>, paths: &[&str], overrides: &[&str]) -> Broker {
        Broker::start(disk, paths, overrides, Image::default())
    }

    /// One that knows the cluster already.
    pub(crate) fn with_image(disk: Arc<SimDisk>, image: Image) -> Broker {
        Broker::start(disk, &["/data"], &[], image)
    }

    /// Starts the threads that look after the log directories.
    pub(crate) fn look_after(&self) -> Upkeep {
        Upkeep::start(Arc::clone(&self.ctx.upkeep)).unwrap()
    }

    /// The same broker after its process ended, on the disk as that left it.
    pub(crate) fn restart(self, disk: Arc<SimDisk>) -> Broker {
        let paths: Vec<_> = self.ctx.dirs.iter().map(|dir| dir.path.clone()).collect();
        let paths: Vec<_> = paths.iter().map(|path| path.to_str().unwrap()).collect();
        let image = self.image.clone();
        drop(self);
        Broker::start(disk, &paths, &[], image)
    }

    fn start(disk: Arc<SimDisk>, paths: &[&str], overrides: &[&str], image: Image) -> Broker {
        let clock = Arc::new(HandClock(AtomicI64::new(NOW_MS)));
        let env = Env { disk: Arc::clone(&disk) as _, clock: Arc::clone(&clock) as _, ..os::env() };
        let mut given = Given::standalone();
        for text in overrides {
            given = given.with_override(text).unwrap();
        }
        let config = DynamicConfig::new(BrokerConfig::of(given, "localhost").unwrap());
        let dirs = paths.iter().enumerate().map(|(index, path)| {
            let claim = Claim::take(Arc::clone(&disk) as Arc<dyn Disk>, Path::new(path)).unwrap();
            let log_dir = match claim.found() {
                Found::Formatted(_) => claim.open(),
                Found::Empty | Found::Foreign(_) => {
                    claim.format(MetaProperties::new("cluster", NODE, dir_id(index)))
                }
            };
            let log_dir = Arc::new(log_dir.unwrap());
            let (last_stop, _) = log_dir.take_last_stop().unwrap();
            let reserve = config.load().values.own.log_dir_reserve_bytes;
            Arc::new(Dir::new(log_dir, last_stop, reserve.try_into().unwrap()))
        });
        let dirs: Arc<[Arc<Dir>]> = dirs.collect();
        let (table, doomed) = (Arc::<Table>::default(), Arc::<Doomed>::default());
        let chores = |config: &DynamicConfig| {
            Chores::new(&env, Arc::clone(&table), &dirs, Arc::clone(&doomed), config.clone())
        };
        let images = watch::Sender::new(Arc::new(image.clone()));
        let ctx = Ctx {
            env: env.clone(),
            metrics: Arc::default(),
            served: &SERVED,
            enabled: Arc::new(|_| true),
            config: config.clone(),
            node_id: NODE,
            cluster_id: "cluster".into(),
            controller: None,
            images: images.subscribe(),
            partitions: Arc::clone(&table),
            dirs: Arc::clone(&dirs),
            upkeep: chores(&config),
            fetch_sessions: Arc::new(FetchSessions::new(2)),
            config_edits: Arc::default(),
            producer_ids: producer_ids(),
            groups: Coordinator::new(World {
                env: env.clone(),
                config: config.clone(),
                table: Arc::clone(&table),
            }),
        };
        let parts = Parts { node_id: NODE, env, table, dirs: Arc::clone(&dirs), doomed, config };
        let reconciler = Reconciler::start(parts, Arc::new(image.clone()));
        ctx.upkeep.logs_are_open();
        Broker { ctx, disk, clock, image, images, reconciler }
    }

    /// Applies records as if the controller had committed them.
    pub(crate) fn apply(&mut self, records: Vec<Record>) {
        for record in records {
            let offset = self.image.offset + 1;
            self.image.apply(&record, offset).unwrap();
            self.image.offset = offset;
        }
        let image = Arc::new(self.image.clone());
        self.images.send_replace(Arc::clone(&image));
        self.reconciler.apply(image);
    }

    pub(crate) fn create(&mut self, name: &str, partitions: i32, configs: &[(&str, &str)]) -> Uuid {
        self.create_in(name, partitions, configs, Uuid::ZERO)
    }

    /// Creates a topic in the log directory of that id.
    pub(crate) fn create_in(
        &mut self,
        name: &str,
        partitions: i32,
        configs: &[(&str, &str)],
        dir: Uuid,
    ) -> Uuid {
        let topic_id = Uuid::from_random(self.image.offset.try_into().unwrap_or(0), 7);
        let topic = TopicRecord { name: name.to_owned(), topic_id, ..TopicRecord::default() };
        let mut records = vec![topic.into()];
        records.extend((0..partitions).map(|partition_id| {
            PartitionRecord {
                partition_id,
                topic_id,
                replicas: vec![NODE],
                isr: vec![NODE],
                leader: NODE,
                leader_epoch: 0,
                partition_epoch: 0,
                directories: vec![dir],
                ..PartitionRecord::default()
            }
            .into()
        }));
        let config = |(key, value): &(&str, &str)| config(name, key, value);
        records.extend(configs.iter().map(config));
        self.apply(records);
        topic_id
    }

    /// Has this broker lead the partition, in the next epoch.
    pub(crate) fn elect(&mut self, topic_id: Uuid, partition_id: i32) {
        let leader = NODE;
        let change = PartitionChangeRecord {
            topic_id,
            partition_id,
            leader,
            ..PartitionChangeRecord::default()
        };
        self.apply(vec![change.into()]);
    }

    /// Has another broker lead the partition, in the next epoch.
    pub(crate) fn hand_over(&mut self, topic_id: Uuid, partition_id: i32, leader: i32) {
        let change = PartitionChangeRecord {
            topic_id,
            partition_id,
            leader,
            replicas: Some(vec![NODE, leader]),
            isr: Some(vec![NODE, leader]),
            ..PartitionChangeRecord::default()
        };
        let listener = Endpoint {
            name: "PLAINTEXT".to_owned(),
            host: format!("host-{leader}"),
            port: 9092,
            ..Endpoint::default()
        };
        let broker = RegisterBrokerRecord {
            broker_id: leader,
            end_points: vec![listener],
            fenced: false,
            ..RegisterBrokerRecord::default()
        };
        self.apply(vec![broker.into(), change.into()]);
    }

    pub(crate) fn configure(&mut self, topic: &str, key: &str, value: &str) {
        self.apply(vec![config(topic, key, value)]);
    }

    pub(crate) fn delete(&mut self, topic_id: Uuid) {
        let record = RemoveTopicRecord { topic_id, ..RemoveTopicRecord::default() };
        self.apply(vec![record.into()]);
    }

    pub(crate) fn partition(&self, topic: &str, number: i32) -> Arc<Partition> {
        let topic = self.ctx.partitions.topic(topic).unwrap();
        topic.partition(number).and_then(Place::open).cloned().unwrap()
    }

    /// Sends a request; the answer may come later.
    pub(crate) fn send<Q: Request>(&self, request: &Q, version: i16) -> Answer {
        self.send_raw::<Q>(version, request.body(version).unwrap())
    }

    /// Sends any bytes as a request of that version, and reads the answer as of another.
    #[track_caller]
    pub(crate) fn ask_raw<Q: Request>(
        &self,
        version: i16,
        body: Bytes,
        answered: i16,
    ) -> Q::Response {
        match self.send_raw::<Q>(version, body) {
            Ok(Reply::Now(pieces)) => response::<Q>(pieces, answered),
            _ => panic!("not answered at once"),
        }
    }

    fn send_raw<Q: Request>(&self, version: i16, body: Bytes) -> Answer {
        let from = RequestContext {
            listener: "PLAINTEXT".into(),
            listener_kind: ListenerKind::Client,
            peer: ([127, 0, 0, 1], 40_000).into(),
            told: None,
            principal: "User:ANONYMOUS".into(),
            client_id: "test".into(),
            software: Arc::default(),
            correlation_id: 7,
        };
        dispatch(&self.ctx, &from, Q::KEY.code(), version, body)
    }

    /// Sends a request that must be answered at once.
    #[track_caller]
    pub(crate) fn ask<Q: Request>(&self, request: &Q, version: i16) -> Q::Response {
        match self.send(request, version) {
            Ok(Reply::Now(pieces)) => response::<Q>(pieces, version),
            Ok(Reply::Later(_)) => panic!("answered later"),
            Ok(Reply::Silence) => panic!("not answered"),
            Err(Close(code)) => panic!("closed: {code:?}"),
        }
    }

    /// Sends a request that is answered by another thread, because it may wait for a disk.
    #[track_caller]
    pub(crate) fn ask_disk<Q: Request>(&self, request: &Q, version: i16) -> Q::Response {
        match self.send(request, version) {
            Ok(Reply::Later(later)) => response::<Q>(runtime().block_on(later).unwrap(), version),
            _ => panic!("not answered by another thread"),
        }
    }

    /// Sends a request and waits for the answer, which may take another thread or not.
    pub(crate) fn ask_slowly<Q: Request>(&self, request: &Q, version: i16) -> Q::Response {
        runtime().block_on(self.wait(request, version))
    }

    /// Sends a request and waits for the answer.
    pub(crate) async fn wait<Q: Request>(&self, request: &Q, version: i16) -> Q::Response {
        match self.send(request, version) {
            Ok(Reply::Now(pieces)) => response::<Q>(pieces, version),
            Ok(Reply::Later(later)) => response::<Q>(later.await.unwrap(), version),
            Ok(Reply::Silence) => panic!("not answered"),
            Err(Close(code)) => panic!("closed: {code:?}"),
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

/// The response that pieces of a frame make.
pub(crate) fn response<Q: Request>(pieces: Vec<Piece>, version: i16) -> Q::Response {
    let mut frame = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Bytes(bytes) => frame.extend_from_slice(&bytes),
            Piece::File(range) => {
                let mut bytes = vec![0; range.len];
                range.file.read_exact_at(range.offset, &mut bytes).unwrap();
                frame.extend_from_slice(&bytes);
            }
        }
    }
    let len = i32::from_be_bytes(frame[..4].try_into().unwrap());
    assert_eq!(usize::try_from(len).unwrap(), frame.len() - 4);
    let (id, response) = Q::read_response(version, Bytes::from(frame).slice(4..)).unwrap();
    assert_eq!(id, 7);
    response
}

pub(crate) fn dir_id(index: usize) -> Uuid {
    Uuid::from_random(1000, index.try_into().unwrap())
}

fn config(topic: &str, key: &str, value: &str) -> Record {
    ConfigRecord {
        resource_type: 2,
        resource_name: topic.to_owned(),
        name: key.to_owned(),
        value: Some(value.to_owned()),
        ..ConfigRecord::default()
    }
    .into()
}

/// Blocks of two ids.
fn producer_ids() -> Arc<ProducerIds> {
    let next = AtomicI64::new(1000);
    Arc::new(ProducerIds::new(Box::new(move || {
        let start = next.fetch_add(2, Ordering::Relaxed);
        Box::pin(async move { Ok::<_, ErrorCode>(start..start + 2) })
    })))
}

/// A batch of records with these values, at one millisecond each from [`NOW_MS`] on.
pub(crate) fn batch(values: &[&str]) -> Bytes {
    builder(values).build().unwrap()
}

pub(crate) fn builder(values: &[&str]) -> BatchBuilder {
    let add = |batch: BatchBuilder, (time, value): (i64, &&str)| {
        batch.key_value(time, b"k", value.as_bytes())
    };
    (NOW_MS..).zip(values).fold(BatchBuilder::new(0), add)
}
