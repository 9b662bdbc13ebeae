//! Config keys of a node: who it is, its part in the quorum, the metadata log, its registration.

use super::key::Importance::{High, Low};
use super::key::Scope::ClusterWide;
use super::key::Valid::{AtLeast, OneOf};
use super::key::{Invalid, Key, Lookup};
use super::typed::{Class, Roles, config_keys, inert_keys};

config_keys! {
    /// Who this node is.
    NodeConfig {
        /// The number of this node, which no other node of the cluster bears; without it
        /// `broker.id`, else 1.
        node_id: Option<i32> = "node.id" {
            valid: AtLeast(0.0), importance: High, synonyms: &[("broker.id", 1)],
            synonyms_are_hidden: true,
        }
        /// The older name of `node.id`; -1 says nothing.
        broker_id: i32 = "broker.id" { default: Some("-1"), importance: High, }
        /// What this node is: `broker`, `controller` or both; without it both.
        process_roles: Option<Roles> = "process.roles" {
            valid: OneOf(Roles::WORDS), importance: High,
        }
        /// Where this broker stands, such as a zone, told to clients.
        broker_rack: Option<String> = "broker.rack" {}
    }
}

config_keys! {
    /// How the controllers find and outvote each other.
    QuorumConfig {
        /// The listeners on which controllers are spoken to, comma-separated.
        controller_listener_names: Option<Vec<String>> = "controller.listener.names" {
            importance: High,
        }
        /// The controllers, as `id@host:port`, for a quorum whose members never change.
        voters: Vec<String> = "controller.quorum.voters" { default: Some(""), importance: High, }
        /// Controllers, as `host:port`, to ask first for a quorum whose members may change.
        bootstrap_servers: Vec<String> = "controller.quorum.bootstrap.servers" {
            default: Some(""), importance: High,
        }
        /// Milliseconds that a candidate waits for votes before it tries again.
        election_timeout_ms: i32 = "controller.quorum.election.timeout.ms" {
            default: Some("1000"), valid: AtLeast(0.0), importance: High,
        }
        /// The longest pause, in milliseconds, after an election that nobody won.
        election_backoff_max_ms: i32 = "controller.quorum.election.backoff.max.ms" {
            default: Some("1000"), valid: AtLeast(0.0), importance: High,
        }
        /// Milliseconds without word from the leader after which a voter stands for election.
        fetch_timeout_ms: i32 = "controller.quorum.fetch.timeout.ms" {
            default: Some("2000"), valid: AtLeast(0.0), importance: High, has_effect: false,
        }
        /// Bytes of metadata records that one fetch brings.
        fetch_max_bytes: i32 = "controller.quorum.fetch.max.bytes" {
            default: Some("1048576"), valid: AtLeast(1.0), importance: Low, has_effect: false,
        }
        /// Bytes of a metadata snapshot that one fetch brings.
        fetch_snapshot_max_bytes: i32 = "controller.quorum.fetch.snapshot.max.bytes" {
            default: Some("1048576"), valid: AtLeast(1.0), importance: Low, has_effect: false,
        }
        /// Milliseconds that a question to another controller may take.
        request_timeout_ms: i32 = "controller.quorum.request.timeout.ms" {
            default: Some("2000"), valid: AtLeast(0.0), has_effect: false,
        }
        /// Milliseconds before a failed question to another controller is asked again.
        retry_backoff_ms: i32 = "controller.quorum.retry.backoff.ms" {
            default: Some("20"), valid: AtLeast(0.0), importance: Low, has_effect: false,
        }
        /// Milliseconds that the leader gathers metadata records before it writes them.
        append_linger_ms: i32 = "controller.quorum.append.linger.ms" {
            default: Some("25"), valid: AtLeast(0.0), has_effect: false,
        }
        /// Whether a new controller joins the voters by itself.
        auto_join_enable: bool = "controller.quorum.auto.join.enable" {
            default: Some("false"), importance: Low, has_effect: false,
        }
    }
}

config_keys! {
    /// How the metadata log is kept.
    MetadataLogConfig {
        /// The directory of the metadata log; without it the first of `log.dirs`.
        dir: Option<String> = "metadata.log.dir" { importance: High, }
        /// Bytes of a segment of the metadata log.
        segment_bytes: i32 = "metadata.log.segment.bytes" {
            default: Some("1073741824"), valid: AtLeast(8_388_608.0), importance: High,
        }
        /// Milliseconds after which a segment of the metadata log is closed even if it is not full.
        segment_ms: i64 = "metadata.log.segment.ms" {
            default: Some("604800000"), importance: High,
        }
        /// Bytes of a segment of the metadata log, without a lower bound: for tests.
        internal_segment_bytes: Option<i32> = "internal.metadata.log.segment.bytes" {
            importance: Low, internal: true,
        }
        /// Bytes of metadata records after which a snapshot is written.
        record_bytes_between_snapshots: i64 = "metadata.log.max.record.bytes.between.snapshots" {
            default: Some("20971520"), valid: AtLeast(1.0), importance: High,
        }
        /// Milliseconds after which a snapshot is written if there is anything new; 0 waits for the
        /// bytes.
        max_snapshot_interval_ms: i64 = "metadata.log.max.snapshot.interval.ms" {
            default: Some("3600000"), valid: AtLeast(0.0), importance: High,
        }
        /// Bytes of metadata log and snapshots that are kept.
        retention_bytes: i64 = "metadata.max.retention.bytes" {
            default: Some("104857600"), importance: High,
        }
        /// Milliseconds that metadata log segments and snapshots are kept once a later snapshot
        /// covers them.
        retention_ms: i64 = "metadata.max.retention.ms" {
            default: Some("604800000"), importance: High,
        }
        /// Milliseconds after which an idle controller writes an empty record; 0 never does.
        max_idle_interval_ms: i32 = "metadata.max.idle.interval.ms" {
            default: Some("500"), valid: AtLeast(0.0), importance: Low, has_effect: false,
        }
        /// Bytes of the largest batch of metadata records.
        internal_max_batch_size_in_bytes: i32 = "internal.metadata.max.batch.size.in.bytes" {
            default: Some("8388608"), importance: Low, internal: true, has_effect: false,
        }
        /// Milliseconds that a deleted file of the metadata log stays on disk.
        internal_delete_delay_ms: i64 = "internal.metadata.delete.delay.millis" {
            default: Some("60000"), importance: Low, internal: true, has_effect: false,
        }
    }
}

config_keys! {
    /// How a broker and its controller keep in touch.
    RegistrationConfig {
        /// Milliseconds between two heartbeats of a broker.
        heartbeat_interval_ms: i32 = "broker.heartbeat.interval.ms" { default: Some("2000"), }
        /// Milliseconds without a heartbeat after which a broker is fenced.
        session_timeout_ms: i32 = "broker.session.timeout.ms" { default: Some("9000"), }
        /// Milliseconds that a starting broker tries to register before it gives up.
        initial_timeout_ms: i32 = "initial.broker.registration.timeout.ms" {
            default: Some("60000"),
        }
        /// Whether a stopping broker first hands its partitions to others.
        controlled_shutdown_enable: bool = "controlled.shutdown.enable" {
            default: Some("true"), has_effect: false,
        }
        /// Milliseconds that a start may take before the process gives up.
        server_max_startup_time_ms: i64 = "server.max.startup.time.ms" {
            default: Some("9223372036854775807"), valid: AtLeast(0.0), internal: true,
            has_effect: false,
        }
    }
}

inert_keys! {
    /// What a controller is told about its work.
    CONTROLLER {
        /// Whether leadership goes back to the preferred replicas by itself.
        bool = "auto.leader.rebalance.enable" { default: Some("true"), importance: High, }
        /// Seconds between two looks for partitions that their preferred replica does not lead.
        i64 = "leader.imbalance.check.interval.seconds" {
            default: Some("300"), valid: AtLeast(1.0), importance: High,
        }
        /// Milliseconds above which a controller event is always logged.
        i64 = "controller.performance.always.log.threshold.ms" {
            default: Some("2000"), valid: AtLeast(0.0), internal: true,
        }
        /// Milliseconds between two samples of the controller's work.
        i64 = "controller.performance.sample.period.ms" {
            default: Some("60000"), valid: AtLeast(100.0), internal: true,
        }
        /// Windows over which controller mutations are counted.
        i32 = "controller.quota.window.num" {
            default: Some("11"), valid: AtLeast(1.0), importance: Low,
        }
        /// Seconds of such a window.
        i32 = "controller.quota.window.size.seconds" {
            default: Some("1"), valid: AtLeast(1.0), importance: Low,
        }
        /// Milliseconds that a broker's question to the controller may take.
        i32 = "controller.socket.timeout.ms" { default: Some("30000"), }
        /// The Java class that may refuse changes of configs.
        Option<Class> = "alter.config.policy.class.name" { importance: Low, }
        /// The Java class that may refuse new topics.
        Option<Class> = "create.topic.policy.class.name" { importance: Low, }
        /// Threads for work in the background.
        i32 = "background.threads" {
            default: Some("10"), valid: AtLeast(1.0), scope: ClusterWide, importance: High,
        }
        /// Whether API versions that are still in the making are offered.
        bool = "unstable.api.versions.enable" {
            default: Some("false"), importance: High, internal: true,
        }
        /// Whether feature levels that are still in the making may be set.
        bool = "unstable.feature.versions.enable" {
            default: Some("false"), importance: High, internal: true,
        }
    }
}

config_keys! {
    /// What a new topic gets, and who may make and delete topics.
    CreationConfig {
        /// Whether a topic that a client asks for is created if it does not exist.
        auto_create_topics_enable: bool = "auto.create.topics.enable" {
            default: Some("true"), importance: High,
        }
        /// Partitions of a topic that does not say how many.
        num_partitions: i32 = "num.partitions" { default: Some("1"), valid: AtLeast(1.0), }
        /// Replicas of a topic that does not say how many.
        default_replication_factor: i32 = "default.replication.factor" { default: Some("1"), }
        /// Whether topics may be deleted.
        delete_topic_enable: bool = "delete.topic.enable" {
            default: Some("true"), importance: High,
        }
    }
}
