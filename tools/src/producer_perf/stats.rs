//! What a run has come to: of the interval that is going on, and in all.

/// Latencies that are kept for the percentiles.
const SAMPLES_MAX: u64 = 500_000;
const MEGABYTE: f64 = 1024.0 * 1024.0;

/// One of both.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    since_ms: i64,
    count: u64,
    bytes: u64,
    latency_ms: u64,
    latency_ms_max: u64,
}

impl Sums {
    fn add(&mut self, latency_ms: u64, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
        self.latency_ms += latency_ms;
        self.latency_ms_max = self.latency_ms_max.max(latency_ms);
    }

    fn per_second(&self, amount: f64, now_ms: i64) -> f64 {
        1000.0 * amount / real(now_ms.saturating_sub(self.since_ms).unsigned_abs())
    }

    fn average_ms(&self) -> f64 {
        real(self.latency_ms) / real(self.count)
    }
}

/// The records of a run, or of its steady state.
#[derive(Debug)]
pub(super) struct Stats {
    whole: Sums,
    window: Sums,
    interval_ms: i64,
    /// Of so many records the latency of one is kept.
    sampling: u64,
    samples: Vec<u64>,
    is_steady: bool,
    /// Intervals are not told of any more.
    pub(super) is_silent: bool,
}

#[expect(clippy::cast_precision_loss, reason = "counts of a run are far below 2^53")]
fn real(number: u64) -> f64 {
    number as f64
}

impl Stats {
    /// `count` records are to come.
    pub(super) fn new(count: u64, interval_ms: i64, is_steady: bool, now_ms: i64) -> Stats {
        let sums = Sums { since_ms: now_ms, ..Sums::default() };
        Stats {
            whole: sums,
            window: sums,
            interval_ms,
            sampling: (count / SAMPLES_MAX.min(count.max(1))).max(1),
            samples: Vec::new(),
            is_steady,
            is_silent: false,
        }
    }

    /// A record was acknowledged. Returns what is to be told of an interval that ends by it.
    pub(super) fn record(&mut self, latency_ms: u64, bytes: u64, now_ms: i64) -> Vec<String> {
        if self.whole.count.is_multiple_of(self.sampling) {
            self.samples.push(latency_ms);
        }
        self.whole.add(latency_ms, bytes);
        self.window.add(latency_ms, bytes);
        let mut lines = Vec::new();
        if self.interval_ms <= now_ms - self.window.since_ms {
            if self.is_steady && self.whole.count == self.window.count {
                lines.push("In steady state.".to_owned());
            }
            if !self.is_silent {
                lines.push(self.interval(now_ms));
            }
            self.window = Sums { since_ms: now_ms, ..Sums::default() };
        }
        lines
    }

    fn interval(&self, now_ms: i64) -> String {
        let it = &self.window;
        format!(
            "{} records sent, {:.1} records/sec ({:.2} MB/sec), {:.1} ms avg latency, {:.1} ms max \
             latency.",
            it.count,
            it.per_second(real(it.count), now_ms),
            it.per_second(real(it.bytes), now_ms) / MEGABYTE,
            it.average_ms(),
            real(it.latency_ms_max)
        )
    }

    /// What is told at the end.
    pub(super) fn total(&mut self, now_ms: i64) -> String {
        let it = &self.whole;
        self.samples.sort_unstable();
        let percentile = |thousandths: usize| {
            let at = thousandths * self.samples.len() / 1000;
            self.samples.get(at).copied().unwrap_or(0)
        };
        format!(
            "{}{} records sent, {:.6} records/sec ({:.2} MB/sec), {:.2} ms avg latency, {:.2} ms \
             max latency, {} ms 50th, {} ms 95th, {} ms 99th, {} ms 99.9th.",
            it.count,
            if self.is_steady { " steady state" } else { "" },
            it.per_second(real(it.count), now_ms),
            it.per_second(real(it.bytes), now_ms) / MEGABYTE,
            it.average_ms(),
            real(it.latency_ms_max),
            percentile(500),
            percentile(950),
            percentile(990),
            percentile(999)
        )
    }

    /// Records that were acknowledged, and their bytes.
    pub(super) fn acknowledged(&self) -> (u64, u64) {
        (self.whole.count, self.whole.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_and_the_total_are_told_in_kafka_s_words() {
        let mut stats = Stats::new(4, 1000, false, 0);
        assert_eq!(stats.record(1, 1 << 20, 10), [""; 0]);
        let want = "2 records sent, 1.0 records/sec (1.00 MB/sec), 2.0 ms avg latency, 3.0 ms max latency.";
        assert_eq!(stats.record(3, 1 << 20, 2000), [want]);
        stats.record(5, 0, 2500);
        stats.record(7, 0, 2600);
        let want = "4 records sent, 1.000000 records/sec (0.50 MB/sec), 4.00 ms avg latency, 7.00 ms \
                    max latency, 5 ms 50th, 7 ms 95th, 7 ms 99th, 7 ms 99.9th.";
        assert_eq!(stats.total(4000), want);
        assert_eq!(stats.acknowledged(), (4, 2 << 20));
    }

    #[test]
    fn the_steady_state_is_told_of_once() {
        let mut stats = Stats::new(10, 100, true, 0);
        let first = stats.record(1, 1, 100);
        assert_eq!(first.len(), 2);
        assert_eq!(first[0], "In steady state.");
        assert_eq!(stats.record(1, 1, 200).len(), 1);
        stats.is_silent = true;
        assert_eq!(stats.record(1, 1, 300), [""; 0]);
        assert!(stats.total(400).starts_with("3 steady state records sent, "));
    }

    #[test]
    fn a_long_run_keeps_some_of_its_latencies() {
        let mut stats = Stats::new(2_000_000, i64::MAX, false, 0);
        for latency in 0..8 {
            stats.record(latency, 1, 0);
        }
        assert_eq!(stats.samples, [0, 4]);
    }
}
