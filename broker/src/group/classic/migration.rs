//! Members on their way between a classic and a consumer group (KIP-848, "Migration").

use super::group::{ClassicGroup, Phase};
use super::member::ClassicMember;
use super::replies::{not_joined, not_synced};
use super::vote;
use crate::coordinator::{Moment, Token};
use crate::group::request::Reply;
use crate::group::state::{Decision, State};
use bytes::Bytes;
use protocol::coordinator::group::{
    ClassicMemberMetadata, ClassicMemberValue, GroupId, GroupRecord, MemberId,
};
use protocol::error::ErrorCode;
use std::sync::Arc;

/// A member, with all that it can do.
#[derive(Clone, Debug)]
pub(in crate::group) struct Migrant {
    /// What it said of itself under the protocol that the group took, and what it was given.
    pub(in crate::group) value: ClassicMemberValue,
    pub(in crate::group) metadata: ClassicMemberMetadata,
}

/// How a classic group ends.
impl ClassicGroup {
    /// Its members. None: they have no protocol in common.
    pub(in crate::group) fn emigrants(&self) -> Option<Vec<Migrant>> {
        if self.members.is_empty() {
            return Some(Vec::new());
        }
        let elected = || vote::elect(self.members.values());
        let protocol = self.protocol.clone().or_else(elected)?;
        let migrant = |(id, member): (&MemberId, &ClassicMember)| {
            let metadata = ClassicMemberMetadata {
                session_timeout_ms: member.session_timeout_ms,
                protocols: member.protocols.clone(),
            };
            Some(Migrant { value: member.value(id, &protocol)?, metadata })
        };
        self.members.iter().map(migrant).collect()
    }

    /// Whoever waits for its assignment or for other members is told to join anew.
    pub(in crate::group) fn dismiss(&mut self) -> Vec<(Token, Reply)> {
        let code = ErrorCode::RebalanceInProgress;
        let mut replies = Vec::new();
        for (id, member) in &mut self.members {
            let joining = member.joining.take().map(|it| (it, not_joined(id, code).into()));
            let syncing = member.syncing.take().map(|it| (it, not_synced(code).into()));
            replies.extend(joining.into_iter().chain(syncing));
        }
        replies
    }
}

/// The record of a classic group that begins with these members, in the generation of that number;
/// None: they have no protocol in common. `assignment` says what a member has, in the words of the
/// protocol that the group takes, given what the member says under it.
pub(in crate::group) fn immigrated(
    (id, generation): (&GroupId, i32),
    moment: &Moment<'_>,
    migrants: Vec<Migrant>,
    assignment: impl Fn(&MemberId, &Bytes) -> Bytes,
) -> Option<GroupRecord> {
    let mut group =
        ClassicGroup { generation, phase: Phase::Stable, ..ClassicGroup::new(moment.wall_ms) };
    for migrant in migrants {
        let id = MemberId::clone(&migrant.value.member_id);
        group.add(id, super::group::CONSUMER, ClassicMember::from(migrant));
    }
    let protocol = vote::elect(group.members.values())?;
    group.protocol = Some(protocol.clone());
    // That nobody leads says to whoever reads the record that the members are still to divide.
    group.leader = None;
    let given = |member: &MemberId| {
        let says = group.members.get(member).and_then(|it| it.metadata(&protocol));
        says.map_or_else(Bytes::new, |says| assignment(member, says))
    };
    Some(group.record(id, given))
}

impl ClassicMember {
    /// None: it cannot do what the protocol asks for.
    fn value(&self, id: &MemberId, protocol: &str) -> Option<ClassicMemberValue> {
        Some(ClassicMemberValue {
            member_id: MemberId::clone(id),
            group_instance_id: self.instance.clone(),
            client_id: Arc::clone(&self.client_id),
            client_host: Arc::clone(&self.client_host),
            rebalance_timeout_ms: self.rebalance_timeout_ms,
            session_timeout_ms: self.session_timeout_ms,
            subscription: self.metadata(protocol)?.clone(),
            assignment: self.assignment.clone(),
        })
    }
}

impl From<Migrant> for ClassicMember {
    fn from(Migrant { value, metadata }: Migrant) -> ClassicMember {
        ClassicMember {
            instance: value.group_instance_id,
            client_id: value.client_id,
            client_host: value.client_host,
            rebalance_timeout_ms: value.rebalance_timeout_ms,
            session_timeout_ms: metadata.session_timeout_ms,
            protocols: metadata.protocols,
            assignment: value.assignment,
            joining: None,
            syncing: None,
            is_new: false,
        }
    }
}

impl State {
    /// A group has become a classic one: its members have their sessions to come to a rebalance,
    /// because what they have was not divided among just them.
    pub(in crate::group) fn classic_group_begins(
        &mut self,
        moment: &Moment<'_>,
        id: &str,
    ) -> Option<Decision> {
        let mut turn = self.turn(moment, id)?;
        let members: Vec<_> = turn.group.members.keys().cloned().collect();
        members.iter().for_each(|member| turn.hear(member));
        if turn.group.phase == Phase::Stable {
            turn.prepare();
        }
        Some(turn.done)
    }
}
