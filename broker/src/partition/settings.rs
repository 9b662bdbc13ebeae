//! What a topic's config means for its partitions: one set for the log, one for the leader.

use super::leader::Rules;
use protocol::compression::Codec;
use protocol::config::own::OwnConfig;
use protocol::config::topic::TopicConfig;
use protocol::config::typed::{CompressionType, TimestampType};
use storage::log::{LogConfig, Recompression};

/// The settings of all partitions of a topic.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub log: LogConfig,
    pub rules: Rules,
}

impl Settings {
    pub fn of(topic: &TopicConfig, own: &OwnConfig) -> Settings {
        let log = LogConfig {
            segment_bytes: size(topic.internal_segment_bytes.unwrap_or(topic.segment_bytes)),
            segment_ms: topic.segment_ms,
            segment_jitter_ms: topic.segment_jitter_ms,
            segment_index_bytes: size(topic.segment_index_bytes),
            index_interval_bytes: size(topic.index_interval_bytes),
            retention_bytes: topic.retention_bytes,
            retention_ms: topic.retention_ms,
            file_delete_delay_ms: topic.file_delete_delay_ms,
            max_message_bytes: size(topic.max_message_bytes),
            compact: topic.cleanup_policy.compact,
            min_compaction_lag_ms: topic.min_compaction_lag_ms,
            max_compaction_lag_ms: topic.max_compaction_lag_ms,
            delete_retention_ms: topic.delete_retention_ms,
            min_cleanable_dirty_ratio: topic.min_cleanable_dirty_ratio,
            delete: topic.cleanup_policy.delete,
            compression: recompression(topic),
            log_append_time: topic.message_timestamp_type == TimestampType::LogAppendTime,
            message_timestamp_before_max_ms: topic.message_timestamp_before_max_ms,
            message_timestamp_after_max_ms: topic.message_timestamp_after_max_ms,
            flush_messages: topic.flush_messages,
            flush_ms: topic.flush_ms,
            preallocate: topic.preallocate,
            validate_compressed: own.validate_compressed_batches,
            max_decompressed_bytes: usize::try_from(topic.max_decompressed_message_bytes)
                .unwrap_or(0),
        };
        let rules = Rules {
            min_insync_replicas: usize::try_from(topic.min_insync_replicas).unwrap_or(1),
            durable: log.is_durable(),
        };
        Settings { log, rules }
    }
}

/// The tables allow nothing negative here.
fn size(bytes: i32) -> u32 {
    u32::try_from(bytes).unwrap_or(0)
}

fn recompression(topic: &TopicConfig) -> Option<Recompression> {
    let (codec, level) = match topic.compression_type {
        CompressionType::Producer => return None,
        CompressionType::Uncompressed => (Codec::None, None),
        CompressionType::Gzip => (Codec::Gzip, Some(topic.compression_gzip_level)),
        CompressionType::Snappy => (Codec::Snappy, None),
        CompressionType::Lz4 => (Codec::Lz4, Some(topic.compression_lz4_level)),
        CompressionType::Zstd => (Codec::Zstd, Some(topic.compression_zstd_level)),
    };
    Some(Recompression { codec, level })
}
