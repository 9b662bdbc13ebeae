//! Config keys of one group, of whatever kind, and of streams groups' coordinator.

use super::key::Importance::Low;
use super::key::Scope::ClusterWide;
use super::key::Valid::{AtLeast, OneOf};
use super::key::{Invalid, Key, Lookup, OFFSET_RESET};
use super::typed::{Class, config_keys, inert_keys};

config_keys! {
    /// What one consumer group is told.
    ConsumerGroupConfig {
        /// Milliseconds that must lie between two assignments of this consumer group.
        assignment_interval_ms: i32 = "consumer.assignment.interval.ms" {
            default: Some("1000"), valid: AtLeast(0.0),
            synonyms: &[("group.consumer.assignment.interval.ms", 1)],
        }
        /// Milliseconds between two heartbeats of a member of this consumer group.
        heartbeat_interval_ms: i32 = "consumer.heartbeat.interval.ms" {
            default: Some("5000"), valid: AtLeast(1.0),
            synonyms: &[("group.consumer.heartbeat.interval.ms", 1)],
        }
        /// Milliseconds without a heartbeat after which a member leaves this consumer group.
        session_timeout_ms: i32 = "consumer.session.timeout.ms" {
            default: Some("45000"), valid: AtLeast(1.0),
            synonyms: &[("group.consumer.session.timeout.ms", 1)],
        }
    }
}

inert_keys! {
    /// What one group of any kind may be told beyond that.
    GROUP_KEYS {
        /// Whether this consumer group's assignments are computed off the coordinator's thread.
        bool = "consumer.assignor.offload.enable" { default: Some("true"), internal: true, }
        /// Whether the record itself, beside its origin, is put into the dead letter topic.
        bool = "errors.deadletterqueue.copy.record.enable" { default: Some("false"), }
        /// The topic for records that this share group gave up on; empty drops them.
        String = "errors.deadletterqueue.topic.name" { default: Some(""), }
        /// Milliseconds that must lie between two assignments of this share group.
        i32 = "share.assignment.interval.ms" { default: Some("1000"), valid: AtLeast(0.0), }
        /// Whether this share group's assignments are computed off the coordinator's thread.
        bool = "share.assignor.offload.enable" { default: Some("true"), internal: true, }
        /// Where this share group begins on a partition it has not read yet.
        String = "share.auto.offset.reset" { default: Some("latest"), valid: OFFSET_RESET, }
        /// Times that a record is delivered to this share group before it is given up.
        i32 = "share.delivery.count.limit" { default: Some("5"), valid: AtLeast(2.0), }
        /// Milliseconds between two heartbeats of a member of this share group.
        i32 = "share.heartbeat.interval.ms" { default: Some("5000"), valid: AtLeast(1.0), }
        /// Whether this share group sees records of transactions that are not committed.
        String = "share.isolation.level" {
            default: Some("read_uncommitted"),
            valid: OneOf(&["read_committed", "read_uncommitted"]),
        }
        /// Records of one partition that this share group may hold at a time.
        i32 = "share.partition.max.record.locks" { default: Some("2000"), valid: AtLeast(100.0), }
        /// Milliseconds for which a record belongs to the member that acquired it.
        i32 = "share.record.lock.duration.ms" { default: Some("30000"), valid: AtLeast(1000.0), }
        /// Whether a member may hold a record for longer by asking again.
        bool = "share.renew.acknowledge.enable" { default: Some("true"), }
        /// Milliseconds without a heartbeat after which a member leaves this share group.
        i32 = "share.session.timeout.ms" { default: Some("45000"), valid: AtLeast(1.0), }
        /// Offsets that a warm-up task may lag behind and still count as caught up.
        i64 = "streams.acceptable.recovery.lag" {
            default: Some("10000"), valid: AtLeast(0.0), internal: true,
        }
        /// Milliseconds that must lie between two assignments of this streams group.
        i32 = "streams.assignment.interval.ms" { default: Some("1000"), valid: AtLeast(0.0), }
        /// The assignor that this streams group uses.
        Option<String> = "streams.assignor.name" { synonyms: &[("group.streams.assignors", 1)], }
        /// Whether this streams group's assignments are computed off the coordinator's thread.
        bool = "streams.assignor.offload.enable" { default: Some("true"), internal: true, }
        /// Milliseconds between two heartbeats of a member of this streams group.
        i32 = "streams.heartbeat.interval.ms" { default: Some("5000"), valid: AtLeast(1.0), }
        /// Milliseconds that a new streams group waits for more members before its first
        /// assignment.
        i32 = "streams.initial.rebalance.delay.ms" { default: Some("3000"), valid: AtLeast(0.0), }
        /// Standby copies of each stateful task of this streams group.
        i32 = "streams.num.standby.replicas" { default: Some("0"), valid: AtLeast(0.0), }
        /// Tasks that may warm up elsewhere at a time, to be moved when they have caught up.
        i32 = "streams.num.warmup.replicas" {
            default: Some("2"), valid: AtLeast(0.0), internal: true,
        }
        /// Client tags over which this streams group spreads its standby copies.
        Vec<String> = "streams.rack.aware.assignment.tags" { default: Some(""), importance: Low, }
        /// Milliseconds without a heartbeat after which a member leaves this streams group.
        i32 = "streams.session.timeout.ms" { default: Some("45000"), valid: AtLeast(1.0), }
        /// Milliseconds between two reports of a member's task offsets.
        i32 = "streams.task.offset.interval.ms" {
            default: Some("60000"), valid: AtLeast(1.0), internal: true,
        }
    }
}

inert_keys! {
    /// What a broker is told about streams groups.
    STREAMS {
        /// Offsets that a warm-up task may lag behind and still count as caught up.
        i64 = "group.streams.acceptable.recovery.lag" {
            default: Some("10000"), valid: AtLeast(0.0), internal: true,
        }
        /// Milliseconds that must lie between two assignments of a streams group.
        i32 = "group.streams.assignment.interval.ms" {
            default: Some("1000"), valid: AtLeast(0.0), scope: ClusterWide,
        }
        /// Whether streams groups' assignments are computed off the coordinator's thread.
        bool = "group.streams.assignor.offload.enable" {
            default: Some("true"), scope: ClusterWide, internal: true,
        }
        /// The assignors that streams groups may choose from, the first being the default.
        Vec<String> = "group.streams.assignors" { default: Some("sticky"), }
        /// Milliseconds between two heartbeats of a streams group's member.
        i32 = "group.streams.heartbeat.interval.ms" { default: Some("5000"), valid: AtLeast(1.0), }
        /// Milliseconds that a new streams group waits for more members before its first
        /// assignment.
        i32 = "group.streams.initial.rebalance.delay.ms" {
            default: Some("3000"), valid: AtLeast(0.0),
        }
        /// The largest assignment interval that a streams group may be given.
        i32 = "group.streams.max.assignment.interval.ms" {
            default: Some("15000"), valid: AtLeast(0.0),
        }
        /// The largest heartbeat interval that a streams group may be given.
        i32 = "group.streams.max.heartbeat.interval.ms" {
            default: Some("15000"), valid: AtLeast(1.0),
        }
        /// The largest session timeout that a streams group may be given.
        i32 = "group.streams.max.session.timeout.ms" {
            default: Some("60000"), valid: AtLeast(1.0),
        }
        /// Members that a streams group may have.
        i32 = "group.streams.max.size" { default: Some("2147483647"), valid: AtLeast(1.0), }
        /// The most standby copies that a streams group may be given.
        i32 = "group.streams.max.standby.replicas" { default: Some("2"), valid: AtLeast(0.0), }
        /// The most warm-up tasks that a streams group may be given.
        i32 = "group.streams.max.warmup.replicas" {
            default: Some("20"), valid: AtLeast(0.0), internal: true,
        }
        /// The smallest assignment interval that a streams group may be given.
        i32 = "group.streams.min.assignment.interval.ms" {
            default: Some("0"), valid: AtLeast(0.0),
        }
        /// The smallest heartbeat interval that a streams group may be given.
        i32 = "group.streams.min.heartbeat.interval.ms" {
            default: Some("5000"), valid: AtLeast(1.0),
        }
        /// The smallest session timeout that a streams group may be given.
        i32 = "group.streams.min.session.timeout.ms" {
            default: Some("45000"), valid: AtLeast(1.0),
        }
        /// The smallest interval of task offset reports that a streams group may be given.
        i32 = "group.streams.min.task.offset.interval.ms" {
            default: Some("15000"), valid: AtLeast(1.0), internal: true,
        }
        /// Standby copies of each stateful task.
        i32 = "group.streams.num.standby.replicas" { default: Some("0"), valid: AtLeast(0.0), }
        /// Tasks that may warm up elsewhere at a time.
        i32 = "group.streams.num.warmup.replicas" {
            default: Some("2"), valid: AtLeast(0.0), internal: true,
        }
        /// Client tags over which standby copies are spread.
        Vec<String> = "group.streams.rack.aware.assignment.tags" {
            default: Some(""), importance: Low,
        }
        /// Milliseconds without a heartbeat after which a member leaves its streams group.
        i32 = "group.streams.session.timeout.ms" { default: Some("45000"), valid: AtLeast(1.0), }
        /// Milliseconds between two reports of a member's task offsets.
        i32 = "group.streams.task.offset.interval.ms" {
            default: Some("60000"), valid: AtLeast(1.0), internal: true,
        }
        /// The Java class that keeps the descriptions of topologies.
        Option<Class> = "group.streams.topology.description.plugin.class" {}
    }
}
