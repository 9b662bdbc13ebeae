//! What `highwater` is asked to do, read from its arguments.

pub mod check;
pub mod kafka;
pub mod manual;
pub mod render;

use crate::config::image::Image;
use crate::config::load::{Sources, Whose};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;
use tools::failure::Failure;
use tools::output::lost;
use tools::verbs::{self, Common};

/// A broker that speaks Kafka's protocol and keeps Kafka's files.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(name = "highwater", version, max_term_width = 100)]
#[command(
    after_help = "Without a FILE, `highwater start` runs a broker on localhost:9092 with its \
    data in ./data."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Start the broker. Empty log directories are formatted first.
    Start(Start),
    /// Format log directories for a cluster, as `kafka-storage format` does.
    Format(Format),
    /// Look at log directories while no broker runs on them.
    #[command(subcommand)]
    Storage(Storage),
    /// What brokers, topics and groups are told: without starting a broker, and while one runs.
    #[command(subcommand)]
    Config(Config),
    /// Find out why a client cannot work with a broker, any Kafka broker: go where a client goes,
    /// and say what it is told and why that fails. Fails when something is wrong.
    Doctor(Doctor),
    /// Topics of a cluster: list, describe, create, grow, delete.
    Topic(Asked<verbs::Topic>),
    /// Groups of a cluster: list, describe, delete.
    Group(Asked<verbs::Group>),
    /// Send the lines of a file, or of standard input, to a topic.
    Produce(Told<verbs::Produce>),
    /// Print the records of a topic.
    Consume(Told<verbs::Consume>),
    /// A cluster and its brokers.
    Cluster(Asked<verbs::Cluster>),
    /// Print what makes a shell complete these commands: `source <(highwater completions bash)`.
    Completions { shell: Shell },
    /// Print the manual page: `highwater man | man -l -`.
    Man,
    /// Print the names of Kafka's tools and scripts that this binary is when it is called by them:
    /// `for it in $(highwater tools); do ln -s highwater $it; done`.
    Tools,
}

/// Prints the help, or what is wrong with arguments.
///
/// # Errors
/// Stdout does not take the help.
pub fn say(what: &clap::Error) -> Result<(), Failure> {
    match what.print() {
        Err(error) if !what.use_stderr() => Err(lost(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A command for a cluster, which may be of any Kafka brokers.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Asked<T: Subcommand> {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub verb: T,
}

/// The same, where there is only one thing to do.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Told<T: Args> {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub verb: T,
}

/// Where the configuration stands.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct Where {
    /// A server.properties file, as Apache Kafka reads it.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Sets a key over what the file says; may be repeated.
    #[arg(long = "override", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
    /// Reads the environment, too, as this container image does: apache-kafka, cp-kafka,
    /// confluent-local, bitnami or wurstmeister, or what stands behind `image:` in a Compose file.
    #[arg(long, value_name = "NAME", value_parser = image)]
    pub image: Option<Image>,
    /// Takes the environment from this file, in place of the process's own, as Compose reads it:
    /// NAME=value a line; a NAME alone is that of the process.
    #[arg(long, value_name = "FILE", requires = "image")]
    pub env_file: Option<PathBuf>,
}

impl Where {
    /// All the places that are named.
    pub fn sources(&self) -> Sources {
        Sources {
            file: self.file.clone(),
            overrides: self.overrides.clone(),
            image: self.image,
            environment: self.env_file.clone().map_or(Whose::Process, Whose::File),
        }
    }
}

fn image(name: &str) -> Result<Image, String> {
    Image::find(name).ok_or_else(|| {
        let known: Vec<&str> = Image::ALL.into_iter().map(Image::name).collect();
        format!("no image of this name is known: give one of {}", known.join(", "))
    })
}

#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Start {
    #[command(flatten)]
    pub place: Where,
    /// The least that is logged, over what highwater.log.level says.
    #[arg(long, value_enum)]
    pub log_level: Option<Level>,
}

#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Format {
    #[command(flatten)]
    pub place: Where,
    /// The id of the cluster: 22 characters, as `kafka-storage random-uuid` prints one. Left out,
    /// it is that of the directories which are formatted already, or a new one.
    #[arg(long, short = 't', value_name = "ID")]
    pub cluster_id: Option<String>,
    /// Levels of the features are those of this release, as `4.4` or `4.4-IV2`.
    #[arg(long, short = 'r', value_name = "VERSION")]
    pub release_version: Option<String>,
    /// The level of one feature; may be repeated.
    #[arg(long, short = 'f', value_name = "NAME=LEVEL")]
    pub feature: Vec<String>,
    /// Leave directories alone that are formatted, instead of failing.
    #[arg(long, short = 'g')]
    pub ignore_formatted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Storage {
    /// Say which cluster and node each log directory belongs to, and what it lacks.
    Info(Where),
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Config {
    /// Print what a broker would be told and by whom, what it would ignore, and whether it would
    /// start; if it would not, this fails.
    Check(Check),
    /// Print the server.properties that an image's environment amounts to.
    Render(Where),
    /// Print the configs of a topic, a broker or a group of a running cluster.
    Get(Told<verbs::Get>),
    /// Change the configs of a topic, a broker or a group of a running cluster.
    Set(Told<verbs::Set>),
}

#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Doctor {
    /// What clients are given as bootstrap servers: `host:port`, comma-separated. Without a port it
    /// is 9092.
    #[arg(value_name = "BOOTSTRAP", default_value = "localhost:9092")]
    pub bootstrap: String,
    /// How long each step may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub timeout: u64,
    /// How to print it.
    #[arg(long, short, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Check {
    #[command(flatten)]
    pub place: Where,
    /// Print the keys that nobody set, too.
    #[arg(long)]
    pub all: bool,
    /// How to print it.
    #[arg(long, short, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    Table,
    Json,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn read(arguments: &str) -> Result<Cli, String> {
        let words = std::iter::once("highwater").chain(arguments.split_whitespace());
        Cli::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn the_arguments_are_what_clap_takes() {
        Cli::command().debug_assert();
    }

    #[test]
    fn overrides_keep_their_order_and_stand_anywhere() {
        let Command::Start(start) =
            read("start --override a=1 server.properties --override b==2").unwrap().command
        else {
            panic!("it is `start`");
        };
        assert_eq!(start.place.file, Some(PathBuf::from("server.properties")));
        assert_eq!(start.place.overrides, ["a=1", "b==2"]);
        assert_eq!(start.log_level, None);
    }

    #[test]
    fn an_image_is_named_as_compose_files_name_it() {
        let read = |name: &str| -> Result<Option<Image>, String> {
            let command = read(&format!("config render --image {name}"))?.command;
            let Command::Config(Config::Render(place)) = command else {
                panic!("it is `config render`")
            };
            Ok(place.image)
        };
        for (name, want) in [
            ("apache/kafka:3.9.0", Image::ApacheKafka),
            ("apache-kafka", Image::ApacheKafka),
            ("docker.io/confluentinc/cp-kafka:7.6.1", Image::CpKafka),
            ("localhost:5000/confluentinc/cp-server", Image::CpKafka),
            ("confluent-local", Image::ConfluentLocal),
            ("bitnamilegacy/kafka@sha256:00", Image::Bitnami),
            ("wurstmeister/kafka", Image::Wurstmeister),
        ] {
            assert_eq!(read(name), Ok(Some(want)), "{name}");
        }
        assert!(read("redpandadata/redpanda").unwrap_err().contains("give one of apache-kafka"));
    }

    #[test]
    fn minus_one_leaves_it_to_the_brokers() {
        let command = read("topic create t -p -1 --replication-factor -1").unwrap().command;
        assert_eq!(command, read("topic create t").unwrap().command);
        let why = read("consume t --timeout-ms -1").unwrap_err();
        assert!(why.contains("invalid value '-1'"), "{why}");
    }

    #[test]
    fn what_it_cannot_do_is_said_with_what_it_can() {
        assert!(read("").unwrap_err().contains("Usage: highwater <COMMAND>"));
        assert!(read("strat").unwrap_err().contains("'start'"));
        assert!(read("start a b").unwrap_err().contains("unexpected argument 'b'"));
        assert!(read("--version").unwrap_err().starts_with("highwater "));
    }
}
