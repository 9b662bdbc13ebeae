//! What a log remembers of each producer, so that a batch sent twice is stored once.
//!
//! [`Producers::check`] judges and changes nothing; [`Producers::apply`] notes what was appended,
//! whoever appended it. The rules are Kafka's (KIP-98, KIP-360, KIP-890).

pub mod snapshot;
mod state;
mod verdict;

pub use state::{BatchMark, Producer};
pub use verdict::{EndMarker, Refusal, Verdict};

use protocol::records::batch::BatchHeader;
use std::collections::BTreeMap;

/// A transaction that a marker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedTxn {
    pub producer_id: i64,
    pub first_offset: i64,
    /// The marker's offset.
    pub last_offset: i64,
    pub is_abort: bool,
    /// What the last stable offset is once the marker is replicated: for the aborted index.
    pub last_stable_offset: i64,
}

/// All producers of one log. Without any it holds no memory.
#[derive(Clone, Debug, Default)]
pub struct Producers {
    by_id: BTreeMap<i64, Box<Producer>>,
    /// Open transactions, by their first offset.
    open: BTreeMap<i64, i64>,
    /// Ended ones whose marker is not yet below the high watermark: first offset to last offset.
    unreplicated: BTreeMap<i64, i64>,
    /// The offset up to which batches were applied.
    end: i64,
}

impl Producers {
    /// Nobody wrote before `start`.
    pub fn starting_at(start: i64) -> Producers {
        Producers { end: start, ..Producers::default() }
    }

    /// Judges a client's batch. Batches without a producer id always pass.
    pub fn check(&self, header: &BatchHeader) -> Result<Verdict, Refusal> {
        if !header.has_producer_id() {
            return Ok(Verdict::Append);
        }
        match self.by_id.get(&header.producer_id) {
            None => Ok(Verdict::Append),
            Some(producer) => producer.check(header),
        }
    }

    /// Judges several batches that would be appended behind each other.
    pub fn checking(&self) -> Checking<'_> {
        Checking { producers: self, changed: Vec::new() }
    }

    /// Notes a batch that stands in the log, its offsets assigned. `marker` is what a control
    /// batch of a transaction says.
    pub fn apply(&mut self, header: &BatchHeader, marker: Option<EndMarker>) -> Option<EndedTxn> {
        self.end = self.end.max(header.next_offset());
        if !header.has_producer_id() {
            return None;
        }
        let producer = self
            .by_id
            .entry(header.producer_id)
            .or_insert_with(|| Box::new(Producer::new(header.producer_id)));
        if let Some(marker) = marker {
            let first_offset = producer.end_txn(header, marker)?;
            return Some(self.end_txn(header, marker, first_offset));
        }
        if header.is_control() {
            return None;
        }
        if let Some(first_offset) = producer.append(header) {
            self.open.insert(first_offset, header.producer_id);
        }
        None
    }

    fn end_txn(&mut self, header: &BatchHeader, marker: EndMarker, first_offset: i64) -> EndedTxn {
        self.open.remove(&first_offset);
        let last_offset = header.last_offset();
        self.unreplicated.insert(first_offset, last_offset);
        let last_stable_offset =
            self.open.keys().next().copied().unwrap_or_else(|| header.next_offset());
        EndedTxn {
            producer_id: header.producer_id,
            first_offset,
            last_offset,
            is_abort: marker.is_abort,
            last_stable_offset,
        }
    }

    /// The first offset of a transaction that is open, or whose marker is not yet below the high
    /// watermark: a `read_committed` reader stops there.
    pub fn first_unstable_offset(&self) -> Option<i64> {
        let [open, ended] = [&self.open, &self.unreplicated].map(|of| of.keys().next().copied());
        open.into_iter().chain(ended).min()
    }

    /// Transactions whose marker is below the high watermark hold no reader back any more.
    pub fn high_watermark_is(&mut self, high_watermark: i64) {
        self.unreplicated.retain(|_, last_offset| high_watermark <= *last_offset);
    }

    /// The log starts further on: transactions that ended before are nobody's concern.
    pub fn log_start_is(&mut self, log_start: i64) {
        self.unreplicated.retain(|_, last_offset| log_start <= *last_offset);
        self.end = self.end.max(log_start);
    }

    /// Forgets producers that were silent for `expiration_ms`, but for those with an open
    /// transaction; says how many went.
    pub fn expire(&mut self, now_ms: i64, expiration_ms: i64) -> usize {
        let before = self.by_id.len();
        self.by_id.retain(|_, producer| !producer.is_expired(now_ms, expiration_ms));
        before - self.by_id.len()
    }

    /// The offset up to which batches were applied: the name of a snapshot taken now.
    pub fn end(&self) -> i64 {
        self.end
    }

    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// By id.
    pub fn iter(&self) -> impl Iterator<Item = &Producer> {
        self.by_id.values().map(|producer| &**producer)
    }

    pub fn get(&self, producer_id: i64) -> Option<&Producer> {
        self.by_id.get(&producer_id).map(|producer| &**producer)
    }

    /// Takes a producer as a snapshot has it.
    fn insert(&mut self, producer: Producer) {
        if let Some(first_offset) = producer.current_txn_first_offset {
            self.open.insert(first_offset, producer.producer_id);
        }
        self.by_id.insert(producer.producer_id, Box::new(producer));
    }
}

/// Judges batches one after the other, each as if those before it were appended.
#[derive(Debug)]
pub struct Checking<'a> {
    producers: &'a Producers,
    /// Copies of the few producers that this append changes.
    changed: Vec<Producer>,
}

impl Checking<'_> {
    /// Judges the next batch; `header` carries the offsets that it would get.
    pub fn check(&mut self, header: &BatchHeader) -> Result<Verdict, Refusal> {
        if !header.has_producer_id() {
            return Ok(Verdict::Append);
        }
        let id = header.producer_id;
        let at = match self.changed.iter().position(|producer| producer.producer_id == id) {
            Some(at) => at,
            None => {
                let known = self.producers.get(id);
                self.changed.push(known.cloned().unwrap_or_else(|| Producer::new(id)));
                self.changed.len() - 1
            }
        };
        let Some(producer) = self.changed.get_mut(at) else { return Ok(Verdict::Append) };
        let verdict = producer.check(header)?;
        if verdict == Verdict::Append {
            producer.append(header);
        }
        Ok(verdict)
    }
}

#[cfg(test)]
mod tests;
