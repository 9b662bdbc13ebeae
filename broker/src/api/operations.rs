//! What a client may do, as bits: as long as there is no authorizer, all that can be done.

/// Kafka's numbers of operations.
const READ: u32 = 3;
const WRITE: u32 = 4;
const CREATE: u32 = 5;
const DELETE: u32 = 6;
const ALTER: u32 = 7;
const DESCRIBE: u32 = 8;
const CLUSTER_ACTION: u32 = 9;
const DESCRIBE_CONFIGS: u32 = 10;
const ALTER_CONFIGS: u32 = 11;
const IDEMPOTENT_WRITE: u32 = 12;

/// All that can be done to a topic.
pub(super) const TOPIC: i32 = 1 << READ
    | 1 << WRITE
    | 1 << CREATE
    | 1 << DELETE
    | 1 << ALTER
    | 1 << DESCRIBE
    | 1 << DESCRIBE_CONFIGS
    | 1 << ALTER_CONFIGS;

/// All that can be done to a group.
pub(super) const GROUP: i32 =
    1 << READ | 1 << DELETE | 1 << DESCRIBE | 1 << DESCRIBE_CONFIGS | 1 << ALTER_CONFIGS;

/// All that can be done to the cluster.
pub(super) const CLUSTER: i32 = 1 << CREATE
    | 1 << ALTER
    | 1 << DESCRIBE
    | 1 << CLUSTER_ACTION
    | 1 << DESCRIBE_CONFIGS
    | 1 << ALTER_CONFIGS
    | 1 << IDEMPOTENT_WRITE;
