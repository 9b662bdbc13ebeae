//! Clients of both protocols with one group: they come, go and crash, the group changes its kind
//! with them, and the coordinator fails and restarts. No partition is ever worked on by two of them,
//! and when all is quiet every partition is, by one.

#![expect(clippy::indexing_slicing, reason = "clients are numbered, and stay")]
#![expect(clippy::wildcard_enum_match_arm, reason = "any other event or code is no business here")]

use crate::story::metadata;
use crate::story::world::{Event, World};
use broker::group::{Client, Reply, Request};
use proptest::prelude::*;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::{
    ConsumerGroupHeartbeatRequest, GroupId, HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest,
    StrBytes, SyncGroupRequest, TopicName,
};
use std::collections::{BTreeMap, BTreeSet};

const CLIENTS: usize = 4;
const TOPIC: &str = "t";
const SESSION_MS: i32 = 45_000;
const REBALANCE_MS: i32 = 60_000;
/// Clients that live are heard of this often, whatever else happens.
const LATEST_MS: u64 = 10_000;
/// A rebalance may have to wait for the lost, and another one for those lost meanwhile.
const SETTLED_MS: u64 = 240_000;
const STEP_MS: u64 = 500;

#[derive(Clone, Debug)]
enum Action {
    /// Whether it speaks the consumer protocol.
    Start(usize, bool),
    Step(usize),
    Quit(usize),
    Crash(usize),
    Grow,
    Wait(u64),
    Restart,
    FailNext,
}

fn action() -> impl Strategy<Value = Action> {
    let client = 0..CLIENTS;
    prop_oneof![
        3 => (client.clone(), any::<bool>()).prop_map(|(it, new)| Action::Start(it, new)),
        9 => client.clone().prop_map(Action::Step),
        2 => client.clone().prop_map(Action::Quit),
        1 => client.prop_map(Action::Crash),
        1 => Just(Action::Grow),
        4 => (1_u64..8000).prop_map(Action::Wait),
        1 => Just(Action::Restart),
        1 => Just(Action::FailNext),
    ]
}

/// What a client does next.
#[derive(Clone, Debug, Default, PartialEq)]
enum Phase {
    #[default]
    Out,
    /// It has asked, and waits.
    Asked,
    /// It has joined, and gives the others this if it leads.
    Joined(Vec<SyncGroupRequestAssignment>),
    In,
}

#[derive(Clone, Debug, Default)]
struct Member {
    lives: bool,
    /// Which of those it is that were started in its place: who crashed hears no answer any more.
    life: usize,
    is_classic: bool,
    id: String,
    /// Or epoch.
    generation: i32,
    phase: Phase,
    owned: BTreeSet<i32>,
    /// How many partitions there are, as far as it knows.
    partitions: i32,
    /// How many it divided among the members, if it leads.
    divided: Option<i32>,
    heard_at: u64,
}

struct Mix {
    world: World,
    clients: Vec<Member>,
    partitions: i32,
    now: u64,
    born: usize,
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// Who asks, in that life.
fn caller(it: usize, life: usize) -> String {
    format!("{it}.{life}")
}

fn group() -> GroupId {
    GroupId(text("g"))
}

impl Mix {
    fn new() -> Mix {
        let mut world = World::default();
        world.wait(10_000);
        world.topic(TOPIC, 3);
        let clients = vec![Member::default(); CLIENTS];
        Mix { world, clients, partitions: 3, now: 0, born: 0 }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Start(it, is_new) if !self.clients[*it].lives => {
                self.born += 1;
                let id = if *is_new { format!("m{}", self.born) } else { String::new() };
                let life = self.born;
                self.clients[*it] =
                    Member { lives: true, life, is_classic: !is_new, id, ..Member::default() };
                self.step(*it);
            }
            Action::Start(..) => {}
            Action::Step(it) => self.step(*it),
            Action::Quit(it) => self.quit(*it),
            Action::Crash(it) => self.clients[*it].lives = false,
            Action::Grow if self.partitions < 8 => {
                self.partitions += 1;
                let events = self.world.topic(TOPIC, self.partitions);
                self.hear(events);
            }
            Action::Grow => {}
            Action::Wait(ms) => self.wait(*ms, LATEST_MS),
            Action::Restart => {
                let events = self.world.restart();
                self.hear(events);
                // Connections end with it, and what was asked on them.
                let asked = self.clients.iter_mut().filter(|it| it.phase == Phase::Asked);
                asked.for_each(|it| it.phase = Phase::Out);
            }
            Action::FailNext => self.world.fail_next("NotCoordinator"),
        }
        self.check();
    }

    fn step(&mut self, it: usize) {
        let topic: Uuid = self.world.topic_id(TOPIC).parse().unwrap();
        let client = &mut self.clients[it];
        if !client.lives || client.phase == Phase::Asked {
            return;
        }
        client.heard_at = self.now;
        client.partitions = self.partitions;
        // A leader that sees other topics than it divided asks all to join again.
        if client.phase == Phase::In && client.divided.is_some_and(|it| it != self.partitions) {
            client.phase = Phase::Out;
        }
        let request = client.next(it, topic);
        let caller = caller(it, client.life);
        let events = self.world.ask(&caller, request);
        self.hear(events);
    }

    fn quit(&mut self, it: usize) {
        let client = &mut self.clients[it];
        if !client.lives {
            return;
        }
        client.lives = false;
        let from = Client { id: it.to_string().into(), host: "/h".into(), version: 1 };
        let request = if client.is_classic {
            let identity = MemberIdentity::default().with_member_id(text(&client.id));
            let leave = LeaveGroupRequest::default().with_group_id(group());
            Request::Leave(Client { version: 5, ..from }, leave.with_members(vec![identity]))
        } else {
            let leave = ConsumerGroupHeartbeatRequest::default()
                .with_group_id(group())
                .with_member_id(text(&client.id))
                .with_member_epoch(-1);
            Request::ConsumerHeartbeat(from, leave)
        };
        let caller = caller(it, client.life);
        let events = self.world.ask(&caller, request);
        self.hear(events);
    }

    fn hear(&mut self, events: Vec<Event>) {
        for event in events {
            if let Event::Reply(caller, reply) = event {
                let (it, life) = caller.split_once('.').unwrap();
                let client = &mut self.clients[it.parse::<usize>().unwrap()];
                if client.lives && life.parse() == Ok(client.life) {
                    client.learn(&reply);
                }
            }
        }
    }

    /// Nobody who lives stays silent for longer than `latest`.
    fn wait(&mut self, ms: u64, latest: u64) {
        let end = self.now + ms;
        while self.now < end {
            let events = self.world.wait(STEP_MS);
            self.now += STEP_MS;
            self.hear(events);
            for it in 0..CLIENTS {
                if self.clients[it].heard_at + latest <= self.now {
                    self.step(it);
                    self.check();
                }
            }
        }
    }

    fn check(&self) {
        let mut seen = BTreeMap::new();
        for (number, client) in self.clients.iter().enumerate().filter(|(_, it)| it.lives) {
            for partition in &client.owned {
                let other = seen.insert(*partition, number);
                assert_eq!(other, None, "{partition} is {number}'s too: {:#?}", self.clients);
            }
        }
    }

    fn check_settled(&self) {
        let living: Vec<_> = self.clients.iter().filter(|it| it.lives).collect();
        let owned: BTreeSet<i32> = living.iter().flat_map(|it| &it.owned).copied().collect();
        let all = if living.is_empty() { 0 } else { self.partitions };
        assert_eq!(owned, (0..all).collect(), "{:#?}", self.clients);
    }
}

/// What it asks.
impl Member {
    fn next(&mut self, it: usize, topic: Uuid) -> Request {
        let from = Client { id: it.to_string().into(), host: "/h".into(), version: 1 };
        if !self.is_classic {
            return Request::ConsumerHeartbeat(from, self.beat(topic));
        }
        match std::mem::replace(&mut self.phase, Phase::Asked) {
            Phase::Out | Phase::Asked => {
                // An eager member gives up all it has before it joins.
                self.owned.clear();
                Request::Join(Client { version: 9, ..from }, self.join())
            }
            Phase::Joined(gives) => {
                let sync = SyncGroupRequest::default()
                    .with_group_id(group())
                    .with_member_id(text(&self.id))
                    .with_generation_id(self.generation)
                    .with_assignments(gives);
                Request::Sync(Client { version: 5, ..from }, sync)
            }
            Phase::In => {
                let heartbeat = HeartbeatRequest::default()
                    .with_group_id(group())
                    .with_member_id(text(&self.id))
                    .with_generation_id(self.generation);
                Request::Heartbeat(Client { version: 4, ..from }, heartbeat)
            }
        }
    }

    fn beat(&self, topic: Uuid) -> ConsumerGroupHeartbeatRequest {
        let owned = TopicPartitions::default()
            .with_topic_id(topic.into())
            .with_partitions(self.owned.iter().copied().collect());
        let owned = if self.owned.is_empty() { Vec::new() } else { vec![owned] };
        ConsumerGroupHeartbeatRequest::default()
            .with_group_id(group())
            .with_member_id(text(&self.id))
            .with_member_epoch(self.generation)
            .with_rebalance_timeout_ms(REBALANCE_MS)
            .with_subscribed_topic_names(Some(vec![TopicName(text(TOPIC))]))
            .with_topic_partitions(Some(owned))
    }

    fn join(&self) -> JoinGroupRequest {
        let protocol = JoinGroupRequestProtocol::default()
            .with_name(text("range"))
            .with_metadata(metadata::subscription(&[TOPIC], &[]));
        JoinGroupRequest::default()
            .with_group_id(group())
            .with_session_timeout_ms(SESSION_MS)
            .with_rebalance_timeout_ms(REBALANCE_MS)
            .with_member_id(text(&self.id))
            .with_protocol_type(text("consumer"))
            .with_protocols(vec![protocol])
    }
}

/// What it hears.
impl Member {
    fn learn(&mut self, reply: &Reply) {
        match reply {
            Reply::ConsumerHeartbeat(it) if self.accepts(it.error_code, Phase::In) => {
                self.generation = it.member_epoch;
                let topics = it.assignment.iter().flat_map(|it| &it.topic_partitions);
                let given: BTreeSet<i32> = topics.flat_map(|it| &it.partitions).copied().collect();
                // New ones only when the old ones are given up, and that is heard.
                if self.owned.is_subset(&given) {
                    self.owned = given;
                } else {
                    self.owned.retain(|it| given.contains(it));
                }
            }
            Reply::Join(it) => {
                self.id = it.member_id.to_string();
                if self.accepts(it.error_code, Phase::Out) {
                    self.generation = it.generation_id;
                    let ids: Vec<&str> =
                        it.members.iter().map(|it| it.member_id.as_str()).collect();
                    self.divided = (!ids.is_empty()).then_some(self.partitions);
                    self.phase = Phase::Joined(divided(&ids, self.partitions));
                }
            }
            Reply::Sync(it) if self.accepts(it.error_code, Phase::In) => {
                self.owned = metadata::numbers(&it.assignment).into_iter().collect();
            }
            Reply::Heartbeat(it) => drop(self.accepts(it.error_code, Phase::In)),
            _ => {}
        }
    }

    /// Whether all is well; then it goes on with `phase`.
    fn accepts(&mut self, code: i16, phase: Phase) -> bool {
        self.phase = Phase::Out;
        match ErrorCode::from_code(code).unwrap() {
            ErrorCode::None => {
                self.phase = phase;
                return true;
            }
            ErrorCode::MemberIdRequired | ErrorCode::RebalanceInProgress => {}
            ErrorCode::NotCoordinator => {}
            ErrorCode::UnknownMemberId
            | ErrorCode::FencedMemberEpoch
            | ErrorCode::IllegalGeneration
            | ErrorCode::GroupIdNotFound => {
                self.owned.clear();
                self.generation = 0;
                if self.is_classic {
                    self.id.clear();
                }
            }
            other => panic!("{other}: {self:?}"),
        }
        false
    }
}

/// One partition after the other to one member after the other.
fn divided(ids: &[&str], partitions: i32) -> Vec<SyncGroupRequestAssignment> {
    let give = |(place, id): (usize, &&str)| {
        let mine = (0..partitions).skip(place).step_by(ids.len());
        let mine = mine.map(|number| format!("+t{number}"));
        SyncGroupRequestAssignment::default()
            .with_member_id(text(id))
            .with_assignment(metadata::assignment(&mine.collect::<String>()))
    };
    ids.iter().enumerate().map(give).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_partition_has_two_owners_of_whichever_protocol(
        actions in proptest::collection::vec(action(), 1..120),
    ) {
        let mut mix = Mix::new();
        for action in &actions {
            mix.act(action);
        }
        mix.wait(SETTLED_MS, 1000);
        mix.check_settled();
    }
}
