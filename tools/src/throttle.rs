//! A pace: so many records in a second, and no more.

use crate::interrupt::Interrupt;
use kraft::env::Env;
use std::time::Duration;

/// Shorter waits are saved up for the next one.
const WAIT_MIN: Duration = Duration::from_millis(2);

/// When records are due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Throttle {
    /// None: as soon as can be.
    per_second: Option<f64>,
    begun: Duration,
}

impl Throttle {
    /// A pace below 0 is none.
    pub(crate) fn begin(per_second: f64, env: &Env) -> Throttle {
        let per_second = Some(per_second).filter(|it| 0.0 <= *it);
        Throttle { per_second, begun: env.clock.monotonic() }
    }

    /// Waits until record `number`, from 0, is due, or the tool is asked to end.
    pub(crate) fn wait(&self, number: u64, env: &Env, interrupt: &Interrupt) {
        while interrupt.code().is_none() {
            let elapsed = env.clock.monotonic().saturating_sub(self.begun);
            let left = self.due(number).saturating_sub(elapsed);
            if left < WAIT_MIN {
                return;
            }
            interrupt.wait(left.min(Duration::from_millis(500)));
        }
    }

    /// How long behind the beginning.
    fn due(&self, number: u64) -> Duration {
        let Some(per_second) = self.per_second else { return Duration::ZERO };
        #[expect(clippy::cast_precision_loss, reason = "numbers of records are far below 2^53")]
        let seconds = number as f64 / per_second;
        // At a pace of 0 none is ever due, the first one aside.
        Duration::try_from_secs_f64(seconds).unwrap_or(if number == 0 {
            Duration::ZERO
        } else {
            Duration::MAX
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kraft::env::os;

    #[test]
    fn records_are_due_at_their_pace() {
        let check = |per_second: f64, number: u64, want: Duration| {
            assert_eq!(Throttle::begin(per_second, &os::env()).due(number), want, "{per_second}");
        };
        check(-1.0, 1_000_000, Duration::ZERO);
        check(10.0, 0, Duration::ZERO);
        check(10.0, 25, Duration::from_millis(2500));
        check(0.5, 1, Duration::from_secs(2));
        check(0.0, 0, Duration::ZERO);
        check(0.0, 1, Duration::MAX);
    }
}
