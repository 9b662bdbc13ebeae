//! Config keys of replication, of quotas, and of the sockets between nodes.

use super::key::Importance::{High, Low};
use super::key::Key;
use super::key::Scope::{ClusterWide, DynamicOnly};
use super::key::Valid::AtLeast;
use super::typed::{Class, inert_keys};

inert_keys! {
    /// What a broker is told about copying from leaders.
    REPLICATION {
        /// Whether a new follower begins where the remote part of the log ends.
        bool = "follower.fetch.last.tiered.offset.enable" {
            default: Some("false"), scope: ClusterWide,
        }
        /// Threads that move replicas between log directories.
        Option<i32> = "num.replica.alter.log.dirs.threads" { importance: High, }
        /// Connections that copy from each leader.
        i32 = "num.replica.fetchers" {
            default: Some("1"), valid: AtLeast(1.0), scope: ClusterWide, importance: High,
        }
        /// Milliseconds before a failed fetch from a leader is tried again.
        i32 = "replica.fetch.backoff.ms" { default: Some("1000"), valid: AtLeast(0.0), }
        /// Bytes of one partition that a follower asks for at a time.
        i32 = "replica.fetch.max.bytes" { default: Some("1048576"), valid: AtLeast(0.0), }
        /// Bytes that a leader gathers before it answers a follower.
        i32 = "replica.fetch.min.bytes" { default: Some("1"), importance: High, }
        /// Bytes that a follower asks for at a time in all.
        i32 = "replica.fetch.response.max.bytes" { default: Some("10485760"), valid: AtLeast(0.0), }
        /// Milliseconds that a leader may hold a follower's fetch.
        i32 = "replica.fetch.wait.max.ms" { default: Some("500"), importance: High, }
        /// Milliseconds that a follower may lag behind and still count as in sync.
        i64 = "replica.lag.time.max.ms" { default: Some("30000"), importance: High, }
        /// The Java class that sends consumers to a replica near them.
        Option<String> = "replica.selector.class" {}
        /// Bytes of the receive buffer of a connection to a leader.
        i32 = "replica.socket.receive.buffer.bytes" { default: Some("65536"), importance: High, }
        /// Milliseconds that a fetch from a leader may take.
        i32 = "replica.socket.timeout.ms" { default: Some("30000"), importance: High, }
        /// The longest time, in milliseconds, that connecting to another node may take after
        /// failures.
        i64 = "socket.connection.setup.timeout.max.ms" { default: Some("30000"), }
        /// Milliseconds that connecting to another node may take.
        i64 = "socket.connection.setup.timeout.ms" { default: Some("10000"), }
    }
}

inert_keys! {
    /// How fast replication may run, and how rates are measured.
    QUOTAS {
        /// Windows over which moves between log directories are counted.
        i32 = "alter.log.dirs.replication.quota.window.num" {
            default: Some("11"), valid: AtLeast(1.0), importance: Low,
        }
        /// Seconds of such a window.
        i32 = "alter.log.dirs.replication.quota.window.size.seconds" {
            default: Some("1"), valid: AtLeast(1.0), importance: Low,
        }
        /// The Java class that decides clients' quotas.
        Option<Class> = "client.quota.callback.class" { importance: Low, }
        /// Bytes a second that throttled replicas may copy in.
        i64 = "follower.replication.throttled.rate" {
            default: Some("9223372036854775807"), valid: AtLeast(0.0), scope: DynamicOnly,
        }
        /// Bytes a second that throttled replicas may copy out.
        i64 = "leader.replication.throttled.rate" {
            default: Some("9223372036854775807"), valid: AtLeast(0.0), scope: DynamicOnly,
        }
        /// Windows over which clients' use is counted.
        i32 = "quota.window.num" { default: Some("11"), valid: AtLeast(1.0), importance: Low, }
        /// Seconds of such a window.
        i32 = "quota.window.size.seconds" {
            default: Some("1"), valid: AtLeast(1.0), importance: Low,
        }
        /// Bytes a second that moves between log directories may take.
        i64 = "replica.alter.log.dirs.io.max.bytes.per.second" {
            default: Some("9223372036854775807"), valid: AtLeast(0.0), scope: DynamicOnly,
        }
        /// Windows over which replication is counted.
        i32 = "replication.quota.window.num" {
            default: Some("11"), valid: AtLeast(1.0), importance: Low,
        }
        /// Seconds of such a window.
        i32 = "replication.quota.window.size.seconds" {
            default: Some("1"), valid: AtLeast(1.0), importance: Low,
        }
    }
}
