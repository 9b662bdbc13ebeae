//! One step of a member towards its target assignment (Kafka's `CurrentAssignmentBuilder`).
//!
//! A member first gives up what it must, then comes to the target's epoch, and is given each
//! partition as soon as nobody else has it.

use super::assignor::Partitions;
use super::member::{Member, Owned, Progress};
use protocol::ids::Uuid;
use std::collections::{BTreeMap, BTreeSet};

/// Where a member is led.
pub(in crate::group) struct Goal<'a> {
    /// Of the target assignment.
    pub(in crate::group) epoch: i32,
    pub(in crate::group) target: &'a Partitions,
    /// The topics that it subscribes to; it is given no others, whatever the target says.
    pub(in crate::group) topics: &'a BTreeSet<Uuid>,
    /// Whether that may be less than it has.
    pub(in crate::group) topics_changed: bool,
    /// Whether nobody else has a partition.
    pub(in crate::group) is_free: &'a dyn Fn(Uuid, i32) -> bool,
}

/// What a member says that it owns; None: it says nothing of it.
pub(in crate::group) type Claim = Option<BTreeMap<Uuid, BTreeSet<i32>>>;

/// The member after the step; None: nothing changes. `Err`: its state is of a kind that is not
/// known here, and it must give up all it has and join anew.
pub(in crate::group) fn step(
    member: &Member,
    goal: &Goal<'_>,
    claim: &Claim,
) -> Result<Option<Member>, MustRejoin> {
    let next = match member.progress {
        Progress::Stable if member.epoch != goal.epoch => advance(member, goal, claim),
        Progress::Unrevoked if !still_owns(claim, &member.revoking) => advance(member, goal, claim),
        Progress::Unreleased => advance(member, goal, claim),
        Progress::Stable | Progress::Unrevoked => {
            let Some(next) = goal.topics_changed.then(|| strip(member, goal, claim)) else {
                return Ok(None);
            };
            next
        }
        Progress::Unknown if claim.as_ref().is_some_and(BTreeMap::is_empty) => {
            // With nothing left, it can start from the target.
            let fresh = Member { epoch: goal.epoch, ..member.clone() };
            let next = advance(&fresh, goal, claim);
            Member { previous_epoch: member.epoch, ..next }
        }
        Progress::Unknown => return Err(MustRejoin),
    };
    Ok((next != *member).then_some(next))
}

/// See [`step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::group) struct MustRejoin;

fn advance(member: &Member, goal: &Goal<'_>, claim: &Claim) -> Member {
    let mut plan = Plan::default();
    let topics: BTreeSet<&Uuid> = goal.target.keys().chain(member.assigned.keys()).collect();
    for topic in topics {
        plan.weigh(*topic, member, goal);
    }
    let is_held = still_owns(claim, &plan.revoking) || may_be_taking(member, claim, &plan.kept);
    let must_revoke = !plan.revoking.is_empty() && is_held;
    let (progress, epoch) = if must_revoke {
        (Progress::Unrevoked, member.epoch)
    } else if plan.is_waiting {
        (Progress::Unreleased, goal.epoch)
    } else {
        (Progress::Stable, goal.epoch)
    };
    let (assigned, revoking) = if must_revoke {
        (plan.kept, plan.revoking)
    } else {
        (plan.with_given(goal.epoch), Owned::new())
    };
    let previous_epoch = member.epoch;
    Member { epoch, previous_epoch, progress, assigned, revoking, ..member.clone() }
}

/// What becomes of the partitions that a member has or should have.
#[derive(Default)]
struct Plan {
    kept: Owned,
    revoking: Owned,
    given: BTreeMap<Uuid, Vec<i32>>,
    /// Whether somebody else still has what it should be given.
    is_waiting: bool,
}

impl Plan {
    fn weigh(&mut self, topic: Uuid, member: &Member, goal: &Goal<'_>) {
        let is_wanted = goal.topics.contains(&topic);
        let target = goal.target.get(&topic).filter(|_| is_wanted).map_or(&[][..], Vec::as_slice);
        let has = member.assigned.get(&topic);
        for (partition, epoch) in has.into_iter().flatten() {
            let stays = target.binary_search(partition).is_ok();
            let place = if stays { &mut self.kept } else { &mut self.revoking };
            place.entry(topic).or_default().insert(*partition, *epoch);
        }
        let is_new = |partition: &i32| has.is_none_or(|has| !has.contains_key(partition));
        for partition in target.iter().copied().filter(is_new) {
            if (goal.is_free)(topic, partition) {
                self.given.entry(topic).or_default().push(partition);
            } else {
                self.is_waiting = true;
            }
        }
    }

    fn with_given(self, epoch: i32) -> Owned {
        let mut assigned = self.kept;
        for (topic, partitions) in self.given {
            assigned.entry(topic).or_default().extend(partitions.into_iter().map(|it| (it, epoch)));
        }
        assigned
    }
}

/// Takes what the member does not subscribe to any more out of what it has, without waiting for
/// the target that says so too.
fn strip(member: &Member, goal: &Goal<'_>, claim: &Claim) -> Member {
    let (kept, gone): (Owned, Owned) =
        member.assigned.clone().into_iter().partition(|(topic, _)| goal.topics.contains(topic));
    if gone.is_empty() {
        return member.clone();
    }
    let mut revoking = member.revoking.clone();
    for (topic, partitions) in gone {
        revoking.entry(topic).or_default().extend(partitions);
    }
    let (epoch, previous_epoch) = (member.epoch, member.epoch);
    let stripped = Member { epoch, previous_epoch, assigned: kept, ..member.clone() };
    if still_owns(claim, &revoking) {
        Member { progress: Progress::Unrevoked, revoking, ..stripped }
    } else {
        stripped
    }
}

/// Whether a member may be about to take what it was given before, although it does not claim it
/// yet: a client that looks up names first claims nothing meanwhile. Once it is told what it keeps,
/// it claims that, and it is certain. Kafka takes the first claim for the last word, and then two
/// members can work on a partition for a moment.
fn may_be_taking(member: &Member, claim: &Claim, kept: &Owned) -> bool {
    // A classic member says what it has when it joins, as does one that comes anew or was told.
    let is_certain = member.is_classic()
        || member.epoch == 0
        || matches!(member.progress, Progress::Unrevoked | Progress::Unknown);
    let claims_kept = claim.as_ref().is_some_and(|claim| {
        let kept = kept.iter().map(|(topic, of)| (topic, of.keys().copied().collect()));
        claim
            .iter()
            .filter(|(_, of)| !of.is_empty())
            .map(|(topic, of)| (topic, of.clone()))
            .eq(kept)
    });
    !is_certain && !claims_kept
}

/// Whether a member may still work on any of these partitions. It does unless it says otherwise.
fn still_owns(claim: &Claim, partitions: &Owned) -> bool {
    let Some(claim) = claim else { return true };
    let claims = |topic: &Uuid, of: &BTreeMap<i32, i32>| {
        claim.get(topic).is_some_and(|claimed| of.keys().any(|it| claimed.contains(it)))
    };
    partitions.iter().any(|(topic, of)| claims(topic, of))
}

#[cfg(test)]
mod tests;
