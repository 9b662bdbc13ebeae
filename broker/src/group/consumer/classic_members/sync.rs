//! SyncGroup of a classic member (Kafka's `classicGroupSyncToConsumerGroup`).

use super::identity::Identified;
use crate::coordinator::{Effects, Moment, Token};
use crate::group::classic::replies::not_synced;
use crate::group::consumer::downgrade::{assignment, partitions};
use crate::group::consumer::group::{ConsumerGroup, PROTOCOL_TYPE};
use crate::group::consumer::member::Progress;
use crate::group::state::{Decision, Group, State};
use protocol::error::ErrorCode;
use protocol::messages::{SyncGroupRequest, SyncGroupResponse};
use std::sync::Arc;

impl State {
    /// None: the group is no consumer group.
    pub(in crate::group) fn sync_in_consumer_group(
        &mut self,
        moment: &Moment<'_>,
        token: Token,
        request: &SyncGroupRequest,
    ) -> Option<Decision> {
        let found = self.groups.get_key_value(request.group_id.as_str());
        let Some((group_id, Group::Consumer(group))) = found else { return None };
        let response = match may_sync(group, request) {
            Ok(it) => {
                let key = (Arc::clone(group_id), Arc::clone(it.id));
                let (session, rebalance) =
                    (it.classic.session_timeout_ms, it.member.about.rebalance_timeout_ms);
                if is_behind(group, &it) {
                    self.expect_join(moment, &key, rebalance);
                    not_synced(ErrorCode::RebalanceInProgress)
                } else {
                    let says = it.classic.protocols.first().map_or(&[][..], |(_, says)| says);
                    let given = assignment(&partitions(it.member), says, moment.image);
                    self.expect_no_sync(&key);
                    self.hear_classic(moment, &key, session);
                    SyncGroupResponse::default()
                        .with_protocol_type(request.protocol_type.clone())
                        .with_protocol_name(request.protocol_name.clone())
                        .with_assignment(given)
                }
            }
            Err(code) => not_synced(code),
        };
        Some(Effects::reply(token, response.into()))
    }
}

/// UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL.
fn may_sync<'a>(
    group: &'a ConsumerGroup,
    request: &SyncGroupRequest,
) -> Result<Identified<'a>, ErrorCode> {
    let instance = request.group_instance_id.as_deref();
    let it = group.classic_member(&request.member_id, instance, request.generation_id)?;
    let is_other = |said: Option<&str>, is: Option<&str>| said.is_some() && said != is;
    let protocol = it.classic.protocols.first().map(|(name, _)| &**name);
    if is_other(request.protocol_type.as_deref(), Some(PROTOCOL_TYPE))
        || is_other(request.protocol_name.as_deref(), protocol)
    {
        return Err(ErrorCode::InconsistentGroupProtocol);
    }
    Ok(it)
}

/// Whether it must join first. Who has to give up partitions has joined already, and joins again
/// when it has.
fn is_behind(group: &ConsumerGroup, it: &Identified<'_>) -> bool {
    it.member.epoch < group.assignment_epoch() && it.member.progress != Progress::Unrevoked
}
