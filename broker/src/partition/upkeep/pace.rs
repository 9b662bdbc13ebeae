//! How fast the logs of a directory grow, looked at step by step.

use std::time::Duration;

pub(super) const STEP: Duration = Duration::from_millis(100);

/// As long as no more comes in a step, write-back keeps ahead of it, so that no sync finds much and
/// the device is never asked for much at once. What comes faster is left to the kernel's own
/// writers: they take it in longer runs, and so for less, and the flusher could only do it in their
/// place.
pub(super) const STEP_BYTES: u64 = 26 << 20;

#[derive(Debug)]
pub(super) struct Pace {
    since: Duration,
    /// At that time.
    written: u64,
    is_flooded: bool,
}

impl Pace {
    pub(super) fn new(now: Duration, written: u64) -> Pace {
        Pace { since: now, written, is_flooded: false }
    }

    /// Whether more comes than write-back should keep ahead of.
    pub(super) fn is_flooded(&self) -> bool {
        self.is_flooded
    }

    /// Takes note of how much was written by now; says whether a step began.
    pub(super) fn look(&mut self, now: Duration, written: u64) -> bool {
        let (elapsed, bytes) = (now.saturating_sub(self.since), written - self.written);
        if elapsed < STEP {
            self.is_flooded |= STEP_BYTES < bytes;
            return false;
        }
        let steps = elapsed.as_millis() / STEP.as_millis();
        self.is_flooded = u128::from(STEP_BYTES) * steps < u128::from(bytes);
        (self.since, self.written) = (now, written);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_faster_than_a_step_allows_is_a_flood_until_a_step_has_less() {
        const MS: fn(u64) -> Duration = Duration::from_millis;
        let mut pace = Pace::new(MS(1000), 0);
        let mut written = 0;
        for (at_ms, bytes, begins, floods) in [
            (1010, STEP_BYTES, false, false),
            (1020, 1, false, true),
            (1090, 0, false, true),
            (1100, 0, true, true),
            (1199, STEP_BYTES, false, true),
            (1200, 0, true, false),
            // A long step, in which as much came as in three.
            (1500, 3 * STEP_BYTES, true, false),
            (1800, 3 * STEP_BYTES + 1, true, true),
        ] {
            written += bytes;
            let got = (pace.look(MS(at_ms), written), pace.is_flooded());
            assert_eq!(got, (begins, floods), "at {at_ms} ms");
        }
    }
}
