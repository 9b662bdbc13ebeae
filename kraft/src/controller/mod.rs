//! The controller's decisions: what to append to the metadata log for a request, and what to
//! answer once that is committed. Pure: the world is in the arguments.

mod bootstrap;
mod broker_heartbeat;
mod broker_registration;
mod configs;
mod controller_registration;
mod create_partitions;
mod create_topics;
mod delete_topics;
mod election;
mod placement;
mod producer_ids;
mod reassignments;
mod state;
mod topic_name;

#[cfg(test)]
mod tests;

pub use bootstrap::bootstrap_records;
pub use producer_ids::PRODUCER_ID_BLOCK_LEN;
pub use state::{Session, State};
pub use topic_name::check_topic_name;

use crate::env::Rng;
use crate::image::Image;
use crate::record::Record;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::{Request, StrBytes};
use std::time::Duration;

/// A request that the active controller answers.
pub trait Decide: Request {
    /// What to append, and the answer once it is committed. `image` holds every record that was
    /// appended before, committed or not.
    fn decide(self, image: &Image, state: &mut State, now: &Now<'_>) -> Decision<Self::Response>;
}

/// Records to append, and what to answer once they are committed.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<R> {
    pub records: Vec<Record>,
    pub response: R,
    /// All records or none may come to count: they go into one batch, or into a transaction.
    pub atomic: bool,
}

impl<R> Decision<R> {
    /// An answer that changes nothing.
    pub fn answer(response: R) -> Decision<R> {
        Decision { records: Vec::new(), response, atomic: true }
    }

    /// An answer that waits for its records, which count together.
    pub fn append(records: Vec<Record>, response: R) -> Decision<R> {
        Decision { records, response, atomic: true }
    }
}

/// The moment of a decision.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// Of this node's monotonic clock: for sessions.
    pub monotonic: Duration,
    /// The offset that the first record of this decision will have.
    pub next_offset: i64,
    pub rng: &'a dyn Rng,
}

impl Now<'_> {
    /// An id that nothing else has.
    pub fn random_id(&self) -> Uuid {
        Uuid::from_random(self.rng.next_u64(), self.rng.next_u64())
    }

    /// A number below `end`, or 0 where there is none.
    fn random_below(&self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.rng.next_u64() % end).unwrap_or(0)
    }
}

/// A "no", in Kafka's code and our words.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    code: ErrorCode,
    message: String,
}

impl Refusal {
    fn new(code: ErrorCode, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into() }
    }

    fn text(&self) -> StrBytes {
        text(&self.message)
    }
}

/// A message's own string.
fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// Records in the making, and the image as it will be with them.
#[derive(Debug)]
struct Draft {
    image: Image,
    records: Vec<Record>,
}

impl Draft {
    fn of(image: &Image) -> Draft {
        Draft { image: image.clone(), records: Vec::new() }
    }

    fn image(&self) -> &Image {
        &self.image
    }

    fn append(&mut self, records: Vec<Record>) {
        for record in &records {
            let applied = self.image.apply(record, self.image.offset);
            assert!(applied.is_ok(), "a decision contradicts its image: {applied:?}");
        }
        self.records.extend(records);
    }

    fn into_records(self) -> Vec<Record> {
        self.records
    }
}
