//! Who is connected: how many, from where, and how they are told to end.

use super::limits::Limits;
use super::pace::Pace;
use arc_swap::ArcSwap;
use indexmap::IndexMap;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::task::Waker;
use tokio::sync::Notify;

/// All connections of a broker, over all listeners.
#[derive(Debug)]
pub struct Roster {
    /// `max.connections`; changed at run time.
    connections_max: AtomicUsize,
    /// `max.connection.creation.rate`, likewise.
    connections_per_second_max: AtomicU32,
    pace: Pace,
    is_stopping: AtomicBool,
    /// Somebody left, or all shall.
    changed: Notify,
    /// Taken when a connection begins and ends, never for a request.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// How to wake each connection, once it has run.
    open: BTreeMap<u64, Option<Waker>>,
    of_listener: IndexMap<Arc<str>, usize>,
    of_ip: IndexMap<IpAddr, usize>,
}

/// Why a connection is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// `max.connections`: it may be let in later.
    Connections,
    /// `max.connections.per.ip`.
    OfIp(usize),
}

impl Roster {
    pub fn new(connections_max: usize) -> Arc<Roster> {
        Arc::new(Roster {
            connections_max: connections_max.into(),
            connections_per_second_max: u32::MAX.into(),
            pace: Pace::default(),
            is_stopping: false.into(),
            changed: Notify::new(),
            state: Mutex::default(),
        })
    }

    pub fn set_connections_max(&self, connections_max: usize) {
        self.connections_max.store(connections_max, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    /// Connections of all listeners that may begin in a second; `u32::MAX`: any number.
    pub fn set_connections_per_second_max(&self, rate: u32) {
        self.connections_per_second_max.store(rate, Ordering::Relaxed);
    }

    /// Returns when one more connection may begin, whichever listener has it.
    pub(super) async fn paced(&self) {
        self.pace.pass(|| self.connections_per_second_max.load(Ordering::Relaxed)).await;
    }

    /// Connections that are open now.
    pub fn len(&self) -> usize {
        self.state.lock().open.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// No connection takes another request, and each ends when it has answered.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        let state = self.state.lock();
        state.open.values().flatten().for_each(Waker::wake_by_ref);
        self.changed.notify_waiters();
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    /// Returns when [`Roster::stop`] was called.
    pub(super) async fn stopped(&self) {
        self.until(|| self.is_stopping().then_some(())).await;
    }

    /// Returns when nobody is connected.
    pub async fn emptied(&self) {
        self.until(|| self.is_empty().then_some(())).await;
    }

    /// Whether `listener` may take nobody in now.
    pub(super) fn is_full(&self, listener: &str, limits: &ArcSwap<Limits>) -> bool {
        !self.room(&self.state.lock(), listener, &limits.load())
    }

    /// Returns when `listener` may take a connection, whoever asks.
    pub(super) async fn has_room(&self, listener: &str, limits: &ArcSwap<Limits>) {
        self.until(|| (!self.is_full(listener, limits)).then_some(())).await;
    }

    async fn until<T>(&self, mut come: impl FnMut() -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            if let Some(come) = come() {
                return come;
            }
            changed.await;
        }
    }

    fn room(&self, state: &State, listener: &str, limits: &Limits) -> bool {
        let here = state.of_listener.get(listener).copied().unwrap_or_default();
        state.open.len() < self.connections_max.load(Ordering::Relaxed)
            && here < limits.connections_max
    }

    pub(super) fn seat(
        self: &Arc<Roster>,
        listener: &Arc<str>,
        ip: IpAddr,
        limits: &Limits,
    ) -> Result<Seat, Full> {
        let ip = ip.to_canonical();
        let mut state = self.state.lock();
        if !self.room(&state, listener, limits) {
            return Err(Full::Connections);
        }
        let (of_ip, most) = (state.of_ip.entry(ip).or_default(), limits.connections_of(ip));
        if most <= *of_ip {
            return Err(Full::OfIp(most));
        }
        *of_ip += 1;
        *state.of_listener.entry(Arc::clone(listener)).or_default() += 1;
        let number = state.next;
        state.next += 1;
        state.open.insert(number, None);
        Ok(Seat { roster: Arc::clone(self), number, listener: Arc::clone(listener), ip })
    }
}

/// One connection's place; given up when dropped.
#[derive(Debug)]
pub(super) struct Seat {
    roster: Arc<Roster>,
    number: u64,
    listener: Arc<str>,
    ip: IpAddr,
}

impl Seat {
    /// How to wake this connection when all shall end. A task's waker never changes.
    pub(super) fn wake_with(&self, waker: &Waker) {
        self.roster.state.lock().open.insert(self.number, Some(waker.clone()));
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.roster.is_stopping()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.roster.state.lock();
        state.open.remove(&self.number);
        if let Some(here) = state.of_listener.get_mut(&self.listener) {
            *here -= 1;
        }
        if let Some(of_ip) = state.of_ip.get_mut(&self.ip) {
            *of_ip -= 1;
            if *of_ip == 0 {
                state.of_ip.swap_remove(&self.ip);
            }
        }
        drop(state);
        self.roster.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
