//! The broker: its state, its replicas, its connections, and who waits in it.

use super::family::{Family, Kind, Read, Samples};
use super::scene::Shot;
use kraft::image::NO_LEADER;

const fn gauge(name: &'static str, mbean: &'static str, help: &'static str, read: Read) -> Family {
    Family { name, kind: Kind::Gauge, labels: "", mbean, help, read }
}

/// What never happens where every partition has one replica.
const fn never(name: &'static str, mbean: &'static str, help: &'static str) -> Family {
    let read = Read::Broker(|_, out| out.put(&[], 0));
    Family { name, kind: Kind::Counter, labels: "", mbean, help, read }
}

fn here(shot: &Shot, samples: &mut Samples, is_counted: fn(bool, bool) -> bool) {
    let node = shot.ctx.node_id;
    let count = shot.spots_that(|spot| {
        spot.placed.has_replica(node) && is_counted(spot.placed.leader == node, spot.open.is_some())
    });
    samples.put(&[], count);
}

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "kafka_server_kafkaserver_brokerstate",
        kind: Kind::Gauge,
        labels: "",
        mbean: "kafka.server:type=KafkaServer,name=BrokerState Value",
        help: "1 starting, 2 recovery, 3 running, 6 about to stop, 7 stopping.",
        read: Read::Process(|scene, out| out.put(&[], scene.state.number())),
    },
    gauge(
        "kafka_server_replicamanager_partitioncount",
        "kafka.server:type=ReplicaManager,name=PartitionCount Value",
        "Partitions of which this broker has a replica that can be used.",
        Read::Broker(|shot, out| here(shot, out, |_, is_open| is_open)),
    ),
    gauge(
        "kafka_server_replicamanager_leadercount",
        "kafka.server:type=ReplicaManager,name=LeaderCount Value",
        "Partitions that this broker leads.",
        Read::Broker(|shot, out| here(shot, out, |leads, _| leads)),
    ),
    gauge(
        "kafka_server_replicamanager_offlinereplicacount",
        "kafka.server:type=ReplicaManager,name=OfflineReplicaCount Value",
        "Replicas of this broker in log directories that have failed.",
        Read::Broker(|shot, out| here(shot, out, |_, is_open| !is_open)),
    ),
    gauge(
        "kafka_server_replicamanager_underreplicatedpartitions",
        "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions Value",
        "Partitions led here of which a replica is not in sync.",
        Read::Broker(|shot, out| {
            let node = shot.ctx.node_id;
            out.put(
                &[],
                shot.spots_that(|it| it.placed.leader == node && it.is_under_replicated()),
            );
        }),
    ),
    gauge(
        "kafka_server_replicamanager_underminisrpartitioncount",
        "kafka.server:type=ReplicaManager,name=UnderMinIsrPartitionCount Value",
        "Partitions led here with fewer replicas in sync than acks=all asks for.",
        Read::Broker(|shot, out| {
            let node = shot.ctx.node_id;
            out.put(&[], shot.spots_that(|it| it.placed.leader == node && it.is_under_min_isr()));
        }),
    ),
    gauge(
        "kafka_server_replicamanager_atminisrpartitioncount",
        "kafka.server:type=ReplicaManager,name=AtMinIsrPartitionCount Value",
        "Partitions led here with exactly as many replicas in sync as acks=all asks for.",
        Read::Broker(|shot, out| {
            let node = shot.ctx.node_id;
            out.put(&[], shot.spots_that(|it| it.placed.leader == node && it.is_at_min_isr()));
        }),
    ),
    gauge(
        "kafka_server_replicamanager_reassigningpartitions",
        "kafka.server:type=ReplicaManager,name=ReassigningPartitions Value",
        "Partitions led here whose replicas are being moved.",
        Read::Broker(|shot, out| {
            let moves = shot.spots_that(|spot| {
                let placed = spot.placed;
                !placed.adding_replicas.is_empty() || !placed.removing_replicas.is_empty()
            });
            out.put(&[], moves);
        }),
    ),
    never(
        "kafka_server_replicamanager_isrshrinks_total",
        "kafka.server:type=ReplicaManager,name=IsrShrinksPerSec Count",
        "Replicas that fell out of sync: alone, none can.",
    ),
    never(
        "kafka_server_replicamanager_isrexpands_total",
        "kafka.server:type=ReplicaManager,name=IsrExpandsPerSec Count",
        "Replicas that came into sync: alone, none can.",
    ),
    Family {
        name: "kafka_server_replicafetchermanager_maxlag",
        kind: Kind::Gauge,
        labels: "clientId",
        mbean: "kafka.server:type=ReplicaFetcherManager,name=MaxLag,clientId=Replica Value",
        help: "How far replicas here are behind their leaders: alone, there is no follower.",
        read: Read::Broker(|_, out| out.put(&[("clientId", &"Replica")], 0)),
    },
    Family {
        name: "kafka_server_delayedoperationpurgatory_purgatorysize",
        kind: Kind::Gauge,
        labels: "delayedOperation",
        mbean: "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize Value",
        help: "Requests that wait: fetches for bytes, produces for replicas or a sync.",
        read: Read::Broker(|shot, out| {
            let metrics = &shot.ctx.metrics;
            out.put(&[("delayedOperation", &"Fetch")], metrics.waiting_fetches.get());
            out.put(&[("delayedOperation", &"Produce")], metrics.waiting_produces.get());
        }),
    },
    gauge(
        "kafka_server_fetchsessioncache_numincrementalfetchsessions",
        "kafka.server:type=FetchSessionCache,name=NumIncrementalFetchSessions Value",
        "Fetch sessions that are kept.",
        Read::Broker(|shot, out| out.put(&[], shot.ctx.fetch_sessions.size().0)),
    ),
    Family {
        name: "kafka_server_socket_server_metrics_connection_count",
        kind: Kind::Gauge,
        labels: "listener networkProcessor",
        mbean: "kafka.server:type=socket-server-metrics,listener=*,networkProcessor=* connection-count",
        help: "Open connections; there is one network processor, all worker threads together.",
        read: Read::Broker(|shot, out| {
            for (listener, connections) in shot.ctx.metrics.connections.all() {
                let labels: [(_, &dyn std::fmt::Display); 2] =
                    [("listener", &listener), ("networkProcessor", &0)];
                out.put(&labels, connections.open());
            }
        }),
    },
    gauge(
        "kafka_controller_kafkacontroller_activecontrollercount",
        "kafka.controller:type=KafkaController,name=ActiveControllerCount Value",
        "1 where this node is the controller that decides.",
        Read::Broker(|shot, out| {
            let leader = shot.quorum.as_ref().map(|quorum| quorum.leader_id);
            out.put(&[], u8::from(leader == Some(shot.ctx.node_id)));
        }),
    ),
    gauge(
        "kafka_controller_kafkacontroller_activebrokercount",
        "kafka.controller:type=KafkaController,name=ActiveBrokerCount Value",
        "Registered brokers that may serve.",
        Read::Broker(|shot, out| {
            let brokers = shot.image.brokers().values();
            out.put(&[], brokers.filter(|broker| !broker.fenced).count());
        }),
    ),
    gauge(
        "kafka_controller_kafkacontroller_fencedbrokercount",
        "kafka.controller:type=KafkaController,name=FencedBrokerCount Value",
        "Registered brokers that were not heard of.",
        Read::Broker(|shot, out| {
            let brokers = shot.image.brokers().values();
            out.put(&[], brokers.filter(|broker| broker.fenced).count());
        }),
    ),
    gauge(
        "kafka_controller_kafkacontroller_globaltopiccount",
        "kafka.controller:type=KafkaController,name=GlobalTopicCount Value",
        "Topics of the cluster.",
        Read::Broker(|shot, out| out.put(&[], shot.image.topics().len())),
    ),
    gauge(
        "kafka_controller_kafkacontroller_globalpartitioncount",
        "kafka.controller:type=KafkaController,name=GlobalPartitionCount Value",
        "Partitions of the cluster.",
        Read::Broker(|shot, out| out.put(&[], shot.spots_that(|_| true))),
    ),
    gauge(
        "kafka_controller_kafkacontroller_offlinepartitionscount",
        "kafka.controller:type=KafkaController,name=OfflinePartitionsCount Value",
        "Partitions without a leader.",
        Read::Broker(|shot, out| {
            out.put(&[], shot.spots_that(|spot| spot.placed.leader == NO_LEADER));
        }),
    ),
    gauge(
        "kafka_controller_kafkacontroller_preferredreplicaimbalancecount",
        "kafka.controller:type=KafkaController,name=PreferredReplicaImbalanceCount Value",
        "Partitions that their first replica does not lead.",
        Read::Broker(|shot, out| {
            out.put(&[], shot.spots_that(|spot| !spot.leader_is_preferred()));
        }),
    ),
    gauge(
        "kafka_controller_kafkacontroller_metadataerrorcount",
        "kafka.controller:type=KafkaController,name=MetadataErrorCount Value",
        "Metadata records that could not be applied: none is written, and one that is read ends the process.",
        Read::Broker(|_, out| out.put(&[], 0)),
    ),
    gauge(
        "kafka_controller_kafkacontroller_lastappliedrecordlagms",
        "kafka.controller:type=KafkaController,name=LastAppliedRecordLagMs Value",
        "How old the last applied metadata is; 0 on the controller that decides.",
        Read::Broker(|_, out| out.put(&[], 0)),
    ),
    never(
        "kafka_controller_controllerstats_uncleanleaderelections_total",
        "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec Count",
        "Leaders that were not in sync: the only replica always is.",
    ),
];
