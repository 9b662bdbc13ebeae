//! `kafka-console-consumer`: the records of topics, on standard output.

mod deserialize;
mod format;
mod options;

use crate::args::Args;
use crate::data::consumer::Consumer;
use crate::data::voice::Voice;
use crate::failure::Failure;
use crate::frame;
use crate::interrupt::Interrupt;
use crate::output::{Output, complain};
use crate::topic_pattern::TopicPattern;
use kraft::env::Env;
use options::{COMMAND, Options, Source};
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

/// How long to wait for a record before it is looked whether the tool was asked to end.
const STEP: Duration = Duration::from_millis(50);

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, out| consume(args, env, out))
}

fn consume(args: &Args, env: &Env, out: &mut Output) -> Result<(), Failure> {
    let options = Options::read(args, env)?;
    let mut pattern = match &options.source {
        Source::Matching(pattern) => Some(TopicPattern::of(pattern, &options.properties)?),
        Source::Topic(_) | Source::Partition(..) => None,
    };
    let interrupt = Interrupt::listen(drop)?;
    let consumer = Consumer::new(&options.properties, Voice::alone(), out)?;
    match &options.source {
        Source::Topic(topic) => consumer.subscribe_to(topic)?,
        Source::Partition(topic, partition, start) => consumer.add(topic, &[*partition], *start)?,
        Source::Matching(_) => {}
    }
    let mut reading =
        Reading { options: &options, consumer: &consumer, interrupt: &interrupt, count: 0 };
    let read = reading.all(pattern.as_mut(), env, out);
    let count = reading.count;
    let settled = consumer.settle();
    // Its end commits what was printed, and leaves the group.
    drop(consumer);
    let closed = settled == Err(Failure::Closed);
    if closed {
        complain("Unable to write to standard out, closing consumer.");
    }
    complain(&format!("Processed a total of {count} messages"));
    if options.tells_end && settled.is_ok() {
        out.line("shutdown_complete")?;
    }
    read?;
    match interrupt.code() {
        Some(code) => Err(Failure::Exit(code)),
        None => settled,
    }
}

struct Reading<'a> {
    options: &'a Options,
    consumer: &'a Consumer,
    interrupt: &'a Interrupt,
    /// Records that were handed out.
    count: u64,
}

impl Reading<'_> {
    /// Prints until there is enough, or none comes for too long, or the tool is asked to end.
    fn all(
        &mut self,
        mut pattern: Option<&mut TopicPattern>,
        env: &Env,
        out: &mut Output,
    ) -> Result<(), Failure> {
        let mut line = Vec::new();
        let mut waits_since = env.clock.monotonic();
        while self.interrupt.code().is_none() && self.options.max_messages != Some(self.count) {
            if let Some(pattern) = &mut pattern {
                pattern.follow(self.consumer, env)?;
            }
            let Some(record) = self.consumer.next_to_print(STEP)? else {
                let waited = env.clock.monotonic().saturating_sub(waits_since);
                if self.options.timeout.is_some_and(|timeout| timeout < waited) {
                    // The words of Apache Kafka's tool, by which scripts tell this end from others.
                    complain("ERROR Error processing message, terminating consumer process: ");
                    complain("org.apache.kafka.common.errors.TimeoutException");
                    return Ok(());
                }
                continue;
            };
            self.count += 1;
            line.clear();
            match self.options.formatter.put(&record, &mut line) {
                Ok(()) => out.bytes(&line)?,
                Err(why) if self.options.skips => format::tell_skipped(&record, &why),
                Err(why) => return Err(Failure::Told(why)),
            }
            self.consumer.used(&record);
            if self.options.timeout.is_some() {
                waits_since = env.clock.monotonic();
            }
        }
        Ok(())
    }
}
