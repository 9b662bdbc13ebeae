//! How long things take: counts by duration, from which quantiles come.
//!
//! Counts of the last minutes only, as in two windows that follow each other: the quantiles of a
//! week would tell nothing of today. A duration is counted with one addition and no lock.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// Steps within a doubling: a count is known to an eighth.
const STEPS: usize = 8;
const STEP_BITS: u32 = 3;
/// Up to 2^32 microseconds, over an hour.
const BUCKETS: usize = (32 - STEP_BITS as usize + 1) * STEPS;

const WINDOWS: usize = 2;

/// See the module.
#[derive(Debug)]
pub struct Histogram {
    windows: [[AtomicU32; BUCKETS]; WINDOWS],
    /// Which of them is counted in.
    present: AtomicUsize,
}

impl Default for Histogram {
    fn default() -> Histogram {
        let windows = [const { [const { AtomicU32::new(0) }; BUCKETS] }; WINDOWS];
        Histogram { windows, present: AtomicUsize::new(0) }
    }
}

/// The bucket of so many microseconds.
fn bucket(micros: u64) -> usize {
    let micros = micros.min(u64::from(u32::MAX));
    let Some(msb) = micros.checked_ilog2().filter(|msb| STEP_BITS <= *msb) else {
        return usize::try_from(micros).unwrap_or(0);
    };
    let (doubling, step) = (msb - STEP_BITS + 1, micros >> (msb - STEP_BITS));
    let step = usize::try_from(step).unwrap_or(0) % STEPS;
    usize::try_from(doubling).unwrap_or(0) * STEPS + step
}

/// Milliseconds in the middle of a bucket.
fn middle_ms(bucket: usize) -> f64 {
    let small = |it: usize| f64::from(u32::try_from(it).unwrap_or(0));
    let (doubling, step) = (bucket / STEPS, bucket % STEPS);
    if doubling == 0 {
        return small(step) / 1000.0;
    }
    let width = 2_f64.powi(i32::try_from(doubling - 1).unwrap_or(0));
    (small(STEPS + step) + 0.5) * width / 1000.0
}

impl Histogram {
    pub fn record(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let counts = self.windows.get(self.present.load(Ordering::Relaxed) % WINDOWS);
        if let Some(count) = counts.and_then(|counts| counts.get(bucket(micros))) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Forgets the window before the present one, and begins the next in its place. One calls it.
    pub fn turn(&self) {
        let next = (self.present.load(Ordering::Relaxed) + 1) % WINDOWS;
        let counts = self.windows.get(next).into_iter().flatten();
        counts.for_each(|count| count.store(0, Ordering::Relaxed));
        self.present.store(next, Ordering::Relaxed);
    }
}

/// Counts of several histograms together.
#[derive(Clone, Debug)]
pub struct Counts([u64; BUCKETS]);

impl Default for Counts {
    fn default() -> Counts {
        Counts([0; BUCKETS])
    }
}

impl Counts {
    pub fn add(&mut self, histogram: &Histogram) {
        for window in &histogram.windows {
            for (sum, count) in self.0.iter_mut().zip(window) {
                *sum += u64::from(count.load(Ordering::Relaxed));
            }
        }
    }

    pub fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Counts as many more that took no time, as make `count` in all.
    pub fn fill_up_to(&mut self, count: u64) {
        let more = count.saturating_sub(self.count());
        if let Some(none) = self.0.first_mut() {
            *none += more;
        }
    }

    /// The duration that this share of all did not exceed; not a number where there are none.
    pub fn quantile_ms(&self, share: f64) -> f64 {
        let all = self.count();
        let mut below = 0_u64;
        for (bucket, count) in self.0.iter().enumerate() {
            below += count;
            // Counts of minutes are far below what a float cannot tell apart.
            #[expect(clippy::cast_precision_loss, reason = "an estimate")]
            if 0 < *count && share * all as f64 <= below as f64 {
                return middle_ms(bucket);
            }
        }
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_has_a_bucket_near_it() {
        let mut last = 0;
        for micros in (0..10_000).chain([1 << 20, (1 << 31) + 5, u64::from(u32::MAX), u64::MAX]) {
            let bucket = bucket(micros);
            assert!(last <= bucket && bucket < BUCKETS, "{micros}");
            last = bucket;
            if micros < u64::from(u32::MAX) {
                let micros = u32::try_from(micros).unwrap();
                let off = (middle_ms(bucket) * 1000.0 - f64::from(micros)).abs();
                assert!(off <= f64::from(micros) / 8.0, "{micros} is off by {off}");
            }
        }
    }

    #[test]
    fn quantiles_are_those_of_the_windows_that_are_left() {
        let it = Histogram::default();
        let quantiles = || {
            let mut counts = Counts::default();
            counts.add(&it);
            (counts.count(), counts.quantile_ms(0.5), counts.quantile_ms(0.99))
        };
        assert!(quantiles().1.is_nan());
        (0..99).for_each(|_| it.record(Duration::from_micros(4)));
        it.turn();
        it.record(Duration::from_millis(100));
        let (count, half, most) = quantiles();
        assert_eq!((count, half), (100, 0.004));
        assert_eq!(most, 0.004);
        it.turn();
        assert!((quantiles().1 - 100.0).abs() < 13.0);
        it.turn();
        assert!(quantiles().1.is_nan());
    }

    #[test]
    fn what_took_no_time_need_not_be_counted() {
        let mut counts = Counts::default();
        counts.fill_up_to(10);
        assert_eq!((counts.count(), counts.quantile_ms(0.999)), (10, 0.0));
    }
}
