//! Timers: one deadline a key, the earliest first.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// See the module. A key that is set again is moved.
///
/// Mostly it is moved to later, with each sign of life of a member, and costs one look-up then: it
/// keeps its place in the order, and is put where it belongs when its turn has come.
#[derive(Clone, Debug)]
pub struct Timers<K> {
    by_key: BTreeMap<K, Deadline>,
    /// By [`Deadline::place`].
    by_time: BTreeSet<(Duration, K)>,
}

#[derive(Clone, Copy, Debug)]
struct Deadline {
    at: Duration,
    /// No later than `at`.
    place: Duration,
}

impl<K> Default for Timers<K> {
    fn default() -> Timers<K> {
        Timers { by_key: BTreeMap::new(), by_time: BTreeSet::new() }
    }
}

impl<K: Clone + Ord> Timers<K> {
    /// Runs out at `at`, whenever it would have run out before.
    pub fn set(&mut self, key: K, at: Duration) {
        if let Some(deadline) = self.by_key.get_mut(&key) {
            deadline.at = at;
            if deadline.place <= at {
                return;
            }
            let place = std::mem::replace(&mut deadline.place, at);
            self.by_time.remove(&(place, key.clone()));
        } else {
            self.by_key.insert(key.clone(), Deadline { at, place: at });
        }
        self.by_time.insert((at, key));
    }

    pub fn cancel(&mut self, key: &K) {
        if let Some(deadline) = self.by_key.remove(key) {
            self.by_time.remove(&(deadline.place, key.clone()));
        }
    }

    pub fn deadline(&self, key: &K) -> Option<Duration> {
        self.by_key.get(key).map(|deadline| deadline.at)
    }

    /// When to ask [`Timers::pop_due`] next: no later than the first runs out.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.by_time.first().map(|(place, _)| *place)
    }

    /// Takes out one key whose time has come.
    pub fn pop_due(&mut self, now: Duration) -> Option<K> {
        while self.next_deadline()? <= now {
            let (_, key) = self.by_time.pop_first()?;
            let deadline = self.by_key.get_mut(&key)?;
            if deadline.at <= now {
                self.by_key.remove(&key);
                return Some(key);
            }
            deadline.place = deadline.at;
            self.by_time.insert((deadline.at, key));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_key_has_one_deadline_the_last_one_it_was_given() {
        let ms = Duration::from_millis;
        let mut timers = Timers::default();
        timers.set("a", ms(10));
        timers.set("b", ms(20));
        timers.set("a", ms(30));
        assert_eq!((timers.deadline(&"a"), timers.deadline(&"b")), (Some(ms(30)), Some(ms(20))));
        assert_eq!((timers.pop_due(ms(19)), timers.pop_due(ms(20))), (None, Some("b")));
        timers.cancel(&"a");
        assert_eq!((timers.pop_due(ms(99)), timers.next_deadline()), (None, None));
    }

    proptest! {
        /// `steps`: a key, and the pause until it runs out, or none to cancel it.
        #[test]
        fn keys_come_when_their_time_has_come_and_not_before(
            steps in prop::collection::vec((0_u8..6, prop::option::of(0_u64..40)), 1..60)
        ) {
            let (mut timers, mut model) = (Timers::default(), BTreeMap::new());
            for (ms, (key, pause)) in (0_u64..).zip(steps) {
                let now = Duration::from_millis(ms);
                if let Some(pause) = pause {
                    let at = now + Duration::from_millis(pause);
                    timers.set(key, at);
                    model.insert(key, at);
                } else {
                    timers.cancel(&key);
                    model.remove(&key);
                }
                let first = model.values().min().copied();
                prop_assert!(timers.next_deadline().is_some() == first.is_some());
                prop_assert!(timers.next_deadline() <= first);
                let come: BTreeSet<_> = std::iter::from_fn(|| timers.pop_due(now)).collect();
                let due: BTreeSet<_> =
                    model.extract_if(.., |_, at| *at <= now).map(|(key, _)| key).collect();
                prop_assert_eq!(come, due);
            }
        }
    }
}
