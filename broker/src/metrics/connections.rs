//! Connections, by listener.

use super::counter::Counter;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Those of one listener.
#[derive(Debug, Default)]
pub struct ListenerConnections {
    pub opened: Counter,
    pub closed: Counter,
}

impl ListenerConnections {
    /// Open now.
    pub fn open(&self) -> u64 {
        // In this order, so that one that comes and goes meanwhile does not make it negative.
        let closed = self.closed.get();
        self.opened.get().saturating_sub(closed)
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
