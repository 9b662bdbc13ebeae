//! Heartbeat of a classic member (Kafka's `classicGroupHeartbeatToConsumerGroup`). Unlike Kafka's it
//! moves the group on too, as that of any member does: with classic members alone nobody else would
//! see that topics have changed.

use super::identity::Identified;
use crate::coordinator::{Effects, Moment, Token};
use crate::group::classic::replies;
use crate::group::config::group_config;
use crate::group::consumer::advance::{Advance, Advanced};
use crate::group::consumer::group::ConsumerGroup;
use crate::group::consumer::member::Progress;
use crate::group::state::{Decision, Group, State};
use protocol::error::ErrorCode;
use protocol::messages::HeartbeatRequest;
use std::sync::Arc;

impl State {
    /// None: the group is no consumer group.
    pub(in crate::group) fn heartbeat_in_consumer_group(
        &mut self,
        moment: &Moment<'_>,
        token: Token,
        request: &HeartbeatRequest,
    ) -> Option<Decision> {
        let found = self.groups.get_key_value(request.group_id.as_str());
        let Some((group_id, Group::Consumer(group))) = found else { return None };
        let instance = request.group_instance_id.as_deref();
        let found = group.classic_member(&request.member_id, instance, request.generation_id);
        let it = match found {
            Ok(it) => it,
            Err(code) => return Some(Effects::reply(token, replies::heartbeat(code).into())),
        };
        let key = (Arc::clone(group_id), Arc::clone(it.id));
        let (session, rebalance) =
            (it.classic.session_timeout_ms, it.member.about.rebalance_timeout_ms);
        let config = group_config(moment, group_id);
        let advance = Advance { moment, config: &config, id: group_id, group };
        let Advanced { records, epochs, looked_in, .. } = advance.group(it.id);
        let must_join = must_join(group, &it, epochs.1);
        self.hear_classic(moment, &key, session);
        if must_join {
            self.expect_join(moment, &key, rebalance);
        }
        if let (Some(epoch), Some(Group::Consumer(group))) =
            (looked_in, self.groups.get_mut(&key.0))
        {
            group.looked(epoch);
        }
        let code = if must_join { ErrorCode::RebalanceInProgress } else { ErrorCode::None };
        Some(Effects { records, replies: vec![(token, replies::heartbeat(code).into())] })
    }
}

/// There is a newer assignment, or it must give up partitions, or what it waited for is free.
fn must_join(group: &ConsumerGroup, it: &Identified<'_>, assignment_epoch: i32) -> bool {
    it.member.epoch < assignment_epoch
        || match it.member.progress {
            Progress::Unrevoked => true,
            Progress::Unreleased => !waits(group, it),
            Progress::Stable | Progress::Unknown => false,
        }
}

/// Whether somebody else still has what it should have.
fn waits(group: &ConsumerGroup, it: &Identified<'_>) -> bool {
    let has =
        |topic, number| it.member.assigned.get(topic).is_some_and(|it| it.contains_key(number));
    let is_owned = |topic, number: &i32| group.owner(topic, *number).is_some();
    let mut target = group.target(it.id).into_iter().flatten();
    target.any(|(topic, numbers)| {
        numbers.iter().any(|number| !has(topic, number) && is_owned(*topic, number))
    })
}
