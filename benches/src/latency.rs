//! Latencies of a step, and their percentiles.

use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(crate) fn add(&mut self, latency: Duration) {
        self.0.push(latency);
    }

    pub(crate) fn of_all(parts: Vec<Latencies>) -> Latencies {
        let mut all: Vec<Duration> = parts.into_iter().flat_map(|part| part.0).collect();
        all.sort_unstable();
        Latencies(all)
    }

    /// The latency in milliseconds that `per_mille` of a thousand do not exceed. Of none: NaN.
    pub(crate) fn ms_at(&self, per_mille: usize) -> f64 {
        let rank = (self.0.len() * per_mille).div_ceil(1000).max(1);
        self.0.get(rank - 1).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e3)
    }

    /// The values of a step: p50, p99, p99.9.
    pub(crate) fn values(&self) -> Vec<(&'static str, f64)> {
        vec![("p50", self.ms_at(500)), ("p99", self.ms_at(990)), ("p999", self.ms_at(999))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let mut parts = [Latencies::default(), Latencies::default()];
        for ms in 1..=1000 {
            parts[usize::from(ms % 2 == 0)].add(Duration::from_millis(ms));
        }
        let all = Latencies::of_all(parts.to_vec());
        let check = |per_mille, ms: f64| assert!((all.ms_at(per_mille) - ms).abs() < 1e-9);
        check(500, 500.0);
        check(990, 990.0);
        check(999, 999.0);
        check(1000, 1000.0);
        assert!(Latencies::default().ms_at(500).is_nan());
    }
}
