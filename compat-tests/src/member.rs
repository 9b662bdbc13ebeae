//! A member of a group as a process that says what it owns, reads and commits, a line an event.

use crate::clients::Client;
use crate::process::{Server, until};
use nix::sys::signal::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a group shares its partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Classic protocol, range assignor: a rebalance takes everything from everybody.
    Eager,
    /// Classic protocol, cooperative-sticky assignor.
    Cooperative,
    /// The consumer protocol of KIP-848.
    Consumer,
}

impl Mode {
    /// Its name on the members' command lines.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Eager => "eager",
            Mode::Cooperative => "cooperative",
            Mode::Consumer => "consumer",
        }
    }
}

impl std::str::FromStr for Mode {
    type Err = String;

    fn from_str(word: &str) -> Result<Mode, String> {
        let all = [Mode::Eager, Mode::Cooperative, Mode::Consumer];
        all.into_iter().find(|it| it.name() == word).ok_or_else(|| format!("no mode `{word}`"))
    }
}

/// What a member says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It asks to be a member.
    Join,
    /// The generation of the group, or its own epoch, as it is given partitions.
    Epoch(i64),
    /// It was given these partitions, beside what it has.
    Own(BTreeSet<i32>),
    /// It gave these back.
    Give(BTreeSet<i32>),
    /// It was told that these are no longer its own, which they may have been for a while.
    Lost(BTreeSet<i32>),
    /// It read the offsets from the first to before the second.
    Got(i32, i64, i64),
    /// The coordinator acknowledged its commit of this offset.
    Kept(i32, i64),
    /// The coordinator refused its commit.
    Refused,
    /// It left the group, and ends.
    Closed,
}

impl Event {
    /// The generation or epoch, if that is what it says.
    pub fn epoch(&self) -> Option<i64> {
        if let Event::Epoch(epoch) = self { Some(*epoch) } else { None }
    }
}

/// An event and when it was said, in milliseconds of this machine's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub at: u64,
    pub event: Event,
}

/// The events of a group, by the names of its members.
pub type Story = BTreeMap<String, Vec<Said>>;

/// A running member.
#[derive(Debug)]
pub struct Member {
    pub name: String,
    pub server: Server,
    log: PathBuf,
}

impl Member {
    /// Starts a member that logs to `dir/name.log`.
    pub fn start(
        client: Client,
        mode: Mode,
        dir: &Path,
        name: &str,
        [bootstrap, group, topic]: [&str; 3],
    ) -> Member {
        let log = dir.join(format!("{name}.log"));
        let mut command = client.member(bootstrap, group, topic, mode);
        let server = Server::start(&mut command, &log);
        Member { name: name.to_owned(), server, log }
    }

    /// All that it said so far.
    ///
    /// # Panics
    /// When it said something that is no event.
    pub fn said(&self) -> Vec<Said> {
        let text = whole(&self.log);
        let lines = text.lines().filter_map(|line| line.strip_prefix("@ "));
        lines.map(|line| parse(line).unwrap_or_else(|| panic!("{}: `{line}`", self.name))).collect()
    }

    /// What it owns, as far as it said.
    pub fn owned(&self) -> BTreeSet<i32> {
        owned(&self.said())
    }

    /// Has it leave, and waits until it has ended well.
    #[track_caller]
    pub fn leave(&mut self) {
        self.server.signal(Signal::SIGTERM);
        let status = self.server.wait(Duration::from_secs(30));
        let closed = until("its last word", Duration::from_secs(1), || self.said().pop());
        assert!(
            closed.event == Event::Closed,
            "{} ended with {status}:\n{}",
            self.name,
            self.server.tail()
        );
    }

    /// Ends it as a crash would.
    pub fn crash(&mut self) {
        self.server.signal(Signal::SIGKILL);
        self.server.wait(Duration::from_secs(10));
    }
}

/// What is owned after these events.
pub fn owned(said: &[Said]) -> BTreeSet<i32> {
    let mut owned = BTreeSet::new();
    for Said { event, .. } in said {
        match event {
            Event::Own(more) => owned.extend(more),
            Event::Give(less) | Event::Lost(less) => owned.retain(|it| !less.contains(it)),
            Event::Closed => owned.clear(),
            Event::Join | Event::Epoch(_) | Event::Got(..) | Event::Kept(..) | Event::Refused => {}
        }
    }
    owned
}

/// The events of a [`Client::pool`], by the names of its members.
///
/// # Panics
/// When one of them said something that is no event.
pub fn stories(log: &Path) -> Story {
    let mut story = Story::new();
    for line in whole(log).lines().filter_map(|line| line.strip_prefix('@')) {
        let (name, rest) = line.split_once(' ').expect("a name");
        let said = parse(rest).unwrap_or_else(|| panic!("`{line}`"));
        story.entry(name.to_owned()).or_default().push(said);
    }
    story
}

/// The whole lines of a file that is being written.
fn whole(log: &Path) -> String {
    let mut text = std::fs::read_to_string(log).unwrap_or_default();
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    text
}

fn parse(line: &str) -> Option<Said> {
    let mut words = line.split(' ');
    let at = words.next()?.parse().ok()?;
    let kind = words.next()?;
    let event = match kind {
        "join" => Event::Join,
        "epoch" => Event::Epoch(number(words.next()?)?),
        "own" => Event::Own(numbers(words.next()?)?),
        "give" => Event::Give(numbers(words.next()?)?),
        "lost" => Event::Lost(numbers(words.next()?)?),
        "got" => Event::Got(number(words.next()?)?, number(words.next()?)?, number(words.next()?)?),
        "kept" => Event::Kept(number(words.next()?)?, number(words.next()?)?),
        "refused" => Event::Refused,
        "closed" => Event::Closed,
        _ => return None,
    };
    Some(Said { at, event })
}

fn number<N: std::str::FromStr>(word: &str) -> Option<N> {
    word.parse().ok()
}

fn numbers(word: &str) -> Option<BTreeSet<i32>> {
    word.split(',').filter(|it| !it.is_empty()).map(number).collect()
}
