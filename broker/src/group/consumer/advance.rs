//! Advance: what one member says, and what follows from it for its group: a new epoch, a new
//! target, and a step of the member towards it.

use super::group::ConsumerGroup;
use super::member::{Member, regex};
use super::outlook::{Outlook, preferred, subscribed_ids};
use super::reconcile::{self, Claim, Goal, MustRejoin};
use super::regex::pattern_records;
use super::rules::Refusal;
use super::seat::Seat;
use super::target::{Target, target};
use crate::coordinator::Moment;
use protocol::config::group::ConsumerGroupConfig;
use protocol::coordinator::group::{
    ConsumerGroupValue, GroupId, GroupRecord, MemberId, MemberValue,
};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use std::collections::BTreeSet;
use std::sync::Arc;

/// All that a decision depends on, but for the member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Advance<'a> {
    pub(super) moment: &'a Moment<'a>,
    pub(super) config: &'a ConsumerGroupConfig,
    pub(super) id: &'a GroupId,
    /// Without any record if the member is its first.
    pub(super) group: &'a ConsumerGroup,
}

/// What becomes of a member and its group.
#[derive(Debug)]
pub(super) struct Advanced {
    pub(super) records: Vec<GroupRecord>,
    /// None: the member stays where it was.
    pub(super) next: Option<Member>,
    /// The group's, and that of its target.
    pub(super) epochs: (i32, i32),
    /// The topics were looked at, and the group is in this epoch now.
    pub(super) looked_in: Option<i32>,
}

impl Advance<'_> {
    /// `news` is what the member says of itself; None: the same as before. `claim` is what it says
    /// that it has.
    pub(super) fn member(
        &self,
        seat: &Seat<'_>,
        news: Option<&MemberValue>,
        claim: &Claim,
    ) -> Result<Advanced, Refusal> {
        let mut records = seat.take_over_records(self.id, self.group);
        let old = &seat.member.about;
        let about = news.unwrap_or(old);
        if news.is_some() || seat.is_new {
            let (id, member) = (Arc::clone(self.id), Arc::clone(&seat.id));
            records.push(GroupRecord::Member(id, member, Some(about.clone())));
        }
        let pattern_changed = regex(old) != regex(about);
        let mut must_raise = about.subscribed_topics != old.subscribed_topics;
        let topics_changed = must_raise || pattern_changed;
        if pattern_changed {
            let patterns = (regex(old), regex(about));
            must_raise |= pattern_records((self.id, self.group), patterns, &mut records)?;
        }
        let outlook = Outlook::with(self.group, (&seat.id, about), seat.replaces);
        must_raise |= news.is_some() && self.assignor_changed(&outlook);

        let (epoch, looked_in) = self.raise_epoch(&outlook, must_raise, &mut records);
        let target = target(
            (self.moment, self.config),
            (self.id, self.group),
            &outlook,
            (&seat.id, epoch),
            &mut records,
        );
        let next = self.reconcile(seat, about, &target, (topics_changed, claim))?;
        if let Some(next) = &next {
            let (id, member) = (Arc::clone(self.id), Arc::clone(&seat.id));
            records.push(GroupRecord::Current(id, member, Some(next.to_current())));
        }
        Ok(Advanced { records, next, epochs: (epoch, target.epoch), looked_in })
    }

    /// What the group itself has to catch up with, on behalf of a member whose heartbeat says
    /// nothing new: other topics, an assignment that had to wait. Only the group moves.
    pub(super) fn group(&self, id: &MemberId) -> Advanced {
        let (mut records, nobody) = (Vec::new(), BTreeSet::new());
        let outlook = Outlook::without(self.group, &nobody);
        let (epoch, looked_in) = self.raise_epoch(&outlook, false, &mut records);
        let target = target(
            (self.moment, self.config),
            (self.id, self.group),
            &outlook,
            (id, epoch),
            &mut records,
        );
        Advanced { records, next: None, epochs: (epoch, target.epoch), looked_in }
    }

    /// GROUP_MAX_SIZE_REACHED where a member would be one too many.
    pub(super) fn check_size(&self, id: &str, instance: Option<&str>) -> Result<(), Refusal> {
        let max = self.moment.config.values.coordinator.consumer_max_size;
        let is_full = usize::try_from(max).is_ok_and(|max| max <= self.group.members().len());
        let is_known = || {
            instance.is_some_and(|it| self.group.static_member(it).is_some())
                || self.group.member(id).is_some()
        };
        if is_full && !is_known() {
            return Err(ErrorCode::GroupMaxSizeReached.into());
        }
        Ok(())
    }

    /// A member that joins without an id is given one here.
    pub(super) fn member_id(&self, said: &str) -> MemberId {
        if said.is_empty() {
            let rng = self.moment.rng;
            return Uuid::from_random(rng.next_u64(), rng.next_u64()).to_string().into();
        }
        let known = self.group.members().get_key_value(said);
        known.map_or_else(|| said.into(), |(id, _)| Arc::clone(id))
    }

    /// Whether another assignor is wanted by most than was before.
    fn assignor_changed(&self, outlook: &Outlook<'_>) -> bool {
        let offered = &self.moment.config.values.coordinator.consumer_assignors;
        let or_first =
            |it: Option<Arc<str>>| it.or_else(|| offered.first().map(|it| it.as_str().into()));
        let before = preferred(self.group.members().values().map(|member| &member.about));
        or_first(before) != or_first(outlook.assignor())
    }

    /// The epoch that the group is in after the step; raised if it must be, or if the topics are
    /// not what they were. And that epoch again if they were looked at for that.
    fn raise_epoch(
        &self,
        outlook: &Outlook<'_>,
        must_raise: bool,
        records: &mut Vec<GroupRecord>,
    ) -> (i32, Option<i32>) {
        let group = self.group;
        if !must_raise && !group.must_look() {
            return (group.epoch(), None);
        }
        let metadata_hash = outlook.metadata_hash(self.moment.image);
        let is_other = must_raise || metadata_hash != group.metadata_hash();
        let epoch = group.epoch().saturating_add(i32::from(is_other));
        if is_other {
            let value = ConsumerGroupValue { epoch, metadata_hash };
            records.push(GroupRecord::Consumer(Arc::clone(self.id), Some(value)));
        }
        if group.has_partition_metadata() {
            records.push(GroupRecord::PartitionMetadata(Arc::clone(self.id), None));
        }
        (epoch, Some(epoch))
    }

    /// The member after one step towards its target; None: it stays as it is.
    fn reconcile(
        &self,
        seat: &Seat<'_>,
        about: &MemberValue,
        target: &Target<'_>,
        (topics_changed, claim): (bool, &Claim),
    ) -> Result<Option<Member>, Refusal> {
        if !topics_changed && seat.member.is_reconciled_to(target.epoch) {
            return Ok(None);
        }
        let topics = subscribed_ids(self.group, about, self.moment.image);
        let is_its_own = |owner: &MemberId| *owner == seat.id || seat.replaces == Some(owner);
        let goal = Goal {
            epoch: target.epoch,
            target: &target.partitions,
            topics: &topics,
            topics_changed,
            is_free: &|topic, number| self.group.owner(topic, number).is_none_or(is_its_own),
        };
        let why = "the member's state was written by a newer broker; it must join again";
        let fenced = |MustRejoin| Refusal::new(ErrorCode::FencedMemberEpoch, why);
        reconcile::step(&seat.member, &goal, claim).map_err(fenced)
    }
}
