//! Config keys of producers' ids and of transactions.

use super::key::Importance::{High, Low};
use super::key::Scope::ClusterWide;
use super::key::Valid::AtLeast;
use super::key::{Invalid, Key, Lookup};
use super::typed::{config_keys, inert_keys};

config_keys! {
    /// What one broker is told about idempotent producers.
    ProducerConfig {
        /// Milliseconds after its last write that a producer's sequence numbers are remembered.
        id_expiration_ms: i32 = "producer.id.expiration.ms" {
            default: Some("86400000"), valid: AtLeast(1.0), scope: ClusterWide, importance: Low,
        }
        /// Milliseconds between two looks for producers to forget.
        id_expiration_check_interval_ms: i32 = "producer.id.expiration.check.interval.ms" {
            default: Some("600000"), valid: AtLeast(1.0), importance: Low, internal: true,
        }
    }
}

inert_keys! {
    /// What a broker is told about transactions and their coordinator.
    TRANSACTIONS {
        /// Milliseconds that a broker goes on asking the coordinator to add a partition to a
        /// transaction.
        i32 = "add.partitions.to.txn.retry.backoff.max.ms" {
            default: Some("100"), valid: AtLeast(0.0), importance: High,
        }
        /// Milliseconds between two such questions.
        i32 = "add.partitions.to.txn.retry.backoff.ms" {
            default: Some("20"), valid: AtLeast(1.0), importance: High,
        }
        /// Milliseconds between two looks for transactions that ran out of time.
        i32 = "transaction.abort.timed.out.transaction.cleanup.interval.ms" {
            default: Some("10000"), valid: AtLeast(1.0), importance: Low,
        }
        /// The longest timeout that a transaction may ask for.
        i32 = "transaction.max.timeout.ms" {
            default: Some("900000"), valid: AtLeast(1.0), importance: High,
        }
        /// Whether a partition leader asks the coordinator if a transaction is open before it
        /// appends to it.
        bool = "transaction.partition.verification.enable" {
            default: Some("true"), scope: ClusterWide, importance: Low,
        }
        /// Milliseconds between two looks for transactional ids that have expired.
        i32 = "transaction.remove.expired.transaction.cleanup.interval.ms" {
            default: Some("3600000"), valid: AtLeast(1.0), importance: Low,
        }
        /// Bytes read at a time when transactions are loaded.
        i32 = "transaction.state.log.load.buffer.size" {
            default: Some("5242880"), valid: AtLeast(1.0), importance: High,
        }
        /// Replicas that must be in sync for a write to the transaction topic.
        i32 = "transaction.state.log.min.isr" {
            default: Some("2"), valid: AtLeast(1.0), importance: High,
        }
        /// Partitions of the transaction topic; they cannot change once it exists.
        i32 = "transaction.state.log.num.partitions" {
            default: Some("50"), valid: AtLeast(1.0), importance: High,
        }
        /// Replicas of each partition of the transaction topic.
        i16 = "transaction.state.log.replication.factor" {
            default: Some("3"), valid: AtLeast(1.0), importance: High,
        }
        /// Bytes of a segment of the transaction topic.
        i32 = "transaction.state.log.segment.bytes" {
            default: Some("104857600"), valid: AtLeast(1.0), importance: High,
        }
        /// Whether a transaction may stay open without a timeout, for a commit in two phases.
        bool = "transaction.two.phase.commit.enable" { default: Some("false"), importance: Low, }
        /// Milliseconds after its last use that a transactional id is remembered.
        i32 = "transactional.id.expiration.ms" {
            default: Some("604800000"), valid: AtLeast(1.0), importance: High,
        }
    }
}
