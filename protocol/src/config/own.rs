//! Highwater's own config keys: what Apache Kafka has no word for.

use super::key::Importance::{High, Low};
use super::key::Scope::ClusterWide;
use super::key::Valid::{AtLeast, Between};
use super::key::{Invalid, Key, Lookup};
use super::typed::config_keys;

config_keys! {
    /// What only Highwater asks.
    OwnConfig {
        /// Whether every compressed batch is opened and its records checked, as Apache Kafka does,
        /// and not only those that the broker has to look into anyway.
        validate_compressed_batches: bool = "highwater.validate.compressed.batches" {
            default: Some("false"), scope: ClusterWide,
        }
        /// Free bytes of a log directory's disk below which produce is refused until there is room
        /// again, so that the broker itself never meets a full disk.
        log_dir_reserve_bytes: i64 = "highwater.log.dir.reserve.bytes" {
            default: Some("67108864"), valid: AtLeast(0.0), scope: ClusterWide, importance: High,
        }
        /// Bytes that all requests in flight may hold, where `queued.max.request.bytes` is -1. They
        /// are counted as they arrive, never by the length that a request claims.
        request_memory_bytes: i64 = "highwater.request.memory.bytes" {
            default: Some("134217728"), valid: AtLeast(1_048_576.0), importance: High,
        }
        /// Milliseconds after which a connection that holds request memory without progress is
        /// closed while others wait for it.
        request_stall_timeout_ms: i64 = "highwater.request.stall.timeout.ms" {
            default: Some("10000"), valid: AtLeast(1.0),
        }
        /// Bytes that are read ahead from a connection; a request that fits never waits for memory.
        read_ahead_bytes: i32 = "highwater.read.ahead.bytes" {
            default: Some("262144"), valid: Between(4096.0, 16_777_216.0), importance: Low,
        }
        /// Bytes that are read ahead from a connection that sends without a pause.
        read_ahead_max_bytes: i32 = "highwater.read.ahead.max.bytes" {
            default: Some("1048576"), valid: Between(4096.0, 16_777_216.0), importance: Low,
        }
        /// Threads that serve connections; 0 takes one for each core.
        worker_threads: i32 = "highwater.worker.threads" {
            default: Some("0"), valid: Between(0.0, 1024.0),
        }
        /// Threads that read what is not in memory, so that a replay never holds up the tail.
        cold_read_threads: i32 = "highwater.cold.read.threads" {
            default: Some("4"), valid: Between(1.0, 256.0), importance: Low,
        }
    }
}
