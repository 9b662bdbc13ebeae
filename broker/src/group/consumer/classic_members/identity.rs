//! The classic member that a request names.

use crate::group::consumer::group::ConsumerGroup;
use crate::group::consumer::member::Member;
use protocol::coordinator::group::{ClassicMemberMetadata, MemberId};
use protocol::error::ErrorCode;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identified<'a> {
    pub(super) id: &'a MemberId,
    pub(super) member: &'a Member,
    pub(super) classic: &'a ClassicMemberMetadata,
}

impl ConsumerGroup {
    /// UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID where the instance id is another member's by now.
    pub(super) fn named(
        &self,
        id: &str,
        instance: Option<&str>,
    ) -> Result<(&MemberId, &Member), ErrorCode> {
        let found = match instance {
            Some(instance) => self.static_member(instance),
            None => self.members().get_key_value(id),
        };
        let found = found.ok_or(ErrorCode::UnknownMemberId)?;
        if **found.0 == *id { Ok(found) } else { Err(ErrorCode::FencedInstanceId) }
    }

    /// The same, and UNKNOWN_MEMBER_ID for a member that speaks the consumer protocol,
    /// ILLEGAL_GENERATION for one that is in another epoch.
    pub(super) fn classic_member(
        &self,
        id: &str,
        instance: Option<&str>,
        generation: i32,
    ) -> Result<Identified<'_>, ErrorCode> {
        let (id, member) = self.named(id, instance)?;
        let classic = member.about.classic.as_ref().ok_or(ErrorCode::UnknownMemberId)?;
        if generation != member.epoch {
            return Err(ErrorCode::IllegalGeneration);
        }
        Ok(Identified { id, member, classic })
    }
}
