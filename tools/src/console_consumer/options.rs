//! The flags of `kafka-console-consumer`, and the settings that they stand for.

use super::format::Formatter;
use crate::args::{Args, Command, switch, value};
use crate::data::consumer::Start;
use crate::failure::Failure;
use crate::given::{Renamed, client, exact};
use crate::properties::Properties;
use kraft::env::Env;
use std::collections::BTreeSet;
use std::time::Duration;

pub(super) const COMMAND: Command = Command {
    name: "kafka-console-consumer",
    purpose: "Prints the records of topics.",
    flags: &[
        value("bootstrap-server", "host:port,...", "Brokers to begin with."),
        value("topic", "topic", "The topic."),
        value("include", "pattern", "All topics whose whole name matches."),
        value("partition", "number", "This partition alone, without a group."),
        value("offset", "offset", "Where to begin in it: a number, earliest or latest (latest)."),
        switch("from-beginning", "Begin with the first record where no offset is committed."),
        value("max-messages", "count", "End after so many."),
        value("timeout-ms", "ms", "End when none came for so long."),
        value("group", "group", "Read as a member of this group, and commit."),
        value("isolation-level", "level", "read_uncommitted (as it comes) or read_committed."),
        switch("skip-message-on-error", "Pass over what cannot be printed, instead of ending."),
        value(
            "formatter",
            "class",
            "How to print: Default-, Logging-, NoOp-, Offsets- or \
            GroupMetadataMessageFormatter.",
        ),
        value(
            "formatter-property",
            "name=value",
            "What to print; may be repeated. print.value \
            (true), print.key, print.timestamp, print.partition, print.offset, print.epoch, \
            print.headers (false), key.separator (tab), line.separator (newline), \
            headers.separator (,), null.literal (null), key.deserializer, value.deserializer, \
            headers.deserializer.",
        ),
        value("formatter-config", "file", "A file of such properties; --formatter-property wins."),
        value("key-deserializer", "class", "The type of the keys."),
        value("value-deserializer", "class", "The type of the values."),
        value("command-property", "name=value", "A setting of the consumer; may be repeated."),
        value("command-config", "file", "A file of settings; --command-property wins."),
        switch("enable-systest-events", "Print a line at the end."),
        value("property", "name=value", "Old name of --formatter-property."),
        value("consumer-property", "name=value", "Old name of --command-property."),
        value("consumer.config", "file", "Old name of --command-config."),
        value("whitelist", "pattern", ""),
        switch("new-consumer", ""),
    ],
};

/// What is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Topic(String),
    Matching(String),
    Partition(String, i32, Start),
}

/// What is asked for.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) source: Source,
    pub(super) max_messages: Option<u64>,
    pub(super) timeout: Option<Duration>,
    pub(super) skips: bool,
    pub(super) tells_end: bool,
    pub(super) formatter: Formatter,
    pub(super) properties: Properties,
}

impl Options {
    pub(super) fn read(args: &Args, env: &Env) -> Result<Options, Failure> {
        let source = source(args)?;
        let servers = args.required("bootstrap-server")?;
        let mut properties = client(
            env,
            args,
            Renamed { old: "consumer.config", new: "command-config" },
            Renamed { old: "consumer-property", new: "command-property" },
        )?;
        properties.insert("bootstrap.servers".to_owned(), servers.to_owned());
        begin_where(args, &mut properties)?;
        group(args, env, &source, &mut properties)?;
        properties.entry("client.id".to_owned()).or_insert_with(|| "console-consumer".to_owned());
        if let Some(level) = args.one("isolation-level")? {
            properties.insert("isolation.level".to_owned(), level.to_owned());
        }
        let timeout: Option<i64> = args.number("timeout-ms")?;
        let max_messages: Option<i64> = args.number("max-messages")?;
        Ok(Options {
            source,
            max_messages: max_messages.and_then(|it| u64::try_from(it).ok()),
            timeout: timeout.and_then(|it| u64::try_from(it).ok()).map(Duration::from_millis),
            skips: args.has("skip-message-on-error"),
            tells_end: args.has("enable-systest-events"),
            formatter: formatter(args, env)?,
            properties,
        })
    }
}

fn source(args: &Args) -> Result<Source, Failure> {
    let include = args.one("include")?.map_or_else(|| args.one("whitelist"), |it| Ok(Some(it)))?;
    let partition: Option<i32> = args.number("partition")?;
    if partition.is_some() && !args.has("topic") {
        return Err(Failure::usage("The topic is required when partition is specified."));
    }
    if partition.is_none() && args.has("offset") {
        return Err(Failure::usage("The partition is required when offset is specified."));
    }
    if args.has("from-beginning") && args.has("offset") {
        let why = "Options from-beginning and offset cannot be specified together.";
        return Err(Failure::usage(why));
    }
    match (args.one("topic")?, include, partition) {
        (Some(topic), None, None) => Ok(Source::Topic(topic.to_owned())),
        (Some(topic), None, Some(partition)) => {
            Ok(Source::Partition(topic.to_owned(), partition, start(args)?))
        }
        (None, Some(pattern), _) => Ok(Source::Matching(pattern.to_owned())),
        (Some(_), Some(_), _) | (None, None, _) => {
            let why = "Exactly one of the following arguments is required: [topic], [include]";
            Err(Failure::usage(why))
        }
    }
}

fn start(args: &Args) -> Result<Start, Failure> {
    let begin = if args.has("from-beginning") { Start::Earliest } else { Start::Latest };
    let Some(text) = args.one("offset")? else { return Ok(begin) };
    match text.to_ascii_lowercase().as_str() {
        "earliest" => Ok(Start::Earliest),
        "latest" => Ok(Start::Latest),
        number => match number.parse::<i64>() {
            Ok(offset) if 0 <= offset => Ok(Start::At(offset)),
            Ok(_) | Err(_) => Err(Failure::usage(format_args!(
                "The provided offset value '{text}' is incorrect. Valid values are 'earliest', \
                 'latest', or a non-negative long."
            ))),
        },
    }
}

fn begin_where(args: &Args, properties: &mut Properties) -> Result<(), Failure> {
    let from_beginning = args.has("from-beginning");
    let name = "auto.offset.reset";
    match properties.get(name) {
        Some(given) if from_beginning && given != "earliest" => Err(Failure::told(format_args!(
            "Can't simultaneously specify --from-beginning and '{name}={given}', please \
                 remove one option"
        ))),
        Some(_) => Ok(()),
        None => {
            let begin = if from_beginning { "earliest" } else { "latest" };
            properties.insert(name.to_owned(), begin.to_owned());
            Ok(())
        }
    }
}

fn group(
    args: &Args,
    env: &Env,
    source: &Source,
    properties: &mut Properties,
) -> Result<(), Failure> {
    let name = "group.id";
    let flag = args.one("group")?.map(str::to_owned);
    let given: BTreeSet<_> = flag.into_iter().chain(properties.get(name).cloned()).collect();
    if 1 < given.len() {
        let all: Vec<_> = given.iter().map(|group| format!("'{group}'")).collect();
        return Err(Failure::usage(format_args!(
            "The group ids provided in different places (--group, properties) do not match. \
             Detected group ids: {}",
            all.join(", ")
        )));
    }
    let Some(group) = given.into_iter().next() else {
        // A group of its own, which nobody will ask for again: it commits only if it is told to.
        let number = env.rng.next_u64() % 100_000;
        properties.insert(name.to_owned(), format!("console-consumer-{number}"));
        let commit = properties.entry("enable.auto.commit".to_owned());
        commit.or_insert_with(|| "false".to_owned());
        return Ok(());
    };
    if matches!(source, Source::Partition(..)) {
        let why = "Options group and partition cannot be specified together.";
        return Err(Failure::usage(why));
    }
    properties.insert(name.to_owned(), group);
    Ok(())
}

fn formatter(args: &Args, env: &Env) -> Result<Formatter, Failure> {
    let single = Renamed { old: "property", new: "formatter-property" }.values(args)?;
    let mut properties = exact(env, args.one("formatter-config")?, &[])?;
    for (flag, name) in
        [("key-deserializer", "key.deserializer"), ("value-deserializer", "value.deserializer")]
    {
        if let Some(class) = args.one(flag)?.filter(|class| !class.is_empty()) {
            properties.insert(name.to_owned(), class.to_owned());
        }
    }
    properties.extend(exact(env, None, &single)?);
    let class = args.one("formatter")?.unwrap_or("DefaultMessageFormatter");
    Formatter::of(class, &properties).map_err(Failure::Told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kraft::env::os;
    use std::ffi::OsString;

    fn read(args: &[&str]) -> Result<Options, Failure> {
        let all = [&["--bootstrap-server", "h:1"], args].concat();
        Options::read(&COMMAND.parse(all.iter().map(OsString::from).collect())?, &os::env())
    }

    #[test]
    fn what_is_read_and_from_where() {
        let check = |args: &[&str], want: Source| assert_eq!(read(args).unwrap().source, want);
        let topic = || "t".to_owned();
        check(&["--topic", "t"], Source::Topic(topic()));
        check(&["--include", "t.*"], Source::Matching("t.*".to_owned()));
        let one = ["--topic", "t", "--partition", "2"];
        check(&one, Source::Partition(topic(), 2, Start::Latest));
        let begin = [&one[..], &["--from-beginning"]].concat();
        check(&begin, Source::Partition(topic(), 2, Start::Earliest));
        let at = [&one[..], &["--offset", "7"]].concat();
        check(&at, Source::Partition(topic(), 2, Start::At(7)));
    }

    #[test]
    fn a_group_of_its_own_does_not_commit() {
        let get = |args: &[&str], name: &str| read(args).unwrap().properties.get(name).cloned();
        let alone = ["--topic", "t"];
        assert!(get(&alone, "group.id").unwrap().starts_with("console-consumer-"));
        assert_eq!(get(&alone, "enable.auto.commit").as_deref(), Some("false"));
        assert_eq!(get(&alone, "auto.offset.reset").as_deref(), Some("latest"));
        let member = ["--topic", "t", "--group", "g", "--from-beginning"];
        assert_eq!(get(&member, "group.id").as_deref(), Some("g"));
        assert_eq!(get(&member, "enable.auto.commit"), None);
        assert_eq!(get(&member, "auto.offset.reset").as_deref(), Some("earliest"));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let check = |args: &[&str], want: &str| {
            let said = format!("{:?}", read(args).unwrap_err());
            assert!(said.contains(want), "{args:?}: {said}");
        };
        check(&[], "Exactly one of");
        check(&["--topic", "t", "--include", "t"], "Exactly one of");
        check(&["--partition", "0"], "The topic is required");
        check(&["--topic", "t", "--offset", "0"], "The partition is required");
        let one =
            |more: [&'static str; 2]| [&["--topic", "t", "--partition", "0"][..], &more].concat();
        check(&one(["--offset", "-2"]), "is incorrect");
        check(&one(["--group", "g"]), "group and partition");
        let other = ["--topic", "t", "--group", "a", "--command-property", "group.id=b"];
        check(&other, "'a', 'b'");
        let late = ["--topic", "t", "--from-beginning", "--consumer-property"];
        check(&[&late[..], &["auto.offset.reset=latest"]].concat(), "Can't simultaneously");
        check(&["--topic", "t", "--formatter", "my.Own"], "my.Own");
    }
}
