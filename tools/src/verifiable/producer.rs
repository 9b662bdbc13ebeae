//! `kafka-verifiable-producer`: numbers, each acknowledged by a line.

use super::event::event;
use crate::args::{Args, Command, value};
use crate::data::producer::{Listener, Outcome, Producer, ToSend};
use crate::entrance;
use crate::failure::Failure;
use crate::frame;
use crate::given::Renamed;
use crate::interrupt::Interrupt;
use crate::json::Json;
use crate::output::Output;
use crate::properties::{self, Properties};
use crate::throttle::Throttle;
use kraft::env::{Clock, Env};
use parking_lot::Mutex;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const COMMAND: Command = Command {
    name: "kafka-verifiable-producer",
    purpose: "Sends growing numbers to a topic, and prints what became of each as JSON.",
    flags: &[
        value("bootstrap-server", "host:port,...", "Brokers to begin with."),
        value("topic", "topic", "The topic."),
        value("max-messages", "count", "How many; -1: until it is ended (-1)."),
        value("throughput", "records/s", "At what pace at most; -1: none (-1)."),
        value("acks", "acks", "0, 1 or -1 (-1)."),
        value("message-create-time", "ms", "The time of the first record; later ones are later."),
        value("value-prefix", "number", "Stands before each value, and a dot."),
        value("repeating-keys", "count", "Keys are numbers below this, in turn."),
        value("command-config", "file", "A file of settings of the producer."),
        value("producer.config", "file", "Old name of --command-config."),
        value("broker-list", "host:port,...", ""),
    ],
};

/// How long to wait at the end before it is looked what there is to tell.
const STEP: Duration = Duration::from_millis(20);

struct Options {
    topic: String,
    /// None: no end.
    count: Option<u64>,
    throughput: f64,
    created_ms: Option<i64>,
    prefix: Option<i32>,
    keys: Option<u64>,
    properties: Properties,
}

impl Options {
    fn read(args: &Args, env: &Env) -> Result<Options, Failure> {
        let topic = args.required("topic")?.to_owned();
        let file = Renamed { old: "producer.config", new: "command-config" }.values(args)?;
        let from_file = properties::read(env, file.first().copied(), &[])?;
        let servers = entrance::required(args)?;
        let acks: i32 = args.number("acks")?.unwrap_or(-1);
        if ![0, 1, -1].contains(&acks) {
            return Err(Failure::usage(format_args!("--acks {acks}: 0, 1 or -1")));
        }
        let mut properties = Properties::new();
        properties.insert("bootstrap.servers".to_owned(), servers.to_owned());
        properties.insert("acks".to_owned(), acks.to_string());
        // What was sent once is not sent again: a record that is lost is told of.
        properties.insert("retries".to_owned(), "0".to_owned());
        properties.extend(from_file);
        let count: Option<i64> = args.number("max-messages")?;
        let created: Option<i64> = args.number("message-create-time")?;
        let keys: Option<i64> = args.number("repeating-keys")?;
        Ok(Options {
            topic,
            count: count.and_then(|count| u64::try_from(count).ok()),
            throughput: args.number("throughput")?.unwrap_or(-1.0),
            created_ms: created.filter(|ms| *ms != -1),
            prefix: args.number("value-prefix")?,
            keys: keys.and_then(|count| u64::try_from(count).ok()).filter(|count| 0 < *count),
            properties,
        })
    }
}

/// What became of the records. The producer's thread adds lines, and the tool's prints them.
#[derive(Debug)]
struct Log {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<Json>,
    acked: u64,
    lost: u64,
}

fn text(part: Option<&[u8]>) -> Json {
    part.map(|part| Json::Text(String::from_utf8_lossy(part).into_owned())).into()
}

impl Listener<()> for Log {
    fn outcome(&self, outcome: Outcome<'_, ()>) {
        let Outcome { topic, key, value, stored, .. } = outcome;
        let state = &mut *self.state.lock();
        match stored {
            Ok((partition, offset)) => {
                state.acked += 1;
                let more = vec![
                    ("key", text(key)),
                    ("value", text(value)),
                    ("offset", offset.into()),
                    ("topic", topic.into()),
                    ("partition", partition.into()),
                ];
                state.lines.push(event(&*self.clock, "producer_send_success", more));
            }
            Err(why) => {
                state.lost += 1;
                state.lines.push(self.lost(topic, (key, value), &why));
            }
        }
    }
}

impl Log {
    fn lost(&self, topic: &str, (key, value): (Option<&[u8]>, Option<&[u8]>), why: &str) -> Json {
        let class = "class org.apache.kafka.common.KafkaException";
        let more = vec![
            ("exception", class.into()),
            ("message", why.into()),
            ("key", text(key)),
            ("value", text(value)),
            ("topic", topic.into()),
        ];
        event(&*self.clock, "producer_send_error", more)
    }

    fn tell(&self, out: &mut Output) -> Result<(), Failure> {
        let lines = std::mem::take(&mut self.state.lock().lines);
        out.lines_now(&lines)
    }
}

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, out| produce(args, env, out))
}

fn produce(args: &Args, env: &Env, out: &mut Output) -> Result<(), Failure> {
    let options = Options::read(args, env)?;
    let interrupt = Interrupt::listen(drop)?;
    let log = Arc::new(Log { clock: env.clock.clone(), state: Mutex::default() });
    let producer = Producer::new(&options.properties, log.clone())?;
    let begun_ms = env.clock.wall_ms();
    let tell = |out: &mut Output, name: &str, more| {
        out.line(event(&*env.clock, name, more))?;
        out.flush()
    };
    tell(out, "startup_complete", Vec::new())?;
    let mut sending = Sending { options: &options, env, producer: &producer, log: &log, sent: 0 };
    let mut told = sending.all(begun_ms, &interrupt, out);
    let sent = sending.sent;
    // What was sent is stored, whoever listens.
    while !producer.flush_for(STEP) {
        told = told.and_then(|()| log.tell(out));
    }
    let ended_ms = env.clock.wall_ms();
    let State { acked, lost, .. } = *log.state.lock();
    #[expect(clippy::cast_precision_loss, reason = "counts of a run are far below 2^53")]
    let average = 1000.0 * (acked as f64 / (ended_ms - begun_ms) as f64);
    let int = |number: u64| Json::Int(i64::try_from(number).unwrap_or(i64::MAX));
    #[expect(clippy::cast_possible_truncation, reason = "it was given as a whole number")]
    let target = options.throughput as i64;
    let more = vec![
        ("sent", int(sent)),
        ("acked", int(acked)),
        ("target_throughput", target.into()),
        ("avg_throughput", Json::Float(average)),
    ];
    let told = told
        .and_then(|()| log.tell(out))
        .and_then(|()| tell(out, "shutdown_complete", Vec::new()))
        .and_then(|()| tell(out, "tool_data", more));
    interrupt.end(heard(lost, told))
}

/// How it ends, if `told` is how the telling ended. Who listens has heard of each record that is
/// lost, and Kafka's tool leaves it at that; who does not has to hear of them otherwise.
fn heard(lost: u64, told: Result<(), Failure>) -> Result<(), Failure> {
    match told {
        Err(Failure::Closed) if 0 < lost => {
            Err(Failure::Told(format!("{lost} records were not acknowledged")))
        }
        told => told,
    }
}

struct Sending<'a> {
    options: &'a Options,
    env: &'a Env,
    producer: &'a Producer<()>,
    log: &'a Log,
    /// Records that were sent.
    sent: u64,
}

impl Sending<'_> {
    /// Sends until there is enough, or the tool is asked to end, or nobody listens any more.
    fn all(
        &mut self,
        begun_ms: i64,
        interrupt: &Interrupt,
        out: &mut Output,
    ) -> Result<(), Failure> {
        let Sending { options, env, producer, log, .. } = *self;
        let throttle = Throttle::begin(options.throughput, env);
        let mut created_ms = options.created_ms;
        while options.count != Some(self.sent) && interrupt.code().is_none() {
            let key = options.keys.map(|keys| (self.sent % keys).to_string());
            let value = match options.prefix {
                Some(prefix) => format!("{prefix}.{}", self.sent),
                None => self.sent.to_string(),
            };
            let (key, value) = (key.as_deref().map(str::as_bytes), Some(value.as_bytes()));
            let record = ToSend { key, value, timestamp_ms: created_ms, ..ToSend::default() };
            created_ms = created_ms.map(|ms| ms + env.clock.wall_ms() - begun_ms);
            self.sent += 1;
            if let Err((why, ())) = producer.send(&options.topic, &record, ()) {
                let line = log.lost(&options.topic, (key, value), &why);
                let state = &mut *log.state.lock();
                state.lost += 1;
                state.lines.push(line);
            }
            log.tell(out)?;
            throttle.wait(self.sent, env, interrupt);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_are_lost_unheard_are_a_failure() {
        let gone = Err(Failure::Closed);
        assert_eq!(heard(2, Ok(())), Ok(()));
        assert_eq!(heard(0, gone.clone()), gone);
        let why = "2 records were not acknowledged".to_owned();
        assert_eq!(heard(2, gone), Err(Failure::Told(why)));
    }
}
