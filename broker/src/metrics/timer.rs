//! Something that takes time: how often it was done, and how long it took in the last minutes.
//! Kafka's `KafkaTimer`.

use super::counter::Counter;
use super::histogram::{Counts, Histogram};
use std::time::Duration;

/// See the module.
#[derive(Debug, Default)]
pub struct Timer {
    count: Counter,
    times: Histogram,
}

impl Timer {
    pub fn record(&self, took: Duration) {
        self.times.record(took);
        self.count.count();
    }

    /// Since the start.
    pub fn count(&self) -> u64 {
        self.count.get()
    }

    /// Those of the last minutes.
    pub fn add_to(&self, counts: &mut Counts) {
        counts.add(&self.times);
    }

    /// Begins the next window of times.
    pub fn turn(&self) {
        self.times.turn();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_stays_and_how_long_it_took_goes() {
        let timer = Timer::default();
        timer.record(Duration::from_millis(3));
        timer.turn();
        timer.turn();
        let mut counts = Counts::default();
        timer.add_to(&mut counts);
        assert_eq!((timer.count(), counts.count()), (1, 0));
    }
}
