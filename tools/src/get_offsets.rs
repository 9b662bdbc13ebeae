//! `kafka-get-offsets`: the ends and beginnings of partitions, and their offsets by time.

use crate::admin::filter::{self, Pattern};
use crate::admin::offsets::{self, At};
use crate::admin::topics;
use crate::args::{Args, Command, switch, value};
use crate::client::{Client, block_on};
use crate::entrance::{self, BROKER_LIST, COMMAND_CONFIG, SERVER, ZOOKEEPER};
use crate::failure::Failure;
use crate::frame;
use crate::output::{Output, complain};
use kraft::env::Env;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;

const COMMAND: Command = Command {
    name: "kafka-get-offsets",
    purpose: "Tells offsets of partitions.",
    flags: &[
        SERVER,
        COMMAND_CONFIG,
        value("topic", "topic", "The topic, or a regular expression; all without it."),
        value("partitions", "0,1,...", "Partitions; all without it."),
        value(
            "topic-partitions",
            "topic:0-3,...",
            "Both at once: topic:1, topic:0-3, topic:5-, topic:-3.",
        ),
        value(
            "time",
            "time",
            "latest (the default), earliest, max-timestamp, earliest-local, latest-tiered, earliest-pending-upload, or milliseconds since 1970.",
        ),
        switch("exclude-internal-topics", "Leave the brokers' own topics out."),
        BROKER_LIST,
        ZOOKEEPER,
        value("offsets", "count", ""),
    ],
};

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, output| {
        if args.is_empty() {
            return Err(Failure::usage(COMMAND.purpose));
        }
        let told = |why: Failure| {
            let Failure::Told(why) = why else { return why };
            Failure::Told(format!("Error occurred: {why}"))
        };
        let wanted = Wanted::read(args).map_err(told)?;
        let mut client = entrance::to_brokers(args, env)?;
        block_on(print(&wanted, &mut client, output)).map_err(told)
    })
}

/// What the arguments ask for.
#[derive(Debug)]
struct Wanted {
    time: i64,
    rules: Vec<Rule>,
    without_internal: bool,
}

/// Some partitions of some topics.
#[derive(Debug)]
struct Rule {
    topics: Pattern,
    partitions: Partitions,
}

#[derive(Debug, PartialEq, Eq)]
enum Partitions {
    All,
    These(Vec<i32>),
    /// The second is not among them.
    Between(i32, i32),
}

impl Wanted {
    fn read(args: &Args) -> Result<Wanted, Failure> {
        let (topic, partitions) = (args.one("topic")?, args.one("partitions")?);
        let pairs = args.one("topic-partitions")?;
        if pairs.is_some() && (topic.is_some() || partitions.is_some()) {
            return Err(Failure::told(
                "--topic-partitions cannot be used with --topic or --partitions",
            ));
        }
        let rules = match pairs {
            Some(pairs) => pairs.split(',').map(rule).collect::<Result<_, _>>()?,
            None => vec![Rule {
                topics: Pattern::read(topic.unwrap_or(".*"))?,
                partitions: these(partitions.unwrap_or_default())?,
            }],
        };
        let without_internal = args.has("exclude-internal-topics");
        Ok(Wanted { time: time(args.one("time")?.unwrap_or("latest"))?, rules, without_internal })
    }

    fn means(&self, topic: &str, partition: i32) -> bool {
        self.rules.iter().any(|rule| {
            rule.topics.matches(topic)
                && match &rule.partitions {
                    Partitions::All => true,
                    Partitions::These(these) => these.contains(&partition),
                    Partitions::Between(from, to) => (*from..*to).contains(&partition),
                }
        })
    }
}

fn time(text: &str) -> Result<i64, Failure> {
    Ok(match text {
        "latest" => offsets::LATEST,
        "earliest" => offsets::EARLIEST,
        "max-timestamp" => -3,
        "earliest-local" => -4,
        "latest-tiered" => -5,
        "earliest-pending-upload" => -6,
        number => number.parse().map_err(|_| {
            Failure::Told(format!(
                "Malformed time argument {number}. Please use -1 or latest / -2 or earliest / -3 \
                 or max-timestamp / -4 or earliest-local / -5 or latest-tiered / -6 or \
                 earliest-pending-upload, or a specified long format timestamp"
            ))
        })?,
    })
}

fn these(text: &str) -> Result<Partitions, Failure> {
    if text.is_empty() {
        return Ok(Partitions::All);
    }
    // As Java splits: what is empty at the end is nothing.
    let ids = text.trim_end_matches(',').split(',').map(|id| id.trim().parse());
    let ids = ids.collect::<Result<_, _>>();
    ids.map(Partitions::These).map_err(|_| {
        Failure::Told(format!(
            "--partitions expects a comma separated list of numeric partition ids, but received: \
             {text}"
        ))
    })
}

/// `topic`, `topic:1`, `topic:0-3`, `topic:5-`, `topic:-3`, and the same without a topic.
fn rule(text: &str) -> Result<Rule, Failure> {
    let (topics, range) = text.split_once(':').unwrap_or((text, ""));
    let bound = |text: &str, unsaid| match text {
        "" => Some(unsaid),
        text => text.parse::<i32>().ok().filter(|it| 0 <= *it),
    };
    let partitions = match range.split_once('-') {
        None if range.is_empty() => Some(Partitions::All),
        None => bound(range, 0).map(|id| Partitions::These(vec![id])),
        Some((from, to)) => match (bound(from, 0), bound(to, i32::MAX)) {
            (Some(from), Some(to)) => Some(Partitions::Between(from, to)),
            _ => None,
        },
    };
    match partitions {
        Some(partitions) => {
            let topics = if topics.is_empty() { ".*" } else { topics };
            Ok(Rule { topics: Pattern::read(topics)?, partitions })
        }
        None => Err(Failure::Told(format!("Invalid rule specification: {text}"))),
    }
}

async fn print(wanted: &Wanted, client: &mut Client, output: &mut Output) -> Result<(), Failure> {
    let all = topics::list(client).await?;
    let names: Vec<String> = (all.into_iter())
        .filter(|it| {
            !(wanted.without_internal && (it.is_internal || filter::is_internal(&it.name)))
        })
        .map(|it| it.name)
        .filter(|name| wanted.rules.iter().any(|rule| rule.topics.matches(name)))
        .collect();
    let described =
        if names.is_empty() { Vec::new() } else { topics::describe(client, &names, 2000).await? };
    let asked: BTreeMap<At, i64> = (described.iter())
        .flat_map(|topic| topic.partitions.iter().map(|it| (topic.name.clone(), it.index)))
        .filter(|(topic, partition)| wanted.means(topic, *partition))
        .map(|at| (at, wanted.time))
        .collect();
    if asked.is_empty() {
        return Err(Failure::told(
            "Could not match any topic-partitions with the specified filters",
        ));
    }
    let mut lines = Vec::new();
    for ((topic, partition), offset) in offsets::list(client, &described, &asked).await? {
        match offset {
            Ok(offset) if 0 <= offset => {
                lines.push((
                    format!("{topic}-{partition}"),
                    format!("{topic}:{partition}:{offset}"),
                ));
            }
            Ok(_) => {}
            Err(refused) => complain(&format!(
                "Skip getting offsets for topic-partition {topic}-{partition} due to error: {}: \
                 {refused}",
                refused.exception()
            )),
        }
    }
    // In the order of the texts: `one-10` stands before `one-2`.
    lines.sort();
    lines.into_iter().try_for_each(|(_, line)| output.line(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_meant_in_five_ways() {
        let wanted = |rules: &str| Wanted {
            time: 0,
            rules: rules.split(',').map(|it| rule(it).unwrap()).collect(),
            without_internal: false,
        };
        let meant = |rules: &str| {
            let wanted = wanted(rules);
            (0..6).filter(|id| wanted.means("one", *id)).collect::<Vec<_>>()
        };
        assert_eq!(meant("one"), [0, 1, 2, 3, 4, 5]);
        assert_eq!(meant("one:1"), [1]);
        assert_eq!(meant("one:1-3"), [1, 2]);
        assert_eq!(meant("one:4-"), [4, 5]);
        assert_eq!(meant("o.*:-2"), [0, 1]);
        assert_eq!(meant(":5,one:0"), [0, 5]);
        assert_eq!(meant("two"), [0; 0]);
        assert!(rule("one:x").is_err() && rule("one:1-x").is_err());
    }

    #[test]
    fn a_time_has_a_name_or_is_a_number() {
        assert_eq!(time("latest"), Ok(-1));
        assert_eq!(time("-6"), Ok(-6));
        assert_eq!(time("1700000000000"), Ok(1_700_000_000_000));
        assert!(time("now").is_err());
        assert_eq!(these("1, 2"), Ok(Partitions::These(vec![1, 2])));
        assert!(these("x").is_err());
    }
}
