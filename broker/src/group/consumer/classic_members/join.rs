//! JoinGroup of a classic member (Kafka's `classicGroupJoinToConsumerGroup`). It is answered at
//! once: what the member says goes into the group's assignment as a heartbeat would.

use crate::coordinator::{Effects, Moment, Token};
use crate::group::classic::replies::not_joined;
use crate::group::classic::versions::{rebalance_timeout_ms, takes_id_first};
use crate::group::config::group_config;
use crate::group::consumer::advance::{Advance, Advanced};
use crate::group::consumer::downgrade::downgrade;
use crate::group::consumer::group::{ConsumerGroup, PROTOCOL_TYPE};
use crate::group::consumer::reconcile::Claim;
use crate::group::consumer::rules::Refusal;
use crate::group::consumer::seat::{Seat, take_classic_seat};
use crate::group::request::Client;
use crate::group::state::{Decision, Group, State};
use bytes::Bytes;
use kraft::image::Image;
use protocol::config::coordinator::MigrationPolicy;
use protocol::coordinator::consumer_protocol::Subscription;
use protocol::coordinator::group::{ClassicMemberMetadata, GroupRecord, MemberId, MemberValue};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::{JoinGroupRequest, JoinGroupResponse, StrBytes};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What becomes of a JoinGroup that is not refused.
enum Outcome {
    /// The member is to join again, with this id.
    Named(MemberId),
    Joined(Joined),
}

struct Joined {
    member: MemberId,
    generation: i32,
    records: Vec<GroupRecord>,
    /// See [`Advanced`].
    looked_in: Option<i32>,
    /// The group becomes a classic one.
    is_downgraded: bool,
}

impl State {
    /// None: the group is no consumer group, or has no members.
    pub(in crate::group) fn join_consumer_group(
        &mut self,
        moment: &Moment<'_>,
        token: Token,
        client: &Client,
        request: &JoinGroupRequest,
    ) -> Option<Decision> {
        let found = self.groups.get_key_value(request.group_id.as_str());
        let Some((id, Group::Consumer(group))) = found else { return None };
        if group.is_empty() {
            return None;
        }
        let (id, config) = (Arc::clone(id), group_config(moment, id));
        let advance = Advance { moment, config: &config, id: &id, group };
        let outcome = Join { client, request, advance }.decide();
        let joined = match outcome {
            Ok(Outcome::Joined(joined)) => joined,
            Ok(Outcome::Named(member)) => {
                let response = not_joined(&member, ErrorCode::MemberIdRequired);
                return Some(Effects::reply(token, response.into()));
            }
            Err(refusal) => {
                let response = not_joined(&request.member_id, refusal.code);
                return Some(Effects::reply(token, response.into()));
            }
        };
        let key = (id, Arc::clone(&joined.member));
        if !joined.is_downgraded {
            self.hear_classic(moment, &key, request.session_timeout_ms);
            self.expect_sync(moment, &key, rebalance_timeout_ms(client, request));
        }
        if let (Some(epoch), Some(Group::Consumer(group))) =
            (joined.looked_in, self.groups.get_mut(&key.0))
        {
            group.looked(epoch);
        }
        let response = told(request, &joined);
        Some(Effects { records: joined.records, replies: vec![(token, response.into())] })
    }
}

/// Nobody leads, because nobody has to divide anything.
fn told(request: &JoinGroupRequest, joined: &Joined) -> JoinGroupResponse {
    let protocol = request.protocols.first().map(|it| it.name.clone());
    JoinGroupResponse::default()
        .with_generation_id(joined.generation)
        .with_protocol_type(Some(StrBytes::from_static_str(PROTOCOL_TYPE)))
        .with_protocol_name(protocol)
        .with_member_id(StrBytes::from_string(joined.member.to_string()))
}

struct Join<'a> {
    client: &'a Client,
    request: &'a JoinGroupRequest,
    advance: Advance<'a>,
}

impl Join<'_> {
    /// GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID; INCONSISTENT_GROUP_PROTOCOL
    /// where groups do not mix protocols, for another kind of member, and for one that has no
    /// protocol in common with the other classic members.
    fn decide(&self) -> Result<Outcome, Refusal> {
        let Join { client, request, advance } = self;
        let Advance { moment, group, .. } = *advance;
        let instance = request.group_instance_id.as_deref();
        let policy = moment.config.values.coordinator.consumer_migration_policy;
        if policy == MigrationPolicy::Disabled {
            return Err(ErrorCode::InconsistentGroupProtocol.into());
        }
        let id = advance.member_id(&request.member_id);
        advance.check_size(&id, instance)?;
        if !accepts(group, request) {
            return Err(ErrorCode::InconsistentGroupProtocol.into());
        }
        let is_nameless = request.member_id.is_empty();
        if is_nameless && instance.is_none() && takes_id_first(client) {
            return Ok(Outcome::Named(id));
        }
        let seat = take_classic_seat(group, id, instance.map(|it| (it, is_nameless)))?;
        let says = request.protocols.first().map_or(&[][..], |it| &it.metadata);
        let subscription =
            Subscription::read(says).map_err(|_| ErrorCode::InconsistentGroupProtocol)?;
        let about = self.about(&seat, &subscription);
        if let Some(records) = downgraded(&self.advance, instance, (&seat.id, &about)) {
            let (generation, is_downgraded) = (group.epoch(), true);
            let member = seat.id;
            let joined = Joined { member, generation, records, looked_in: None, is_downgraded };
            return Ok(Outcome::Joined(joined));
        }
        let news = (about != seat.member.about).then_some(&about);
        let claim = claim(&subscription, moment.image);
        let Advanced { records, next, looked_in, .. } = advance.member(&seat, news, &claim)?;
        let generation = next.as_ref().unwrap_or(&seat.member).epoch;
        let (member, is_downgraded) = (seat.id, false);
        Ok(Outcome::Joined(Joined { member, generation, records, looked_in, is_downgraded }))
    }

    /// What the member says of itself now.
    fn about(&self, seat: &Seat<'_>, subscription: &Subscription) -> MemberValue {
        let Join { client, request, .. } = self;
        let old = seat.member.about.clone();
        let topics: BTreeSet<Arc<str>> = subscription.topics.iter().cloned().collect();
        let timeout = Some(rebalance_timeout_ms(client, request)).filter(|it| *it != -1);
        let protocols = request
            .protocols
            .iter()
            .map(|it| (Arc::from(it.name.as_str()), Bytes::copy_from_slice(&it.metadata)));
        MemberValue {
            instance_id: request.group_instance_id.as_deref().map(Arc::from).or(old.instance_id),
            rack_id: subscription.rack.clone().filter(|it| !it.is_empty()).or(old.rack_id),
            client_id: Arc::clone(&client.id),
            client_host: Arc::clone(&client.host),
            subscribed_topics: topics.into_iter().collect(),
            subscribed_regex: Some(Arc::default()),
            rebalance_timeout_ms: timeout.unwrap_or(old.rebalance_timeout_ms),
            server_assignor: old.server_assignor,
            classic: Some(ClassicMemberMetadata {
                session_timeout_ms: request.session_timeout_ms,
                protocols: protocols.collect(),
            }),
        }
    }
}

/// Whether it is a consumer that can do something that all classic members can.
fn accepts(group: &ConsumerGroup, request: &JoinGroupRequest) -> bool {
    let classic = || group.members().values().filter_map(|it| it.about.classic.as_ref());
    let all_can = |name: &str| {
        classic().all(|it| it.protocols.iter().any(|(protocol, _)| **protocol == *name))
    };
    *request.protocol_type == *PROTOCOL_TYPE && request.protocols.iter().any(|it| all_can(&it.name))
}

/// The records that make a classic group of it, where the static member whose place is taken was
/// the last that did not speak the classic protocol.
fn downgraded(
    advance: &Advance<'_>,
    instance: Option<&str>,
    joining: (&MemberId, &MemberValue),
) -> Option<Vec<GroupRecord>> {
    let (replaced, _) = advance.group.static_member(instance?)?;
    let gone = BTreeSet::from([Arc::clone(replaced)]);
    downgrade(advance.moment, (advance.id, advance.group), &gone, Some(joining))
}

/// What it says that it has, of the topics that exist.
fn claim(subscription: &Subscription, image: &Image) -> Claim {
    let mut claim = BTreeMap::<Uuid, BTreeSet<i32>>::new();
    for named in &subscription.owned {
        if let Some(topic) = image.topic(&named.topic) {
            claim.entry(topic.id).or_default().extend(&named.partitions);
        }
    }
    Some(claim)
}
