//! A shard of groups in a story: commands act on it, and what they do is told in lines.
//!
//! | command | what it does |
//! |---|---|
//! | `topic a 3`, `drop a` | makes a topic of so many partitions, or one of more; deletes it |
//! | `set key=value ..` | sets configs of the broker |
//! | `set-group g key=value ..` | sets configs of a group |
//! | `wait 3000` | lets so many milliseconds pass; timers run out in their order |
//! | `fail NotCoordinator` | the next append fails so |
//! | `open g t 0` | a transaction that never ends commits an offset |
//! | `look-away`, `look` | topics change meanwhile, and the shard hears of all at once |
//! | `restart` | a new machine reads the log |
//! | `a join g ..` | the client `a` asks; the words are in the file of the request's kind |
//!
//! A client's own member id and generation go with its requests, as its last replies told them;
//! `member=`, `generation=` and `instance=` say others. The first id that `a` is given is told as
//! `a1`, the next as `a2`.

mod classic;
mod consumer;
pub(crate) mod metadata;
mod names;
mod offsets;
mod records;
mod words;
pub(crate) mod world;

use broker::group::{Client, Reply, Request};
use names::Names;
use std::collections::BTreeMap;
use words::Words;
use world::{Event, World};

#[derive(Default)]
pub(crate) struct Story {
    world: World,
    names: Names,
    /// What each client knows of itself.
    callers: BTreeMap<String, Caller>,
}

/// What a client was told last.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) member: String,
    /// Or the epoch.
    pub(crate) generation: i32,
}

impl Default for Caller {
    fn default() -> Caller {
        Caller { member: String::new(), generation: -1 }
    }
}

/// A request's line, its member ids in full.
pub(crate) struct Ask<'a> {
    pub(crate) words: Words<'a>,
    pub(crate) caller: Caller,
    pub(crate) names: &'a Names,
}

impl Ask<'_> {
    /// `member=`, or the caller's own.
    pub(crate) fn member(&self) -> String {
        let own = || self.caller.member.clone();
        self.words.get("member").map_or_else(own, |name| self.names.full(name))
    }

    pub(crate) fn generation(&self) -> i32 {
        self.words.number_or("generation", self.caller.generation)
    }
}

impl Story {
    pub(crate) fn tell(&mut self, command: &str) -> String {
        let words = Words::of(command);
        match words.plain(0) {
            "topic" => {
                let events = self.world.topic(words.plain(1), words.plain(2).parse().unwrap());
                self.names.topic(words.plain(1), &self.world.topic_id(words.plain(1)));
                self.trace(events)
            }
            "drop" => {
                let events = self.world.drop_topic(words.plain(1));
                self.trace(events)
            }
            "set" => {
                self.world.set(words.configs());
                String::new()
            }
            "set-group" => {
                let events = self.world.set_group(words.plain(1), words.configs());
                self.trace(events)
            }
            "wait" => {
                let events = self.world.wait(words.plain(1).parse().unwrap());
                self.trace(events)
            }
            "fail" => {
                self.world.fail_next(words.plain(1));
                String::new()
            }
            "open" => {
                let number = words.plain(3).parse().unwrap();
                self.world.leave_open(offsets::record(words.plain(1), words.plain(2), number));
                String::new()
            }
            "look-away" => {
                self.world.look_away();
                String::new()
            }
            "look" => {
                let events = self.world.look();
                self.trace(events)
            }
            "restart" => {
                let events = self.world.restart();
                self.trace(events)
            }
            caller => self.ask(caller, &words),
        }
    }

    fn ask(&mut self, caller: &str, words: &Words<'_>) -> String {
        let ask = Ask {
            caller: self.callers.get(caller).cloned().unwrap_or_default(),
            words: words.clone(),
            names: &self.names,
        };
        let (version, request) =
            request(&ask).unwrap_or_else(|| panic!("{words:?} is no command of a story"));
        let client = Client {
            id: words.get("client").unwrap_or(caller).into(),
            host: "/127.0.0.1".into(),
            version: words.number_or("version", version),
        };
        let events = self.world.ask(caller, request(&client));
        self.trace(events)
    }

    /// The lines of what happened. Replies are read first: they say how ids are told.
    fn trace(&mut self, events: Vec<Event>) -> String {
        for event in &events {
            if let Event::Reply(caller, reply) = event {
                let known = self.callers.entry(caller.clone()).or_default();
                learn(reply, known);
                if !known.member.is_empty() {
                    self.names.member(caller, &known.member);
                }
            }
        }
        let line = |event: &Event| match event {
            Event::At(ms) => format!("after {ms} ms\n"),
            Event::Failed(code) => format!("  not appended: {code}\n"),
            Event::Record(record) => format!("  {}\n", records::spell(record)),
            Event::Reply(caller, reply) => format!("< {caller} {}\n", spell(reply)),
        };
        self.names.short(&events.iter().map(line).collect::<String>())
    }
}

/// Makes a request of its client.
pub(crate) type Make = Box<dyn FnOnce(&Client) -> Request>;

/// The version that is meant unless the line says another, and the request. One line a kind.
fn request(ask: &Ask<'_>) -> Option<(i16, Make)> {
    classic::request(ask).or_else(|| consumer::request(ask)).or_else(|| offsets::request(ask))
}

/// What a client keeps of a reply.
fn learn(reply: &Reply, caller: &mut Caller) {
    classic::learn(reply, caller);
    consumer::learn(reply, caller);
}

fn spell(reply: &Reply) -> String {
    let known = classic::spell(reply).or_else(|| consumer::spell(reply));
    let known = known.or_else(|| offsets::spell(reply));
    known.unwrap_or_else(|| format!("{reply:?}"))
}
