//! Config keys of topics.

use super::key::Valid::{AtLeast, Between, OneOf};
use super::key::{GZIP_LEVEL, Invalid, Key, Lookup, REPLICAS};
use super::typed::{CleanupPolicy, CompressionType, TimestampType, config_keys};

config_keys! {
    /// What one topic is told; where it is silent, its broker's keys speak.
    TopicConfig {
        /// What becomes of old segments: `delete`, `compact`, both, or nothing.
        cleanup_policy: CleanupPolicy = "cleanup.policy" {
            default: Some("delete"), valid: OneOf(CleanupPolicy::WORDS),
            synonyms: &[("log.cleanup.policy", 1)],
        }
        /// The codec that batches are stored with; `producer` keeps each as it came.
        compression_type: CompressionType = "compression.type" {
            default: Some("producer"), valid: OneOf(CompressionType::WORDS),
            synonyms: &[("compression.type", 1)],
        }
        /// How hard gzip tries, where the broker compresses.
        compression_gzip_level: i32 = "compression.gzip.level" {
            default: Some("-1"), valid: GZIP_LEVEL, synonyms: &[("compression.gzip.level", 1)],
        }
        /// How hard LZ4 tries, where the broker compresses.
        compression_lz4_level: i32 = "compression.lz4.level" {
            default: Some("9"), valid: Between(1.0, 17.0),
            synonyms: &[("compression.lz4.level", 1)],
        }
        /// How hard zstd tries, where the broker compresses.
        compression_zstd_level: i32 = "compression.zstd.level" {
            default: Some("3"), valid: Between(-131_072.0, 22.0),
            synonyms: &[("compression.zstd.level", 1)],
        }
        /// Milliseconds that a tombstone outlives its compaction.
        delete_retention_ms: i64 = "delete.retention.ms" {
            default: Some("86400000"), valid: AtLeast(0.0),
            synonyms: &[("log.cleaner.delete.retention.ms", 1)],
        }
        /// Whether share groups may use this topic for the records they gave up on.
        errors_deadletterqueue_group_enable: bool = "errors.deadletterqueue.group.enable" {
            default: Some("false"), has_effect: false,
        }
        /// Milliseconds that a deleted file stays on disk under its `.deleted` name.
        file_delete_delay_ms: i64 = "file.delete.delay.ms" {
            default: Some("60000"), valid: AtLeast(0.0),
            synonyms: &[("log.segment.delete.delay.ms", 1)],
        }
        /// Records after which a partition is synced to disk; 1 makes every acknowledgement wait
        /// for the sync.
        flush_messages: i64 = "flush.messages" {
            default: Some("9223372036854775807"), valid: AtLeast(1.0),
            synonyms: &[("log.flush.interval.messages", 1)],
        }
        /// Milliseconds that a record may wait for its sync to disk.
        flush_ms: i64 = "flush.ms" {
            default: Some("9223372036854775807"), valid: AtLeast(0.0),
            synonyms: &[("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)],
        }
        /// Replicas, as `partition:broker`, whose copying in is slowed down; `*` means all.
        follower_throttled_replicas: Vec<String> = "follower.replication.throttled.replicas" {
            default: Some(""), valid: REPLICAS, has_effect: false,
        }
        /// Bytes of records between two entries of a segment's indexes.
        index_interval_bytes: i32 = "index.interval.bytes" {
            default: Some("4096"), valid: AtLeast(0.0),
            synonyms: &[("log.index.interval.bytes", 1)],
        }
        /// Bytes of a segment, without the lower bound of `segment.bytes`: for tests.
        internal_segment_bytes: Option<i32> = "internal.segment.bytes" { internal: true, }
        /// Replicas, as `partition:broker`, whose copying out is slowed down; `*` means all.
        leader_throttled_replicas: Vec<String> = "leader.replication.throttled.replicas" {
            default: Some(""), valid: REPLICAS, has_effect: false,
        }
        /// Bytes of a partition kept on the broker's disk once the rest is in remote storage; -2
        /// takes `retention.bytes`.
        local_retention_bytes: i64 = "local.retention.bytes" {
            default: Some("-2"), valid: AtLeast(-2.0),
            synonyms: &[("log.local.retention.bytes", 1)], has_effect: false,
        }
        /// Milliseconds a segment stays on the broker's disk once it is in remote storage; -2 takes
        /// `retention.ms`.
        local_retention_ms: i64 = "local.retention.ms" {
            default: Some("-2"), valid: AtLeast(-2.0), synonyms: &[("log.local.retention.ms", 1)],
            has_effect: false,
        }
        /// Milliseconds after which a record must have been compacted.
        max_compaction_lag_ms: i64 = "max.compaction.lag.ms" {
            default: Some("9223372036854775807"), valid: AtLeast(1.0),
            synonyms: &[("log.cleaner.max.compaction.lag.ms", 1)],
        }
        /// Bytes that a compressed batch may unfold to when the broker has to look inside.
        max_decompressed_message_bytes: i32 = "max.decompressed.message.bytes" {
            default: Some("2147483639"), valid: Between(1.0, 2_147_483_639.0),
            synonyms: &[("max.decompressed.message.bytes", 1)],
        }
        /// Bytes of the largest record batch that is taken, as it is sent.
        max_message_bytes: i32 = "max.message.bytes" {
            default: Some("1048588"), valid: AtLeast(0.0), synonyms: &[("message.max.bytes", 1)],
        }
        /// Milliseconds by which a producer's timestamp may lie in the future.
        message_timestamp_after_max_ms: i64 = "message.timestamp.after.max.ms" {
            default: Some("3600000"), valid: AtLeast(0.0),
            synonyms: &[("log.message.timestamp.after.max.ms", 1)],
        }
        /// Milliseconds by which a producer's timestamp may lie in the past.
        message_timestamp_before_max_ms: i64 = "message.timestamp.before.max.ms" {
            default: Some("9223372036854775807"), valid: AtLeast(0.0),
            synonyms: &[("log.message.timestamp.before.max.ms", 1)],
        }
        /// Whose time a record bears: its producer's, or the broker's at the append.
        message_timestamp_type: TimestampType = "message.timestamp.type" {
            default: Some("CreateTime"), valid: OneOf(TimestampType::WORDS),
            synonyms: &[("log.message.timestamp.type", 1)],
        }
        /// Share of a log that must be uncompacted before the cleaner takes it up.
        min_cleanable_dirty_ratio: f64 = "min.cleanable.dirty.ratio" {
            default: Some("0.5"), valid: Between(0.0, 1.0),
            synonyms: &[("log.cleaner.min.cleanable.ratio", 1)],
        }
        /// Milliseconds during which a record is safe from compaction.
        min_compaction_lag_ms: i64 = "min.compaction.lag.ms" {
            default: Some("0"), valid: AtLeast(0.0),
            synonyms: &[("log.cleaner.min.compaction.lag.ms", 1)],
        }
        /// Replicas that must be in sync for a produce with acks=all to be taken.
        min_insync_replicas: i32 = "min.insync.replicas" {
            default: Some("1"), valid: AtLeast(1.0), synonyms: &[("min.insync.replicas", 1)],
        }
        /// Whether a new segment takes its whole size on disk at once; here space is always taken
        /// step by step.
        preallocate: bool = "preallocate" {
            default: Some("false"), synonyms: &[("log.preallocate", 1)], has_effect: false,
        }
        /// Bytes that may wait to be copied to remote storage.
        remote_copy_lag_bytes: i64 = "remote.copy.lag.bytes" {
            default: Some("-1"), valid: AtLeast(-1.0),
            synonyms: &[("log.remote.copy.lag.bytes", 1)], has_effect: false,
        }
        /// Milliseconds that a closed segment may wait to be copied to remote storage.
        remote_copy_lag_ms: i64 = "remote.copy.lag.ms" {
            default: Some("0"), valid: AtLeast(-1.0), synonyms: &[("log.remote.copy.lag.ms", 1)],
            has_effect: false,
        }
        /// Whether copying to remote storage stops while what is there stays readable.
        remote_log_copy_disable: bool = "remote.log.copy.disable" {
            default: Some("false"), has_effect: false,
        }
        /// Whether switching remote storage off deletes what lies there.
        remote_log_delete_on_disable: bool = "remote.log.delete.on.disable" {
            default: Some("false"), has_effect: false,
        }
        /// Whether old segments move to remote storage.
        remote_storage_enable: bool = "remote.storage.enable" {
            default: Some("false"), has_effect: false,
        }
        /// Bytes that a partition may hold before its oldest segments go; -1 sets no limit.
        retention_bytes: i64 = "retention.bytes" {
            default: Some("-1"), synonyms: &[("log.retention.bytes", 1)],
        }
        /// Milliseconds that a closed segment is kept; -1 keeps it for ever.
        retention_ms: i64 = "retention.ms" {
            default: Some("604800000"), valid: AtLeast(-1.0),
            synonyms: &[
                ("log.retention.ms", 1),
                ("log.retention.minutes", 60_000),
                ("log.retention.hours", 3_600_000),
            ],
        }
        /// Bytes after which the active segment is closed and a new one begun.
        segment_bytes: i32 = "segment.bytes" {
            default: Some("1073741824"), valid: AtLeast(1_048_576.0),
            synonyms: &[("log.segment.bytes", 1)],
        }
        /// Bytes that an offset or time index may hold; a full one closes its segment.
        segment_index_bytes: i32 = "segment.index.bytes" {
            default: Some("10485760"), valid: AtLeast(4.0),
            synonyms: &[("log.index.size.max.bytes", 1)],
        }
        /// Up to so many milliseconds are taken off `segment.ms`, so that not all segments roll at
        /// once.
        segment_jitter_ms: i64 = "segment.jitter.ms" {
            default: Some("0"), valid: AtLeast(0.0),
            synonyms: &[("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", 3_600_000)],
        }
        /// Milliseconds after which a segment is closed even if it is not full.
        segment_ms: i64 = "segment.ms" {
            default: Some("604800000"), valid: AtLeast(1.0),
            synonyms: &[("log.roll.ms", 1), ("log.roll.hours", 3_600_000)],
        }
        /// Whether a replica that lags behind may lead when no other is left, at the price of
        /// records.
        unclean_leader_election_enable: bool = "unclean.leader.election.enable" {
            default: Some("false"), synonyms: &[("unclean.leader.election.enable", 1)],
            has_effect: false,
        }
    }
}

impl TopicConfig {
    /// What a topic with these `overrides` is told on a broker with that configuration.
    pub fn of(overrides: Lookup<'_, '_>, broker: Lookup<'_, '_>) -> Result<TopicConfig, Invalid> {
        TopicConfig::resolve_over(overrides, broker)
    }

    /// What no key can say alone.
    pub fn check(&self) -> Result<(), Invalid> {
        if self.remote_storage_enable {
            let key = TopicConfig::remote_storage_enable();
            return Err(key.invalid("true", "there is no remote storage here"));
        }
        if self.max_compaction_lag_ms < self.min_compaction_lag_ms {
            let (min, max) =
                (TopicConfig::min_compaction_lag_ms(), TopicConfig::max_compaction_lag_ms());
            let why = format!("must not exceed {}", max.name);
            return Err(min.invalid(&self.min_compaction_lag_ms.to_string(), &why));
        }
        Ok(())
    }
}

impl Default for TopicConfig {
    /// A topic without overrides on a broker without a file.
    fn default() -> TopicConfig {
        match TopicConfig::resolve(&|_| None) {
            Ok(config) => config,
            Err(invalid) => unreachable!("a default is refused: {invalid}"),
        }
    }
}
