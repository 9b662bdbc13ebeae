//! What members are told: replies, in the words of the messages.

use super::group::ClassicGroup;
use super::member::ClassicMember;
use bytes::Bytes;
use protocol::coordinator::group::MemberId;
use protocol::error::ErrorCode;
use protocol::messages::join_group_response::JoinGroupResponseMember;
use protocol::messages::{HeartbeatResponse, JoinGroupResponse, StrBytes, SyncGroupResponse};

pub(super) fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// A JoinGroup that led to nothing. `member_id` is empty where the client shall have a new one.
pub(in crate::group) fn not_joined(member_id: &str, code: ErrorCode) -> JoinGroupResponse {
    JoinGroupResponse::default()
        .with_error_code(code.code())
        .with_generation_id(-1)
        .with_protocol_name(None)
        .with_member_id(text(member_id))
}

pub(in crate::group) fn not_synced(code: ErrorCode) -> SyncGroupResponse {
    SyncGroupResponse::default().with_error_code(code.code())
}

pub(in crate::group) fn heartbeat(code: ErrorCode) -> HeartbeatResponse {
    HeartbeatResponse::default().with_error_code(code.code())
}

impl ClassicGroup {
    /// The present generation, and who is in it for the leader, who divides the work.
    pub(super) fn joined(&self, member_id: &str) -> JoinGroupResponse {
        let members = if self.is_leader(member_id) { self.roll() } else { Vec::new() };
        self.told(member_id).with_members(members)
    }

    /// The present generation, without who is in it.
    pub(super) fn told(&self, member_id: &str) -> JoinGroupResponse {
        JoinGroupResponse::default()
            .with_generation_id(self.generation)
            .with_protocol_type(self.protocol_type.as_deref().map(text))
            .with_protocol_name(self.protocol.as_deref().map(text))
            .with_leader(text(self.leader.as_deref().unwrap_or_default()))
            .with_member_id(text(member_id))
    }

    fn roll(&self) -> Vec<JoinGroupResponseMember> {
        let protocol = self.protocol.as_deref().unwrap_or_default();
        let member = |(id, member): (&MemberId, &ClassicMember)| {
            let says = member.metadata(protocol);
            JoinGroupResponseMember::default()
                .with_member_id(text(id))
                .with_group_instance_id(member.instance.as_deref().map(text))
                .with_metadata(says.map_or_else(Bytes::new, Bytes::clone))
        };
        self.members.iter().map(member).collect()
    }

    pub(super) fn synced(&self, assignment: Bytes) -> SyncGroupResponse {
        SyncGroupResponse::default()
            .with_protocol_type(self.protocol_type.as_deref().map(text))
            .with_protocol_name(self.protocol.as_deref().map(text))
            .with_assignment(assignment)
    }
}
