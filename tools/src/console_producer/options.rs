//! The flags of `kafka-console-producer`, and the settings that they stand for.

use super::lines::Reader;
use crate::args::{Args, Command, Flag, Takes, switch, value};
use crate::entrance;
use crate::failure::Failure;
use crate::given::{Renamed, client, exact};
use crate::properties::Properties;
use kraft::env::Env;

pub(super) const COMMAND: Command = Command {
    name: "kafka-console-producer",
    purpose: "Sends each line of standard input to a topic, as a record.",
    flags: &[
        value("topic", "topic", "The topic."),
        value("bootstrap-server", "host:port,...", "Brokers to begin with."),
        switch("sync", "Wait for each record to be stored before the next line is read."),
        value(
            "reader-property",
            "name=value",
            "How a line is read; may be repeated. parse.key and \
            parse.headers (false), ignore.error (false), key.separator and headers.delimiter (tab), \
            headers.separator (,), headers.key.separator (:), null.marker (none).",
        ),
        value("reader-config", "file", "A file of such properties; --reader-property wins."),
        value("command-property", "name=value", "A setting of the producer; may be repeated."),
        value("command-config", "file", "A file of settings; --command-property wins."),
        Flag {
            name: "compression-codec",
            takes: Takes::Perhaps("codec"),
            help: "none, gzip, snappy, lz4 or zstd; without a value gzip.",
        },
        value("request-required-acks", "acks", "0, 1, or all (-1, the default)."),
        value("timeout", "ms", "How long records may wait to share a batch (1000)."),
        value("batch-size", "bytes", "How large a batch may get (16384)."),
        value("message-send-max-retries", "count", "How often to try again (3)."),
        value("retry-backoff-ms", "ms", "How long to wait before that (100)."),
        value("request-timeout-ms", "ms", "How long the brokers may take to acknowledge (1500)."),
        value("metadata-expiry-ms", "ms", "After which time metadata is asked for anew (300000)."),
        value("max-block-ms", "ms", "How long to wait for the topic, or for room (60000)."),
        value("max-memory-bytes", "bytes", "What may wait to be sent (33554432)."),
        value("socket-buffer-size", "bytes", "The send buffer of the system (102400)."),
        value("line-reader", "class", "Only Kafka's own LineMessageReader is known."),
        value("property", "name=value", "Old name of --reader-property."),
        value("producer-property", "name=value", "Old name of --command-property."),
        value("producer.config", "file", "Old name of --command-config."),
        value("max-partition-memory-bytes", "bytes", "Old name of --batch-size."),
        value("broker-list", "host:port,...", ""),
    ],
};

/// A setting of the producer, the flag that sets it, and what the tool sets without.
const SETTINGS: [(&str, &str, &str); 11] = [
    ("acks", "request-required-acks", "-1"),
    ("batch.size", "batch-size", "16384"),
    ("buffer.memory", "max-memory-bytes", "33554432"),
    ("client.id", "", "console-producer"),
    ("linger.ms", "timeout", "1000"),
    ("max.block.ms", "max-block-ms", "60000"),
    ("metadata.max.age.ms", "metadata-expiry-ms", "300000"),
    ("request.timeout.ms", "request-timeout-ms", "1500"),
    ("retries", "message-send-max-retries", "3"),
    ("retry.backoff.ms", "retry-backoff-ms", "100"),
    ("send.buffer.bytes", "socket-buffer-size", "102400"),
];

/// What is asked for.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) topic: String,
    pub(super) sync: bool,
    pub(super) reader: Reader,
    pub(super) properties: Properties,
}

impl Options {
    pub(super) fn read(args: &Args, env: &Env) -> Result<Options, Failure> {
        let topic = args.required("topic")?.to_owned();
        if let Some(class) = args.one("line-reader")?
            && !class.ends_with("LineMessageReader")
        {
            return Err(Failure::told(format_args!(
                "--line-reader {class}: there is no Java here to load it; only Kafka's \
                 LineMessageReader is known"
            )));
        }
        let single = Renamed { old: "property", new: "reader-property" };
        let reader = exact(env, args.one("reader-config")?, &single.values(args)?)?;
        let reader = Reader::of(&reader).map_err(Failure::Told)?;
        Ok(Options { topic, sync: args.has("sync"), reader, properties: settings(args, env)? })
    }
}

fn settings(args: &Args, env: &Env) -> Result<Properties, Failure> {
    let file = Renamed { old: "producer.config", new: "command-config" };
    let single = Renamed { old: "producer-property", new: "command-property" };
    let mut properties = client(env, args, file, single)?;
    let servers = entrance::required(args)?;
    properties.insert("bootstrap.servers".to_owned(), servers.to_owned());
    if args.has("compression-codec") {
        let codec = args.one("compression-codec")?.filter(|it| !it.is_empty()).unwrap_or("gzip");
        properties.insert("compression.type".to_owned(), codec.to_ascii_lowercase());
    }
    for (name, flag, default) in SETTINGS {
        let given = if flag.is_empty() { None } else { args.one(flag)? };
        let value = given.or_else(|| (!properties.contains_key(name)).then_some(default));
        if let Some(value) = value {
            properties.insert(name.to_owned(), value.to_owned());
        }
    }
    if let Some(size) = args.one("max-partition-memory-bytes")? {
        properties.insert("batch.size".to_owned(), size.to_owned());
    }
    Ok(properties)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kraft::env::os;
    use std::ffi::OsString;

    fn read(args: &[&str]) -> Result<Options, Failure> {
        Options::read(&COMMAND.parse(args.iter().map(OsString::from).collect())?, &os::env())
    }

    #[track_caller]
    fn check(args: &[&str], want: &[(&str, &str)]) {
        let front = ["--topic", "t", "--bootstrap-server", "h:1"];
        let options = read(&[&front, args].concat()).unwrap();
        for (name, value) in want {
            let got = options.properties.get(*name).map(String::as_str);
            assert_eq!(got, Some(*value), "{args:?}: {name}");
        }
    }

    #[test]
    fn a_flag_wins_over_a_property_and_that_over_the_default() {
        check(&[], &[("linger.ms", "1000"), ("acks", "-1"), ("client.id", "console-producer")]);
        check(&["--command-property", "linger.ms=3"], &[("linger.ms", "3")]);
        let both = ["--producer-property", "linger.ms=3", "--timeout", "4"];
        check(&both, &[("linger.ms", "4"), ("bootstrap.servers", "h:1")]);
        check(&["--compression-codec"], &[("compression.type", "gzip")]);
        check(&["--compression-codec", "zstd"], &[("compression.type", "zstd")]);
        check(&["--max-partition-memory-bytes", "5"], &[("batch.size", "5")]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let check = |args: &[&str], want: &str| {
            let said = format!("{:?}", read(args).unwrap_err());
            assert!(said.contains(want), "{args:?}: {said}");
        };
        check(&["--topic", "t"], "bootstrap-server");
        check(&["--bootstrap-server", "h:1"], "topic");
        let front = ["--topic", "t", "--broker-list", "h:1"];
        assert!(read(&front).is_ok());
        let with = |more: &[&'static str]| [&front, more].concat();
        check(&with(&["--line-reader", "my.Reader"]), "my.Reader");
        let both = with(&["--property", "a=b", "--reader-property", "a=b"]);
        check(&both, "cannot be specified together");
        let secret = with(&["--command-property", "security.protocol=SSL"]);
        check(&secret, "PLAINTEXT");
    }
}
