//! A swarm of clients with one consumer group: they come, go, crash, lose answers and change their
//! minds, while topics come and go and the coordinator fails and restarts. No partition is ever
//! worked on by two of them, and when all is quiet every partition is, by one.

#![expect(clippy::indexing_slicing, reason = "clients are numbered, and stay")]
#![expect(clippy::wildcard_enum_match_arm, reason = "any other event or code is no business here")]

use crate::story::world::{Event, World};
use broker::group::{Client, Reply, Request};
use proptest::prelude::*;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use protocol::messages::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, GroupId, StrBytes, TopicName,
};
use std::collections::{BTreeMap, BTreeSet};

const CLIENTS: usize = 5;
const TOPICS: [&str; 3] = ["t", "u", "v"];
/// Kafka's default, and what members have here to give up partitions.
const SESSION_MS: u64 = 45_000;
/// Clients that live are heard of this often, whatever else happens.
const LATEST_BEAT_MS: u64 = 10_000;
/// After the last event, all is settled within a session and a few heartbeats.
const SETTLED_MS: u64 = SESSION_MS + 30_000;
const STEP_MS: u64 = 100;

type Partitions = BTreeSet<(Uuid, i32)>;

#[derive(Clone, Debug)]
enum Action {
    Start(usize, Vec<&'static str>),
    Subscribe(usize, Vec<&'static str>),
    Beat(usize),
    /// It asks, and never gets the answer.
    Lose(usize),
    /// It lets go of what it must.
    LetGo(usize),
    Quit(usize),
    /// A static member goes for a while.
    Pause(usize),
    Crash(usize),
    Topic(&'static str, i32),
    Drop(&'static str),
    Wait(u64),
    Restart,
    FailNext,
}

fn action() -> impl Strategy<Value = Action> {
    let client = 0..CLIENTS;
    let topics = || proptest::sample::subsequence(TOPICS.to_vec(), 1..=TOPICS.len());
    let topic = || proptest::sample::select(TOPICS.to_vec());
    prop_oneof![
        3 => (client.clone(), topics()).prop_map(|(it, topics)| Action::Start(it, topics)),
        1 => (client.clone(), topics()).prop_map(|(it, topics)| Action::Subscribe(it, topics)),
        6 => client.clone().prop_map(Action::Beat),
        2 => client.clone().prop_map(Action::Lose),
        4 => client.clone().prop_map(Action::LetGo),
        1 => client.clone().prop_map(Action::Quit),
        1 => client.clone().prop_map(Action::Pause),
        1 => client.prop_map(Action::Crash),
        2 => (topic(), 1..8).prop_map(|(topic, count)| Action::Topic(topic, count)),
        1 => topic().prop_map(Action::Drop),
        4 => (1_u64..4000).prop_map(Action::Wait),
        1 => Just(Action::Restart),
        1 => Just(Action::FailNext),
    ]
}

/// What one client knows, and does.
#[derive(Clone, Debug, Default)]
struct Consumer {
    /// Static ones have an instance id.
    instance: Option<String>,
    lives: bool,
    member: String,
    epoch: i32,
    topics: Vec<&'static str>,
    /// What it works on.
    owned: Partitions,
    /// What it was told to work on.
    assigned: Partitions,
    /// What it said last that it owns; None: it does not know whether that was heard.
    said: Option<Partitions>,
    says_topics: bool,
    heard_at: u64,
    due_at: u64,
}

struct Swarm {
    world: World,
    clients: Vec<Consumer>,
    now: u64,
    born: usize,
}

impl Swarm {
    fn new() -> Swarm {
        // The last two are static members.
        let instance = |number: usize| (CLIENTS - 2 <= number).then(|| format!("i{number}"));
        let client = |number| Consumer { instance: instance(number), ..Consumer::default() };
        let mut world = World::default();
        world.wait(SESSION_MS);
        Swarm { world, clients: (0..CLIENTS).map(client).collect(), now: 0, born: 0 }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Start(it, topics) => self.start(*it, topics),
            Action::Subscribe(it, topics) => {
                self.clients[*it].topics = topics.clone();
                self.clients[*it].says_topics = true;
            }
            Action::Beat(it) => self.beat(*it, true),
            Action::Lose(it) => self.beat(*it, false),
            Action::LetGo(it) => self.let_go(*it),
            Action::Quit(it) => self.leave(*it, -1),
            Action::Pause(it) if self.clients[*it].instance.is_some() => self.leave(*it, -2),
            Action::Pause(_) => {}
            Action::Crash(it) => self.clients[*it].lives = false,
            Action::Topic(name, count) => drop(self.world.topic(name, *count)),
            Action::Drop(name) if self.world.has_topic(name) => drop(self.world.drop_topic(name)),
            Action::Drop(_) => {}
            Action::Wait(ms) => self.wait(*ms),
            Action::Restart => drop(self.world.restart()),
            Action::FailNext => self.world.fail_next("NotCoordinator"),
        }
        self.check();
    }

    fn start(&mut self, it: usize, topics: &[&'static str]) {
        if self.clients[it].lives {
            return;
        }
        self.born += 1;
        let instance = self.clients[it].instance.clone();
        self.clients[it] = Consumer {
            instance,
            lives: true,
            member: format!("m{}", self.born),
            topics: topics.to_vec(),
            ..Consumer::default()
        };
        self.beat(it, true);
    }

    fn beat(&mut self, it: usize, is_heard: bool) {
        let client = &self.clients[it];
        if !client.lives {
            return;
        }
        let request = client.request(client.epoch);
        let reply = self.ask(it, request);
        let now = self.now;
        let client = &mut self.clients[it];
        client.heard_at = now;
        client.due_at = now + LATEST_BEAT_MS;
        if is_heard {
            client.learn(&reply, now);
        } else {
            client.said = None;
        }
    }

    fn let_go(&mut self, it: usize) {
        let client = &mut self.clients[it];
        if client.lives && client.owned != client.assigned {
            client.owned.retain(|it| client.assigned.contains(it));
            self.beat(it, true);
        }
    }

    fn leave(&mut self, it: usize, epoch: i32) {
        if self.clients[it].lives {
            let request = self.clients[it].request(epoch);
            self.ask(it, request);
            self.clients[it].lives = false;
        }
    }

    fn ask(
        &mut self,
        it: usize,
        request: ConsumerGroupHeartbeatRequest,
    ) -> ConsumerGroupHeartbeatResponse {
        let client = Client { id: it.to_string().into(), host: "/h".into(), version: 1 };
        let events = self.world.ask("it", Request::ConsumerHeartbeat(client, request));
        let reply = events.into_iter().find_map(|event| match event {
            Event::Reply(_, Reply::ConsumerHeartbeat(reply)) => Some(reply),
            _ => None,
        });
        reply.unwrap()
    }

    /// Time passes in small steps; nobody who lives stays silent for long.
    fn wait(&mut self, ms: u64) {
        let end = self.now + ms;
        while self.now < end {
            let step = STEP_MS.min(end - self.now);
            self.world.wait(step);
            self.now += step;
            for it in 0..CLIENTS {
                if self.clients[it].heard_at + LATEST_BEAT_MS <= self.now {
                    self.let_go(it);
                    self.beat(it, true);
                }
            }
        }
    }

    /// Nothing happens any more.
    fn settle(&mut self) {
        self.obey(SETTLED_MS, None);
    }

    /// Clients do what they are told, and come when they are asked to, but for a slow one that lets
    /// go of nothing.
    fn obey(&mut self, ms: u64, slow: Option<usize>) {
        let end = self.now + ms;
        while self.now < end {
            for it in 0..CLIENTS {
                if slow != Some(it) {
                    self.let_go(it);
                }
                if self.clients[it].due_at <= self.now {
                    self.beat(it, true);
                }
                self.check();
            }
            self.world.wait(STEP_MS);
            self.now += STEP_MS;
        }
    }

    /// Milliseconds until so many clients have two partitions each.
    fn until_all_have_two(&mut self, clients: usize) -> u64 {
        let since = self.now;
        let have_two =
            |swarm: &Swarm| swarm.clients.iter().filter(|it| it.owned.len() == 2).count();
        while have_two(self) < clients {
            self.obey(STEP_MS, None);
            assert!(self.now < since + SETTLED_MS, "{:#?}", self.clients);
        }
        self.now - since
    }

    /// Nothing is worked on twice.
    fn check(&self) {
        let mut seen = BTreeMap::new();
        for (number, client) in self.clients.iter().enumerate().filter(|(_, it)| it.lives) {
            for partition in &client.owned {
                let other = seen.insert(*partition, number);
                assert_eq!(other, None, "{partition:?} is {number}'s too: {:#?}", self.clients);
            }
        }
    }

    /// All that somebody wants and that exists is worked on.
    fn check_settled(&self) {
        let living: Vec<_> = self.clients.iter().filter(|it| it.lives).collect();
        let owned: Partitions = living.iter().flat_map(|it| &it.owned).copied().collect();
        let wanted: BTreeSet<_> = living.iter().flat_map(|it| &it.topics).collect();
        let wanted = wanted.iter().flat_map(|name| self.world.partitions(name)).collect();
        assert_eq!(owned, wanted, "{:#?}", self.clients);
        for client in living {
            let may: Partitions =
                client.topics.iter().flat_map(|name| self.world.partitions(name)).collect();
            assert!(client.owned.is_subset(&may), "{client:#?}");
        }
    }
}

impl Consumer {
    fn request(&self, epoch: i32) -> ConsumerGroupHeartbeatRequest {
        let is_joining = epoch == 0;
        let says_all = is_joining || self.said.is_none();
        let text = |text: &str| StrBytes::from_string(text.to_owned());
        let topics = self.topics.iter().map(|name| TopicName(text(name))).collect();
        let owned = self.owned.iter().fold(BTreeMap::new(), |mut by_topic, (topic, number)| {
            by_topic.entry(*topic).or_insert_with(Vec::new).push(*number);
            by_topic
        });
        let owned = owned.into_iter().map(|(topic, partitions)| {
            TopicPartitions::default().with_topic_id(topic.into()).with_partitions(partitions)
        });
        let says_owned = says_all || self.said.as_ref() != Some(&self.owned);
        ConsumerGroupHeartbeatRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_member_id(text(&self.member))
            .with_member_epoch(epoch)
            .with_instance_id(self.instance.as_deref().map(text))
            .with_rebalance_timeout_ms(if says_all { 60_000 } else { -1 })
            .with_subscribed_topic_names((says_all || self.says_topics).then_some(topics))
            .with_topic_partitions(says_owned.then(|| owned.collect()))
    }

    fn learn(&mut self, reply: &ConsumerGroupHeartbeatResponse, now: u64) {
        match ErrorCode::from_code(reply.error_code).unwrap() {
            ErrorCode::None => {}
            ErrorCode::FencedMemberEpoch
            | ErrorCode::UnknownMemberId
            | ErrorCode::GroupIdNotFound => {
                self.owned.clear();
                self.assigned.clear();
                self.epoch = 0;
                self.due_at = now;
                return;
            }
            // It tries again.
            ErrorCode::NotCoordinator => {
                self.said = None;
                return;
            }
            // Its predecessor has not gone; it comes when the session of that is over.
            ErrorCode::UnreleasedInstanceId => return,
            other => panic!("{other}"),
        }
        self.epoch = reply.member_epoch;
        self.due_at = now + u64::try_from(reply.heartbeat_interval_ms).unwrap();
        self.said = Some(self.owned.clone());
        self.says_topics = false;
        if let Some(assignment) = &reply.assignment {
            let topics = assignment.topic_partitions.iter();
            let partitions = topics.flat_map(|it| {
                it.partitions.iter().map(|number| (Uuid::from(it.topic_id), *number))
            });
            self.assigned = partitions.collect();
        }
        // New ones only when the old ones are given up.
        if self.owned.is_subset(&self.assigned) {
            self.owned.clone_from(&self.assigned);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_partition_has_two_owners_and_all_have_one_in_the_end(
        actions in proptest::collection::vec(action(), 1..120),
    ) {
        let mut swarm = Swarm::new();
        for action in &actions {
            swarm.act(action);
        }
        swarm.settle();
        swarm.check_settled();
    }
}

/// Four clients that have two partitions each, and heard of it long ago.
fn settled() -> Swarm {
    let mut swarm = Swarm::new();
    swarm.world.topic("t", 8);
    for it in 0..4 {
        swarm.start(it, &["t"]);
        swarm.obey(700, None);
    }
    swarm.settle();
    swarm
}

/// Kafka's default, and one more heartbeat of who waits.
const ONE_INTERVAL_MS: u64 = 5000 + 2 * STEP_MS;

#[test]
fn a_newcomer_to_a_settled_group_waits_until_the_last_was_heard_of_and_no_longer() {
    for phase in 0..10 {
        let mut swarm = settled();
        swarm.world.topic("t", 10);
        swarm.obey(10_000 + 500 * phase, None);
        swarm.start(4, &["t"]);
        let ms = swarm.until_all_have_two(5);
        assert!(ms <= ONE_INTERVAL_MS, "{ms} ms, phase {phase}");
    }
}

#[test]
fn a_newcomer_waits_for_nobody_who_was_sent_away_while_others_had_to_let_go() {
    for phase in 0..10 {
        let mut swarm = settled();
        swarm.world.topic("t", 10);
        // The first one has to give something up for the fifth, and takes its time.
        swarm.clients[3].lives = false;
        swarm.clients[3].owned.clear();
        swarm.settle();
        swarm.start(3, &["t"]);
        swarm.obey(10_000 + 300 * phase, Some(0));
        swarm.obey(300, None);
        swarm.start(4, &["t"]);
        let ms = swarm.until_all_have_two(5);
        assert!(ms <= 2000, "{ms} ms, phase {phase}");
    }
}
