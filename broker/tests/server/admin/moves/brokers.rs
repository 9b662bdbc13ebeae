//! Brokers that come and go, of which one is ours; directories that fail; a broker that is full.

use super::text;
use crate::admin::http::LISTENER;
use crate::admin::watch::Move::{By, Gone, To, Up};
use crate::admin::watch::{Seen, Watch};
use crate::world::{Client, World};
use kraft::node::Node;
use protocol::features::FEATURES;
use protocol::ids::Uuid;
use protocol::messages::broker_registration_request::{Feature, Listener};
use protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use protocol::messages::{
    BrokerHeartbeatRequest, BrokerId, BrokerRegistrationRequest, CreateTopicsRequest,
};
use storage::disk::sim::SimDisk;

const HEARTBEATS: &str = "broker.heartbeat.interval.ms=50";
/// The other broker is no process, and beats when it is told to.
const SESSIONS: &str = "broker.session.timeout.ms=3600000";

/// A broker that is registered, and does nothing.
async fn register(node: &Node) {
    let feature = |it: &protocol::features::Feature| {
        Feature::default()
            .with_name(text(it.name))
            .with_min_supported_version(it.min)
            .with_max_supported_version(it.max)
    };
    let listener = Listener::default().with_name(text("PLAINTEXT")).with_host(text("other"));
    let request = BrokerRegistrationRequest::default()
        .with_broker_id(BrokerId(2))
        .with_cluster_id(text(node.cluster_id()))
        .with_incarnation_id(Uuid([7; 16]).into())
        .with_listeners(vec![listener.with_port(9092)])
        .with_log_dirs(vec![Uuid([9; 16]).into()])
        .with_features(FEATURES.iter().map(feature).collect());
    assert_eq!(node.ask(request).await.unwrap().error_code, 0);
}

/// The broker is alive, and wants to lead or to be fenced.
async fn beat(node: &Node, broker: i32, wants_fence: bool) {
    let image = node.image();
    let request = BrokerHeartbeatRequest::default()
        .with_broker_id(BrokerId(broker))
        .with_broker_epoch(image.broker(broker).unwrap().broker_epoch)
        .with_current_metadata_offset(image.offset)
        .with_want_fence(wants_fence);
    let beat = node.ask(request).await.unwrap();
    assert_eq!((beat.error_code, beat.is_fenced), (0, wants_fence));
}

/// One partition with these replicas, of which the first leads.
async fn create(client: &mut Client, topic: &str, replicas: [i32; 2], config: (&str, &str)) {
    let replicas = replicas.map(BrokerId).to_vec();
    let config =
        CreatableTopicConfig::default().with_name(text(config.0)).with_value(Some(text(config.1)));
    let topic = CreatableTopic::default()
        .with_name(text(topic).into())
        .with_num_partitions(-1)
        .with_replication_factor(-1)
        .with_assignments(vec![CreatableReplicaAssignment::default().with_broker_ids(replicas)])
        .with_configs(vec![config]);
    let request = CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(10_000);
    assert_eq!(client.ask(&request, 4).await.topics[0].error_code, 0);
}

/// Another broker comes, has replicas, and goes.
pub(super) async fn another() -> Seen {
    let overrides = [LISTENER, HEARTBEATS, SESSIONS];
    let world = World::on(&SimDisk::default(), &overrides).await;
    let node = world.broker.ctx.controller.clone().unwrap();
    let mut client = world.connect().await;
    let mut watch = Watch::new(&world);
    let active = "kafka_controller_kafkacontroller_activebrokercount";
    let fenced = "kafka_controller_kafkacontroller_fencedbrokercount";
    watch.saw("a start", &[(active, To(1.0)), (fenced, To(0.0))]).await;
    register(&node).await;
    let info = "kafka_broker_info{id=\"2\",address=\"other:9092\"}";
    watch
        .sees("another broker", &[(fenced, To(1.0)), ("kafka_brokers", To(2.0)), (info, To(1.0))])
        .await;
    beat(&node, 2, false).await;
    watch.sees("its coming", &[(active, To(2.0)), (fenced, To(0.0))]).await;

    create(&mut client, "ours", [1, 2], ("min.insync.replicas", "2")).await;
    create(&mut client, "theirs", [2, 1], ("min.insync.replicas", "1")).await;
    let of = |what: &str, topic: &str| format!("kafka_{what}{{topic=\"{topic}\",partition=\"0\"}}");
    let leads = "kafka_server_replicamanager_leadercount";
    let (in_sync, at_min) = (
        of("cluster_partition_insyncreplicascount", "ours"),
        of("cluster_partition_atminisr", "ours"),
    );
    let led_by = of("topic_partition_leader", "theirs");
    let moves = [(leads, By(1.0)), (&in_sync, To(2.0)), (&at_min, To(1.0)), (&led_by, To(2.0))];
    watch.sees("its replicas", &moves).await;

    beat(&node, 2, true).await;
    let under = "kafka_server_replicamanager_underreplicatedpartitions";
    let below = "kafka_server_replicamanager_underminisrpartitioncount";
    let elections = "kafka_controller_controllerstats_leaderelectionrateandtimems_count";
    let slowest =
        "kafka_controller_controllerstats_leaderelectionrateandtimems{quantile=\"0.999\"}";
    let moves = [
        (fenced, To(1.0)),
        (leads, By(1.0)),
        (under, By(2.0)),
        (below, By(1.0)),
        (&in_sync, To(1.0)),
        (&at_min, To(0.0)),
        (&of("cluster_partition_underreplicated", "ours"), To(1.0)),
        (&of("cluster_partition_underminisr", "ours"), To(1.0)),
        (&of("cluster_partition_underminisr", "theirs"), To(0.0)),
        (&of("topic_partition_under_replicated_partition", "theirs"), To(1.0)),
        (&of("topic_partition_leader_is_preferred", "theirs"), To(0.0)),
        ("kafka_controller_kafkacontroller_preferredreplicaimbalancecount", By(1.0)),
        (&led_by, To(1.0)),
        (elections, By(1.0)),
        (slowest, Up),
    ];
    watch.sees("its going", &moves).await;

    // It comes again, and is the only one in sync when it goes.
    beat(&node, 2, false).await;
    create(&mut client, "lost", [2, 1], ("unclean.leader.election.enable", "true")).await;
    beat(&node, 1, true).await;
    let left = of("cluster_partition_insyncreplicascount", "lost");
    watch.sees("our going and coming", &[(active, To(2.0)), (&left, To(1.0))]).await;
    let unclean = "kafka_controller_controllerstats_uncleanleaderelections_total";
    beat(&node, 2, true).await;
    let lost = of("topic_partition_leader", "lost");
    watch.sees("a loss", &[(unclean, By(1.0)), (elections, Up), (&lost, To(1.0))]).await;
    let seen = watch.end();
    world.broker.stop().await;
    seen
}

/// Directories that fail take their partitions along.
pub(super) async fn directories() -> Seen {
    let (disk, overrides) = (SimDisk::default(), [LISTENER, "log.dirs=/a,/b", HEARTBEATS]);
    let world = World::on(&disk, &overrides).await;
    let mut client = world.connect().await;
    for topic in ["t", "u"] {
        client.create(topic).await;
    }
    let mut watch = Watch::new(&world);
    watch.saw("two topics", &[("kafka_server_replicamanager_leadercount", To(2.0))]).await;
    let ctx = &world.broker.ctx;
    let lies_in = |dir| ctx.partitions.partitions_in(dir);
    let dir = ctx.dirs.iter().find(|dir| !lies_in(dir).is_empty()).unwrap();
    let lost: Vec<_> = lies_in(dir).iter().map(|partition| partition.topic.clone()).collect();
    let all = i32::try_from(lost.len()).unwrap();
    let of_lost = |what: &str| {
        format!("kafka_topic_partition_{what}{{topic=\"{}\",partition=\"0\"}}", lost[0])
    };
    let (leader, preferred) = (of_lost("leader"), of_lost("leader_is_preferred"));
    dir.fail("its cable is out");
    let moves = [
        ("kafka_log_logmanager_offlinelogdirectorycount", By(1.0)),
        ("kafka_server_replicamanager_offlinereplicacount", By(f64::from(all))),
        ("kafka_server_replicamanager_partitioncount", By(f64::from(-all))),
        ("kafka_server_replicamanager_leadercount", By(f64::from(-all))),
        ("kafka_controller_kafkacontroller_offlinepartitionscount", By(f64::from(all))),
        ("kafka_controller_kafkacontroller_preferredreplicaimbalancecount", By(f64::from(all))),
        (&leader, Gone),
        (&preferred, To(0.0)),
    ];
    watch.sees("a directory that fails", &moves).await;
    let mut seen = watch.end();
    world.broker.stop().await;

    // Its cable is in again.
    let world = World::on(&disk, &overrides).await;
    let mut watch = Watch::new(&world);
    watch.sees("a start", &[("kafka_server_replicamanager_leadercount", To(2.0))]).await;
    seen.add(watch.end());
    world.broker.stop().await;
    seen
}

/// A broker that takes nobody in any more.
pub(super) async fn crowd() -> Seen {
    let world = World::on(&SimDisk::default(), &[LISTENER, "max.connections=1"]).await;
    let mut watch = Watch::new(&world);
    let blocked = "kafka_network_acceptor_acceptorblockedpercent_total{listener=\"PLAINTEXT\"}";
    watch.saw("a start", &[(blocked, To(0.0))]).await;
    let mut client = world.connect().await;
    client.is_answered().await;
    watch.sees("all the connections there may be", &[(blocked, Up)]).await;
    watch.sees("a while", &[(blocked, Up)]).await;
    let seen = watch.end();
    world.broker.stop().await;
    seen
}
