//! Static members that come back: a new id takes the place of the old one (KIP-345).

use super::group::Phase;
use super::join::Join;
use super::replies::{not_joined, not_synced, text};
use super::turn::Turn;
use super::vote;
use protocol::coordinator::group::MemberId;
use protocol::error::ErrorCode;
use std::sync::Arc;

/// From this version on a leader can be told that the assignment is not its to make (KIP-814).
const SKIP_SINCE: i16 = 9;

impl Turn<'_> {
    /// The instance is `new` from now on, with what it says now. Its session of old runs out
    /// without effect.
    pub(super) fn replace(&mut self, join: &Join<'_>, old: &MemberId, new: MemberId) {
        let was_leader = self.group.leader.clone();
        if !self.rename(old, &new) {
            return;
        }
        self.update(join, &new);
        self.hear(&new);
        match self.group.phase {
            Phase::Stable if self.keeps_its_protocol() => self.stand_in(join, &new, was_leader),
            Phase::Preparing => self.complete_if_all_joined(),
            // While the leader divides, it does so with the old id.
            Phase::Empty | Phase::Completing | Phase::Stable => self.prepare(),
        }
    }

    fn keeps_its_protocol(&self) -> bool {
        vote::elect(self.group.members.values()) == self.group.protocol
    }

    /// False: there is no such member. Whoever still waits as the old one is fenced.
    fn rename(&mut self, old: &MemberId, new: &MemberId) -> bool {
        let Some(mut member) = self.group.members.shift_remove(old) else { return false };
        let (joining, syncing) = (member.joining.take(), member.syncing.take());
        if let Some(instance) = &member.instance {
            self.group.by_instance.insert(Arc::clone(instance), MemberId::clone(new));
        }
        if self.group.is_leader(old) {
            self.group.leader = Some(MemberId::clone(new));
        }
        self.group.members.insert(MemberId::clone(new), member);
        // Or the one that is no more would be waited for, and all would have to join again.
        if self.group.unsynced.remove(old) {
            self.group.unsynced.insert(MemberId::clone(new));
        }
        let code = ErrorCode::FencedInstanceId;
        if let Some(token) = joining {
            self.reply(token, not_joined(old, code));
        }
        if let Some(token) = syncing {
            self.reply(token, not_synced(code));
        }
        true
    }

    /// Nothing changes for the others: the new id is written, and finds the assignment where it
    /// was. If it cannot be written the next attempt replaces it once more.
    fn stand_in(&mut self, join: &Join<'_>, new: &MemberId, was_leader: Option<MemberId>) {
        if let Some(member) = self.group.members.get_mut(new) {
            member.joining = None;
        }
        let is_leader = self.group.is_leader(new);
        let response = if SKIP_SINCE <= join.client.version {
            self.group.joined(new).with_skip_assignment(is_leader)
        } else {
            // The old id as the leader: the client takes itself for a follower, and does not
            // divide what is divided.
            let leader = text(was_leader.as_deref().unwrap_or_default());
            self.group.told(new).with_leader(leader)
        };
        self.reply(join.token, response);
        let members = &self.group.members;
        let assignment = |id: &MemberId| {
            members.get(id).map(|member| member.assignment.clone()).unwrap_or_default()
        };
        self.done.records.push(self.group.record(&self.id, assignment));
    }
}
