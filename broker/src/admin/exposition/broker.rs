//! The broker: its state, its replicas, its connections, and who waits in it.

use super::family::{Family, Kind, counter, gauge, of_process, summary};
use super::samples::{Labels, Samples};
use super::scene::Shot;
use crate::admin::readings::Rates;

fn of_listener(name: &str) -> Labels {
    Labels::of("listener networkProcessor", &[&name, &0])
}

fn rates(shot: &Shot, out: &mut Samples, of: fn(&Rates) -> f64) {
    for (listener, rates) in &shot.means.connections {
        out.put(&of_listener(listener), of(rates));
    }
}

pub(super) const FAMILIES: &[Family] = &[
    of_process(
        "kafka_server_kafkaserver_brokerstate",
        Kind::Gauge,
        "kafka.server:type=KafkaServer,name=BrokerState Value",
        "1 starting, 2 recovery, 3 running, 6 about to stop, 7 stopping.",
        |scene, out| out.one(scene.state.number()),
    ),
    gauge(
        "kafka_server_replicamanager_partitioncount",
        "",
        "kafka.server:type=ReplicaManager,name=PartitionCount Value",
        "Partitions of which this broker has a replica that can be used.",
        |shot, out| out.one(shot.count(|it| it.is_here && it.open.is_some())),
    ),
    gauge(
        "kafka_server_replicamanager_leadercount",
        "",
        "kafka.server:type=ReplicaManager,name=LeaderCount Value",
        "Partitions that this broker leads.",
        |shot, out| out.one(shot.count(|it| it.leads)),
    ),
    gauge(
        "kafka_server_replicamanager_offlinereplicacount",
        "",
        "kafka.server:type=ReplicaManager,name=OfflineReplicaCount Value",
        "Replicas of this broker in log directories that have failed.",
        |shot, out| out.one(shot.count(|it| it.is_here && it.open.is_none())),
    ),
    gauge(
        "kafka_server_replicamanager_underreplicatedpartitions",
        "",
        "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions Value",
        "Partitions led here of which a replica is not in sync.",
        |shot, out| out.one(shot.count(|it| it.leads && it.is_under_replicated())),
    ),
    gauge(
        "kafka_server_replicamanager_underminisrpartitioncount",
        "",
        "kafka.server:type=ReplicaManager,name=UnderMinIsrPartitionCount Value",
        "Partitions led here with fewer replicas in sync than acks=all asks for.",
        |shot, out| out.one(shot.count(|it| it.leads && it.is_under_min_isr())),
    ),
    gauge(
        "kafka_server_replicamanager_atminisrpartitioncount",
        "",
        "kafka.server:type=ReplicaManager,name=AtMinIsrPartitionCount Value",
        "Partitions led here with exactly as many replicas in sync as acks=all asks for.",
        |shot, out| out.one(shot.count(|it| it.leads && it.is_at_min_isr())),
    ),
    gauge(
        "kafka_server_replicamanager_reassigningpartitions",
        "",
        "kafka.server:type=ReplicaManager,name=ReassigningPartitions Value",
        "Partitions led here whose replicas are being moved.",
        |shot, out| out.one(shot.count(|it| it.leads && it.moves())),
    ),
    gauge(
        "kafka_server_replicamanager_produceridcount",
        "",
        "kafka.server:type=ReplicaManager,name=ProducerIdCount Value",
        "Idempotent producers that partitions here remember, each in each partition that it wrote to.",
        |shot, out| {
            let open = shot.spots.iter().filter_map(|spot| spot.open.as_ref());
            out.one(open.map(|partition| partition.log().producer_count()).sum::<usize>());
        },
    ),
    counter(
        "kafka_server_replicamanager_isrshrinks_total",
        "",
        "kafka.server:type=ReplicaManager,name=IsrShrinksPerSec Count",
        "Replicas that leaders here saw fall behind: they serve no follower.",
        |_, out| out.one(0),
    ),
    counter(
        "kafka_server_replicamanager_isrexpands_total",
        "",
        "kafka.server:type=ReplicaManager,name=IsrExpandsPerSec Count",
        "Replicas that leaders here saw catch up: they serve no follower.",
        |_, out| out.one(0),
    ),
    gauge(
        "kafka_server_replicafetchermanager_maxlag",
        "clientId",
        "kafka.server:type=ReplicaFetcherManager,name=MaxLag,clientId=Replica Value",
        "How far replicas here are behind their leaders: alone, there is no follower.",
        |_, out| out.put(&Labels::of("clientId", &[&"Replica"]), 0),
    ),
    gauge(
        "kafka_server_replicafetchermanager_minfetchrate",
        "clientId",
        "kafka.server:type=ReplicaFetcherManager,name=MinFetchRate,clientId=Replica Value",
        "Fetches a second of the slowest follower here: alone, there is none.",
        |_, out| out.put(&Labels::of("clientId", &[&"Replica"]), 0),
    ),
    gauge(
        "kafka_server_delayedoperationpurgatory_purgatorysize",
        "delayedOperation",
        "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize Value",
        "Requests that wait: fetches for bytes, produces for replicas or a sync.",
        |shot, out| {
            let metrics = &shot.ctx.metrics;
            let of = |operation: &str| Labels::of("delayedOperation", &[&operation]);
            out.put(&of("Fetch"), metrics.waiting_fetches.get());
            out.put(&of("Produce"), metrics.waiting_produces.get());
        },
    ),
    gauge(
        "kafka_server_fetchsessioncache_numincrementalfetchsessions",
        "",
        "kafka.server:type=FetchSessionCache,name=NumIncrementalFetchSessions Value",
        "Fetch sessions that are kept.",
        |shot, out| out.one(shot.ctx.fetch_sessions.size().0),
    ),
    counter(
        "kafka_server_fetchsessioncache_incrementalfetchsessionevictions_total",
        "",
        "kafka.server:type=FetchSessionCache,name=IncrementalFetchSessionEvictionsPerSec Count",
        "Fetch sessions that had to go for newer ones.",
        |shot, out| out.one(shot.ctx.fetch_sessions.evictions()),
    ),
    gauge(
        "kafka_server_socket_server_metrics_connection_count",
        "listener networkProcessor",
        "kafka.server:type=socket-server-metrics,listener=*,networkProcessor=* connection-count",
        "Open connections; there is one network processor, all worker threads together.",
        |shot, out| {
            for (listener, connections) in shot.ctx.metrics.connections.all() {
                out.put(&of_listener(&listener), connections.open());
            }
        },
    ),
    gauge(
        "kafka_server_socket_server_metrics_connection_creation_rate",
        "listener networkProcessor",
        "kafka.server:type=socket-server-metrics,listener=*,networkProcessor=* connection-creation-rate",
        "Connections a second that were opened, over the last minute.",
        |shot, out| rates(shot, out, |it| it.opened),
    ),
    gauge(
        "kafka_server_socket_server_metrics_connection_close_rate",
        "listener networkProcessor",
        "kafka.server:type=socket-server-metrics,listener=*,networkProcessor=* connection-close-rate",
        "Connections a second that were closed, over the last minute.",
        |shot, out| rates(shot, out, |it| it.closed),
    ),
    gauge(
        "kafka_server_socket_server_metrics_connections",
        "listener networkProcessor clientSoftwareName clientSoftwareVersion",
        "kafka.server:type=socket-server-metrics,clientSoftwareName=*,clientSoftwareVersion=*,\
         listener=*,networkProcessor=* connections",
        "Open connections by what clients say they are: `unknown` where they say nothing, or too much.",
        |shot, out| {
            let names = "listener networkProcessor clientSoftwareName clientSoftwareVersion";
            for (listener, connections) in shot.ctx.metrics.connections.all() {
                for ((name, version), count) in connections.software.all() {
                    out.put(&Labels::of(names, &[&listener, &0, &name, &version]), count);
                }
            }
        },
    ),
    counter(
        "kafka_network_acceptor_acceptorblockedpercent_total",
        "listener",
        "kafka.network:type=Acceptor,name=AcceptorBlockedPercent,listener=* Count",
        "Nanoseconds in which a listener could take nobody in, as `max.connections` were open.",
        |shot, out| {
            for (listener, connections) in shot.ctx.metrics.connections.all() {
                out.put(&Labels::of("listener", &[&listener]), connections.blocked().as_nanos());
            }
        },
    ),
    gauge(
        "kafka_controller_kafkacontroller_activecontrollercount",
        "",
        "kafka.controller:type=KafkaController,name=ActiveControllerCount Value",
        "1 where this node is the controller that decides.",
        |shot, out| {
            let leader = shot.quorum.as_ref().map(|quorum| quorum.leader_id);
            out.one(u8::from(leader == Some(shot.ctx.node_id)));
        },
    ),
    gauge(
        "kafka_controller_kafkacontroller_activebrokercount",
        "",
        "kafka.controller:type=KafkaController,name=ActiveBrokerCount Value",
        "Registered brokers that may serve.",
        |shot, out| {
            let brokers = shot.image.brokers().values();
            out.one(brokers.filter(|broker| !broker.fenced).count());
        },
    ),
    gauge(
        "kafka_controller_kafkacontroller_fencedbrokercount",
        "",
        "kafka.controller:type=KafkaController,name=FencedBrokerCount Value",
        "Registered brokers that were not heard of.",
        |shot, out| {
            let brokers = shot.image.brokers().values();
            out.one(brokers.filter(|broker| broker.fenced).count());
        },
    ),
    gauge(
        "kafka_controller_kafkacontroller_globaltopiccount",
        "",
        "kafka.controller:type=KafkaController,name=GlobalTopicCount Value",
        "Topics of the cluster.",
        |shot, out| out.one(shot.image.topics().len()),
    ),
    gauge(
        "kafka_controller_kafkacontroller_globalpartitioncount",
        "",
        "kafka.controller:type=KafkaController,name=GlobalPartitionCount Value",
        "Partitions of the cluster.",
        |shot, out| out.one(shot.spots.len()),
    ),
    gauge(
        "kafka_controller_kafkacontroller_offlinepartitionscount",
        "",
        "kafka.controller:type=KafkaController,name=OfflinePartitionsCount Value",
        "Partitions without a leader.",
        |shot, out| out.one(shot.count(|it| it.leader().is_none())),
    ),
    gauge(
        "kafka_controller_kafkacontroller_preferredreplicaimbalancecount",
        "",
        "kafka.controller:type=KafkaController,name=PreferredReplicaImbalanceCount Value",
        "Partitions that their first replica does not lead.",
        |shot, out| out.one(shot.count(|it| !it.leader_is_preferred())),
    ),
    gauge(
        "kafka_controller_kafkacontroller_metadataerrorcount",
        "",
        "kafka.controller:type=KafkaController,name=MetadataErrorCount Value",
        "Metadata records that could not be applied: none is written, and one that is read ends the process.",
        |_, out| out.one(0),
    ),
    gauge(
        "kafka_controller_kafkacontroller_lastappliedrecordlagms",
        "",
        "kafka.controller:type=KafkaController,name=LastAppliedRecordLagMs Value",
        "How old the last applied metadata is; 0 on the controller that decides.",
        |_, out| out.one(0),
    ),
    counter(
        "kafka_controller_controllerstats_uncleanleaderelections_total",
        "",
        "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec Count",
        "Leaders that may lack what was acknowledged, elected where nobody in sync was left.",
        |shot, out| out.one(shot.ctx.metrics.unclean_elections.get()),
    ),
    summary(
        "kafka_controller_controllerstats_leaderelectionrateandtimems",
        "quantile",
        "kafka.controller:type=ControllerStats,name=LeaderElectionRateAndTimeMs",
        "Milliseconds from a decision that gave partitions another leader to its commit, over the last minutes.",
        |shot, out| out.timed(std::iter::once(&shot.ctx.metrics.elections)),
    ),
];
