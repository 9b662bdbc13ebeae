//! `kafka-consumer-perf-test`: how fast records are read.

use crate::args::{Args, Command, Flag, Takes, switch, value};
use crate::data::consumer::Consumer;
use crate::data::voice::{Change, Voice};
use crate::date_format::DateFormat;
use crate::entrance;
use crate::failure::Failure;
use crate::frame;
use crate::given::Renamed;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::properties::{self, Properties};
use crate::topic_pattern::TopicPattern;
use kraft::env::{Clock, Env};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const COMMAND: Command = Command {
    name: "kafka-consumer-perf-test",
    purpose: "Reads records as fast as can be, and tells how fast that was.",
    flags: &[
        value("bootstrap-server", "host:port,...", "Brokers to begin with."),
        value("topic", "topic", "The topic."),
        value("include", "pattern", "All topics whose whole name matches."),
        value("num-records", "count", "How many records."),
        value("group", "group", "The group (perf-consumer-N)."),
        Flag {
            name: "timeout",
            takes: Takes::Perhaps("ms"),
            help: "End when none came for so long (10000).",
        },
        switch("from-latest", "Begin with the next record where no offset is committed."),
        switch("show-detailed-stats", "Tell of each interval instead of the whole."),
        value("reporting-interval", "ms", "How long an interval is (5000)."),
        switch("hide-header", "Leave the names of the columns out."),
        value("date-format", "pattern", "How times are written (yyyy-MM-dd HH:mm:ss:SSS)."),
        value("fetch-size", "bytes", "What is fetched of a partition at most (1048576)."),
        value("socket-buffer-size", "bytes", "The receive buffer of the system (2097152)."),
        value("command-property", "name=value", "A setting of the consumer; may be repeated."),
        value("command-config", "file", "A file of settings; --command-property wins."),
        switch("print-metrics", "Print what the consumer counted."),
        value("messages", "count", "Old name of --num-records."),
        value("consumer.config", "file", "Old name of --command-config."),
        value("broker-list", "host:port,...", ""),
        value("threads", "count", ""),
        value("num-fetch-threads", "count", ""),
    ],
};

/// How long to wait for a record at a time, as Kafka's tool polls.
const STEP: Duration = Duration::from_millis(100);
const MEGABYTE: f64 = 1024.0 * 1024.0;

/// What is asked for.
#[derive(Debug)]
struct Options {
    topic: Option<String>,
    pattern: Option<String>,
    count: u64,
    timeout_ms: i64,
    interval_ms: i64,
    detailed: bool,
    header: bool,
    metrics: bool,
    dates: DateFormat,
    properties: Properties,
}

impl Options {
    fn read(args: &Args, env: &Env) -> Result<Options, Failure> {
        let (topic, pattern) = (args.one("topic")?, args.one("include")?);
        if topic.is_some() == pattern.is_some() {
            let why = "Exactly one of the following arguments is required: [topic], [include]";
            return Err(Failure::usage(why));
        }
        let count = Renamed { old: "messages", new: "num-records" }.values(args)?;
        let count: i64 = match count.as_slice() {
            [] => return Err(Failure::usage("Missing required argument \"[num-records]\"")),
            [text, ..] => text.parse().map_err(|_| {
                Failure::usage(format_args!("Cannot parse argument '{text}' of option num-records"))
            })?,
        };
        let dates = args.one("date-format")?.unwrap_or("yyyy-MM-dd HH:mm:ss:SSS");
        let interval_ms: i64 = args.number("reporting-interval")?.unwrap_or(5000);
        if interval_ms <= 0 {
            return Err(Failure::usage("Reporting interval must be greater than 0."));
        }
        Ok(Options {
            topic: topic.map(str::to_owned),
            pattern: pattern.map(str::to_owned),
            // Below 0 there is nothing to read.
            count: u64::try_from(count).unwrap_or(0),
            timeout_ms: args.number("timeout")?.unwrap_or(10_000),
            interval_ms,
            detailed: args.has("show-detailed-stats"),
            header: !args.has("hide-header"),
            metrics: args.has("print-metrics"),
            dates: DateFormat::of(dates).map_err(Failure::Told)?,
            properties: settings(args, env)?,
        })
    }
}

fn settings(args: &Args, env: &Env) -> Result<Properties, Failure> {
    let file = Renamed { old: "consumer.config", new: "command-config" }.values(args)?;
    let single = args.all("command-property");
    let mut all = properties::read(env, file.first().copied(), &single)?;
    let servers = entrance::required(args)?;
    let own = format!("perf-consumer-{}", env.rng.next_u64() % 100_000);
    let begin = if args.has("from-latest") { "latest" } else { "earliest" };
    for (name, value) in [
        ("bootstrap.servers", servers),
        ("group.id", args.one("group")?.unwrap_or(&own)),
        ("receive.buffer.bytes", args.one("socket-buffer-size")?.unwrap_or("2097152")),
        ("max.partition.fetch.bytes", args.one("fetch-size")?.unwrap_or("1048576")),
        ("auto.offset.reset", begin),
        ("check.crcs", "false"),
    ] {
        all.insert(name.to_owned(), value.to_owned());
    }
    all.entry("client.id".to_owned()).or_insert_with(|| "perf-consumer-client".to_owned());
    Ok(all)
}

/// How long it took to be given partitions, whenever there were none.
#[derive(Debug)]
struct Joining {
    clock: Arc<dyn Clock>,
    state: Mutex<Join>,
}

#[derive(Debug, Default)]
struct Join {
    has: BTreeSet<(String, i32)>,
    since_ms: i64,
    total_ms: i64,
    /// Of the first interval.
    first_ms: i64,
}

impl Joining {
    fn changed(&self, change: Change) {
        let now_ms = self.clock.wall_ms();
        let join = &mut *self.state.lock();
        match change {
            Change::Taken(partitions) => {
                join.has.retain(|it| !partitions.contains(it));
                if join.has.is_empty() {
                    join.since_ms = now_ms;
                }
            }
            Change::Given(partitions) => {
                if join.has.is_empty() {
                    join.total_ms += now_ms - join.since_ms;
                    join.first_ms += now_ms - join.since_ms;
                }
                join.has.extend(partitions);
            }
        }
    }
}

/// Records and bytes that were read.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    records: u64,
    bytes: u64,
}

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, out| perform(args, env, out))
}

fn perform(args: &Args, env: &Env, out: &mut Output) -> Result<(), Failure> {
    let options = Options::read(args, env)?;
    let mut pattern = match &options.pattern {
        Some(pattern) => Some(TopicPattern::of(pattern, &options.properties)?),
        None => None,
    };
    if options.header {
        let front = if options.detailed { "time, threadId" } else { "start.time, end.time" };
        out.line(format_args!(
            "{front}, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, \
             rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
        ))?;
        out.flush()?;
    }
    let interrupt = Interrupt::listen(drop)?;
    let begun_ms = env.clock.wall_ms();
    let state = Mutex::new(Join { since_ms: begun_ms, ..Join::default() });
    let joining = Arc::new(Joining { clock: env.clock.clone(), state });
    let told = joining.clone();
    let voice = Voice::telling(move |change| told.changed(change));
    let consumer = Consumer::new(&options.properties, voice, out)?;
    if let Some(topic) = &options.topic {
        consumer.subscribe_to(topic)?;
    }
    let run = Run { options: &options, env, consumer: &consumer, joining: &joining };
    let sums = run.read(pattern.as_mut(), &interrupt, out)?;
    let ended_ms = env.clock.wall_ms();
    let joined_ms = joining.state.lock().total_ms;
    consumer.settle()?;
    drop(consumer);
    if !options.detailed {
        out.line(total(&options.dates, sums, (begun_ms, ended_ms), joined_ms))?;
    }
    if options.metrics {
        metrics(&options, sums, out)?;
    }
    interrupt.code().map_or(Ok(()), |code| Err(Failure::Exit(code)))
}

#[expect(clippy::cast_precision_loss, reason = "counts of a run are far below 2^53")]
fn total(dates: &DateFormat, sums: Sums, (begun, ended): (i64, i64), joined_ms: i64) -> String {
    let seconds = (ended - begun) as f64 / 1000.0;
    let fetching = (ended - begun) - joined_ms;
    let (megabytes, records) = (sums.bytes as f64 / MEGABYTE, sums.records as f64);
    format!(
        "{}, {}, {megabytes:.4}, {:.4}, {}, {:.4}, {joined_ms}, {fetching}, {:.4}, {:.4}",
        dates.format(begun),
        dates.format(ended),
        megabytes / seconds,
        sums.records,
        records / seconds,
        megabytes / (fetching as f64 / 1000.0),
        records / (fetching as f64 / 1000.0)
    )
}

fn metrics(options: &Options, sums: Sums, out: &mut Output) -> Result<(), Failure> {
    let client = options.properties.get("client.id").map_or("", String::as_str);
    let name = |of: &str| format!("consumer-fetch-manager-metrics:{of}:{{client-id={client}}}");
    let metrics = [("bytes-consumed-total", sums.bytes), ("records-consumed-total", sums.records)];
    let width = metrics.iter().map(|(of, _)| name(of).len()).max().unwrap_or(0);
    out.line(format_args!("\n{:<width$} {}", "Metric Name", "Value"))?;
    for (of, number) in metrics {
        out.line(format_args!("{:<width$} : {number}.000", name(of)))?;
    }
    Ok(())
}

struct Run<'a> {
    options: &'a Options,
    env: &'a Env,
    consumer: &'a Consumer,
    joining: &'a Joining,
}

impl Run<'_> {
    /// Reads until there are enough, or none comes for too long.
    fn read(
        &self,
        mut pattern: Option<&mut TopicPattern>,
        interrupt: &Interrupt,
        out: &mut Output,
    ) -> Result<Sums, Failure> {
        let Options { count, timeout_ms, interval_ms, .. } = *self.options;
        let (mut sums, mut before) = (Sums::default(), Sums::default());
        let mut now_ms = self.env.clock.wall_ms();
        let (mut reported_ms, mut consumed_ms) = (now_ms, now_ms);
        while sums.records < count
            && now_ms - consumed_ms <= timeout_ms
            && interrupt.code().is_none()
        {
            if let Some(pattern) = &mut pattern {
                pattern.follow(self.consumer, self.env)?;
            }
            let next = self.consumer.next_to_print(STEP)?;
            now_ms = self.env.clock.wall_ms();
            let Some(record) = next else { continue };
            consumed_ms = now_ms;
            sums.records += 1;
            let len = |part: Option<&[u8]>| part.map_or(0, |part| part.len() as u64);
            sums.bytes += len(record.key()) + len(record.value());
            if interval_ms <= now_ms - reported_ms {
                let joined_ms = std::mem::take(&mut self.joining.state.lock().first_ms);
                if self.options.detailed {
                    let line = self.interval((before, sums), (reported_ms, now_ms), joined_ms);
                    out.line(line)?;
                    out.flush()?;
                }
                (reported_ms, before) = (now_ms, sums);
            }
            self.consumer.used(&record);
        }
        if sums.records < count && interrupt.code().is_none() {
            out.line(format_args!(
                "WARNING: Exiting before consuming the expected number of records: timeout \
                 ({timeout_ms} ms) exceeded. You can use the --timeout option to increase the \
                 timeout."
            ))?;
        }
        Ok(sums)
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of a run are far below 2^53")]
    fn interval(
        &self,
        (before, sums): (Sums, Sums),
        (since, now): (i64, i64),
        joined_ms: i64,
    ) -> String {
        let fetching = now - since - joined_ms;
        let megabytes = (sums.bytes - before.bytes) as f64 / MEGABYTE;
        let records = (sums.records - before.records) as f64;
        let per = |amount: f64, ms: i64| if ms <= 0 { 0.0 } else { 1000.0 * amount / ms as f64 };
        format!(
            "{}, 0, {:.4}, {:.4}, {}, {:.4}, {joined_ms}, {fetching}, {:.4}, {:.4}",
            self.options.dates.format(now),
            sums.bytes as f64 / MEGABYTE,
            per(megabytes, now - since),
            sums.records,
            per(records, now - since),
            per(megabytes, fetching),
            per(records, fetching)
        )
    }
}
