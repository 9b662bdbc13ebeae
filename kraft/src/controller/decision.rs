//! What a decision is: of whom it is asked, at which moment, and what comes of it.

use super::state::State;
use crate::env::Rng;
use crate::image::Image;
use crate::record::Record;
use protocol::ids::Uuid;
use protocol::messages::Request;
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
    pub(super) fn random_below(&self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.rng.next_u64() % end).unwrap_or(0)
    }
}
