//! Machine: what one shard of a coordinator is, without its log, its task or its clock.

use super::record::Record;
use crate::config::BrokerConfig;
use kraft::env::Rng;
use kraft::image::Image;
use protocol::compression::Codec;
use protocol::error::ErrorCode;
use std::fmt::Debug;
use std::time::Duration;

/// Stands for a client that waits for its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token(pub u64);

/// What a decision may look at beside the machine's own state.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Of the day: goes into records, and is what retention counts from.
    pub wall_ms: i64,
    /// Never falls: what timers count with.
    pub now: Duration,
    pub image: &'a Image,
    pub config: &'a BrokerConfig,
    /// For ids that are made up here.
    pub rng: &'a dyn Rng,
}

/// What a step decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects<Record, Reply> {
    /// Appended as one batch, so all of them or none.
    pub records: Vec<Record>,
    /// Sent when the records are committed, and whatever the step could see. A client gets one.
    pub replies: Vec<(Token, Reply)>,
}

impl<Record, Reply> Effects<Record, Reply> {
    pub fn none() -> Effects<Record, Reply> {
        Effects { records: Vec::new(), replies: Vec::new() }
    }

    pub fn reply(token: Token, reply: Reply) -> Effects<Record, Reply> {
        Effects { records: Vec::new(), replies: vec![(token, reply)] }
    }
}

/// How a machine's records are written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Of its batches.
    pub codec: Codec,
    /// How long a reply may wait for the replicas.
    pub commit_timeout: Duration,
    /// Bytes that are read at a time to load it.
    pub load_bytes: usize,
}

/// A reply that may have to be taken back.
pub trait Refuse {
    /// The same reply, saying only `code`: its records could not be appended.
    #[must_use]
    fn refuse(self, code: ErrorCode) -> Self;
}

/// A coordinator's state for one partition of its internal topic. It decides and remembers, and
/// touches nothing: text scenarios replay it.
///
/// What a step decides is in the state when it comes back to [`Machine::apply`], after the append.
/// Before that a step changes only what no record tells: who waits, who was heard of, timers. So a
/// batch that could not be appended leaves nothing to undo. (A classic group's generation is such:
/// it moves before its record, and a refused member joins again.)
pub trait Machine: Debug + Default + Send + 'static {
    /// The internal topic whose partitions are its shards.
    const TOPIC: &'static str;

    type Record: Record;
    type Request: Debug + Send + 'static;
    type Reply: Refuse + Debug + Send + 'static;

    fn tuning(config: &BrokerConfig) -> Tuning;

    /// A record that is in the log: read at the start, or appended after this machine's step.
    fn apply(&mut self, moment: &Moment<'_>, record: Self::Record);

    /// A record of a transaction that has not ended where the log does: it may count one day.
    fn undecided(&mut self, _record: Self::Record) {}

    /// All that the log held was applied: timers begin to run. What clients are owed is theirs to
    /// ask for again.
    fn loaded(&mut self, moment: &Moment<'_>) -> Vec<Effects<Self::Record, Self::Reply>>;

    /// A client asks.
    fn step(
        &mut self,
        moment: &Moment<'_>,
        token: Token,
        request: Self::Request,
    ) -> Effects<Self::Record, Self::Reply>;

    /// The metadata has moved from `old` to what the moment says.
    fn image_changed(
        &mut self,
        moment: &Moment<'_>,
        old: &Image,
    ) -> Vec<Effects<Self::Record, Self::Reply>>;

    /// The first timer; None: nothing is due, ever.
    fn next_deadline(&self) -> Option<Duration>;

    /// Does what one timer that is due stands for; None: none is due.
    fn expire(&mut self, moment: &Moment<'_>) -> Option<Effects<Self::Record, Self::Reply>>;

    /// The log did not take what was decided just now, by [`Machine::expire`], [`Machine::loaded`]
    /// or [`Machine::image_changed`]. It is to be decided again at `again`, by a timer, on what is
    /// so then.
    fn put_off(&mut self, again: Duration);
}
