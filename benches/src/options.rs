//! What the command line says.

use std::path::PathBuf;

/// A broker that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum System {
    Kafka,
    Highwater,
}

impl System {
    pub(crate) fn name(self) -> &'static str {
        match self {
            System::Kafka => "kafka",
            System::Highwater => "highwater",
        }
    }
}

/// Runs Highwater and Apache Kafka in turn on this machine under the same load, and prints tables
/// of ratios. Exit status 1 when any step failed.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "benches/run")]
pub(crate) struct Options {
    /// Megabytes (10^6) that a produce step writes; single-record steps scale with it
    #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(u64).range(1..))]
    pub mb: u64,

    /// Megabytes just written when the broker is killed
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub crash_mb: u64,

    /// Partitions that hold data in the restart steps
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(i32).range(1..))]
    pub partitions: i32,

    /// How long an open-loop step lasts
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: u64,

    /// How often everything is measured; the tables show the medians
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: u64,

    /// Instead of all else: compact a log of so many records, which must leave the same in both
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub compaction: Option<u64>,

    /// Keys of these records
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub keys: u64,

    /// Only the steps whose names begin with one of these
    #[arg(long, value_delimiter = ',')]
    pub rows: Vec<String>,

    /// Only this broker
    #[arg(long)]
    pub only: Option<System>,

    /// JSON instead of tables: every value measured
    #[arg(long)]
    pub json: bool,

    /// Where the brokers keep their data: on the disk that is to be measured [default: target/]
    #[arg(long)]
    pub dir: Option<PathBuf>,
}

impl Options {
    /// Apache Kafka first, so that a mistake in the driver shows against the known broker.
    pub(crate) fn systems(&self) -> Vec<System> {
        self.only.map_or_else(|| vec![System::Kafka, System::Highwater], |only| vec![only])
    }
}
