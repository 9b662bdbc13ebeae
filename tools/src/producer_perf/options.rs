//! The flags of `kafka-producer-perf-test`.

use super::random::SplittableRandom;
use crate::args::{Args, Command, switch, value};
use crate::failure::Failure;
use crate::given::Renamed;
use crate::output::{Output, complain};
use crate::properties::{self, Properties};
use kraft::env::Env;
use regex::bytes::Regex;
use std::path::Path;
use std::str::FromStr;
use storage::disk::read_whole;

pub(super) const COMMAND: Command = Command {
    name: "kafka-producer-perf-test",
    purpose: "Sends records as fast as can be, or at a pace, and tells how fast that was.",
    flags: &[
        value("bootstrap-server", "host:port,...", "Brokers to begin with."),
        value("topic", "topic", "The topic."),
        value("num-records", "count", "How many records."),
        value("throughput", "records/s", "At what pace at most; -1: none."),
        value("record-size", "bytes", "The size of each, of random letters."),
        value("payload-file", "file", "Records, of which one is drawn each time."),
        value("payload-delimiter", "pattern", "What stands between them (\\n)."),
        switch("payload-monotonic", "Records are numbers, from 0 on."),
        value("command-property", "name=value ...", "Settings of the producer."),
        value("command-config", "file", "A file of settings; --command-property wins."),
        switch("print-metrics", "Print what the producer counted."),
        value(
            "warmup-records",
            "count",
            "Records before the steady state, which is told of apart.",
        ),
        value("reporting-interval", "ms", "How often to tell (5000)."),
        value("record-key-range", "count", "Keys are numbers below this."),
        value("key-distribution", "none|range|random", "Keys: none, in turn, or drawn (none)."),
        value("random-seed", "number", "For what is drawn (0)."),
        value("transactional-id", "id", "Send in transactions."),
        value("transaction-duration-ms", "ms", "How long each may take (3000)."),
        value("producer-props", "name=value ...", "Old name of --command-property."),
        value("producer.config", "file", "Old name of --command-config."),
    ],
};

/// The largest file of payloads that is read.
const PAYLOADS_BYTES_MAX: usize = 1 << 30;

/// What is sent.
#[derive(Debug)]
pub(super) enum Payload {
    Letters(usize),
    Drawn(Vec<Vec<u8>>),
    Numbers,
}

/// Which keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    None,
    InTurn(u32),
    Drawn(u32),
}

/// What is asked for.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) topic: String,
    pub(super) count: u64,
    pub(super) throughput: f64,
    pub(super) payload: Payload,
    pub(super) keys: Keys,
    pub(super) seed: i64,
    pub(super) warmup: u64,
    pub(super) interval_ms: i64,
    pub(super) metrics: bool,
    /// How long a transaction takes, where there are any.
    pub(super) transaction_ms: Option<i64>,
    pub(super) properties: Properties,
}

impl Options {
    pub(super) fn read(args: &Args, env: &Env, out: &mut Output) -> Result<Options, Failure> {
        let topic = args.required("topic")?.to_owned();
        let count: u64 = above_zero(args, "num-records")?.ok_or_else(|| missing("num-records"))?;
        let throughput = args.number("throughput")?.ok_or_else(|| missing("throughput"))?;
        let warmup: i64 = args.number("warmup-records")?.unwrap_or(0);
        let warmup = u64::try_from(warmup).unwrap_or(0);
        if count <= warmup {
            return Err(Failure::usage(
                "The value for --warmup-records must be strictly fewer than the number of records \
                 in the test, --num-records.",
            ));
        }
        let mut properties = settings(args, env)?;
        let transaction_ms = transactions(args, env, &mut properties)?;
        Ok(Options {
            topic,
            count,
            throughput,
            payload: payload(args, env, out)?,
            keys: keys(args)?,
            seed: args.number("random-seed")?.unwrap_or(0),
            warmup,
            interval_ms: above_zero(args, "reporting-interval")?.unwrap_or(5000),
            metrics: args.has("print-metrics"),
            transaction_ms,
            properties,
        })
    }
}

fn missing(name: &str) -> Failure {
    Failure::usage(format_args!("argument --{name} is required"))
}

fn above_zero<T: FromStr + Default + PartialOrd>(
    args: &Args,
    name: &str,
) -> Result<Option<T>, Failure> {
    let number: Option<i64> = args.number(name)?;
    if number.is_some_and(|it| it <= 0) {
        return Err(Failure::usage(format_args!("--{name} should be greater than zero.")));
    }
    args.number(name)
}

/// The properties: a file, then single ones, of which several may stand behind one flag.
fn settings(args: &Args, env: &Env) -> Result<Properties, Failure> {
    let single = Renamed { old: "producer-props", new: "command-property" };
    let file = Renamed { old: "producer.config", new: "command-config" };
    let mut single = single.values(args)?;
    // `--producer-props a=1 b=2`: what is no flag belongs to it.
    single.extend(args.rest().iter().map(String::as_str));
    for text in &single {
        if !text.split_once('=').is_some_and(|(name, value)| !name.is_empty() && !value.is_empty())
        {
            return Err(Failure::told(format_args!("Invalid property: {text}")));
        }
    }
    let mut properties = properties::read(env, file.values(args)?.first().copied(), &single)?;
    if let Some(servers) = args.one("bootstrap-server")? {
        properties.insert("bootstrap.servers".to_owned(), servers.to_owned());
    }
    if !properties.contains_key("bootstrap.servers") {
        return Err(Failure::usage(
            "At least one of --bootstrap-server, --command-property, --producer-props, \
             --producer.config or --command-config must be specified.",
        ));
    }
    let id = properties.entry("client.id".to_owned());
    id.or_insert_with(|| "perf-producer-client".to_owned());
    Ok(properties)
}

fn transactions(
    args: &Args,
    env: &Env,
    properties: &mut Properties,
) -> Result<Option<i64>, Failure> {
    let name = "transactional.id";
    if let Some(id) = args.one("transactional-id")? {
        properties.insert(name.to_owned(), id.to_owned());
    }
    let duration: Option<i64> = above_zero(args, "transaction-duration-ms")?;
    if duration.is_some() && !properties.contains_key(name) {
        let id = protocol::ids::Uuid(env.rng.next_uuid_bytes());
        properties.insert(name.to_owned(), format!("performance-producer-{id}"));
    }
    Ok(properties.contains_key(name).then(|| duration.unwrap_or(3000)))
}

fn payload(args: &Args, env: &Env, out: &mut Output) -> Result<Payload, Failure> {
    let size: Option<usize> = above_zero(args, "record-size")?;
    let file = args.one("payload-file")?;
    match (size, file, args.has("payload-monotonic")) {
        (Some(size), None, false) => Ok(Payload::Letters(size)),
        (None, None, true) => Ok(Payload::Numbers),
        (None, Some(file), false) => {
            let delimiter = args.one("payload-delimiter")?.unwrap_or("\\n");
            drawn(file, delimiter, env, out).map(Payload::Drawn)
        }
        (_, _, _) => Err(Failure::usage(
            "Exactly one of --record-size, --payload-file and --payload-monotonic is required",
        )),
    }
}

fn drawn(
    file: &str,
    delimiter: &str,
    env: &Env,
    out: &mut Output,
) -> Result<Vec<Vec<u8>>, Failure> {
    let path = std::path::absolute(file).unwrap_or_else(|_| Path::new(file).to_owned());
    out.line(format_args!("Reading payloads from: {}", path.display()))?;
    let open = env.disk.open_input(&path).and_then(|file| read_whole(&*file, PAYLOADS_BYTES_MAX));
    let bytes = open.map_err(|error| Failure::told(format_args!("{}: {error}", path.display())))?;
    let delimiter = Regex::new(delimiter)
        .map_err(|error| Failure::told(format_args!("--payload-delimiter: {error}")))?;
    let mut parts: Vec<_> = delimiter.split(&bytes).map(<[u8]>::to_vec).collect();
    // Nothing stands behind the last delimiter, nor before the first.
    if 1 < parts.len() && parts.last().is_some_and(Vec::is_empty) {
        parts.pop();
    }
    if 1 < parts.len() && parts.first().is_some_and(Vec::is_empty) {
        parts.remove(0);
    }
    if bytes.is_empty() {
        return Err(Failure::told("File does not exist or empty file provided."));
    }
    out.line(format_args!("Number of records read: {}", parts.len()))?;
    Ok(parts)
}

fn keys(args: &Args) -> Result<Keys, Failure> {
    let range: Option<u32> = above_zero(args, "record-key-range")?;
    let of = args.one("key-distribution")?.unwrap_or("none").to_ascii_lowercase();
    match (of.as_str(), range) {
        ("none", None) => Ok(Keys::None),
        ("range", Some(range)) => Ok(Keys::InTurn(range)),
        ("random", Some(range)) => Ok(Keys::Drawn(range)),
        ("none", Some(_)) => Err(Failure::usage(
            "--key-distribution must be 'range' or 'random' when --record-key-range is specified.",
        )),
        ("range" | "random", None) => Err(Failure::usage(
            "--record-key-range is required when --key-distribution is 'range' or 'random'.",
        )),
        (other, _) => {
            Err(Failure::usage(format_args!("--key-distribution {other}: none, range or random")))
        }
    }
}

impl Keys {
    /// The key of record `number`.
    pub(super) fn key(self, number: u64, random: &mut SplittableRandom) -> Option<String> {
        match self {
            Keys::None => None,
            Keys::InTurn(range) => Some((number % u64::from(range)).to_string()),
            Keys::Drawn(range) => Some(random.below(range).to_string()),
        }
    }
}

impl Payload {
    /// The value of record `number`.
    pub(super) fn put(&self, number: u64, random: &mut SplittableRandom, into: &mut Vec<u8>) {
        into.clear();
        match self {
            Payload::Letters(size) => {
                let letter = |_| u8::try_from(65 + random.below(26)).unwrap_or(b'A');
                into.extend((0..*size).map(letter));
            }
            Payload::Drawn(all) => {
                let at = random.below(u32::try_from(all.len()).unwrap_or(u32::MAX >> 1).max(1));
                let drawn = usize::try_from(at).ok().and_then(|at| all.get(at));
                into.extend(drawn.map(Vec::as_slice).unwrap_or_default());
            }
            Payload::Numbers => into.extend(number.to_string().into_bytes()),
        }
    }
}

/// Records that were lost are told of one by one, but not all.
pub(super) const LOSSES_TOLD: u64 = 10;

/// What became of a record that was lost.
pub(super) fn tell_loss(number: u64, why: &str) {
    if number < LOSSES_TOLD {
        complain(&format!("ERROR a record was not acknowledged: {why}"));
    }
}
