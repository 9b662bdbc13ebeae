//! `kafka-console-producer`: a record for each line of standard input.

mod lines;
mod options;

use crate::args::Args;
use crate::data::producer::{Listener, Outcome, Producer};
use crate::failure::Failure;
use crate::frame;
use crate::interrupt::{Ending, Interrupt};
use crate::output::{Output, complain};
use kraft::env::Env;
pub(crate) use lines::Lines;
use options::{COMMAND, Options};
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many records are lost, each told of when it is.
#[derive(Debug, Default)]
struct Lost(AtomicU64);

impl Listener<()> for Lost {
    fn outcome(&self, outcome: Outcome<'_, ()>) {
        if let Err(why) = outcome.stored {
            self.tell(outcome.topic, outcome.key, outcome.value, &why);
        }
    }
}

impl Lost {
    fn tell(&self, topic: &str, key: Option<&[u8]>, value: Option<&[u8]>, why: &str) {
        self.0.fetch_add(1, Ordering::SeqCst);
        let size = |part: Option<&[u8]>| {
            part.map_or("null".to_owned(), |part| format!("{} bytes", part.len()))
        };
        complain(&format!(
            "ERROR Error when sending message to topic {topic} with key: {}, value: {} with \
             error: {why}",
            size(key),
            size(value)
        ));
    }

    fn is_none(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }
}

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, out| produce(args, env, out))
}

fn produce(args: &Args, env: &Env, out: &mut Output) -> Result<(), Failure> {
    let options = Options::read(args, env)?;
    let lost = Arc::new(Lost::default());
    let producer = Arc::new(Producer::explaining(&options.properties, lost.clone())?);
    // Whoever types ends the input, or interrupts; then all that was sent is still stored.
    let ending = Ending::default();
    let (flushed, seen, first) = (producer.clone(), lost.clone(), ending.clone());
    let interrupt = Interrupt::listen(move |code| {
        if first.is_mine() {
            flushed.flush();
            std::process::exit(i32::from(if seen.is_none() { code } else { 1 }));
        }
    })?;
    let sending = Sending { options: &options, producer: &producer, lost: &lost };
    let sent = sending.all(&interrupt, out);
    ending.take();
    producer.flush();
    sent?;
    // A lost record was told of. Apache Kafka's tool exits with 0 all the same, unless with --sync.
    match if lost.is_none() { interrupt.code() } else { Some(1) } {
        Some(code) => Err(Failure::Exit(code)),
        None => Ok(()),
    }
}

struct Sending<'a> {
    options: &'a Options,
    producer: &'a Producer<()>,
    lost: &'a Lost,
}

impl Sending<'_> {
    /// Sends what is read until there is no more, or the tool is asked to end.
    fn all(&self, interrupt: &Interrupt, out: &mut Output) -> Result<(), Failure> {
        let Sending { options, producer, lost } = *self;
        let prompts = io::stdin().is_terminal() && io::stdout().is_terminal();
        let mut lines = Lines::of(io::stdin().lock());
        for number in 1.. {
            if prompts {
                out.bytes(b">")?;
                out.flush()?;
            }
            let line = lines.next().map_err(|error| {
                Failure::told(format_args!("cannot read standard input: {error}"))
            })?;
            let Some(line) = line.filter(|_| interrupt.code().is_none()) else { break };
            let record = options.reader.record(&line, number).map_err(Failure::Told)?;
            if number == 1 {
                producer.await_topic(&options.topic)?;
            }
            if let Err((why, ())) = producer.send(&options.topic, &record, ()) {
                lost.tell(&options.topic, record.key, record.value, &why);
            }
            if options.sync {
                producer.flush();
                if !lost.is_none() {
                    return Err(Failure::Exit(1));
                }
            }
        }
        Ok(())
    }
}
