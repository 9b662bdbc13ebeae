//! Timers: one deadline a key, the earliest first.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// See the module. A key that is set again is moved.
#[derive(Clone, Debug)]
pub struct Timers<K> {
    by_key: BTreeMap<K, Duration>,
    by_time: BTreeSet<(Duration, K)>,
}

impl<K> Default for Timers<K> {
    fn default() -> Timers<K> {
        Timers { by_key: BTreeMap::new(), by_time: BTreeSet::new() }
    }
}

impl<K: Clone + Ord> Timers<K> {
    /// Runs out at `at`, whenever it would have run out before.
    pub fn set(&mut self, key: K, at: Duration) {
        if let Some(old) = self.by_key.insert(key.clone(), at) {
            if old == at {
                return;
            }
            self.by_time.remove(&(old, key.clone()));
        }
        self.by_time.insert((at, key));
    }

    pub fn cancel(&mut self, key: &K) {
        if let Some(old) = self.by_key.remove(key) {
            self.by_time.remove(&(old, key.clone()));
        }
    }

    pub fn deadline(&self, key: &K) -> Option<Duration> {
        self.by_key.get(key).copied()
    }

    pub fn next_deadline(&self) -> Option<Duration> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// Takes out one key whose time has come.
    pub fn pop_due(&mut self, now: Duration) -> Option<K> {
        let (at, _) = self.by_time.first()?;
        if now < *at {
            return None;
        }
        let (_, key) = self.by_time.pop_first()?;
        self.by_key.remove(&key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_deadline_the_last_one_it_was_given() {
        let ms = Duration::from_millis;
        let mut timers = Timers::default();
        timers.set("a", ms(10));
        timers.set("b", ms(20));
        timers.set("a", ms(30));
        assert_eq!((timers.next_deadline(), timers.deadline(&"a")), (Some(ms(20)), Some(ms(30))));
        assert_eq!((timers.pop_due(ms(19)), timers.pop_due(ms(20))), (None, Some("b")));
        timers.cancel(&"a");
        assert_eq!((timers.pop_due(ms(99)), timers.next_deadline()), (None, None));
    }
}
