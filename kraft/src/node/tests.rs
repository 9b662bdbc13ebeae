//! The node as its callers see it: requests in, answers out, and the log that they leave.

use super::{AskError, Elected, Node, NodeConfig, StartError, SyncOn};
use crate::env::{Clock, Env, os};
use crate::format::{Plan, bootstrap, format};
use crate::raft::batch::data;
use crate::raft::quorum::{Quorum, Started};
use crate::record::{BeginTransactionRecord, Record, TopicRecord};
use parking_lot::Mutex;
use protocol::config::node::MetadataLogConfig;
use protocol::ids::Uuid;
use protocol::messages::{
    BrokerHeartbeatRequest, BrokerId, BrokerRegistrationRequest, CreateTopicsRequest, StrBytes,
    TopicName, create_topics_request::CreatableTopic,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use storage::disk::sim::{Fault, Operation, SimDisk};
use storage::log_dir::Claim;
use tokio::time::{Instant, interval, timeout};

/// A clock that is moved by hand.
#[derive(Debug, Default)]
struct Hands(Mutex<Duration>);

impl Clock for Hands {
    fn wall_ms(&self) -> i64 {
        1_700_000_000_000 + i64::try_from(self.monotonic().as_millis()).unwrap()
    }
    fn monotonic(&self) -> Duration {
        *self.0.lock()
    }
}

struct World {
    disk: SimDisk,
    clock: Arc<Hands>,
    metadata_log: MetadataLogConfig,
}

const DATA: &str = "/data";

impl World {
    fn new() -> World {
        let metadata_log = MetadataLogConfig::resolve(&|_| None).unwrap();
        World { disk: SimDisk::new(3), clock: Arc::default(), metadata_log }
    }

    fn env(&self) -> Env {
        Env { disk: Arc::new(self.disk.clone()), clock: self.clock.clone(), ..os::env() }
    }

    async fn start(&self) -> Result<Node, StartError> {
        Node::start(self.config(), self.env()).await
    }

    /// Formats what is not formatted yet.
    fn config(&self) -> NodeConfig {
        let claim = Claim::take(Arc::new(self.disk.clone()), Path::new(DATA)).unwrap();
        let plan = Plan {
            cluster_id: None,
            node_id: 1,
            metadata_log_dir: PathBuf::from(DATA),
            directory_id: None,
            controller_listeners: Vec::new(),
            levels: bootstrap::levels(33, &BTreeMap::new()),
        };
        let dirs = format(&self.env(), vec![claim], &plan).unwrap();
        NodeConfig {
            cluster_id: dirs[0].meta().cluster_id.unwrap(),
            node_id: 1,
            metadata_log_dir: PathBuf::from(DATA),
            directory_id: dirs[0].id().unwrap(),
            controller_listeners: Vec::new(),
            static_voters: Vec::new(),
            metadata_log: self.metadata_log.clone(),
            properties: BTreeMap::new(),
            sync_on: SyncOn::Task,
        }
    }
}

/// Registers broker 1 and lets it serve; gives its epoch.
async fn broker(node: &Node) -> i64 {
    let register = BrokerRegistrationRequest::default()
        .with_broker_id(BrokerId(1))
        .with_cluster_id(StrBytes::from_string(node.cluster_id().to_owned()))
        .with_incarnation_id(Uuid([7; 16]).into())
        .with_log_dirs(vec![Uuid([9; 16]).into()])
        .with_features(features());
    let registered = node.ask(register).await.unwrap();
    assert_eq!(registered.error_code, 0);
    let epoch = registered.broker_epoch;
    let alive = node.ask(heartbeat(node, epoch)).await.unwrap();
    assert_eq!((alive.error_code, alive.is_fenced), (0, false));
    epoch
}

fn features() -> Vec<protocol::messages::broker_registration_request::Feature> {
    let feature = |it: &protocol::features::Feature| {
        protocol::messages::broker_registration_request::Feature::default()
            .with_name(StrBytes::from_static_str(it.name))
            .with_min_supported_version(it.min)
            .with_max_supported_version(it.max)
    };
    protocol::features::FEATURES.iter().map(feature).collect()
}

fn heartbeat(node: &Node, epoch: i64) -> BrokerHeartbeatRequest {
    BrokerHeartbeatRequest::default()
        .with_broker_id(BrokerId(1))
        .with_broker_epoch(epoch)
        .with_current_metadata_offset(node.image().offset)
}

async fn create(node: &Node, name: &str) -> Result<i16, AskError> {
    node.ask(creation(name)).await.map(|answer| answer.topics[0].error_code)
}

fn creation(name: &str) -> CreateTopicsRequest {
    let topic = CreatableTopic::default()
        .with_name(TopicName(StrBytes::from_string(name.to_owned())))
        .with_num_partitions(1)
        .with_replication_factor(1);
    CreateTopicsRequest::default().with_topics(vec![topic])
}

#[tokio::test]
async fn a_topic_is_in_the_image_when_its_creation_is_answered() {
    let world = World::new();
    let node = world.start().await.unwrap();
    broker(&node).await;
    assert_eq!(create(&node, "a").await, Ok(0));
    assert!(node.image().topic("a").is_some());
    // Many at once, each decided on what the one before it left.
    let names: Vec<_> = (0..50).map(|number| format!("t{}", number / 2)).collect();
    let asked = names.iter().map(|name| create(&node, name));
    let answers = futures_util::future::join_all(asked).await;
    let created = answers.iter().filter(|answer| **answer == Ok(0)).count();
    assert_eq!((created, node.image().topics().len()), (25, 26));
    node.shutdown().await;
    assert!(matches!(create(&node, "late").await, Err(AskError::Stopped(_))));

    let node = world.start().await.unwrap();
    assert_eq!(node.image().topics().len(), 26);
    assert_eq!(node.quorum().leader_epoch, 2);
    node.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_decided_on_in_time_changes_nothing() {
    let world = World::new();
    let node = world.start().await.unwrap();
    broker(&node).await;
    let within = |ms| Instant::now() + Duration::from_millis(ms);
    assert_eq!(node.ask_by(creation("none"), within(0)).await, Err(AskError::Late));
    let mut waits = pin!(node.ask_by(creation("late"), within(5)));
    assert!(futures_util::poll!(&mut waits).is_pending(), "it stands in the queue");
    tokio::time::advance(Duration::from_millis(5)).await;
    assert_eq!(waits.await, Err(AskError::Late));
    let made = node.ask_by(creation("made"), within(5)).await.unwrap();
    assert_eq!(made.topics[0].error_code, 0);
    let image = node.image();
    let names: Vec<_> = image.topics().iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["made"]);
    node.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_is_silent_is_fenced() {
    let world = World::new();
    let node = world.start().await.unwrap();
    broker(&node).await;
    let mut images = node.subscribe();
    *world.clock.0.lock() += Duration::from_secs(10);
    images.wait_for(|image| image.broker(1).is_some_and(|it| it.fenced)).await.unwrap();
    node.shutdown().await;
}

#[tokio::test]
async fn old_metadata_goes_into_snapshots_and_then_goes() {
    let mut world = World::new();
    world.metadata_log.record_bytes_between_snapshots = 2_000;
    world.metadata_log.internal_segment_bytes = Some(1_500);
    world.metadata_log.retention_bytes = 1;
    let node = world.start().await.unwrap();
    broker(&node).await;
    for number in 0..100 {
        assert_eq!(create(&node, &format!("t{number}")).await, Ok(0));
    }
    let image = node.image();
    node.shutdown().await;
    let dir = Path::new("/data/__cluster_metadata-0");
    let names: Vec<_> = storage::disk::Disk::list(&world.disk, dir).unwrap();
    let count = |suffix: &str| names.iter().filter(|it| it.name.ends_with(suffix)).count();
    assert_eq!(count(".checkpoint"), 1, "{names:?}");
    assert!(count(".log") <= 4, "{names:?}");

    let node = world.start().await.unwrap();
    let mut again = (*node.image()).clone();
    (again.offset, again.epoch) = (image.offset, image.epoch);
    assert!(again == *image);
    node.shutdown().await;
}

#[tokio::test]
async fn after_a_failed_sync_nothing_is_answered() {
    let world = World::new();
    let node = world.start().await.unwrap();
    broker(&node).await;
    world.disk.fail(Fault::eio(Operation::Sync));
    assert!(matches!(create(&node, "a").await, Err(AskError::Stopped(_))));
    let why = node.stopped().await;
    assert!(why.0.contains("a sync of the metadata log in /data"), "{why}");
}

#[tokio::test]
async fn what_a_leader_left_open_is_aborted_by_the_next() {
    let world = World::new();
    world.start().await.unwrap().shutdown().await;
    let Started { quorum, .. } =
        Quorum::start(&world.env(), &world.config().settings()).await.unwrap();
    let begin = Record::from(BeginTransactionRecord::default());
    let topic = TopicRecord { name: "t".into(), topic_id: Uuid([5; 16]), ..TopicRecord::default() };
    let values = [begin.to_value(33), Record::from(topic).to_value(33)];
    let proposed = quorum.propose(data(&values, 9).unwrap()).await.unwrap();
    quorum.applied(proposed).await.unwrap();
    assert!(quorum.image().borrow().in_transaction());
    quorum.shutdown().await;

    let node = world.start().await.unwrap();
    assert!(!node.image().in_transaction() && node.image().topic("t").is_none());
    node.shutdown().await;
    world.start().await.unwrap().shutdown().await;
}

/// Every such operation on the metadata log finds no room.
fn let_lack(disk: &SimDisk, operation: Operation) {
    let below = PathBuf::from("/data/__cluster_metadata-0");
    let fault = Fault { os_error: 28, below, ..Fault::eio(operation) };
    (0..10_000).for_each(|_| disk.fail(fault.clone()));
}

/// As many decisions as may wait for their commit, and some that wait to be decided on.
#[tokio::test(start_paused = true)]
async fn a_node_whose_decisions_wait_for_room_can_be_stopped() {
    for count in [1, 300] {
        let world = World::new();
        let node = world.start().await.unwrap();
        broker(&node).await;
        let_lack(&world.disk, Operation::Write);
        let names: Vec<_> = (0..count).map(|number| format!("t{number}")).collect();
        let asked = futures_util::future::join_all(names.iter().map(|name| create(&node, name)));
        let (mut asked, long) = (pin!(asked), Duration::from_secs(10));
        assert!(timeout(long, &mut asked).await.is_err(), "there is no room");
        let (answers, stopped) = tokio::join!(asked, timeout(long, node.shutdown()));
        assert_eq!(stopped, Ok(()), "{count}");
        let is_given_up = |it: &Result<i16, AskError>| matches!(it, Err(AskError::Stopped(_)));
        assert!(answers.iter().all(is_given_up), "{answers:?}");
        world.disk.mend();
        let node = world.start().await.unwrap();
        assert_eq!(node.image().topics().len(), 0);
        node.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_snapshot_waits_for_room_can_be_stopped() {
    let mut world = World::new();
    world.metadata_log.record_bytes_between_snapshots = 1;
    let node = world.start().await.unwrap();
    broker(&node).await;
    let_lack(&world.disk, Operation::Create);
    // Each is a reason for a snapshot; the decisions themselves have their room.
    for name in ["a", "b", "c"] {
        assert_eq!(create(&node, name).await, Ok(0));
    }
    let stopped = timeout(Duration::from_secs(10), node.shutdown()).await;
    assert_eq!(stopped, Ok(()));
    world.disk.mend();
    let node = world.start().await.unwrap();
    assert_eq!(node.image().topics().len(), 3);
    node.shutdown().await;
}

/// Elections as they are told.
#[derive(Debug, Default)]
struct Heard(Mutex<Vec<(u64, Duration)>>);

impl Elected for Heard {
    fn elected(&self, unclean: u64, took: Duration) {
        self.0.lock().push((unclean, took));
    }
}

#[tokio::test]
async fn an_election_is_told_and_a_new_or_lost_partition_is_none() {
    let world = World::new();
    let node = world.start().await.unwrap();
    let heard = Arc::new(Heard::default());
    node.tell_elections(Arc::clone(&heard) as Arc<dyn Elected>);
    let epoch = broker(&node).await;
    for name in ["a", "b"] {
        assert_eq!(create(&node, name).await, Ok(0));
    }
    let fenced = node.ask(heartbeat(&node, epoch).with_want_fence(true)).await.unwrap();
    assert!(fenced.is_fenced);
    assert_eq!(*heard.0.lock(), []);
    // It leads both again, by one decision.
    node.ask(heartbeat(&node, epoch)).await.unwrap();
    assert_eq!(*heard.0.lock(), [(0, Duration::ZERO)]);
    node.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_waits_for_what_it_has_seen() {
    let world = World::new();
    let node = world.start().await.unwrap();
    broker(&node).await;
    let_lack(&world.disk, Operation::Write);
    let (mut first, mut again) = (pin!(create(&node, "a")), pin!(create(&node, "a")));
    assert!(futures_util::poll!(&mut first).is_pending());
    let early = timeout(Duration::from_secs(3), &mut again).await;
    assert!(early.is_err(), "that it exists is not committed: {early:?}");
    world.disk.mend();
    assert_eq!(tokio::join!(first, again), (Ok(0), Ok(36)));
    node.shutdown().await;
}

#[tokio::test]
async fn what_saw_a_lost_decision_is_lost_with_it() {
    let world = World::new();
    let node = world.start().await.unwrap();
    broker(&node).await;
    world.disk.fail(Fault::eio(Operation::Sync));
    let (first, again) = tokio::join!(create(&node, "a"), create(&node, "a"));
    for answer in [first, again] {
        assert!(matches!(answer, Err(AskError::Stopped(_))), "{answer:?}");
    }
    node.stopped().await;
}

/// Moves the clock of the node as tokio's goes.
async fn pass(world: &World, halves_of_a_second: usize) {
    let half = Duration::from_millis(500);
    let mut ticks = interval(half);
    ticks.tick().await;
    for _ in 0..halves_of_a_second {
        ticks.tick().await;
        *world.clock.0.lock() += half;
    }
}

/// With one decision that waits, and with more than may wait for their commit.
#[tokio::test(start_paused = true)]
async fn while_the_log_stands_still_nobody_is_fenced() {
    for count in [1, 300] {
        let world = World::new();
        let node = world.start().await.unwrap();
        let epoch = broker(&node).await;
        let decisions = node.commits().decisions;
        // A broker that lives: it speaks every two seconds, once it was answered.
        let alive = node.clone();
        let beating = tokio::spawn(async move {
            let mut ticks = interval(Duration::from_secs(2));
            loop {
                ticks.tick().await;
                alive.ask(heartbeat(&alive, epoch)).await.unwrap();
            }
        });
        pass(&world, 4).await;
        let_lack(&world.disk, Operation::Write);
        let names: Vec<_> = (0..count).map(|number| format!("t{number}")).collect();
        let asked = futures_util::future::join_all(names.iter().map(|name| create(&node, name)));
        let mut asked = pin!(asked);
        tokio::select! {
            biased;
            _ = &mut asked => panic!("there is no room"),
            () = pass(&world, 60) => {}
        }
        world.disk.mend();
        assert!(asked.await.iter().all(|answer| *answer == Ok(0)));
        pass(&world, 16).await;
        assert_eq!(node.commits().decisions - decisions, count, "the topics, and nothing else");
        // From now on its silence is its own.
        beating.abort();
        pass(&world, 20).await;
        assert!(node.image().broker(1).unwrap().fenced);
        node.shutdown().await;
    }
}

/// Where the newest snapshot of the metadata ends.
fn snapshot_end(world: &World) -> i64 {
    let dir = Path::new("/data/__cluster_metadata-0");
    let entries = storage::disk::Disk::list(&world.disk, dir).unwrap();
    let names = entries.iter().filter_map(|entry| entry.name.strip_suffix(".checkpoint"));
    names.map(|name| name.split_once('-').unwrap().0.parse().unwrap()).max().unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_came_during_a_snapshot_goes_into_the_next_without_another_record() {
    let mut world = World::new();
    world.metadata_log.record_bytes_between_snapshots = 1;
    let node = world.start().await.unwrap();
    broker(&node).await;
    let_lack(&world.disk, Operation::Create);
    for name in ["a", "b", "c"] {
        assert_eq!(create(&node, name).await, Ok(0));
    }
    assert!(snapshot_end(&world) < node.image().offset);
    world.disk.mend();
    pass(&world, 10).await;
    assert_eq!(snapshot_end(&world), node.image().offset + 1);
    node.shutdown().await;
}

#[tokio::test]
async fn who_asks_after_the_properties_changed_is_answered_by_the_new_ones() {
    let world = World::new();
    let node = world.start().await.unwrap();
    broker(&node).await;
    let tried = async || {
        let mut request = creation("t").with_validate_only(true);
        request.topics[0].num_partitions = -1;
        let topic = node.ask(request).await.unwrap().topics.remove(0);
        let configs = topic.configs.unwrap();
        let retention = configs.iter().find(|it| it.name.as_str() == "retention.ms").unwrap();
        (topic.num_partitions, retention.value.as_ref().unwrap().to_string())
    };
    assert_eq!(tried().await, (1, "604800000".to_owned()));
    let told = [("log.retention.ms", "5000"), ("num.partitions", "3")];
    let told = told.map(|(name, value)| (name.to_owned(), value.to_owned()));
    node.tell_properties(BTreeMap::from(told.clone()));
    assert_eq!(tried().await, (3, "5000".to_owned()));
    // What is no property leaves all as it was.
    let bad = [("num.partitions".to_owned(), "x".to_owned())];
    node.tell_properties(BTreeMap::from(bad));
    assert_eq!(tried().await, (3, "5000".to_owned()));
    node.shutdown().await;
}
