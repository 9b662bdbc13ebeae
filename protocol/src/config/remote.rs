//! Config keys of tiered storage, which is not served.

use super::key::Importance::Low;
use super::key::Key;
use super::key::Scope::ClusterWide;
use super::key::Valid::{AtLeast, Between, NotEmpty};
use super::typed::inert_keys;

inert_keys! {
    /// What a broker is told about remote storage.
    REMOTE {
        /// Bytes of a partition kept on the broker's disk once the rest is in remote storage; -2
        /// takes the whole retention.
        i64 = "log.local.retention.bytes" {
            default: Some("-2"), valid: AtLeast(-2.0), scope: ClusterWide,
        }
        /// Milliseconds a segment stays on the broker's disk once it is in remote storage; -2 takes
        /// the whole retention.
        i64 = "log.local.retention.ms" {
            default: Some("-2"), valid: AtLeast(-2.0), scope: ClusterWide,
        }
        /// Bytes that may wait to be copied to remote storage.
        i64 = "log.remote.copy.lag.bytes" {
            default: Some("-1"), valid: AtLeast(-1.0), scope: ClusterWide,
        }
        /// Milliseconds that a closed segment may wait to be copied to remote storage.
        i64 = "log.remote.copy.lag.ms" {
            default: Some("0"), valid: AtLeast(-1.0), scope: ClusterWide,
        }
        /// Milliseconds that a fetch may wait for remote storage.
        i32 = "remote.fetch.max.wait.ms" {
            default: Some("500"), valid: AtLeast(1.0), scope: ClusterWide,
        }
        /// Milliseconds that a look-up of an offset may wait for remote storage.
        i64 = "remote.list.offsets.request.timeout.ms" {
            default: Some("30000"), valid: AtLeast(1.0), scope: ClusterWide,
        }
        /// Bytes of remote segments' indexes that are kept on the broker's disk.
        i64 = "remote.log.index.file.cache.total.size.bytes" {
            default: Some("1073741824"), valid: AtLeast(1.0), scope: ClusterWide, importance: Low,
        }
        /// Milliseconds that an unused remote index stays on the broker's disk.
        i64 = "remote.log.index.file.cache.ttl.ms" {
            default: Some("900000"), valid: AtLeast(-1.0), importance: Low, internal: true,
        }
        /// Threads that copy segments out.
        i32 = "remote.log.manager.copier.thread.pool.size" {
            default: Some("10"), valid: AtLeast(1.0), scope: ClusterWide,
        }
        /// Bytes a second that may be copied out.
        i64 = "remote.log.manager.copy.max.bytes.per.second" {
            default: Some("9223372036854775807"), valid: AtLeast(1.0), scope: ClusterWide,
        }
        /// Windows over which copying out is counted.
        i32 = "remote.log.manager.copy.quota.window.num" {
            default: Some("11"), valid: AtLeast(1.0),
        }
        /// Seconds of such a window.
        i32 = "remote.log.manager.copy.quota.window.size.seconds" {
            default: Some("1"), valid: AtLeast(1.0),
        }
        /// Threads that delete remote segments whose retention has ended.
        i32 = "remote.log.manager.expiration.thread.pool.size" {
            default: Some("10"), valid: AtLeast(1.0), scope: ClusterWide,
        }
        /// Bytes a second that may be fetched from remote storage.
        i64 = "remote.log.manager.fetch.max.bytes.per.second" {
            default: Some("9223372036854775807"), valid: AtLeast(1.0), scope: ClusterWide,
        }
        /// Windows over which remote fetches are counted.
        i32 = "remote.log.manager.fetch.quota.window.num" {
            default: Some("11"), valid: AtLeast(1.0),
        }
        /// Seconds of such a window.
        i32 = "remote.log.manager.fetch.quota.window.size.seconds" {
            default: Some("1"), valid: AtLeast(1.0),
        }
        /// Threads that keep followers informed of remote segments.
        i32 = "remote.log.manager.follower.thread.pool.size" {
            default: Some("2"), valid: AtLeast(1.0), scope: ClusterWide,
        }
        /// Milliseconds between two rounds of copying and deleting.
        i64 = "remote.log.manager.task.interval.ms" {
            default: Some("30000"), valid: AtLeast(1.0), importance: Low,
        }
        /// The longest pause, in milliseconds, after rounds that failed.
        i64 = "remote.log.manager.task.retry.backoff.max.ms" {
            default: Some("30000"), valid: AtLeast(1.0), importance: Low, internal: true,
        }
        /// The first pause, in milliseconds, after a round that failed.
        i64 = "remote.log.manager.task.retry.backoff.ms" {
            default: Some("500"), valid: AtLeast(1.0), importance: Low, internal: true,
        }
        /// Share by which such pauses vary at random.
        f64 = "remote.log.manager.task.retry.jitter" {
            default: Some("0.2"), valid: Between(0.0, 0.5), importance: Low, internal: true,
        }
        /// Threads that plan the rounds.
        i32 = "remote.log.manager.thread.pool.size" { default: Some("2"), valid: AtLeast(1.0), }
        /// Bytes that a storage plug-in may note beside each remote segment.
        i32 = "remote.log.metadata.custom.metadata.max.bytes" {
            default: Some("128"), valid: AtLeast(0.0), importance: Low,
        }
        /// The Java class that remembers which segments are remote.
        String = "remote.log.metadata.manager.class.name" {
            default: Some("org.apache.kafka.server.log.remote.metadata.storage.\
                TopicBasedRemoteLogMetadataManager"),
            valid: NotEmpty,
        }
        /// Where that class is found.
        Option<String> = "remote.log.metadata.manager.class.path" {}
        /// How the keys meant for that class begin.
        String = "remote.log.metadata.manager.impl.prefix" {
            default: Some("rlmm.config."), valid: NotEmpty,
        }
        /// The listener by which that class reaches the broker.
        Option<String> = "remote.log.metadata.manager.listener.name" { valid: NotEmpty, }
        /// Remote reads that may wait for a thread.
        i32 = "remote.log.reader.max.pending.tasks" { default: Some("100"), valid: AtLeast(1.0), }
        /// Threads that read from remote storage.
        i32 = "remote.log.reader.threads" {
            default: Some("10"), valid: AtLeast(1.0), scope: ClusterWide,
        }
        /// The Java class that stores remote segments.
        Option<String> = "remote.log.storage.manager.class.name" { valid: NotEmpty, }
        /// Where that class is found.
        Option<String> = "remote.log.storage.manager.class.path" {}
        /// How the keys meant for that class begin.
        String = "remote.log.storage.manager.impl.prefix" {
            default: Some("rsm.config."), valid: NotEmpty,
        }
        /// Whether remote storage may be used at all.
        bool = "remote.log.storage.system.enable" { default: Some("false"), }
    }
}
