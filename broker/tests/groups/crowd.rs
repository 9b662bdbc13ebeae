//! A crowd of classic clients that keep no rules: they ask at any time, with what they knew once,
//! give up waiting, and forget who they are, while the log fails and the coordinator restarts.
//! What a generation is told is of that generation, everybody is answered, and when all have gone
//! the next one to come has the group for itself.

#![expect(clippy::indexing_slicing, reason = "clients are numbered, and stay")]
#![expect(clippy::wildcard_enum_match_arm, reason = "any other event or reply is no business here")]

use crate::story::world::{Event, World};
use broker::group::{Client, Reply, Request};
use bytes::Bytes;
use proptest::prelude::*;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::{
    GroupId, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest, StrBytes,
    SyncGroupRequest, SyncGroupResponse,
};
use std::collections::BTreeMap;

const CLIENTS: usize = 5;
const PROTOCOLS: [&str; 3] = ["range", "roundrobin", "sticky"];
const SESSION_MS: i32 = 10_000;
const REBALANCE_MS: i32 = 20_000;
/// Longer than a new member may wait, and than all sessions and rebalances.
const QUIET_MS: u64 = 600_000;

#[derive(Clone, Debug)]
enum Action {
    /// With a version, and so many protocols from one on.
    Join(usize, i16, usize),
    Sync(usize),
    Beat(usize),
    Leave(usize),
    Forget(usize),
    Wait(u64),
    Restart,
    FailNext,
}

fn action() -> impl Strategy<Value = Action> {
    let client = 0..CLIENTS;
    let version = prop_oneof![Just(3_i16), Just(9)];
    prop_oneof![
        8 => (client.clone(), version, 0..3_usize).prop_map(|(it, v, from)| Action::Join(it, v, from)),
        8 => client.clone().prop_map(Action::Sync),
        4 => client.clone().prop_map(Action::Beat),
        1 => client.clone().prop_map(Action::Leave),
        1 => client.prop_map(Action::Forget),
        4 => (0_u64..9000).prop_map(Action::Wait),
        1 => Just(Action::Restart),
        1 => Just(Action::FailNext),
    ]
}

#[derive(Clone, Debug, Default)]
struct Member {
    id: StrBytes,
    generation: i32,
    /// Those it is to divide among.
    led: Vec<StrBytes>,
}

struct Crowd {
    world: World,
    clients: Vec<Member>,
    /// The leader and the protocol of each generation that anybody was told of.
    told: BTreeMap<i32, (StrBytes, StrBytes)>,
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn group() -> GroupId {
    GroupId(text("g"))
}

fn client(number: usize, version: i16) -> Client {
    Client { id: name(number).into(), host: "/127.0.0.1".into(), version }
}

fn name(number: usize) -> String {
    format!("c{number}")
}

/// The last two are static members.
fn instance(number: usize) -> Option<StrBytes> {
    (CLIENTS - 2..CLIENTS).contains(&number).then(|| text(&format!("i{number}")))
}

impl Crowd {
    fn act(&mut self, action: &Action) {
        let events = match *action {
            Action::Join(it, version, from) => self.join(it, version, from),
            Action::Sync(it) => self.sync(it),
            Action::Beat(it) => {
                let member = &self.clients[it];
                let request = HeartbeatRequest::default()
                    .with_group_id(group())
                    .with_member_id(member.id.clone())
                    .with_generation_id(member.generation)
                    .with_group_instance_id(instance(it));
                self.world.ask(&name(it), Request::Heartbeat(client(it, 4), request))
            }
            Action::Leave(it) => {
                let identity =
                    MemberIdentity::default().with_member_id(self.clients[it].id.clone());
                let request = LeaveGroupRequest::default()
                    .with_group_id(group())
                    .with_members(vec![identity]);
                self.world.ask(&name(it), Request::Leave(client(it, 5), request))
            }
            Action::Forget(it) => {
                self.clients[it] = Member::default();
                Vec::new()
            }
            Action::Wait(ms) => self.world.wait(ms),
            Action::Restart => {
                // A generation that was not written did not happen, and its number comes again.
                self.told.clear();
                self.world.restart()
            }
            Action::FailNext => {
                self.world.fail_next("NotCoordinator");
                Vec::new()
            }
        };
        self.hear(events);
    }

    fn join(&mut self, it: usize, version: i16, from: usize) -> Vec<Event> {
        let version = if instance(it).is_some() { 9 } else { version };
        // "sticky" is what all have in common, so that most get in.
        let protocol = |name: &&str| JoinGroupRequestProtocol::default().with_name(text(name));
        let request = JoinGroupRequest::default()
            .with_group_id(group())
            .with_session_timeout_ms(SESSION_MS)
            .with_rebalance_timeout_ms(REBALANCE_MS)
            .with_member_id(self.clients.get(it).map(|it| it.id.clone()).unwrap_or_default())
            .with_group_instance_id(instance(it))
            .with_protocol_type(text("consumer"))
            .with_protocols(PROTOCOLS.iter().skip(from).map(protocol).collect());
        self.world.ask(&name(it), Request::Join(client(it, version), request))
    }

    fn sync(&mut self, it: usize) -> Vec<Event> {
        let member = &self.clients[it];
        // Everybody is given the generation's number.
        let stamp = Bytes::from(member.generation.to_string());
        let assignment = |id: &StrBytes| {
            SyncGroupRequestAssignment::default()
                .with_member_id(id.clone())
                .with_assignment(stamp.clone())
        };
        let request = SyncGroupRequest::default()
            .with_group_id(group())
            .with_generation_id(member.generation)
            .with_member_id(member.id.clone())
            .with_group_instance_id(instance(it))
            .with_assignments(member.led.iter().map(assignment).collect());
        self.world.ask(&name(it), Request::Sync(client(it, 5), request))
    }

    fn hear(&mut self, events: Vec<Event>) {
        for event in events {
            let Event::Reply(name, reply) = event else { continue };
            let it: usize = name.trim_start_matches('c').parse().unwrap();
            match reply {
                Reply::Join(reply) if it < CLIENTS => self.hear_join(it, reply),
                Reply::Sync(reply) => self.hear_sync(it, &reply),
                _ => {}
            }
        }
    }

    fn hear_join(&mut self, it: usize, reply: JoinGroupResponse) {
        if reply.error_code != 0 {
            self.clients[it].id = reply.member_id;
            return;
        }
        let protocol = reply.protocol_name.unwrap();
        let told = (reply.leader.clone(), protocol.clone());
        let leads = reply.leader == reply.member_id;
        let before = self.told.insert(reply.generation_id, told.clone());
        // A static leader that came back leads under its new id.
        let is_same = before.as_ref().is_none_or(|before| {
            before.1 == protocol
                && (before.0 == told.0 || instance_of(&told.0) == instance_of(&before.0))
        });
        assert!(is_same, "generation {}: {before:?}, then {told:?}", reply.generation_id);
        assert_eq!(
            leads,
            !reply.members.is_empty(),
            "who leads, and only who leads, is told of all"
        );
        let led = if reply.skip_assignment { Vec::new() } else { reply.members };
        self.clients[it] = Member {
            id: reply.member_id,
            generation: reply.generation_id,
            led: led.into_iter().map(|member| member.member_id).collect(),
        };
    }

    fn hear_sync(&mut self, it: usize, reply: &SyncGroupResponse) {
        // Who forgot itself while it waited has nothing to compare with.
        let knows_itself = !self.clients[it].id.is_empty();
        if knows_itself && reply.error_code == 0 && !reply.assignment.is_empty() {
            let given = String::from_utf8_lossy(&reply.assignment).into_owned();
            assert_eq!(given, self.clients[it].generation.to_string(), "an assignment of old");
        }
    }
}

/// Without what is random of it.
fn instance_of(id: &str) -> &str {
    id.split('-').next().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_generation_is_told_the_same_and_everybody_is_answered(
        actions in prop::collection::vec(action(), 1..150),
    ) {
        let mut world = World::default();
        world.set([("group.initial.rebalance.delay.ms", "1000")].into_iter());
        let clients = vec![Member::default(); CLIENTS];
        let mut crowd = Crowd { world, clients, told: BTreeMap::new() };
        for action in &actions {
            crowd.act(action);
        }
        crowd.act(&Action::Wait(QUIET_MS));
        prop_assert_eq!(crowd.world.waiting(), 0);
        let mut events = crowd.join(CLIENTS, 3, 0);
        events.extend(crowd.world.wait(1000));
        let joined = events.iter().find_map(|event| match event {
            Event::Reply(_, Reply::Join(reply)) => Some(reply.members.len()),
            _ => None,
        });
        prop_assert_eq!(joined, Some(1));
    }
}
