//! LeaveGroup in a consumer group (Kafka's `classicGroupLeaveToConsumerGroup`): members of either
//! protocol may be named, by an administrator by their instances.

use crate::coordinator::{Effects, Moment};
use crate::group::consumer::group::ConsumerGroup;
use crate::group::consumer::leave::removal;
use crate::group::state::{Decision, Group, State};
use protocol::coordinator::group::MemberId;
use protocol::error::ErrorCode;
use protocol::messages::leave_group_request::MemberIdentity;
use std::collections::BTreeSet;
use std::sync::Arc;

impl State {
    /// What becomes of each of `leaving`, and the decision without its reply; None: the group is
    /// no consumer group.
    pub(in crate::group) fn leave_consumer_group(
        &mut self,
        moment: &Moment<'_>,
        group_id: &str,
        leaving: &[MemberIdentity],
    ) -> Option<(Vec<Result<(), ErrorCode>>, Decision)> {
        let found = self.groups.get_key_value(group_id);
        let Some((group_id, Group::Consumer(group))) = found else { return None };
        let group_id = Arc::clone(group_id);
        let mut gone = BTreeSet::new();
        let outcomes = leaving.iter().map(|it| {
            gone.insert(member(group, it)?);
            Ok(())
        });
        let outcomes = outcomes.collect();
        let mut decision = Effects::none();
        if !gone.is_empty() {
            decision.records = removal(moment, &group_id, group, &gone);
        }
        Some((outcomes, decision))
    }
}

/// UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID
fn member(group: &ConsumerGroup, it: &MemberIdentity) -> Result<MemberId, ErrorCode> {
    let (id, instance) = (it.member_id.as_str(), it.group_instance_id.as_deref());
    let found = match instance.and_then(|it| group.static_member(it)) {
        Some((found, _)) if id.is_empty() => found,
        _ => group.named(id, instance)?.0,
    };
    Ok(Arc::clone(found))
}
