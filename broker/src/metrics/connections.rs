//! Connections, by listener.

use super::counter::Counter;
use super::software::Software;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Those of one listener.
#[derive(Debug, Default)]
pub struct ListenerConnections {
    pub opened: Counter,
    pub closed: Counter,
    pub software: Arc<Software>,
    blocked: Mutex<Blocked>,
}

/// How long nobody could be taken in.
#[derive(Debug, Default)]
struct Blocked {
    before: Duration,
    since: Option<Instant>,
}

impl ListenerConnections {
    /// Open now.
    pub fn open(&self) -> u64 {
        // In this order, so that one that comes and goes meanwhile does not make it negative.
        let closed = self.closed.get();
        self.opened.get().saturating_sub(closed)
    }

    /// How long the listener could take nobody in, since the start.
    pub fn blocked(&self) -> Duration {
        let blocked = self.blocked.lock();
        blocked.before + blocked.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// It can take nobody in, until what this gives is dropped. One listener waits once at a time.
    pub fn is_blocked(self: &Arc<Self>) -> Waits {
        self.blocked.lock().since = Some(Instant::now());
        Waits(Arc::clone(self))
    }
}

/// A listener that can take nobody in.
#[derive(Debug)]
#[must_use = "what is dropped waits no more"]
pub struct Waits(Arc<ListenerConnections>);

impl Drop for Waits {
    fn drop(&mut self) {
        let mut blocked = self.0.blocked.lock();
        if let Some(since) = blocked.since.take() {
            blocked.before += since.elapsed();
        }
    }
}

/// Counted from its making to its drop, whatever ends it.
#[derive(Debug)]
pub struct Open(Arc<ListenerConnections>);

impl Open {
    pub fn new(listener: &Arc<ListenerConnections>) -> Open {
        listener.opened.count();
        Open(Arc::clone(listener))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.closed.count();
    }
}

/// Those of all listeners. The lock is taken when a listener opens and when somebody reads.
#[derive(Debug, Default)]
pub struct Connections(Mutex<BTreeMap<String, Arc<ListenerConnections>>>);

impl Connections {
    /// Of the listener of that name.
    pub fn of(&self, listener: &str) -> Arc<ListenerConnections> {
        Arc::clone(self.0.lock().entry(listener.to_owned()).or_default())
    }

    pub fn all(&self) -> Vec<(String, Arc<ListenerConnections>)> {
        self.0.lock().iter().map(|(name, it)| (name.clone(), Arc::clone(it))).collect()
    }
}
