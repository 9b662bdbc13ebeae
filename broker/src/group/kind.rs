//! What is asked of a group of any kind.

use super::state::Group;
use protocol::coordinator::group::{GroupId, GroupRecord};
use protocol::error::ErrorCode;

impl Group {
    /// Kafka's name of the kind (`Group.GroupType`).
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Group::Classic(_) => "classic",
            Group::Consumer(_) => "consumer",
        }
    }

    /// What its members say they are; empty: nobody has said it yet.
    pub(super) fn protocol_type(&self) -> &str {
        match self {
            Group::Classic(group) => group.protocol_type(),
            Group::Consumer(group) => group.protocol_type(),
        }
    }

    /// Kafka's name of its state.
    pub(super) fn state_name(&self) -> &'static str {
        match self {
            Group::Classic(group) => group.state_name(),
            Group::Consumer(group) => group.state_name(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Group::Classic(group) => group.is_empty(),
            Group::Consumer(group) => group.is_empty(),
        }
    }

    /// Whether a member subscribes to a topic.
    pub(super) fn is_subscribed(&self, topic: &str) -> bool {
        match self {
            Group::Classic(group) => group.is_subscribed(topic),
            Group::Consumer(group) => group.is_subscribed(topic),
        }
    }

    /// Whether DeleteGroups may take it away.
    pub(super) fn may_delete(&self) -> Result<(), ErrorCode> {
        match self {
            Group::Classic(group) => group.may_delete(),
            Group::Consumer(group) => group.may_delete(),
        }
    }

    /// Whether OffsetDelete may take away the offsets of topics that nobody subscribes to.
    pub(super) fn may_delete_offsets(&self) -> Result<(), ErrorCode> {
        match self {
            Group::Classic(group) => group.may_delete_offsets(),
            Group::Consumer(_) => Ok(()),
        }
    }

    /// Since when an offset that was committed at that time grows old, in milliseconds of the day;
    /// None: it does not, because somebody may use it.
    pub(super) fn offset_ages_since(&self, committed_ms: i64) -> Option<i64> {
        match self {
            Group::Classic(group) => group.offset_ages_since(committed_ms),
            Group::Consumer(_) => Some(committed_ms),
        }
    }

    /// What takes the group away, but for its offsets.
    pub(super) fn tombstones(&self, id: &GroupId) -> Vec<GroupRecord> {
        match self {
            Group::Classic(_) => vec![GroupRecord::Classic(GroupId::clone(id), None)],
            Group::Consumer(group) => group.tombstones(id),
        }
    }
}
