//! The rules of a partition's leader: what it may accept, and up to which offset it has promised.
//!
//! Pure: an event goes in, effects come out. The in-sync replicas are a list from the start, so
//! that followers become one more event and change no caller.

use protocol::error::ErrorCode;

/// In place of a number of replicas: all that are in sync.
pub const ACKS_ALL: i16 = -1;
/// The leader alone.
pub const ACKS_LEADER: i16 = 1;

/// What the leader of one partition knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leader {
    term: Term,
    rules: Rules,
    /// The exclusive end of the leader's own log.
    end: i64,
    /// What of it `fdatasync` has confirmed.
    synced: i64,
    watermark: i64,
}

/// What the controller decided, as far as it concerns the leader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Term {
    pub epoch: i32,
    /// Node ids, this one among them.
    pub replicas: Box<[i32]>,
    pub isr: Box<[i32]>,
}

/// What the topic's config asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    pub min_insync_replicas: usize,
    /// `flush.messages=1`: nothing is promised, or shown, that could be lost with the power.
    pub durable: bool,
}

/// What happened to the partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The leader's log now ends here.
    Appended { end: i64 },
    /// `fdatasync` has confirmed everything below.
    Synced { upto: i64 },
    /// The topic's config changed.
    Configured(Rules),
    /// The controller decided anew: another epoch, or another in-sync set. With the rules of then.
    Decided(Term, Rules),
}

/// What the caller must do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The high watermark rose to this offset: tell the log, and whoever waits.
    pub watermark: Option<i64>,
    /// What the leader itself promises to have rose to this offset: tell who waits for no more.
    pub kept: Option<i64>,
    /// Something was appended that only a sync makes visible.
    pub wants_sync: bool,
}

impl Leader {
    /// A leader whose log holds `[.., end)`, of which `synced` is on disk and `watermark` was
    /// promised before.
    pub fn new(term: Term, rules: Rules, end: i64, synced: i64, watermark: i64) -> Leader {
        Leader { term, rules, end, synced, watermark }
    }

    pub fn epoch(&self) -> i32 {
        self.term.epoch
    }

    pub fn watermark(&self) -> i64 {
        self.watermark
    }

    /// Up to where appends with these `acks` are answered. In durable mode no answer, whatever its
    /// acks, is given for what a power cut could take.
    pub fn promised(&self, acks: i16) -> i64 {
        match acks {
            ACKS_ALL => self.watermark,
            _ => self.kept(),
        }
    }

    /// What of its log the leader itself promises to have.
    fn kept(&self) -> i64 {
        if self.rules.durable { self.end.min(self.synced) } else { self.end }
    }

    /// Moves on by one event.
    pub fn step(&mut self, event: Event) -> Effects {
        let before = self.kept();
        match event {
            // Two appends may report in either order, so an end never falls.
            Event::Appended { end } => self.end = self.end.max(end),
            Event::Synced { upto } => self.synced = self.synced.max(upto),
            Event::Configured(rules) => self.rules = rules,
            Event::Decided(term, rules) => (self.term, self.rules) = (term, rules),
        }
        let (after, reached) = (self.kept(), self.reached());
        let effects = Effects {
            watermark: (self.watermark < reached).then_some(reached),
            kept: (before < after).then_some(after),
            wants_sync: self.rules.durable && self.synced < self.end,
        };
        self.watermark = self.watermark.max(reached);
        effects
    }

    /// What every in-sync replica has. Alone, that is what the leader itself has.
    fn reached(&self) -> i64 {
        // Below the minimum nothing more is shown, whatever the acks it was appended with (KIP-966).
        if self.lacks_replicas() {
            return self.watermark;
        }
        self.kept()
    }

    /// Whether fewer are in sync than the topic asks for. A topic with fewer replicas than its
    /// minimum is held to the replicas it has.
    fn lacks_replicas(&self) -> bool {
        let needed = self.rules.min_insync_replicas.min(self.term.replicas.len());
        self.term.isr.len() < needed
    }

    /// Whether an append with these `acks` may start.
    pub fn accepts(&self, acks: i16) -> Result<(), ErrorCode> {
        let refused = acks == ACKS_ALL && self.lacks_replicas();
        if refused { Err(ErrorCode::NotEnoughReplicas) } else { Ok(()) }
    }

    /// What to answer for an append with these `acks` once [`Leader::promised`] has passed it.
    pub fn accepted(&self, acks: i16) -> Result<(), ErrorCode> {
        let fell_short = acks == ACKS_ALL && self.lacks_replicas();
        if fell_short { Err(ErrorCode::NotEnoughReplicasAfterAppend) } else { Ok(()) }
    }

    /// Compares the epoch that a client believes in; -1 is a client that knows none.
    pub fn check_epoch(&self, claimed: i32) -> Result<(), ErrorCode> {
        match claimed {
            claimed if claimed < 0 || claimed == self.term.epoch => Ok(()),
            claimed if claimed < self.term.epoch => Err(ErrorCode::FencedLeaderEpoch),
            _ => Err(ErrorCode::UnknownLeaderEpoch),
        }
    }

    pub fn is_replica(&self, node: i32) -> bool {
        self.term.replicas.contains(&node)
    }
}

#[cfg(test)]
mod tests;
