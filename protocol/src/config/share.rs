//! Config keys of share groups and of the coordinator that keeps their state.

use super::key::Importance::{High, Low};
use super::key::Key;
use super::key::Scope::ClusterWide;
use super::key::Valid::{AtLeast, Between};
use super::typed::inert_keys;

inert_keys! {
    /// What a broker is told about share groups.
    SHARE_GROUPS {
        /// Whether a dead letter topic that does not exist is created.
        bool = "errors.deadletterqueue.auto.create.topics.enable" {
            default: Some("false"), scope: ClusterWide,
        }
        /// How the names of dead letter topics must begin.
        String = "errors.deadletterqueue.topic.name.prefix" {
            default: Some("dlq."), scope: ClusterWide,
        }
        /// Milliseconds that must lie between two assignments of a share group.
        i32 = "group.share.assignment.interval.ms" {
            default: Some("1000"), valid: AtLeast(0.0), scope: ClusterWide,
        }
        /// Whether share groups' assignments are computed off the coordinator's thread.
        bool = "group.share.assignor.offload.enable" {
            default: Some("true"), scope: ClusterWide, internal: true,
        }
        /// The assignor of share groups.
        Vec<String> = "group.share.assignors" { default: Some("simple"), }
        /// Times that a record is delivered before a share group gives it up.
        i32 = "group.share.delivery.count.limit" { default: Some("5"), valid: Between(2.0, 10.0), }
        /// The Java class that writes to dead letter topics.
        String = "group.share.dlq.manager.class.name" {
            default: Some("org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager"),
            internal: true,
        }
        /// Milliseconds between two heartbeats of a share group's member.
        i32 = "group.share.heartbeat.interval.ms" { default: Some("5000"), valid: AtLeast(1.0), }
        /// Milliseconds before a share partition whose state could not be set up is tried again.
        i32 = "group.share.initialize.retry.interval.ms" {
            default: Some("30000"), valid: AtLeast(1.0), importance: Low, internal: true,
        }
        /// The largest assignment interval that a share group may be given.
        i32 = "group.share.max.assignment.interval.ms" {
            default: Some("15000"), valid: AtLeast(0.0),
        }
        /// The largest delivery limit that a share group may be given.
        i32 = "group.share.max.delivery.count.limit" {
            default: Some("10"), valid: Between(5.0, 25.0),
        }
        /// The largest heartbeat interval that a share group may be given.
        i32 = "group.share.max.heartbeat.interval.ms" {
            default: Some("15000"), valid: AtLeast(1.0),
        }
        /// The largest number of held records per partition that a share group may be given.
        i32 = "group.share.max.partition.max.record.locks" {
            default: Some("4000"), valid: Between(2000.0, 10000.0),
        }
        /// The longest lock on a record that a share group may be given.
        i32 = "group.share.max.record.lock.duration.ms" {
            default: Some("60000"), valid: Between(30000.0, 3_600_000.0),
        }
        /// The largest session timeout that a share group may be given.
        i32 = "group.share.max.session.timeout.ms" { default: Some("60000"), valid: AtLeast(1.0), }
        /// Share fetch sessions that one broker keeps.
        i32 = "group.share.max.share.sessions" { default: Some("2000"), valid: AtLeast(1.0), }
        /// Members that a share group may have.
        i32 = "group.share.max.size" { default: Some("200"), valid: Between(1.0, 1000.0), }
        /// The smallest assignment interval that a share group may be given.
        i32 = "group.share.min.assignment.interval.ms" { default: Some("0"), valid: AtLeast(0.0), }
        /// The smallest delivery limit that a share group may be given.
        i32 = "group.share.min.delivery.count.limit" {
            default: Some("2"), valid: Between(2.0, 5.0),
        }
        /// The smallest heartbeat interval that a share group may be given.
        i32 = "group.share.min.heartbeat.interval.ms" {
            default: Some("5000"), valid: AtLeast(1.0),
        }
        /// The smallest number of held records per partition that a share group may be given.
        i32 = "group.share.min.partition.max.record.locks" {
            default: Some("100"), valid: Between(100.0, 2000.0),
        }
        /// The shortest lock on a record that a share group may be given.
        i32 = "group.share.min.record.lock.duration.ms" {
            default: Some("15000"), valid: Between(1000.0, 30000.0),
        }
        /// The smallest session timeout that a share group may be given.
        i32 = "group.share.min.session.timeout.ms" { default: Some("45000"), valid: AtLeast(1.0), }
        /// Records of one partition that a share group may hold at a time.
        i32 = "group.share.partition.max.record.locks" {
            default: Some("2000"), valid: Between(100.0, 10000.0),
        }
        /// The Java class that keeps share groups' state.
        String = "group.share.persister.class.name" {
            default: Some("org.apache.kafka.server.share.persister.DefaultStatePersister"),
            internal: true,
        }
        /// Milliseconds for which a record belongs to the member that acquired it.
        i32 = "group.share.record.lock.duration.ms" {
            default: Some("30000"), valid: Between(1000.0, 3_600_000.0),
        }
        /// Milliseconds without a heartbeat after which a member leaves its share group.
        i32 = "group.share.session.timeout.ms" { default: Some("45000"), valid: AtLeast(1.0), }
        /// Requests after which finished share fetches are swept out; waiting is cheap here and
        /// needs no sweep.
        i32 = "share.fetch.purgatory.purge.interval.requests" { default: Some("1000"), }
    }
}

inert_keys! {
    /// What a broker is told about the share coordinator and its topic.
    SHARE_STATE {
        /// Milliseconds that the share coordinator gathers records before it writes them; -1 adapts
        /// to the load.
        i32 = "share.coordinator.append.linger.ms" { default: Some("-1"), valid: AtLeast(-1.0), }
        /// Bytes of the largest write buffer that the share coordinator keeps for the next time.
        i32 = "share.coordinator.cached.buffer.max.bytes" {
            default: Some("1048588"), valid: AtLeast(524_288.0), scope: ClusterWide,
        }
        /// Milliseconds after which a share partition without changes is written whole again.
        i32 = "share.coordinator.cold.partition.snapshot.interval.ms" {
            default: Some("300000"), valid: AtLeast(1.0), importance: Low, internal: true,
        }
        /// Bytes read at a time when share state is loaded.
        i32 = "share.coordinator.load.buffer.size" {
            default: Some("5242880"), valid: AtLeast(1.0), importance: High,
        }
        /// Updates of a share partition's state between two whole ones.
        i32 = "share.coordinator.snapshot.update.records.per.snapshot" {
            default: Some("500"), valid: Between(0.0, 500.0),
        }
        /// The codec, by its number, of the share state topic.
        i32 = "share.coordinator.state.topic.compression.codec" {
            default: Some("0"), importance: High,
        }
        /// Replicas that must be in sync for a write to the share state topic.
        i16 = "share.coordinator.state.topic.min.isr" {
            default: Some("2"), valid: AtLeast(1.0), importance: High,
        }
        /// Partitions of the share state topic; they cannot change once it exists.
        i32 = "share.coordinator.state.topic.num.partitions" {
            default: Some("50"), valid: AtLeast(1.0), importance: High,
        }
        /// Milliseconds between two deletions of share state that is no longer needed.
        i32 = "share.coordinator.state.topic.prune.interval.ms" {
            default: Some("300000"), valid: AtLeast(1.0), importance: Low, internal: true,
        }
        /// Replicas of each partition of the share state topic.
        i16 = "share.coordinator.state.topic.replication.factor" {
            default: Some("3"), valid: AtLeast(1.0), importance: High,
        }
        /// Bytes of a segment of the share state topic.
        i32 = "share.coordinator.state.topic.segment.bytes" {
            default: Some("104857600"), valid: AtLeast(1.0), importance: High,
        }
        /// Threads that run the share coordinator's shards.
        i32 = "share.coordinator.threads" { default: Some("1"), valid: AtLeast(1.0), }
        /// Milliseconds that a write of share state may wait for the replicas.
        i32 = "share.coordinator.write.timeout.ms" {
            default: Some("5000"), valid: AtLeast(1.0), importance: High,
        }
    }
}
