//! The world around a machine: its log, its clock, its topics, its configuration.

use broker::config::{BrokerConfig, Given};
use broker::coordinator::{Effects, Machine, Moment, Refuse, Token};
use broker::group::{GroupMachine, Reply, Request};
use kraft::env::Rng;
use kraft::image::Image;
use kraft::record::{ConfigRecord, PartitionRecord, Record, RemoveTopicRecord, TopicRecord};
use protocol::coordinator::group::GroupRecord;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Timers that run out at one moment; more of them run in circles.
const TIMERS_MAX: usize = 10_000;
/// When what the log did not take is tried again.
const AGAIN: Duration = Duration::from_millis(500);
/// Kafka's number of groups among the kinds of config resources.
const GROUP: i8 = 32;

/// What a command brought about, in order.
pub(crate) enum Event {
    /// So many milliseconds after the command.
    At(u128),
    Record(GroupRecord),
    /// Records that the log did not take.
    Failed(&'static str),
    Reply(String, Reply),
}

/// Every draw is one more than the last.
#[derive(Debug, Default)]
struct Counting(AtomicU64);

impl Rng for Counting {
    fn next_u64(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

pub(crate) struct World {
    machine: GroupMachine,
    log: Vec<GroupRecord>,
    image: Image,
    /// What the machine is not told yet.
    unseen: Option<Image>,
    given: Vec<String>,
    config: BrokerConfig,
    rng: Counting,
    now: Duration,
    /// Who waits for its reply.
    waiting: BTreeMap<Token, String>,
    tokens: u64,
    fail_next: Option<ErrorCode>,
}

impl Default for World {
    fn default() -> World {
        let mut world = World {
            machine: GroupMachine::default(),
            log: Vec::new(),
            image: Image::default(),
            unseen: None,
            given: Vec::new(),
            config: configured(&[]),
            rng: Counting::default(),
            now: Duration::ZERO,
            waiting: BTreeMap::new(),
            tokens: 0,
            fail_next: None,
        };
        // The log is empty: there is nothing to begin with.
        assert!(world.restart().is_empty());
        world
    }
}

fn configured(overrides: &[String]) -> BrokerConfig {
    let given = overrides
        .iter()
        .fold(Given::standalone(), |given, text| given.with_override(text).unwrap());
    BrokerConfig::of(given, "localhost").unwrap()
}

macro_rules! moment {
    ($world:expr) => {
        Moment {
            wall_ms: $world.now.as_millis().try_into().unwrap(),
            now: $world.now,
            image: &$world.image,
            config: &$world.config,
            rng: &$world.rng,
        }
    };
}

impl World {
    pub(crate) fn ask(&mut self, caller: &str, request: Request) -> Vec<Event> {
        self.tokens += 1;
        let token = Token(self.tokens);
        self.waiting.insert(token, caller.to_owned());
        let effects = self.machine.step(&moment!(self), token, request);
        self.perform(effects)
    }

    /// How many clients wait for a reply.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn wait(&mut self, ms: u64) -> Vec<Event> {
        let begin = self.now;
        let end = begin + Duration::from_millis(ms);
        let mut events = Vec::new();
        let mut timers = 0;
        while let Some(at) = self.machine.next_deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            while let Some(effects) = self.machine.expire(&moment!(self)) {
                timers += 1;
                assert!(timers < TIMERS_MAX, "a timer that is never done");
                let done = self.perform_own(vec![effects]);
                if !done.is_empty() {
                    events.push(Event::At((self.now - begin).as_millis()));
                    events.extend(done);
                }
            }
        }
        self.now = end;
        events
    }

    /// The log is all that is left, and nobody is answered any more.
    pub(crate) fn restart(&mut self) -> Vec<Event> {
        self.machine = GroupMachine::default();
        self.waiting.clear();
        for record in self.log.clone() {
            self.machine.apply(&moment!(self), record);
        }
        let effects = self.machine.loaded(&moment!(self));
        self.perform_own(effects)
    }

    /// A transaction that never ends commits an offset.
    pub(crate) fn leave_open(&mut self, record: GroupRecord) {
        self.machine.undecided(record);
    }

    /// What no client asked for is tried again.
    fn perform_own(&mut self, effects: Vec<Effects<GroupRecord, Reply>>) -> Vec<Event> {
        let events: Vec<_> = effects.into_iter().flat_map(|it| self.perform(it)).collect();
        if events.iter().any(|event| matches!(event, Event::Failed(_))) {
            self.machine.put_off(self.now + AGAIN);
        }
        events
    }

    fn perform(&mut self, effects: Effects<GroupRecord, Reply>) -> Vec<Event> {
        let failure = self.fail_next.take_if(|_| !effects.records.is_empty());
        let mut events = Vec::new();
        match failure {
            Some(code) => events.push(Event::Failed(code.name())),
            None => {
                for record in effects.records {
                    self.log.push(record.clone());
                    events.push(Event::Record(record.clone()));
                    self.machine.apply(&moment!(self), record);
                }
            }
        }
        for (token, reply) in effects.replies {
            let caller =
                self.waiting.remove(&token).unwrap_or_else(|| panic!("a client gets one reply"));
            let reply = failure.into_iter().fold(reply, Reply::refuse);
            events.push(Event::Reply(caller, reply));
        }
        events
    }

    pub(crate) fn fail_next(&mut self, name: &str) {
        let codes = (-1..=200).filter_map(ErrorCode::from_code);
        self.fail_next = codes.into_iter().find(|code| code.name() == name);
        assert!(self.fail_next.is_some(), "{name} is no error");
    }

    pub(crate) fn set<'a>(&mut self, configs: impl Iterator<Item = (&'a str, &'a str)>) {
        self.given.extend(configs.map(|(key, value)| format!("{key}={value}")));
        self.config = configured(&self.given);
    }

    pub(crate) fn set_group<'a>(
        &mut self,
        group: &str,
        configs: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Vec<Event> {
        let config = |(key, value): (&str, &str)| {
            Record::from(ConfigRecord {
                resource_type: GROUP,
                resource_name: group.to_owned(),
                name: key.to_owned(),
                value: (!value.is_empty()).then(|| value.to_owned()),
                ..ConfigRecord::default()
            })
        };
        let records = configs.map(config).collect();
        self.change(records)
    }

    /// Makes a topic, or adds partitions to the one there is.
    pub(crate) fn topic(&mut self, name: &str, partitions: i32) -> Vec<Event> {
        let newest = self.newest();
        let known = newest.topic(name).map(|topic| topic.id);
        let topic_id = known.unwrap_or_else(|| {
            let offset: u64 = (newest.offset + 1).try_into().unwrap();
            Uuid::from_random(offset, 7)
        });
        let there = (0..).take_while(|number| newest.partition(name, *number).is_some());
        let first = i32::try_from(there.count()).unwrap();
        let topic = TopicRecord { name: name.to_owned(), topic_id, ..TopicRecord::default() };
        let partition = |partition_id| {
            Record::from(PartitionRecord {
                partition_id,
                topic_id,
                replicas: vec![1],
                isr: vec![1],
                leader: 1,
                ..PartitionRecord::default()
            })
        };
        let new = known.is_none().then(|| topic.into());
        let records = new.into_iter().chain((first..partitions).map(partition)).collect();
        self.change(records)
    }

    pub(crate) fn topic_id(&self, name: &str) -> String {
        self.newest().topic(name).unwrap().id.to_string()
    }

    pub(crate) fn has_topic(&self, name: &str) -> bool {
        self.image.topic(name).is_some()
    }

    /// Of a topic, if it exists.
    pub(crate) fn partitions(&self, name: &str) -> Vec<(Uuid, i32)> {
        let topic = self.image.topic(name).into_iter();
        topic.flat_map(|it| it.partitions.keys().map(|number| (it.id, *number))).collect()
    }

    pub(crate) fn drop_topic(&mut self, name: &str) -> Vec<Event> {
        let topic_id = self.newest().topic(name).unwrap().id;
        self.change(vec![RemoveTopicRecord { topic_id, ..RemoveTopicRecord::default() }.into()])
    }

    fn newest(&self) -> &Image {
        self.unseen.as_ref().unwrap_or(&self.image)
    }

    /// What changes from now on the machine hears of later, all at once.
    pub(crate) fn look_away(&mut self) {
        self.unseen.get_or_insert_with(|| self.image.clone());
    }

    pub(crate) fn look(&mut self) -> Vec<Event> {
        let Some(new) = self.unseen.take() else { return Vec::new() };
        let old = std::mem::replace(&mut self.image, new);
        let effects = self.machine.image_changed(&moment!(self), &old);
        self.perform_own(effects)
    }

    fn change(&mut self, records: Vec<Record>) -> Vec<Event> {
        let is_seen = self.unseen.is_none();
        self.look_away();
        let image = self.unseen.as_mut().unwrap();
        for record in records {
            let offset = image.offset + 1;
            image.apply(&record, offset).unwrap();
            image.offset = offset;
        }
        if is_seen { self.look() } else { Vec::new() }
    }
}
