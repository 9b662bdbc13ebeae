//! `highwater consume`: records of a topic, as lines for people or a line of JSON each.

use super::shown::Form;
use super::topic::{self, Ends};
use crate::client::{Client, block_on};
use crate::data::consumer::{Consumer, Received, Stamp, Start};
use crate::data::voice::Voice;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::properties::Properties;
use clap::Args;
use kraft::env::Env;
use serde_json::{Value, json};
use std::time::Duration;

/// How long one look for the next record waits.
const STEP: Duration = Duration::from_millis(100);
/// How often it is looked for partitions that were added.
const NEW_PARTITIONS: Duration = Duration::from_secs(5);
/// How long such a look may hold up reading.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Consume {
    topic: String,
    /// Where to begin: earliest, latest, or with --partition an offset. Without it, with --group
    /// where the group was, else at the end.
    #[arg(long, short, value_name = "WHERE", allow_negative_numbers = true)]
    from: Option<String>,
    /// Only this partition, without a group.
    #[arg(long, short, conflicts_with = "group", allow_negative_numbers = true)]
    partition: Option<i32>,
    /// As a member of this group, which goes on there the next time.
    #[arg(long, short)]
    group: Option<String>,
    /// Ends after so many records.
    #[arg(long, short = 'n', allow_negative_numbers = true)]
    count: Option<u64>,
    /// Ends when no record came for so many milliseconds.
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    timeout_ms: Option<u64>,
}

impl Consume {
    pub(super) fn run(
        &self,
        client: &mut Client,
        mut properties: Properties,
        env: &Env,
        (form, output): (Form, &mut Output),
    ) -> Result<(), Failure> {
        let start = self.start()?;
        let partitions = block_on(self.partitions(client, start))?;
        let reset = if start == Some(Start::Earliest) { "earliest" } else { "latest" };
        properties.insert("auto.offset.reset".to_owned(), reset.to_owned());
        // librdkafka wants a name of a group of everybody. Who does not subscribe joins none.
        let group = self.group.as_deref().unwrap_or("highwater-consume");
        properties.insert("group.id".to_owned(), group.to_owned());
        if self.group.is_none() {
            properties.insert("enable.auto.commit".to_owned(), "false".to_owned());
        }
        // Who only reads makes no topics.
        properties.insert("allow.auto.create.topics".to_owned(), "false".to_owned());
        let consumer = Consumer::new(&properties, Voice::alone(), output)?;
        if self.group.is_some() {
            consumer.subscribe(&[&self.topic])?;
        } else {
            consumer.add(&self.topic, &partitions, start.unwrap_or(Start::Latest))?;
        }
        let interrupt = Interrupt::listen(drop)?;
        let mut reading = Reading { asked: self, consumer: &consumer, env, partitions };
        let read = reading.all(&interrupt, (form, &mut *output));
        let settled = consumer.settle();
        // Its end commits what was printed, and leaves the group.
        drop(consumer);
        read.and(settled)?;
        interrupt.code().map_or(Ok(()), |code| Err(Failure::Exit(code)))
    }

    /// The partitions to read, which must be there, and so must the offset to begin with.
    async fn partitions(
        &self,
        client: &mut Client,
        start: Option<Start>,
    ) -> Result<Vec<i32>, Failure> {
        let topic = topic::find(client, &self.topic).await?;
        let all: Vec<i32> = topic.partitions.iter().map(|it| it.index).collect();
        match self.partition {
            None => Ok(all),
            Some(wanted) if all.contains(&wanted) => {
                if let Some(Start::At(offset)) = start {
                    let ends = Ends::of(client, std::slice::from_ref(&topic)).await?;
                    let range = (ends.start(&self.topic, wanted), ends.end(&self.topic, wanted));
                    // Where it is not known, the reading itself tells why.
                    if let (Some(first), Some(next)) = range {
                        self.within(offset, first, next)?;
                    }
                }
                Ok(vec![wanted])
            }
            Some(wanted) => Err(Failure::told(format_args!(
                "topic {} has no partition {wanted}: it has 0 to {}",
                self.topic,
                all.last().copied().unwrap_or_default()
            ))),
        }
    }

    /// Whether an offset is one of the partition, or the one that its next record gets.
    fn within(&self, offset: i64, first: i64, next: i64) -> Result<(), Failure> {
        if (first..=next).contains(&offset) {
            return Ok(());
        }
        let has = match next - first {
            0 => "no records".to_owned(),
            1 => format!("the offset {first} alone"),
            _ => format!("the offsets {first} to {}", next - 1),
        };
        Err(Failure::told(format_args!(
            "--from {offset}: partition {} of topic {} has {has}, and the next one will be {next}",
            self.partition.unwrap_or_default(),
            self.topic
        )))
    }

    fn start(&self) -> Result<Option<Start>, Failure> {
        Ok(match self.from.as_deref() {
            None => None,
            Some("earliest") => Some(Start::Earliest),
            Some("latest") => Some(Start::Latest),
            Some(text) => {
                let offset = text.parse().ok().filter(|it| 0 <= *it);
                let known = offset.filter(|_| self.partition.is_some());
                Some(known.map(Start::At).ok_or_else(|| {
                    Failure::told(format_args!(
                        "--from {text}: say earliest, latest, or an offset beside --partition"
                    ))
                })?)
            }
        })
    }
}

/// What is read from, and what of it.
struct Reading<'a> {
    asked: &'a Consume,
    consumer: &'a Consumer,
    env: &'a Env,
    partitions: Vec<i32>,
}

impl Reading<'_> {
    /// Prints until there is enough, or none comes for too long, or the tool is asked to end.
    fn all(
        &mut self,
        interrupt: &Interrupt,
        (form, output): (Form, &mut Output),
    ) -> Result<(), Failure> {
        let Reading { asked, consumer, env, .. } = *self;
        let (mut count, mut waits_since) = (0, env.clock.monotonic());
        let mut looked_at = waits_since;
        let timeout = asked.timeout_ms.map(Duration::from_millis);
        while interrupt.code().is_none() && asked.count != Some(count) {
            let next = consumer.next_to_print(STEP)?;
            let now = env.clock.monotonic();
            if looked_at + NEW_PARTITIONS <= now {
                self.follow()?;
                looked_at = env.clock.monotonic();
            }
            let Some(record) = next else {
                if timeout.is_some_and(|timeout| timeout <= now.saturating_sub(waits_since)) {
                    return Ok(());
                }
                continue;
            };
            count += 1;
            waits_since = now;
            print(&record, form, output)?;
            consumer.used(&record);
        }
        Ok(())
    }

    /// Reads what was added to the topic meanwhile, from its first record on.
    fn follow(&mut self) -> Result<(), Failure> {
        if self.asked.group.is_some() || self.asked.partition.is_some() {
            return Ok(());
        }
        let topic = &self.asked.topic;
        match self.consumer.partitions(topic, LOOK) {
            Ok(mut all) => {
                all.retain(|it| !self.partitions.contains(it));
                if !all.is_empty() {
                    self.consumer.add(topic, &all, Start::Earliest)?;
                    self.partitions.extend(all);
                }
                Ok(())
            }
            // Whatever it is, the consumer tells of it too, and knows what passes.
            Err(_) => Ok(()),
        }
    }
}

fn print(record: &Received<'_>, form: Form, output: &mut Output) -> Result<(), Failure> {
    if form == Form::Table {
        output.bytes(
            format!("{}-{} {}\t", record.topic(), record.partition(), record.offset()).as_bytes(),
        )?;
        output.bytes(record.key().unwrap_or(b"-"))?;
        output.bytes(b"\t")?;
        output.bytes(record.value().unwrap_or(b"-"))?;
        return output.bytes(b"\n");
    }
    let headers = record.headers().into_iter().map(|(name, value)| {
        json!({ "key": String::from_utf8_lossy(&name), "value": field(value.as_deref()) })
    });
    let (Stamp::Create(ms) | Stamp::LogAppend(ms)) = record.stamp() else {
        return line(record, None, headers.collect(), output);
    };
    line(record, Some(ms), headers.collect(), output)
}

fn line(
    record: &Received<'_>,
    timestamp_ms: Option<i64>,
    headers: Value,
    output: &mut Output,
) -> Result<(), Failure> {
    output.line(json!({
        "topic": record.topic(),
        "partition": record.partition(),
        "offset": record.offset(),
        "timestampMs": timestamp_ms,
        "key": field(record.key()),
        "value": field(record.value()),
        "headers": headers,
    }))
}

/// Text as text; bytes that are none by their numbers, two digits each.
fn field(bytes: Option<&[u8]>) -> Value {
    let Some(bytes) = bytes else { return Value::Null };
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "hex": hex })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_told_from_text() {
        assert_eq!(field(None), Value::Null);
        assert_eq!(field(Some(b"a")), json!("a"));
        assert_eq!(field(Some(b"\xff\x00")), json!({ "hex": "ff00" }));
    }

    #[test]
    fn an_offset_that_is_not_there_is_told_with_those_that_are() {
        let consume = consume("7", Some(3));
        let why = |offset, first, next| match consume.within(offset, first, next) {
            Err(Failure::Told(why)) => why,
            other => format!("{other:?}"),
        };
        for offset in [4, 5, 9] {
            assert_eq!(why(offset, 4, 9), "Ok(())");
        }
        for offset in [3, 10] {
            let want = "partition 3 of topic t has the offsets 4 to 8, and the next one will be 9";
            assert!(why(offset, 4, 9).contains(want), "{}", why(offset, 4, 9));
        }
        assert!(why(2, 0, 1).contains("has the offset 0 alone"), "{}", why(2, 0, 1));
        assert!(why(1, 0, 0).contains("has no records"), "{}", why(1, 0, 0));
    }

    fn consume(from: &str, partition: Option<i32>) -> Consume {
        Consume {
            topic: "t".to_owned(),
            from: Some(from.to_owned()),
            partition,
            group: None,
            count: None,
            timeout_ms: None,
        }
    }

    #[test]
    fn an_offset_needs_a_partition() {
        assert_eq!(consume("earliest", None).start(), Ok(Some(Start::Earliest)));
        assert_eq!(consume("7", Some(0)).start(), Ok(Some(Start::At(7))));
        for (from, partition) in [("7", None), ("-1", Some(0)), ("soon", Some(0))] {
            assert!(consume(from, partition).start().is_err(), "{from}");
        }
    }
}
