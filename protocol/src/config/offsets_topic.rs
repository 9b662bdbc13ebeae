//! Config keys of the topic that keeps groups and their offsets: how it is made, written and read.

use super::key::Importance::High;
use super::key::Valid::{AtLeast, Between};
use super::key::{Invalid, Key, Lookup};
use super::typed::config_keys;

config_keys! {
    /// What a broker is told about `__consumer_offsets`.
    OffsetsTopicConfig {
        /// Milliseconds that a commit of offsets may wait for the replicas.
        commit_timeout_ms: i32 = "offsets.commit.timeout.ms" {
            default: Some("5000"), valid: AtLeast(1.0), importance: High,
        }
        /// Bytes read at a time when offsets and groups are loaded.
        load_buffer_size: i32 = "offsets.load.buffer.size" {
            default: Some("5242880"), valid: AtLeast(1.0), importance: High,
        }
        /// The codec, by its number, that batches of the offsets topic are written with.
        compression_codec: i32 = "offsets.topic.compression.codec" {
            default: Some("0"), valid: Between(0.0, 4.0), importance: High,
        }
        /// Partitions of the offsets topic; they cannot change once it exists.
        num_partitions: i32 = "offsets.topic.num.partitions" {
            default: Some("50"), valid: AtLeast(1.0), importance: High,
        }
        /// Replicas of each partition of the offsets topic; as many as there are brokers where
        /// there are fewer.
        replication_factor: i16 = "offsets.topic.replication.factor" {
            default: Some("3"), valid: AtLeast(1.0), importance: High,
        }
        /// Bytes of a segment of the offsets topic.
        segment_bytes: i32 = "offsets.topic.segment.bytes" {
            default: Some("104857600"), valid: AtLeast(1.0), importance: High,
        }
    }
}
