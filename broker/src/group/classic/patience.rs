//! Patience: answers that are put off for a moment, because what is about to happen would make
//! them void. Ours, not Kafka's.
//!
//! A member hears of a rebalance with its next heartbeat, seconds away, but at once while it waits
//! for an answer. So a generation is not begun, and not divided, while a client is on its way in
//! with the id that it was given just now; and where members have to give up partitions before
//! others get them (KIP-429), which always leads to one more generation, those who would be told
//! what they know wait for that.

use super::group::{ClassicGroup, Phase};
use super::member::ClassicMember;
use super::replies::not_synced;
use super::turn::Turn;
use crate::coordinator::Moment;
use crate::group::state::{Decision, State, Timer};
use bytes::Bytes;
use protocol::coordinator::consumer_protocol::{Assignment, NamedPartitions, Subscription};
use protocol::coordinator::group::{GroupId, MemberId};
use protocol::error::ErrorCode;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// How long a client may take to come back with the id that it was given.
pub(super) const ARRIVAL: Duration = Duration::from_millis(500);
/// How long members may take to give up partitions and to join again.
const HANDOVER: Duration = Duration::from_secs(1);

type Partitions = BTreeSet<(Arc<str>, i32)>;

/// What a member has, and what it is given.
struct Change {
    owned: Partitions,
    given: Partitions,
}

impl State {
    pub(in crate::group) fn classic_patience_ends(
        &mut self,
        moment: &Moment<'_>,
        id: &str,
    ) -> Option<Decision> {
        let mut turn = self.turn(moment, id)?;
        if turn.group.division.is_some() {
            turn.assign();
        } else {
            turn.group.unconcerned.clear();
            turn.answer_syncs();
        }
        Some(turn.done)
    }
}

impl ClassicGroup {
    /// Until when somebody is on its way in; None: nobody is.
    pub(super) fn arrivals_end(&self, now: Duration) -> Option<Duration> {
        self.pending.values().copied().filter(|until| now < *until).max()
    }

    /// Those who are told nothing new, if others must give up partitions that nobody is given yet.
    fn unconcerned_by(&self, given: impl Fn(&MemberId) -> Bytes) -> BTreeSet<MemberId> {
        if !self.is_of_consumers() {
            return BTreeSet::new();
        }
        let change = |(id, member): (&MemberId, &ClassicMember)| {
            let says = member.metadata(self.protocol.as_deref()?)?;
            let owned = partitions(Subscription::read(says).ok()?.owned);
            // Who is given nothing may be told so by nothing.
            let given = match &*given(id) {
                [] => Partitions::new(),
                bytes => partitions(Assignment::read(bytes).ok()?.partitions),
            };
            Some((MemberId::clone(id), Change { owned, given }))
        };
        let changes = self.members.iter().map(change).collect::<Option<Vec<_>>>();
        let changes = changes.unwrap_or_default();
        let lost = || changes.iter().flat_map(|(_, it)| it.owned.difference(&it.given));
        let given: BTreeSet<_> = changes.iter().flat_map(|(_, it)| &it.given).collect();
        if lost().next().is_none() || lost().any(|it| given.contains(it)) {
            return BTreeSet::new();
        }
        changes.into_iter().filter(|(_, it)| it.owned == it.given).map(|(id, _)| id).collect()
    }
}

fn partitions(named: Vec<NamedPartitions>) -> Partitions {
    let topic = |it: NamedPartitions| {
        it.partitions.into_iter().map(move |number| (Arc::clone(&it.topic), number))
    };
    named.into_iter().flat_map(topic).collect()
}

impl Turn<'_> {
    /// Whether the leader's word has to wait for somebody who is on its way in.
    pub(super) fn awaits_arrivals(&mut self) -> bool {
        let until = self.group.arrivals_end(self.moment.now);
        until.map(|until| self.timers.set(self.patience(), until)).is_some()
    }

    /// Has those wait for whom nothing changes, if another generation must follow.
    pub(super) fn await_handover(&mut self, given: impl Fn(&MemberId) -> Bytes) {
        self.group.unconcerned = self.group.unconcerned_by(given);
        if !self.group.unconcerned.is_empty() {
            self.timers.set(self.patience(), self.moment.now.saturating_add(HANDOVER));
        }
    }

    /// A rebalance begins, and makes void what was put off.
    pub(super) fn lose_patience(&mut self) {
        self.group.division = None;
        self.group.unconcerned.clear();
        self.timers.cancel(&self.patience());
    }

    fn patience(&self) -> Timer {
        Timer::ClassicPatience(GroupId::clone(&self.id))
    }

    /// Members that wait hear what they have, or, where that could not be written, that they are to
    /// join again.
    pub(super) fn answer_syncs(&mut self) {
        let is_stable = self.group.phase == Phase::Stable;
        for (id, token) in self.group.take_syncs() {
            let assignment = self.group.members.get(&id).map(|it| it.assignment.clone());
            match assignment.filter(|_| is_stable) {
                Some(assignment) => self.reply(token, self.group.synced(assignment)),
                None => self.reply(token, not_synced(ErrorCode::RebalanceInProgress)),
            }
            self.hear(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::classic::group::CONSUMER;

    const PROTOCOL: &str = "cooperative-sticky";

    /// Each member with what it has, of one topic, and what it is given.
    #[track_caller]
    fn check(members: &[(&str, &[i32], &[i32])], want: &[&str]) {
        let named = |partitions: &[i32]| {
            vec![NamedPartitions { topic: "t".into(), partitions: partitions.to_vec() }]
        };
        let mut group = ClassicGroup { protocol: Some(PROTOCOL.into()), ..ClassicGroup::default() };
        for (id, owned, _) in members {
            let says = Subscription { version: 1, owned: named(owned), ..Subscription::default() };
            let member = ClassicMember {
                instance: None,
                client_id: "c".into(),
                client_host: "/127.0.0.1".into(),
                rebalance_timeout_ms: 1,
                session_timeout_ms: 1,
                protocols: vec![(PROTOCOL.into(), says.to_bytes())],
                assignment: Bytes::new(),
                joining: None,
                syncing: None,
                is_new: false,
            };
            group.add((*id).into(), CONSUMER, member);
        }
        let given = |id: &MemberId| {
            let given = members.iter().find(|(it, ..)| **id == **it).map(|(.., given)| *given);
            let partitions = named(given.unwrap_or_default());
            Assignment { version: 1, partitions, user_data: None }.to_bytes()
        };
        let got = group.unconcerned_by(given);
        assert_eq!(got.iter().map(|id| &**id).collect::<Vec<_>>(), want);
    }

    #[test]
    fn who_is_told_nothing_new_waits_for_those_who_give_up() {
        check(&[("a", &[0, 1, 2], &[0]), ("b", &[], &[]), ("c", &[3], &[3])], &["b", "c"]);
        check(&[("a", &[0, 1], &[0]), ("b", &[], &[2]), ("c", &[], &[])], &["c"]);
    }

    #[test]
    fn nobody_waits_where_no_generation_must_follow() {
        check(&[("a", &[], &[0]), ("b", &[], &[])], &[]);
        check(&[("a", &[0], &[0, 1]), ("b", &[2], &[2])], &[]);
        // As protocols do that move partitions at once.
        check(&[("a", &[0, 1], &[0]), ("b", &[], &[1]), ("c", &[], &[])], &[]);
    }
}
