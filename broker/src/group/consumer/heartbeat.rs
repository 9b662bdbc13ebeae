//! ConsumerGroupHeartbeat of a member that joins or stays (Kafka's
//! `GroupMetadataManager.consumerGroupHeartbeat`).

use super::about::news;
use super::group::ConsumerGroup;
use super::member::{AWAY, LEFT, Member, Owned, Progress};
use super::outlook::{Outlook, preferred, subscribed_ids};
use super::pace::{interval_ms, millis};
use super::reconcile::{self, Claim, Goal, MustRejoin};
use super::rules::{self, JOINING, Refusal};
use super::seat::{Seat, take_seat};
use super::target::{Target, target};
use crate::coordinator::{Effects, Moment, Token};
use crate::group::config::group_config;
use crate::group::request::Client;
use crate::group::state::{Decision, Group, State, Timer};
use protocol::config::group::ConsumerGroupConfig;
use protocol::coordinator::group::{
    ConsumerGroupValue, GroupId, GroupRecord, MemberId, MemberValue,
};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::consumer_group_heartbeat_response::{Assignment, TopicPartitions};
use protocol::messages::{ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, StrBytes};
use std::sync::Arc;
use std::time::Duration;

impl State {
    pub(in crate::group) fn consumer_heartbeat(
        &mut self,
        moment: &Moment<'_>,
        token: Token,
        client: &Client,
        request: &ConsumerGroupHeartbeatRequest,
    ) -> Decision {
        let assignors = &moment.config.values.coordinator.consumer_assignors;
        let sound = rules::check(request, client.version, assignors);
        let decided = sound.and_then(|()| match request.member_epoch {
            LEFT | AWAY => self.consumer_leave(moment, request),
            _ => self.consumer_stays(moment, client, request),
        });
        let (records, response) = decided.unwrap_or_else(|refusal| (Vec::new(), refused(refusal)));
        Effects { records, replies: vec![(token, response.into())] }
    }

    fn consumer_stays(
        &mut self,
        moment: &Moment<'_>,
        client: &Client,
        request: &ConsumerGroupHeartbeatRequest,
    ) -> Result<(Vec<GroupRecord>, ConsumerGroupHeartbeatResponse), Refusal> {
        let found = self.groups.get_key_value(request.group_id.as_str());
        let id: GroupId =
            found.map_or_else(|| request.group_id.as_str().into(), |(id, _)| id.clone());
        let unborn = ConsumerGroup::default();
        let is_joining = request.member_epoch == JOINING;
        let mut records = Vec::new();
        let group = match found {
            Some((_, Group::Consumer(group))) => group,
            None if is_joining => &unborn,
            // One without members makes room.
            Some((_, Group::Classic(group))) if is_joining && group.is_empty() => {
                records.push(GroupRecord::Classic(Arc::clone(&id), None));
                &unborn
            }
            _ => return Err(ErrorCode::GroupIdNotFound.into()),
        };
        let config = group_config(moment, &id);
        let step = Step { moment, config: &config, client, request, id: &id, group };
        let verdict = step.decide()?;

        let session = Timer::ConsumerSession(Arc::clone(&id), Arc::clone(&verdict.member));
        self.timers.set(session, moment.now + millis(config.session_timeout_ms));
        let rebalance = || Timer::ConsumerRebalance(Arc::clone(&id), Arc::clone(&verdict.member));
        match verdict.revocation {
            Revocation::Within(time) => self.timers.set(rebalance(), moment.now + time),
            Revocation::Done => self.timers.cancel(&rebalance()),
            Revocation::AsBefore => {}
        }
        if let (Some(epoch), Some(Group::Consumer(group))) =
            (verdict.looked_in, self.groups.get_mut(&id))
        {
            group.looked(epoch);
        }
        records.extend(verdict.records);
        Ok((records, verdict.response))
    }
}

/// All that a decision depends on.
struct Step<'a> {
    moment: &'a Moment<'a>,
    config: &'a ConsumerGroupConfig,
    client: &'a Client,
    request: &'a ConsumerGroupHeartbeatRequest,
    id: &'a GroupId,
    /// Without any record if the member is its first.
    group: &'a ConsumerGroup,
}

struct Verdict {
    records: Vec<GroupRecord>,
    response: ConsumerGroupHeartbeatResponse,
    member: MemberId,
    revocation: Revocation,
    /// The topics were looked at, and the group is in this epoch now.
    looked_in: Option<i32>,
}

/// What becomes of the time that a member has to give up partitions.
enum Revocation {
    Within(Duration),
    Done,
    AsBefore,
}

impl Step<'_> {
    fn decide(&self) -> Result<Verdict, Refusal> {
        self.check_size()?;
        let seat = take_seat(self.group, self.member_id(), self.request)?;
        let mut records = seat.take_over_records(self.id, self.group);

        let news = news(&seat.member.about, self.client, self.request);
        let about = news.as_ref().unwrap_or(&seat.member.about);
        if news.is_some() || seat.is_new {
            let (id, member) = (Arc::clone(self.id), Arc::clone(&seat.id));
            records.push(GroupRecord::Member(id, member, Some(about.clone())));
        }
        let topics_changed = about.subscribed_topics != seat.member.about.subscribed_topics;
        let outlook = Outlook::with(self.group, (&seat.id, about), seat.replaces);
        let assignor_changed = news.is_some() && self.assignor_changed(&outlook);

        let must_raise = topics_changed || assignor_changed;
        let (epoch, looked_in) = self.raise_epoch(&outlook, must_raise, &mut records);
        let target = target(
            (self.moment, self.config),
            (self.id, self.group),
            &outlook,
            (&seat.id, epoch),
            &mut records,
        );
        let next = self.reconcile(&seat, about, &target, topics_changed)?;
        if let Some(next) = &next {
            let (id, member) = (Arc::clone(self.id), Arc::clone(&seat.id));
            records.push(GroupRecord::Current(id, member, Some(next.to_current())));
        }
        let revocation = match &next {
            Some(next) if next.progress == Progress::Unrevoked => {
                Revocation::Within(millis(about.rebalance_timeout_ms))
            }
            Some(_) => Revocation::Done,
            None => Revocation::AsBefore,
        };
        let response = self.respond(&seat, next.as_ref(), (epoch, target.epoch));
        Ok(Verdict { records, response, member: seat.id, revocation, looked_in })
    }

    /// GROUP_MAX_SIZE_REACHED where the member would be one too many.
    fn check_size(&self) -> Result<(), Refusal> {
        let max = self.moment.config.values.coordinator.consumer_max_size;
        let has_place = |instance: &StrBytes| self.group.static_member(instance).is_some();
        let is_full = usize::try_from(max).is_ok_and(|max| max <= self.group.members().len());
        let is_known = self.request.instance_id.as_ref().is_some_and(has_place)
            || self.group.member(&self.request.member_id).is_some();
        if is_full && !is_known {
            return Err(ErrorCode::GroupMaxSizeReached.into());
        }
        Ok(())
    }

    /// A member that joins with an old client is given its id here.
    fn member_id(&self) -> MemberId {
        if self.request.member_id.is_empty() {
            let rng = self.moment.rng;
            return Uuid::from_random(rng.next_u64(), rng.next_u64()).to_string().into();
        }
        let known = self.group.members().get_key_value(self.request.member_id.as_str());
        known.map_or_else(|| self.request.member_id.as_str().into(), |(id, _)| Arc::clone(id))
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
        topics_changed: bool,
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
        reconcile::step(&seat.member, &goal, &claim(self.request)).map_err(fenced)
    }

    fn respond(
        &self,
        seat: &Seat<'_>,
        next: Option<&Member>,
        epochs: (i32, i32),
    ) -> ConsumerGroupHeartbeatResponse {
        let member = next.unwrap_or(&seat.member);
        let now = self.moment.now;
        let raised_at = if epochs.0 == self.group.epoch() { self.group.raised_at() } else { now };
        let usual_ms = self.config.heartbeat_interval_ms;
        let interval = interval_ms(self.group, member, epochs, (raised_at, now), usual_ms);
        let must_say = self.request.member_epoch == JOINING
            || is_whole(self.request)
            || member.assigned != seat.member.assigned;
        ConsumerGroupHeartbeatResponse::default()
            .with_member_id(Some(StrBytes::from_string(seat.id.to_string())))
            .with_member_epoch(member.epoch)
            .with_heartbeat_interval_ms(interval)
            .with_assignment(must_say.then(|| assignment(&member.assigned)))
    }
}

/// Whether the member says all there is to say of it, as clients do when they missed an answer.
fn is_whole(request: &ConsumerGroupHeartbeatRequest) -> bool {
    let subscribes =
        request.subscribed_topic_names.is_some() || request.subscribed_topic_regex.is_some();
    request.rebalance_timeout_ms != -1 && subscribes && request.topic_partitions.is_some()
}

fn claim(request: &ConsumerGroupHeartbeatRequest) -> Claim {
    let topics = request.topic_partitions.as_ref()?.iter();
    let claimed = topics
        .map(|topic| (Uuid::from(topic.topic_id), topic.partitions.iter().copied().collect()));
    Some(claimed.collect())
}

fn assignment(assigned: &Owned) -> Assignment {
    let topics = assigned.iter().map(|(topic, partitions)| {
        TopicPartitions::default()
            .with_topic_id((*topic).into())
            .with_partitions(partitions.keys().copied().collect())
    });
    Assignment::default().with_topic_partitions(topics.collect())
}

fn refused(refusal: Refusal) -> ConsumerGroupHeartbeatResponse {
    ConsumerGroupHeartbeatResponse::default()
        .with_error_code(refusal.code.code())
        .with_error_message(Some(StrBytes::from_string(refusal.why)))
}
