//! ConsumerGroupHeartbeat of a member that joins or stays (Kafka's
//! `GroupMetadataManager.consumerGroupHeartbeat`).

use super::about::news;
use super::advance::{Advance, Advanced};
use super::member::{AWAY, LEFT, Member, Owned, Progress, regex};
use super::pace::{interval_ms, millis};
use super::reconcile::Claim;
use super::rules::{self, JOINING, Refusal};
use super::seat::{Seat, take_seat};
use super::upgrade::{Upgrade, upgrade};
use crate::coordinator::{Effects, Moment, Token};
use crate::group::config::group_config;
use crate::group::request::Client;
use crate::group::state::{Decision, Group, State, Timer};
use protocol::coordinator::group::{GroupId, GroupRecord, MemberId};
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
            LEFT | AWAY => {
                let (records, response) = self.consumer_leave(moment, request)?;
                Ok(Effects { records, replies: vec![(token, response.into())] })
            }
            _ => self.consumer_stays(moment, token, client, request),
        });
        decided.unwrap_or_else(|refusal| {
            Effects::reply(token, ConsumerGroupHeartbeatResponse::from(refusal).into())
        })
    }

    fn consumer_stays(
        &mut self,
        moment: &Moment<'_>,
        token: Token,
        client: &Client,
        request: &ConsumerGroupHeartbeatRequest,
    ) -> Result<Decision, Refusal> {
        let found = self.groups.get_key_value(request.group_id.as_str());
        let id: GroupId =
            found.map_or_else(|| request.group_id.as_str().into(), |(id, _)| id.clone());
        let is_joining = request.member_epoch == JOINING;
        let upgrade = match found {
            Some((_, Group::Classic(group))) if is_joining => upgrade(moment, &id, group)?,
            _ => Upgrade::default(),
        };
        let group = match found {
            Some((_, Group::Consumer(group))) => group,
            _ if is_joining => &upgrade.group,
            _ => return Err(ErrorCode::GroupIdNotFound.into()),
        };
        let config = group_config(moment, &id);
        let advance = Advance { moment, config: &config, id: &id, group };
        let verdict = Step { client, request, advance }.decide()?;

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
        let mut done = self.upgraded(moment, &id, upgrade);
        done.records.extend(verdict.records);
        done.replies.push((token, verdict.response.into()));
        Ok(done)
    }
}

/// All that a decision depends on.
struct Step<'a> {
    client: &'a Client,
    request: &'a ConsumerGroupHeartbeatRequest,
    advance: Advance<'a>,
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
        let Step { request, advance, .. } = self;
        advance.check_size(&request.member_id, request.instance_id.as_deref())?;
        let seat = take_seat(advance.group, advance.member_id(&request.member_id), request)?;
        let news = news(&seat.member.about, self.client, request);
        let Advanced { records, next, epochs, looked_in } =
            advance.member(&seat, news.as_ref(), &claim(request))?;
        let about = news.as_ref().unwrap_or(&seat.member.about);
        let revocation = match &next {
            Some(next) if next.progress == Progress::Unrevoked => {
                Revocation::Within(millis(about.rebalance_timeout_ms))
            }
            Some(_) => Revocation::Done,
            None => Revocation::AsBefore,
        };
        // A pattern that is to be looked up will raise the epoch.
        let is_known = |it| advance.group.regexes().contains_key(it);
        let is_awaited = regex(about).is_some_and(|it| !is_known(it));
        let epochs = (epochs.0.saturating_add(i32::from(is_awaited)), epochs.1);
        let response = self.respond(&seat, next.as_ref(), (epochs, !records.is_empty()));
        Ok(Verdict { records, response, member: seat.id, revocation, looked_in })
    }

    fn respond(
        &self,
        seat: &Seat<'_>,
        next: Option<&Member>,
        (epochs, moves): ((i32, i32), bool),
    ) -> ConsumerGroupHeartbeatResponse {
        let member = next.unwrap_or(&seat.member);
        let Advance { moment, group, config, .. } = self.advance;
        let usual_ms = config.heartbeat_interval_ms;
        let interval = interval_ms((group, moves), member, epochs, moment.now, usual_ms);
        let must_say = self.request.member_epoch == JOINING
            || is_whole(self.request)
            || next.is_some_and(|next| next.assigned != seat.member.assigned);
        ConsumerGroupHeartbeatResponse::default()
            .with_member_id(Some(StrBytes::from_string(String::from(&*seat.id))))
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
