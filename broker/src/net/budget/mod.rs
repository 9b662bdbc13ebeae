//! The memory that large requests may take together, charged for bytes as they arrive.
//!
//! Two promises. Together the leases never hold more than the limit plus one frame: of the frames
//! that wait, only the oldest is let through above the limit, and the next one only when the
//! memory of that one is free again. And the oldest always gets on: it waits for nobody but the
//! one above the limit, which the connection closes when it stands still. Who could not use what
//! it waits for steps aside, so that it is not the oldest of those that wait.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Shared by all connections of a broker.
#[derive(Debug)]
pub struct Budget {
    limit_bytes: usize,
    /// One lock, for no connection alone can say who is the oldest. Taken once for every 256 KiB.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    used_bytes: usize,
    /// The number of the next lease: a smaller one is older.
    next: u64,
    /// The lease that may go above the limit.
    above: Option<u64>,
    waiting: BTreeMap<u64, Waker>,
}

impl Budget {
    pub fn new(limit_bytes: usize) -> Arc<Budget> {
        Arc::new(Budget { limit_bytes, state: Mutex::default() })
    }

    /// Nothing yet, and a place in the order of age.
    pub(super) fn lease(self: &Arc<Budget>) -> Lease {
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        Lease { budget: Arc::clone(self), number, held_bytes: 0 }
    }

    /// Whether a frame waits for memory that another holds.
    pub(super) fn is_short(&self) -> bool {
        !self.state.lock().waiting.is_empty()
    }

    pub fn used_bytes(&self) -> usize {
        self.state.lock().used_bytes
    }
}

/// What one frame, or one large read-ahead buffer, holds. Gives it back when dropped.
#[derive(Debug)]
pub(super) struct Lease {
    budget: Arc<Budget>,
    number: u64,
    held_bytes: usize,
}

impl Lease {
    /// Takes `bytes` more, or waits.
    pub(super) fn poll_take(&mut self, cx: &mut Context<'_>, bytes: usize) -> Poll<()> {
        let mut state = self.budget.state.lock();
        let fits = state.used_bytes.saturating_add(bytes) <= self.budget.limit_bytes;
        let is_oldest = state.waiting.first_key_value().is_none_or(|(it, _)| self.number <= *it);
        if state.above != Some(self.number) && !(fits && is_oldest) {
            if !is_oldest || state.above.is_some() {
                state.waiting.insert(self.number, cx.waker().clone());
                return Poll::Pending;
            }
            state.above = Some(self.number);
        }
        state.waiting.remove(&self.number);
        state.used_bytes = state.used_bytes.saturating_add(bytes);
        self.held_bytes = self.held_bytes.saturating_add(bytes);
        if state.used_bytes < self.budget.limit_bytes {
            state.wake_oldest(); // There may be room for it as well.
        }
        Poll::Ready(())
    }

    /// Waits no more, but keeps its age: it is in its old place when it asks again.
    pub(super) fn step_aside(&self) {
        let mut state = self.budget.state.lock();
        if state.waiting.remove(&self.number).is_some() {
            state.wake_oldest();
        }
    }

    /// Takes `bytes` more if that leaves half of the budget, and nobody waits.
    pub(super) fn try_take(&mut self, bytes: usize) -> bool {
        let mut state = self.budget.state.lock();
        let used = state.used_bytes.saturating_add(bytes);
        let fits = state.waiting.is_empty() && used <= self.budget.limit_bytes / 2;
        if fits {
            state.used_bytes = used;
            self.held_bytes = self.held_bytes.saturating_add(bytes);
        }
        fits
    }

    pub(super) fn is_contended(&self) -> bool {
        self.budget.is_short()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.budget.state.lock();
        state.used_bytes = state.used_bytes.saturating_sub(self.held_bytes);
        state.waiting.remove(&self.number);
        if state.above == Some(self.number) {
            state.above = None;
        }
        state.wake_oldest();
    }
}

impl State {
    fn wake_oldest(&self) {
        if let Some((_, oldest)) = self.waiting.first_key_value() {
            oldest.wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests;
