//! What a log is told: where it stands, and the topic's settings that concern one partition, in the
//! units of their names.

use crate::disk::Disk;
use crate::last_stop::LastStop;
use protocol::compression::Codec;
use std::path::PathBuf;
use std::sync::Arc;

/// The settings of a log; the partitions of a topic share one.
#[derive(Clone, Debug, PartialEq)]
pub struct LogConfig {
    /// `segment.bytes`.
    pub segment_bytes: u32,
    /// `segment.ms`.
    pub segment_ms: i64,
    /// `segment.jitter.ms`.
    pub segment_jitter_ms: i64,
    /// `segment.index.bytes`.
    pub segment_index_bytes: u32,
    /// `index.interval.bytes`.
    pub index_interval_bytes: u32,
    /// `retention.bytes`; -1: no bound.
    pub retention_bytes: i64,
    /// `retention.ms`; -1: no bound.
    pub retention_ms: i64,
    /// `file.delete.delay.ms`: what the caller waits before it unlinks what a call gave it.
    pub file_delete_delay_ms: i64,
    /// `max.message.bytes`.
    pub max_message_bytes: u32,
    /// `cleanup.policy` has `compact`: every record needs a key, and the last one of each is kept.
    pub compact: bool,
    /// `min.compaction.lag.ms`.
    pub min_compaction_lag_ms: i64,
    /// `max.compaction.lag.ms`.
    pub max_compaction_lag_ms: i64,
    /// `delete.retention.ms`.
    pub delete_retention_ms: i64,
    /// `min.cleanable.dirty.ratio`.
    pub min_cleanable_dirty_ratio: f64,
    /// `cleanup.policy` has `delete`: retention acts.
    pub delete: bool,
    /// `compression.type` and its level; None: `producer`.
    pub compression: Option<Recompression>,
    /// `message.timestamp.type` is `LogAppendTime`.
    pub log_append_time: bool,
    /// `message.timestamp.before.max.ms`.
    pub message_timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms`.
    pub message_timestamp_after_max_ms: i64,
    /// `flush.messages`; 1: the durable mode, in which no reader passes what is synced.
    pub flush_messages: i64,
    /// `flush.ms`.
    pub flush_ms: i64,
    /// `preallocate`: blocks for a whole segment are taken when it begins.
    pub preallocate: bool,
    /// `highwater.validate.compressed.batches`.
    pub validate_compressed: bool,
    /// `max.decompressed.message.bytes`: what opening one batch may cost.
    pub max_decompressed_bytes: usize,
}

/// The compression that a topic insists on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recompression {
    pub codec: Codec,
    /// As `compression.<codec>.level` says; None: the codec's default.
    pub level: Option<i32>,
}

impl Default for LogConfig {
    /// Apache Kafka's defaults.
    fn default() -> LogConfig {
        LogConfig {
            segment_bytes: 1 << 30,
            segment_ms: 7 * 24 * 3_600_000,
            segment_jitter_ms: 0,
            segment_index_bytes: 10 << 20,
            index_interval_bytes: 4096,
            retention_bytes: -1,
            retention_ms: 7 * 24 * 3_600_000,
            file_delete_delay_ms: 60_000,
            max_message_bytes: 1_048_588,
            compact: false,
            min_compaction_lag_ms: 0,
            max_compaction_lag_ms: i64::MAX,
            delete_retention_ms: 24 * 3_600_000,
            min_cleanable_dirty_ratio: 0.5,
            delete: true,
            compression: None,
            log_append_time: false,
            message_timestamp_before_max_ms: i64::MAX,
            message_timestamp_after_max_ms: 3_600_000,
            flush_messages: i64::MAX,
            flush_ms: i64::MAX,
            preallocate: false,
            validate_compressed: false,
            max_decompressed_bytes: 128 << 20,
        }
    }
}

impl LogConfig {
    /// How long a segment may be open, in milliseconds: an open one is never compacted (KIP-354).
    #[must_use]
    pub fn open_ms_max(&self) -> i64 {
        let lag = if self.compact { self.max_compaction_lag_ms } else { i64::MAX };
        self.segment_ms.min(lag)
    }

    /// Whether an append counts only when it is synced.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.flush_messages <= 1
    }
}

/// All that opening a log needs to be told.
#[derive(Clone, Debug)]
pub struct Open {
    pub disk: Arc<dyn Disk>,
    /// The partition's folder; it is made if it is not there.
    pub dir: PathBuf,
    pub config: Arc<LogConfig>,
    /// Wall clock, in milliseconds.
    pub now_ms: i64,
    pub last_stop: LastStop,
    /// As it was checkpointed; 0 without.
    pub recovery_point: i64,
    /// No checkpoint names a recovery point: a cleaner may have left gaps anywhere, whatever the
    /// topic's settings are now. Otherwise one at or above that point is a loss, but in a compacted
    /// topic.
    pub may_have_gaps: bool,
    /// As it was checkpointed; 0 without. A new log begins there.
    pub log_start_offset: i64,
    /// As it was checkpointed; 0 without.
    pub high_watermark: i64,
    /// `producer.id.expiration.ms`.
    pub producer_id_expiration_ms: i64,
    /// A random number, for `segment.jitter.ms`.
    pub jitter: u64,
}

impl Open {
    /// A log at its beginning, with all else as by default.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>, dir: PathBuf, config: Arc<LogConfig>, now_ms: i64) -> Open {
        Open {
            disk,
            dir,
            config,
            now_ms,
            last_stop: LastStop::Crashed,
            recovery_point: 0,
            may_have_gaps: false,
            log_start_offset: 0,
            high_watermark: 0,
            producer_id_expiration_ms: 86_400_000,
            jitter: 0,
        }
    }
}
