//! How fast the cleaners may read and write together. Pure: the caller brings the time, and waits.

use parking_lot::Mutex;
use std::time::Duration;

/// What was spent is paid by time.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    /// When all that was spent so far is paid.
    paid_at: Mutex<Duration>,
}

impl Throttle {
    /// Notes that `bytes` were spent at `now`; says how long whoever spent them must wait.
    pub(super) fn spend(&self, bytes: u64, bytes_per_second: f64, now: Duration) -> Duration {
        #[expect(clippy::cast_precision_loss, reason = "a duration of nanoseconds' precision")]
        let seconds = bytes as f64 / bytes_per_second;
        let cost = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let mut paid_at = self.paid_at.lock();
        *paid_at = now.max(*paid_at).saturating_add(cost);
        paid_at.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_together_keep_to_the_rate() {
        let throttle = Throttle::default();
        let check = |bytes: u64, rate: f64, now: u64, want: u64| {
            let got = throttle.spend(bytes, rate, Duration::from_millis(now));
            assert_eq!(got, Duration::from_millis(want), "{bytes} at {now}");
        };
        check(1000, f64::MAX, 0, 0);
        check(1000, 1000.0, 0, 1000);
        check(500, 1000.0, 0, 1500);
        check(500, 1000.0, 500, 1500);
        check(100, 1000.0, 9000, 100);
    }
}
