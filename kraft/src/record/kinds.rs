//! The messages of Kafka's metadata records, field by field.
//!
//! Names, order, versions and defaults are those of Apache Kafka 4.4.

use super::message::{fields, messages};
use super::shown::Shown;
use super::wire::{Field, Malformed, Message, Reader, Unknown, write_tags};
use protocol::ids::Uuid;

messages! {
    /// A name under which a node is reached.
    Endpoint {
        name: String;
        host: String;
        port: u16;
        security_protocol: i16;
    }

    /// The levels of a feature that a node can work at.
    FeatureRange {
        name: String;
        min_supported_version: i16;
        max_supported_version: i16;
    }

    /// A broker process came up, or says who it is anew.
    RegisterBrokerRecord {
        broker_id: i32;
        is_migrating_zk_broker: bool, since 2;
        incarnation_id: Uuid;
        broker_epoch: i64;
        end_points: Vec<Endpoint>;
        features: Vec<FeatureRange>;
        rack: Option<String>;
        fenced: bool, = true;
        in_controlled_shutdown: bool, since 1;
    } tags {
        0 log_dirs: Vec<Uuid>, since 3;
        1 cordoned_log_dirs: Option<Vec<Uuid>>, since 4;
    }

    /// A broker is gone for good.
    UnregisterBrokerRecord {
        broker_id: i32;
        broker_epoch: i64;
    }

    /// A topic, without its partitions.
    TopicRecord {
        name: String;
        topic_id: Uuid;
    }

    /// A whole partition, new or restated.
    PartitionRecord {
        partition_id: i32, = -1;
        topic_id: Uuid;
        replicas: Vec<i32>;
        isr: Vec<i32>;
        removing_replicas: Vec<i32>;
        adding_replicas: Vec<i32>;
        leader: i32, = -1;
        leader_epoch: i32, = -1;
        partition_epoch: i32, = -1;
        directories: Vec<Uuid>, since 1;
    } tags {
        0 leader_recovery_state: i8;
        1 eligible_leader_replicas: Option<Vec<i32>>, since 2;
        2 last_known_elr: Option<Vec<i32>>, since 2;
    }

    /// One config key of one resource; null takes it away.
    ConfigRecord {
        resource_type: i8;
        resource_name: String;
        name: String;
        value: Option<String>;
    }

    /// What changed of a partition; what is absent stays. Each one raises the partition's epoch.
    PartitionChangeRecord {
        partition_id: i32, = -1;
        topic_id: Uuid;
    } tags {
        0 isr: Option<Vec<i32>>;
        1 leader: i32, = NO_LEADER_CHANGE;
        2 replicas: Option<Vec<i32>>;
        3 removing_replicas: Option<Vec<i32>>;
        4 adding_replicas: Option<Vec<i32>>;
        5 leader_recovery_state: i8, = -1;
        6 eligible_leader_replicas: Option<Vec<i32>>, since 2;
        7 last_known_elr: Option<Vec<i32>>, since 2;
        8 directories: Option<Vec<Uuid>>, since 1;
    }

    /// A broker may lead nothing (old form; `BrokerRegistrationChangeRecord` is the new one).
    FenceBrokerRecord {
        id: i32;
        epoch: i64;
    }

    /// A broker may lead again (old form; `BrokerRegistrationChangeRecord` is the new one).
    UnfenceBrokerRecord {
        id: i32;
        epoch: i64;
    }

    /// A topic and all its partitions are gone.
    RemoveTopicRecord {
        topic_id: Uuid;
    }

    /// A delegation token's facts, its secret aside.
    DelegationTokenRecord {
        owner: String;
        requester: String;
        renewers: Vec<String>;
        issue_timestamp: i64;
        max_timestamp: i64;
        expiration_timestamp: i64;
        token_id: String;
    }

    /// What verifies one user's password with one mechanism.
    UserScramCredentialRecord {
        name: String;
        mechanism: i8;
        salt: Vec<u8>;
        stored_key: Vec<u8>;
        server_key: Vec<u8>;
        iterations: i32;
    }

    /// The level a feature stands at; 0 takes it away.
    FeatureLevelRecord {
        name: String;
        feature_level: i16;
    }

    /// One part of what a quota is for; a null name is the default of its type.
    QuotaEntity {
        entity_type: String;
        entity_name: Option<String>;
    }

    /// One limit of one quota entity.
    ClientQuotaRecord {
        entity: Vec<QuotaEntity>;
        key: String;
        value: f64;
        remove: bool;
    }

    /// All producer ids below `next_producer_id` are given out.
    ProducerIdsRecord {
        broker_id: i32;
        broker_epoch: i64, = -1;
        next_producer_id: i64;
    }

    /// What changed of a broker's registration; 0 leaves a state, 1 sets it, -1 clears it.
    BrokerRegistrationChangeRecord {
        broker_id: i32;
        broker_epoch: i64;
    } tags {
        0 fenced: i8;
        1 in_controlled_shutdown: i8, since 1;
        2 log_dirs: Vec<Uuid>, since 2;
        3 cordoned_log_dirs: Option<Vec<Uuid>>, since 3;
    }

    /// One access rule.
    AccessControlEntryRecord {
        id: Uuid;
        resource_type: i8;
        resource_name: String;
        pattern_type: i8;
        principal: String;
        host: String;
        operation: i8;
        permission_type: i8;
    }

    /// An access rule is gone.
    RemoveAccessControlEntryRecord {
        id: Uuid;
    }

    /// Nothing; the log moves on.
    NoOpRecord {}

    /// How far a migration from ZooKeeper had come; only old logs hold one.
    ZkMigrationStateRecord {
        zk_migration_state: i8;
    }

    /// A user's password with one mechanism is gone.
    RemoveUserScramCredentialRecord {
        name: String;
        mechanism: i8;
    }

    /// What follows counts once its end is read.
    BeginTransactionRecord {} tags {
        0 name: Option<String>;
    }

    /// What came since the begin counts.
    EndTransactionRecord {}

    /// What came since the begin never happened.
    AbortTransactionRecord {} tags {
        0 reason: Option<String>;
    }

    /// A delegation token is gone.
    RemoveDelegationTokenRecord {
        token_id: String;
    }

    /// A controller process came up.
    RegisterControllerRecord {
        controller_id: i32;
        incarnation_id: Uuid;
        zk_migration_ready: bool;
        end_points: Vec<Endpoint>;
        features: Vec<FeatureRange>;
    }

    /// Eligible leader replicas are forgotten, of one topic or (empty name) of all.
    ClearElrRecord {
        topic_name: String;
    }

    /// A controller is gone for good.
    UnregisterControllerRecord {
        controller_id: i32;
    }
}

/// `PartitionChangeRecord::leader` where the leader stays.
pub const NO_LEADER_CHANGE: i32 = -2;

fields!(Endpoint FeatureRange QuotaEntity);
