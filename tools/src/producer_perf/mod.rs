//! `kafka-producer-perf-test`: how fast records are taken.

mod options;
mod random;
mod stats;

use crate::args::Args;
use crate::data::producer::{Listener, Outcome, Producer, ToSend};
use crate::failure::Failure;
use crate::frame;
use crate::interrupt::{Ending, Interrupt};
use crate::output::{Output, complain};
use crate::throttle::Throttle;
use kraft::env::{Clock, Env};
use options::{COMMAND, LOSSES_TOLD, Options, tell_loss};
use parking_lot::Mutex;
use random::SplittableRandom;
use stats::Stats;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// How long to wait at the end before it is looked what there is to tell.
const STEP: Duration = Duration::from_millis(100);

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, out| perform(args, env, out))
}

/// What a record was sent with.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at_ms: i64,
    bytes: u64,
    is_steady: bool,
}

/// What the acknowledgements have come to. The producer's thread adds, and the tool's tells.
#[derive(Debug)]
struct Tally {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    all: Stats,
    steady: Option<Stats>,
    lines: Vec<String>,
    lost: u64,
}

impl Listener<Sent> for Tally {
    fn outcome(&self, outcome: Outcome<'_, Sent>) {
        let now_ms = self.clock.wall_ms();
        let Sent { at_ms, bytes, is_steady } = outcome.ticket;
        let state = &mut *self.state.lock();
        if let Err(why) = outcome.stored {
            tell_loss(state.lost, &why);
            state.lost += 1;
            return;
        }
        let latency_ms = now_ms.saturating_sub(at_ms).max(0).unsigned_abs();
        state.lines.extend(state.all.record(latency_ms, bytes, now_ms));
        if let Some(steady) = state.steady.as_mut().filter(|_| is_steady) {
            state.lines.extend(steady.record(latency_ms, bytes, now_ms));
        }
    }
}

impl Tally {
    /// Prints what there is to tell.
    fn tell(&self, out: &mut Output) -> Result<(), Failure> {
        let lines = std::mem::take(&mut self.state.lock().lines);
        out.lines_now(&lines)
    }
}

fn perform(args: &Args, env: &Env, out: &mut Output) -> Result<(), Failure> {
    let options = Options::read(args, env, out)?;
    // While nothing is sent, nothing is to be waited for.
    let ending = Ending::default();
    let first = ending.clone();
    let interrupt = Interrupt::listen(move |code| {
        if first.is_mine() {
            std::process::exit(i32::from(code));
        }
    })?;
    let all = Stats::new(options.count, options.interval_ms, false, env.clock.wall_ms());
    let state = State { all, steady: None, lines: Vec::new(), lost: 0 };
    let tally = Arc::new(Tally { clock: env.clock.clone(), state: Mutex::new(state) });
    let producer = Producer::new(&options.properties, tally.clone())?;
    if options.transaction_ms.is_some() {
        producer.init_transactions()?;
    }
    producer.await_topic(&options.topic)?;
    ending.take();
    if 0 < options.warmup {
        out.line(format_args!(
            "Warmup first {} records. Steady state results will print after the complete test \
             summary.",
            options.warmup
        ))?;
        out.flush()?;
    }
    let now_ms = env.clock.wall_ms();
    tally.state.lock().all = Stats::new(options.count, options.interval_ms, false, now_ms);
    let mut sending =
        Sending { options: &options, env, producer: &producer, tally: &tally, begun_ms: None };
    let mut told = sending.all(&interrupt, out);
    // What was sent is stored, whoever listens.
    while !producer.flush_for(STEP) {
        told = told.and_then(|()| tally.tell(out));
    }
    let told = told.and_then(|()| tally.tell(out));
    let told = told.and_then(|()| summary(&options, env, &tally, out));
    interrupt.end(acknowledged(tally.state.lock().lost, told))
}

/// How it ends, if `told` is how the telling ended: not well if records are lost, whoever listens.
fn acknowledged(lost: u64, told: Result<(), Failure>) -> Result<(), Failure> {
    if lost == 0 {
        return told;
    }
    let more = lost.saturating_sub(LOSSES_TOLD);
    complain(&format!("{lost} records were not acknowledged ({more} of them not told above)"));
    match told {
        Ok(()) | Err(Failure::Closed) => Err(Failure::Exit(1)),
        Err(why) => Err(why),
    }
}

struct Sending<'a> {
    options: &'a Options,
    env: &'a Env,
    producer: &'a Producer<Sent>,
    tally: &'a Tally,
    /// When the transaction began that is open.
    begun_ms: Option<i64>,
}

impl Sending<'_> {
    fn all(&mut self, interrupt: &Interrupt, out: &mut Output) -> Result<(), Failure> {
        let Sending { options, env, producer, tally, .. } = *self;
        let throttle = Throttle::begin(options.throughput, env);
        let mut random = SplittableRandom::new(options.seed);
        let mut value = Vec::new();
        for number in 0..options.count {
            let key = options.keys.key(number, &mut random);
            options.payload.put(number, &mut random, &mut value);
            let at_ms = env.clock.wall_ms();
            if 0 < options.warmup && number == options.warmup {
                let rest = options.count - options.warmup;
                let state = &mut *tally.state.lock();
                state.all.is_silent = true;
                state.steady = Some(Stats::new(rest, options.interval_ms, true, at_ms));
            }
            self.begin(at_ms)?;
            let record = ToSend {
                key: key.as_deref().map(str::as_bytes),
                value: Some(&value),
                ..ToSend::default()
            };
            let is_steady = 0 < options.warmup && options.warmup <= number;
            let sent = Sent { at_ms, bytes: value.len() as u64, is_steady };
            if let Err((why, _)) = producer.send(&options.topic, &record, sent) {
                let state = &mut *tally.state.lock();
                tell_loss(state.lost, &why);
                state.lost += 1;
            }
            self.end_if(
                options
                    .transaction_ms
                    .is_some_and(|most| self.begun_ms.is_some_and(|begun| most <= at_ms - begun)),
            )?;
            tally.tell(out)?;
            throttle.wait(number + 1, env, interrupt);
            if interrupt.code().is_some() {
                break;
            }
        }
        self.end_if(self.begun_ms.is_some())
    }

    fn begin(&mut self, at_ms: i64) -> Result<(), Failure> {
        if self.options.transaction_ms.is_some() && self.begun_ms.is_none() {
            self.producer.begin_transaction()?;
            self.begun_ms = Some(at_ms);
        }
        Ok(())
    }

    fn end_if(&mut self, ends: bool) -> Result<(), Failure> {
        if ends {
            self.producer.commit_transaction()?;
            self.begun_ms = None;
        }
        Ok(())
    }
}

fn summary(options: &Options, env: &Env, tally: &Tally, out: &mut Output) -> Result<(), Failure> {
    let now_ms = env.clock.wall_ms();
    let state = &mut *tally.state.lock();
    out.line(state.all.total(now_ms))?;
    if let Some(steady) = &mut state.steady {
        out.line(steady.total(now_ms))?;
    }
    if options.metrics {
        let (count, bytes) = state.all.acknowledged();
        let client = options.properties.get("client.id").map_or("", String::as_str);
        let metrics = [
            ("byte-total", bytes),
            ("record-error-total", state.lost),
            ("record-send-total", count),
        ];
        let name = |of: &str| format!("producer-metrics:{of}:{{client-id={client}}}");
        let width = metrics.iter().map(|(of, _)| name(of).len()).max().unwrap_or(0);
        out.line(format_args!("\n{:<width$} {}", "Metric Name", "Value"))?;
        for (of, number) in metrics {
            out.line(format_args!("{:<width$} : {number}.000", name(of)))?;
        }
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_are_lost_are_a_failure_whoever_listens() {
        let why = || Err(Failure::Told("no transaction".to_owned()));
        assert_eq!(acknowledged(0, Ok(())), Ok(()));
        assert_eq!(acknowledged(0, Err(Failure::Closed)), Err(Failure::Closed));
        assert_eq!(acknowledged(2, Ok(())), Err(Failure::Exit(1)));
        assert_eq!(acknowledged(2, Err(Failure::Closed)), Err(Failure::Exit(1)));
        assert_eq!(acknowledged(2, why()), why());
    }
}
