//! `highwater produce`: lines of a file, or of standard input, as records.

use super::pair::pair;
use super::topic;
use crate::admin::configs::{self, Kind, Resource};
use crate::admin::topics;
use crate::client::{Client, block_on};
use crate::console_producer::Lines;
use crate::data::producer::{Listener, Outcome, Producer, ToSend};
use crate::failure::Failure;
use crate::interrupt::{Ending, Interrupt};
use crate::output::{Output, complain};
use crate::properties::Properties;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kraft::env::Env;
use protocol::error::ErrorCode;
use std::io::{self, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use storage::disk::File;

#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Produce {
    topic: String,
    /// Sends the lines of this file; without it, or for `-`, those of standard input.
    file: Option<PathBuf>,
    /// What stands between key and value in a line; without it, a line is a value.
    #[arg(long, short)]
    key_separator: Option<String>,
    /// A header of every record; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    header: Vec<(String, String)>,
    /// gzip, snappy, lz4 or zstd.
    #[arg(long)]
    compression: Option<String>,
}

/// Counts what is stored and tells of the first record that is not.
#[derive(Debug, Default)]
struct Tally {
    stored: AtomicU64,
    lost: AtomicU64,
}

impl Tally {
    fn lose(&self, why: &str) {
        if self.lost.fetch_add(1, Ordering::Relaxed) == 0 {
            complain(&format!("a record is not stored: {why}"));
        }
    }
}

impl Listener<()> for Tally {
    fn outcome(&self, outcome: Outcome<'_, ()>) {
        match outcome.stored {
            Ok(_) => drop(self.stored.fetch_add(1, Ordering::Relaxed)),
            Err(why) => self.lose(&why),
        }
    }
}

impl Produce {
    pub(super) fn run(
        &self,
        client: &mut Client,
        mut properties: Properties,
        env: &Env,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if self.key_separator.as_ref().is_some_and(String::is_empty) {
            return Err(Failure::Told("--key-separator may not be empty".to_owned()));
        }
        block_on(self.check(client))?;
        if let Some(codec) = &self.compression {
            properties.insert("compression.type".to_owned(), codec.clone());
        }
        let tally = Arc::new(Tally::default());
        let producer = Arc::new(Producer::explaining(&properties, tally.clone())?);
        // Who interrupts does not lose what was sent by then.
        let ending = Ending::default();
        let (first, flushed, counted) = (ending.clone(), producer.clone(), tally.clone());
        let (topic, mut said) = (self.topic.clone(), output.clone());
        let interrupt = Interrupt::listen(move |code| {
            if first.is_mine() {
                let told = end(&flushed, &counted, &topic, &mut said);
                std::process::exit(i32::from(interrupted(said.end(told), code)));
            }
        })?;
        let sending = Sending { asked: self, producer: &producer, tally: &tally };
        let sent = match self.file.as_ref().filter(|path| path.as_os_str() != "-") {
            Some(path) => {
                let (file, bar) = open(path, env)?;
                let sent = sending.all(BufReader::new(bar.wrap_read(file)), &interrupt);
                bar.finish_and_clear();
                sent
            }
            None => sending.all(io::stdin().lock(), &interrupt),
        };
        ending.take();
        interrupt.end(sent.and(end(&producer, &tally, &self.topic, output)))
    }

    /// The topic must be there, unless the brokers make what is missing.
    async fn check(&self, client: &mut Client) -> Result<(), Failure> {
        match topics::describe(client, std::slice::from_ref(&self.topic), topic::PARTITIONS).await {
            Ok(_) => Ok(()),
            Err(refused) if refused.code != ErrorCode::UnknownTopicOrPartition => {
                Err(topic::about(&self.topic, &refused))
            }
            Err(_) if makes_topics(client).await? => Ok(()),
            Err(_) => Err(Failure::told(format_args!(
                "there is no topic {0}, and the brokers make none by themselves \
                 (auto.create.topics.enable=false). Make it with `highwater topic create {0}`.",
                self.topic
            ))),
        }
    }

    fn record<'a>(&'a self, line: &'a [u8], number: u64) -> Result<ToSend<'a>, Failure> {
        let (key, value) = match &self.key_separator {
            None => (None, line),
            Some(separator) => {
                let (key, value) = split(line, separator.as_bytes()).ok_or_else(|| {
                    Failure::told(format_args!("line {number} has no `{separator}` in it"))
                })?;
                (Some(key), value)
            }
        };
        let headers =
            self.header.iter().map(|(name, value)| (name.as_str(), Some(value.as_bytes())));
        Ok(ToSend { key, value: Some(value), headers: headers.collect(), timestamp_ms: None })
    }
}

/// Waits for what was sent, and says what became of it.
fn end(
    producer: &Producer<()>,
    tally: &Tally,
    topic: &str,
    output: &mut Output,
) -> Result<(), Failure> {
    producer.flush();
    let stored = tally.stored.load(Ordering::Relaxed);
    let said = output.line(format!("{stored} records are stored in {topic}"));
    match tally.lost.load(Ordering::Relaxed) {
        0 => said,
        // Also where nobody reads what is said.
        lost => Err(Failure::Told(format!("{lost} records are not stored"))),
    }
}

/// Says what went wrong, and what one exits with that is interrupted with `code`.
fn interrupted(done: Result<(), Failure>, code: u8) -> u8 {
    match done {
        Err(Failure::Told(why) | Failure::Usage(why)) => {
            complain(&why);
            1
        }
        // A reader of stdout that has gone has had enough.
        Ok(()) | Err(Failure::Closed | Failure::Exit(_) | Failure::Help | Failure::Version) => code,
    }
}

/// What is sent, and to where.
struct Sending<'a> {
    asked: &'a Produce,
    producer: &'a Producer<()>,
    tally: &'a Tally,
}

impl Sending<'_> {
    /// Sends what is read until there is no more, or the tool is asked to end.
    fn all(&self, from: impl io::BufRead, interrupt: &Interrupt) -> Result<(), Failure> {
        let Sending { asked, producer, tally } = *self;
        let mut lines = Lines::of(from);
        let unread = |error| Failure::told(format_args!("cannot read the records: {error}"));
        for number in 1_u64.. {
            let line = lines.next().map_err(unread)?;
            let Some(line) = line.filter(|_| interrupt.code().is_none()) else { break };
            let record = asked.record(&line, number)?;
            if number == 1 {
                producer.await_topic(&asked.topic)?;
            }
            if let Err((why, ())) = producer.send(&asked.topic, &record, ()) {
                tally.lose(&why);
            }
        }
        Ok(())
    }
}

/// Whether a topic that is missing is made for who produces to it. Who may not see the config may
/// still be served so.
async fn makes_topics(client: &mut Client) -> Result<bool, Failure> {
    let Some(node) = client.nodes().await?.into_iter().next() else { return Ok(true) };
    let broker = Resource { kind: Kind::Broker, name: node.id.to_string() };
    let Ok(told) = configs::describe(client, &[broker], false).await else { return Ok(true) };
    let mut entries = told.iter().flat_map(|(_, entries)| entries);
    let key = entries.find(|entry| entry.name == "auto.create.topics.enable");
    Ok(key.is_none_or(|entry| entry.value.as_deref() != Some("false")))
}

fn split<'a>(line: &'a [u8], separator: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = line.windows(separator.len()).position(|window| window == separator)?;
    Some((line.get(..at)?, line.get(at + separator.len()..)?))
}

/// A file from its first byte on.
struct Reading {
    file: Arc<dyn File>,
    at: u64,
}

impl Read for Reading {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = self.file.read_at(self.at, into)?;
        self.at += len as u64;
        Ok(len)
    }
}

/// The file, and a bar that says how far it is read; nobody sees it where stderr is no terminal.
fn open(path: &Path, env: &Env) -> Result<(Reading, ProgressBar), Failure> {
    let unread = |error| Failure::told(format_args!("cannot read {}: {error}", path.display()));
    let file = env.disk.open_input(path).map_err(unread)?;
    let size = file.size().map_err(unread)?;
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(size), target);
    let style =
        ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    Ok((Reading { file, at: 0 }, bar))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::Refusing;
    use std::io::ErrorKind;

    fn produce(separator: Option<&str>) -> Produce {
        Produce {
            topic: "t".to_owned(),
            file: None,
            key_separator: separator.map(str::to_owned),
            header: vec![("source".to_owned(), "shop".to_owned())],
            compression: None,
        }
    }

    #[test]
    fn who_is_interrupted_says_how_many_are_lost() {
        let properties = [("bootstrap.servers".to_owned(), "127.0.0.1:1".to_owned())].into();
        let check = |lost: u64, mut output: Output, want: Result<(), Failure>, code: u8| {
            let tally = Arc::new(Tally { lost: lost.into(), ..Tally::default() });
            let producer = Producer::explaining(&properties, tally.clone()).unwrap();
            let told = end(&producer, &tally, "t", &mut output);
            let done = output.end(told);
            assert_eq!(done, want);
            assert_eq!(interrupted(done, 143), code);
        };
        let lost = || Err(Failure::Told("2 records are not stored".to_owned()));
        let gone = || Output::to(Refusing(ErrorKind::BrokenPipe));
        check(0, Output::to(io::sink()), Ok(()), 143);
        check(2, Output::to(io::sink()), lost(), 1);
        check(0, gone(), Err(Failure::Closed), 143);
        check(2, gone(), lost(), 1);
    }

    #[test]
    fn a_line_is_a_value_or_key_and_value() {
        let check = |separator, line: &str, key: Option<&str>, value: &str| {
            let produce = produce(separator);
            let record = produce.record(line.as_bytes(), 1).unwrap();
            assert_eq!(
                (record.key, record.value),
                (key.map(str::as_bytes), Some(value.as_bytes()))
            );
            assert_eq!(record.headers, [("source", Some(&b"shop"[..]))]);
        };
        check(None, "a:b", None, "a:b");
        check(Some(":"), "a:b:c", Some("a"), "b:c");
        check(Some("::"), "::b", Some(""), "b");
        let why = produce(Some("\t")).record(b"a:b", 7).unwrap_err();
        assert_eq!(why, Failure::Told("line 7 has no `\t` in it".to_owned()));
    }
}
