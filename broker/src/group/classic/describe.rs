//! A classic group as DescribeGroups tells it.

use super::group::{ClassicGroup, Phase};
use super::member::ClassicMember;
use super::replies::text;
use bytes::Bytes;
use protocol::coordinator::group::MemberId;
use protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};

impl ClassicGroup {
    /// All but the group's name. What members say of themselves is told of a stable group only,
    /// because before that there is no protocol under which they say it.
    pub(in crate::group) fn describe(&self) -> DescribedGroup {
        let protocol = self.protocol.as_deref().filter(|_| self.phase == Phase::Stable);
        let member = |(id, member): (&MemberId, &ClassicMember)| {
            let says = protocol.and_then(|name| member.metadata(name));
            DescribedGroupMember::default()
                .with_member_id(text(id))
                .with_group_instance_id(member.instance.as_deref().map(text))
                .with_client_id(text(&member.client_id))
                .with_client_host(text(&member.client_host))
                .with_member_metadata(says.map_or_else(Bytes::new, Bytes::clone))
                .with_member_assignment(member.assignment.clone())
        };
        DescribedGroup::default()
            .with_group_state(text(self.state_name()))
            .with_protocol_type(text(self.protocol_type()))
            .with_protocol_data(text(protocol.unwrap_or_default()))
            .with_members(self.members.iter().map(member).collect())
    }
}
