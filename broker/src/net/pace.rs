//! How many connections a second begin (`max.connection.creation.rate`, KIP-612).

use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Longer than this nobody waits without looking whether the rate has changed.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Whoever comes above the rate waits, and all behind it in the kernel's queue. A second's worth
/// may begin at once.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Connections that may begin now, and when that was so; None: nobody has come yet.
    allowed: Mutex<Option<(f64, Instant)>>,
}

impl Pace {
    /// Waits until one more may begin at so many a second; `u32::MAX` is no limit.
    pub(super) async fn pass(&self, rate: impl Fn() -> u32) {
        while let Err(wait) = self.take(rate(), Instant::now()) {
            sleep(wait.min(LOOK_AGAIN)).await;
        }
    }

    fn take(&self, rate: u32, now: Instant) -> Result<(), Duration> {
        if rate == u32::MAX {
            return Ok(());
        }
        let most = f64::from(rate);
        let mut allowed = self.allowed.lock();
        let (left, since) = allowed.unwrap_or((most, now));
        let left = (left + most * now.duration_since(since).as_secs_f64()).min(most.max(1.0));
        let passes = 1.0 <= left;
        *allowed = Some((if passes { left - 1.0 } else { left }, now));
        if passes {
            return Ok(());
        }
        Err(Duration::try_from_secs_f64((1.0 - left) / most).unwrap_or(LOOK_AGAIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes at each of these milliseconds; the milliseconds to wait instead, where it must.
    #[track_caller]
    fn check(rate: u32, at_ms: &[u64], want: &[Option<u128>]) {
        let (pace, start) = (Pace::default(), Instant::now());
        let take = |ms: &u64| pace.take(rate, start + Duration::from_millis(*ms));
        let waits = at_ms.iter().map(take).map(|it| it.err().map(|wait| wait.as_millis()));
        assert_eq!(waits.collect::<Vec<_>>(), want);
    }

    #[test]
    fn a_seconds_worth_begins_at_once_and_the_rest_at_the_rate() {
        check(2, &[0, 0, 0, 250, 500, 500], &[None, None, Some(500), Some(250), None, Some(500)]);
        check(2, &[0, 9000, 9000, 9000], &[None, None, None, Some(500)]);
        check(0, &[0, 5000], &[Some(1000), Some(1000)]);
        check(u32::MAX, &[0; 5], &[None; 5]);
    }
}
