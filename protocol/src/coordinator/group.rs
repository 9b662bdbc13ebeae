//! Records of `__consumer_offsets`: keys 0 to 8 and 16, as Apache Kafka's group coordinator writes
//! them. A value that is None is a tombstone.

use crate::ids::Uuid;
use bytes::Bytes;
use std::sync::Arc;

/// A group, by the name that its members give it.
pub type GroupId = Arc<str>;
/// A member of a group.
pub type MemberId = Arc<str>;

/// One record, key and value.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupRecord {
    /// Keys 0 and 1.
    Offset(OffsetKey, Option<OffsetValue>),
    /// Key 2: a classic group, whole.
    Classic(GroupId, Option<ClassicGroupValue>),
    /// Key 3: the epoch of a consumer group (KIP-848).
    Consumer(GroupId, Option<ConsumerGroupValue>),
    /// Key 4: the partitions that older brokers wrote for a consumer group. Only tombstones are
    /// written now.
    PartitionMetadata(GroupId, Option<Bytes>),
    /// Key 5
    Member(GroupId, MemberId, Option<MemberValue>),
    /// Key 6
    Target(GroupId, Option<TargetValue>),
    /// Key 7
    MemberTarget(GroupId, MemberId, Option<MemberTargetValue>),
    /// Key 8
    Current(GroupId, MemberId, Option<CurrentValue>),
    /// Key 16
    Regex(GroupId, Arc<str>, Option<RegexValue>),
}

/// Of which group, for which partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OffsetKey {
    pub group: GroupId,
    pub topic: Arc<str>,
    pub partition: i32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetValue {
    pub offset: i64,
    /// -1: unknown.
    pub leader_epoch: i32,
    pub metadata: Arc<str>,
    pub commit_timestamp_ms: i64,
    /// -1: the retention of the broker decides. Old clients can say another; then the record has
    /// neither the epoch nor the topic id.
    pub expire_timestamp_ms: i64,
    /// Zero: unknown.
    pub topic_id: Uuid,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassicGroupValue {
    /// `consumer`, `connect` and so on; empty: a group that only commits.
    pub protocol_type: Arc<str>,
    pub generation: i32,
    pub protocol: Option<Arc<str>>,
    pub leader: Option<MemberId>,
    /// When the group came to its present state; -1: unknown.
    pub current_state_timestamp_ms: i64,
    pub members: Vec<ClassicMemberValue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassicMemberValue {
    pub member_id: MemberId,
    pub group_instance_id: Option<Arc<str>>,
    pub client_id: Arc<str>,
    pub client_host: Arc<str>,
    pub rebalance_timeout_ms: i32,
    pub session_timeout_ms: i32,
    /// What it said of itself under the chosen protocol.
    pub subscription: Bytes,
    pub assignment: Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerGroupValue {
    pub epoch: i32,
    /// Of the topics that the group subscribes to; 0: to be computed.
    pub metadata_hash: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberValue {
    pub instance_id: Option<Arc<str>>,
    pub rack_id: Option<Arc<str>>,
    pub client_id: Arc<str>,
    pub client_host: Arc<str>,
    /// In order.
    pub subscribed_topics: Vec<Arc<str>>,
    pub subscribed_regex: Option<Arc<str>>,
    pub rebalance_timeout_ms: i32,
    pub server_assignor: Option<Arc<str>>,
    /// Of a member that speaks the classic protocol.
    pub classic: Option<ClassicMemberMetadata>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassicMemberMetadata {
    pub session_timeout_ms: i32,
    /// In the member's order of preference.
    pub protocols: Vec<(Arc<str>, Bytes)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetValue {
    pub epoch: i32,
    /// When it was computed; 0 from brokers that do not say.
    pub timestamp_ms: i64,
}

/// Partitions of one topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicPartitions {
    pub topic_id: Uuid,
    /// Ascending.
    pub partitions: Vec<i32>,
    /// The epoch in which the member was given each; empty where it is not said.
    pub epochs: Vec<i32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberTargetValue {
    pub partitions: Vec<TopicPartitions>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentValue {
    pub member_epoch: i32,
    pub previous_member_epoch: i32,
    /// Kafka's number of the member's state.
    pub state: i8,
    pub assigned: Vec<TopicPartitions>,
    pub pending_revocation: Vec<TopicPartitions>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexValue {
    pub topics: Vec<Arc<str>>,
    /// Of the metadata image that it was resolved against.
    pub version: i64,
    pub timestamp_ms: i64,
}
