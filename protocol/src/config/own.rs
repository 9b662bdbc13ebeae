//! Highwater's own config keys: what Apache Kafka has no word for.

use super::key::Importance::{High, Low};
use super::key::Scope::ClusterWide;
use super::key::Valid::{AtLeast, Between, Is};
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
        /// Where health, metrics and the page for people are served by HTTP: `host:port`, an empty
        /// host being every address; nothing at all: nowhere. With `?` behind it the broker goes on
        /// without, and warns, where another process has the port; else it does not start.
        admin_listener: String = "highwater.admin.listener" {
            default: Some("localhost:9644?"),
            valid: Is("`host:port`, with `?` behind it or not, or nothing", |text| {
                text.is_empty() || is_host_and_port(text.strip_suffix('?').unwrap_or(text))
            }),
            importance: High,
        }
        /// Names under which browsers and scrapers may call the admin port, besides addresses,
        /// names without a dot and those in `advertised.listeners`; `*`: any. Others are refused,
        /// so that no foreign page can read through a browser what is served here.
        admin_hosts: Vec<String> = "highwater.admin.hosts" { default: Some(""), }
        /// Whether the admin port shows the messages of topics; null: where it listens on loopback
        /// alone.
        admin_read_messages: Option<bool> = "highwater.admin.read.messages" {}
    }
}

fn is_host_and_port(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}
