//! `kafka-verifiable-consumer`: a member of a group that tells what it is given, reads and commits.

use super::event::event;
use crate::args::{Args, Command, switch, value};
use crate::data::consumer::{Consumer, Received};
use crate::data::handed::Holding;
use crate::data::voice::{Change, Voice};
use crate::entrance;
use crate::failure::Failure;
use crate::frame;
use crate::given::Renamed;
use crate::interrupt::Interrupt;
use crate::json::{Json, object};
use crate::output::{Output, complain};
use crate::properties::{self, Properties};
use kraft::env::{Clock, Env};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const COMMAND: Command = Command {
    name: "kafka-verifiable-consumer",
    purpose: "Reads a topic as a member of a group, and prints what happens as JSON.",
    flags: &[
        value("bootstrap-server", "host:port,...", "Brokers to begin with."),
        value("topic", "topic", "The topic."),
        value("group-id", "group", "The group."),
        value("group-protocol", "protocol", "classic or consumer (classic)."),
        value("group-remote-assignor", "name", "Who assigns, in the consumer protocol."),
        value("group-instance-id", "id", "Makes it a static member."),
        value("max-messages", "count", "How many; -1: until it is ended (-1)."),
        value("session-timeout", "ms", "When it counts as gone, in the classic protocol."),
        switch("verbose", "A line for each record too."),
        switch("enable-autocommit", "Commit from time to time, instead of what was read at once."),
        value("close-timeout", "ms", "How long the end may take (30000)."),
        value("reset-policy", "policy", "earliest, latest or none (earliest)."),
        value("assignment-strategy", "class", "Who assigns, in the classic protocol."),
        value("command-config", "file", "A file of settings of the consumer."),
        value("consumer.config", "file", "Old name of --command-config."),
        value("broker-list", "host:port,...", ""),
    ],
};

/// How long to wait for a record before it is looked whether the tool was asked to end.
const STEP: Duration = Duration::from_millis(50);
/// Records that are told of together, as one poll of Java's consumer returns them.
const RECORDS_AT_ONCE: u64 = 500;

struct Options {
    topic: String,
    /// None: no end.
    count: Option<u64>,
    verbose: bool,
    commits: bool,
    properties: Properties,
}

impl Options {
    fn read(args: &Args, env: &Env) -> Result<Options, Failure> {
        let topic = args.required("topic")?.to_owned();
        let group = args.required("group-id")?;
        let servers = entrance::required(args)?;
        let file = Renamed { old: "consumer.config", new: "command-config" }.values(args)?;
        let mut properties = properties::read(env, file.first().copied(), &[])?;
        let mut set = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                properties.insert(name.to_owned(), value.to_owned());
            }
        };
        let protocol = args.one("group-protocol")?.unwrap_or("classic");
        if protocol.eq_ignore_ascii_case("consumer") {
            set("group.protocol", Some(protocol));
            set("group.remote.assignor", args.one("group-remote-assignor")?);
        } else if protocol.eq_ignore_ascii_case("classic") {
            let strategy = args.one("assignment-strategy")?.unwrap_or("RangeAssignor");
            set("partition.assignment.strategy", Some(strategy));
            set("session.timeout.ms", args.one("session-timeout")?);
        } else {
            return Err(Failure::usage(format_args!(
                "--group-protocol {protocol}: classic or consumer"
            )));
        }
        let auto = if args.has("enable-autocommit") { "true" } else { "false" };
        set("group.id", Some(group));
        set("group.instance.id", args.one("group-instance-id")?);
        set("bootstrap.servers", Some(servers));
        set("enable.auto.commit", Some(auto));
        set("auto.offset.reset", Some(args.one("reset-policy")?.unwrap_or("earliest")));
        let _: Option<i64> = args.number("close-timeout")?;
        let count: Option<i64> = args.number("max-messages")?;
        Ok(Options {
            topic,
            count: count.and_then(|count| u64::try_from(count).ok()),
            verbose: args.has("verbose"),
            commits: auto == "false",
            properties,
        })
    }
}

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, out| consume(args, env, out))
}

fn consume(args: &Args, env: &Env, out: &mut Output) -> Result<(), Failure> {
    let options = Options::read(args, env)?;
    let interrupt = Interrupt::listen(drop)?;
    let log = Arc::new(Log {
        clock: env.clock.clone(),
        verbose: options.verbose,
        commits: options.commits,
        out: out.clone(),
        changes: Mutex::default(),
        open: Mutex::default(),
    });
    let voice = log.voice();
    let consumer = Consumer::new(&options.properties, voice, out)?;
    out.line(event(&*env.clock, "startup_complete", Vec::new()))?;
    out.flush()?;
    consumer.subscribe_to(&options.topic)?;
    let mut left = options.count;
    let read = loop {
        if left == Some(0) || interrupt.code().is_some() {
            break Ok(());
        }
        match log.turn(&consumer, left) {
            Ok(count) => left = left.map(|left| left.saturating_sub(count)),
            Err(why) => break Err(why),
        }
    };
    let tell = |out: &mut Output, name: &str| out.line(event(&*env.clock, name, Vec::new()));
    let closed = read == Err(Failure::Closed);
    if !closed && interrupt.code().is_some() {
        tell(out, "shutdown_requested")?;
    }
    drop(consumer);
    if !closed {
        log.tell_changes()?;
        tell(out, "shutdown_complete")?;
    }
    // Java runs what is to be done at its end whatever it ends by.
    if !closed && interrupt.code().is_none() {
        tell(out, "shutdown_requested")?;
    }
    if let Err(Failure::Told(why)) = &read {
        // Kafka's tool says so in its log, and ends as it always does.
        complain(&format!("ERROR Error during processing, terminating consumer process: {why}"));
        return Ok(());
    }
    read?;
    interrupt.code().map_or(Ok(()), |code| Err(Failure::Exit(code)))
}

/// What was read of a partition in a round.
#[derive(Clone, Copy, Debug)]
struct Span {
    count: i64,
    min: i64,
    max: i64,
    /// Of the leader that took the last one.
    epoch: Option<i32>,
}

type Spans = BTreeMap<(String, i32), Span>;

/// What was read and is not told yet.
#[derive(Debug, Default)]
struct Open {
    count: u64,
    spans: Spans,
    /// Of the records, where they have some.
    lines: Vec<Json>,
}

/// What happens, and where it is told.
#[derive(Debug)]
struct Log {
    clock: Arc<dyn Clock>,
    verbose: bool,
    commits: bool,
    out: Output,
    /// Changes of what the member has, until they are told.
    changes: Mutex<Vec<Json>>,
    open: Mutex<Open>,
}

impl Log {
    fn voice(self: &Arc<Self>) -> Voice {
        let (changed, closed) = (self.clone(), self.clone());
        // What cannot be printed here is not committed, and whoever prints next is told of it.
        Voice::telling(move |change| changed.came(change))
            .before_taken(move |holding| drop(closed.close(holding)))
    }

    fn came(&self, change: Change) {
        let (name, partitions) = match change {
            Change::Given(partitions) => ("partitions_assigned", partitions),
            Change::Taken(partitions) => ("partitions_revoked", partitions),
        };
        let one = |(topic, partition): (String, i32)| {
            object([("topic", Json::Text(topic)), ("partition", partition.into())])
        };
        let partitions = Json::List(partitions.into_iter().map(one).collect());
        let line = event(&*self.clock, name, vec![("partitions", partitions)]);
        self.changes.lock().push(line);
    }

    fn tell_changes(&self) -> Result<(), Failure> {
        let lines = std::mem::take(&mut *self.changes.lock());
        self.out.clone().lines_now(&lines)
    }

    /// Reads what is at hand, tells and commits it; returns how many records that were.
    fn turn(&self, consumer: &Consumer, left: Option<u64>) -> Result<u64, Failure> {
        let most = left.map_or(RECORDS_AT_ONCE, |left| left.min(RECORDS_AT_ONCE));
        let mut count = 0;
        let mut read = Ok(());
        while count < most {
            let wait = if count == 0 { STEP } else { Duration::ZERO };
            let next = consumer.next(wait);
            self.tell_changes()?;
            match next {
                Ok(Some(record)) => self.add(&record),
                Ok(None) => break,
                Err(why) => {
                    read = Err(why);
                    break;
                }
            }
            count += 1;
        }
        self.close(consumer.holding())?;
        read.map(|()| count)
    }

    fn add(&self, record: &Received<'_>) {
        let open = &mut *self.open.lock();
        let of = (record.topic().to_owned(), record.partition());
        let offset = record.offset();
        let first = Span { count: 0, min: offset, max: offset, epoch: None };
        let span = open.spans.entry(of).or_insert(first);
        span.count += 1;
        (span.max, span.epoch) = (offset, record.epoch());
        open.count += 1;
        if self.verbose {
            open.lines.push(self.data(record));
        }
    }

    /// Tells what is open, and commits it.
    fn close(&self, holding: Holding<'_, Voice>) -> Result<(), Failure> {
        let Open { count, spans, lines } = std::mem::take(&mut *self.open.lock());
        if count == 0 {
            return Ok(());
        }
        let mut out = self.out.clone();
        lines.iter().try_for_each(|line| out.line(line))?;
        out.line(self.consumed(count, &spans))?;
        for ((topic, partition), span) in &spans {
            holding.used((topic, *partition), span.max, span.epoch);
        }
        holding.settle()?;
        if self.commits {
            out.line(self.commit(holding, &spans))?;
            out.flush()?;
        }
        Ok(())
    }

    fn data(&self, record: &Received<'_>) -> Json {
        let text = |part: Option<&[u8]>| {
            Json::from(part.map(|part| Json::Text(String::from_utf8_lossy(part).into_owned())))
        };
        let more = vec![
            ("key", text(record.key())),
            ("value", text(record.value())),
            ("topic", record.topic().into()),
            ("partition", record.partition().into()),
            ("offset", record.offset().into()),
        ];
        event(&*self.clock, "record_data", more)
    }

    fn consumed(&self, count: u64, spans: &Spans) -> Json {
        let one = |((topic, partition), span): (&(String, i32), &Span)| {
            object([
                ("topic", topic.as_str().into()),
                ("partition", (*partition).into()),
                ("count", span.count.into()),
                ("minOffset", span.min.into()),
                ("maxOffset", span.max.into()),
            ])
        };
        let partitions = Json::List(spans.iter().map(one).collect());
        let count = Json::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let more = vec![("count", count), ("partitions", partitions)];
        event(&*self.clock, "records_consumed", more)
    }

    fn commit(&self, holding: Holding<'_, Voice>, spans: &Spans) -> Json {
        let offsets: Vec<_> = spans
            .iter()
            .map(|((topic, partition), span)| (topic.clone(), *partition, span.max + 1))
            .collect();
        let error = match holding.commit(&offsets) {
            Ok(()) => None,
            Err(Failure::Told(why)) => Some(why),
            Err(other) => Some(format!("{other:?}")),
        };
        let one = |(topic, partition, offset): (String, i32, i64)| {
            object([
                ("topic", Json::Text(topic)),
                ("partition", partition.into()),
                ("offset", offset.into()),
            ])
        };
        let success = Json::Bool(error.is_none());
        let mut more = vec![("offsets", Json::List(offsets.into_iter().map(one).collect()))];
        more.extend(error.map(|why| ("error", Json::Text(why))));
        more.push(("success", success));
        event(&*self.clock, "offsets_committed", more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::consumer::Start;
    use crate::data::consumer::tests::three_records;
    use crate::output::tests::Refusing;
    use std::io::ErrorKind;

    #[test]
    fn what_is_read_is_told_and_committed_before_its_partition_goes() {
        let check = |out: Output, commits, want: &str| {
            let (_cluster, properties) = three_records();
            let log = Arc::new(Log {
                clock: kraft::env::os::env().clock,
                verbose: true,
                commits,
                out: out.clone(),
                changes: Mutex::default(),
                open: Mutex::default(),
            });
            let consumer = Consumer::new(&properties, log.voice(), &out).unwrap();
            consumer.add("t", &[0], Start::Earliest).unwrap();
            log.add(&consumer.await_next());
            log.add(&consumer.await_next());
            consumer.lose();
            assert_eq!(format!("{:?}", consumer.committed()), want);
            // Nothing is told twice, or committed behind it.
            assert_eq!(log.open.lock().count, 0);
        };
        for commits in [false, true] {
            check(Output::to(std::io::sink()), commits, "Offset(2)");
            check(Output::to(Refusing(ErrorKind::BrokenPipe)), commits, "Invalid");
        }
    }
}
