//! `kafka-console-producer`: a record for each line of standard input.

mod lines;
mod options;

use crate::args::Args;
use crate::data::producer::{Listener, Outcome, Producer};
use crate::failure::Failure;
use crate::frame;
use crate::interrupt::Interrupt;
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
    // Whoever types ends the input, or interrupts; then all that was typed is still sent.
    let (flushed, seen) = (producer.clone(), lost.clone());
    Interrupt::listen(move |code| {
        flushed.flush();
        std::process::exit(i32::from(if seen.is_none() { code } else { 1 }));
    })?;
    let sent = send_all(&options, &producer, &lost, out);
    producer.flush();
    sent?;
    // A lost record was told of. Apache Kafka's tool exits with 0 all the same, unless with --sync.
    if lost.is_none() { Ok(()) } else { Err(Failure::Exit(1)) }
}

fn send_all(
    options: &Options,
    producer: &Producer<()>,
    lost: &Lost,
    out: &mut Output,
) -> Result<(), Failure> {
    let prompts = io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut lines = Lines::of(io::stdin().lock());
    for number in 1.. {
        if prompts {
            out.bytes(b">")?;
            out.flush()?;
        }
        let line = lines
            .next()
            .map_err(|error| Failure::told(format_args!("cannot read standard input: {error}")))?;
        let Some(line) = line else { break };
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
