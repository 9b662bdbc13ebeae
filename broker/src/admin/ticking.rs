//! What is kept for the pages whether anybody looks or not: readings for means, and windows of
//! durations. So that what a page tells of the last minutes depends on nobody who looked before.

use super::desk::Desk;
use super::readings::{Reading, STEP};
use crate::api::Ctx;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// How long a window of durations is counted in; those of two are told.
const WINDOW: Duration = Duration::from_secs(150);

/// Keeps it up for as long as it is polled.
pub(super) async fn run(desk: Arc<Desk>, ctx: Arc<Ctx>) {
    let mut windows = Windows { since: ctx.env.clock.monotonic() };
    each_step(|| {
        let now = ctx.env.clock.monotonic();
        desk.readings.keep(Reading::of(now, &ctx));
        for _ in 0..windows.over(now) {
            ctx.metrics.requests.turn();
            ctx.metrics.elections.turn();
            ctx.dirs.iter().for_each(|dir| dir.syncs.turn());
        }
    })
    .await;
}

/// At once, and then every [`STEP`].
async fn each_step(mut act: impl FnMut()) {
    let mut ticks = interval(STEP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        act();
    }
}

/// When the present windows began.
struct Windows {
    since: Duration,
}

impl Windows {
    /// How many windows are over. A process that was asleep for longer than two has nothing to tell
    /// of either.
    fn over(&mut self, now: Duration) -> u32 {
        let passed = now.saturating_sub(self.since);
        if passed < WINDOW {
            return 0;
        }
        self.since = now;
        if passed < WINDOW * 2 { 1 } else { 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::timeout;

    #[tokio::test(start_paused = true)]
    async fn it_ticks_while_nobody_looks() {
        let mut count = 0;
        let hour = Duration::from_hours(1);
        assert!(timeout(hour - STEP / 2, each_step(|| count += 1)).await.is_err());
        assert_eq!(count, 720);
    }

    #[test]
    fn windows_turn_with_the_clock() {
        let second = Duration::from_secs;
        let mut windows = Windows { since: second(1000) };
        let over: Vec<_> = [1000, 1149, 1150, 1299, 1301, 1450, 1451, 5000, 5001]
            .map(|now| windows.over(second(now)))
            .into();
        assert_eq!(over, [0, 0, 1, 0, 1, 0, 1, 2, 0]);
    }
}
