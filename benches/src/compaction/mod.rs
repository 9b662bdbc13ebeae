//! Compaction beside Apache Kafka's: both clean the same log, must keep the same records, and are
//! charged for what their cleaners' threads cost.

mod contents;
mod fill;

use crate::Outcome;
use crate::administration::{create, until};
use crate::machine::thread_cpu_seconds;
use crate::node::Node;
use crate::options::{Options, System};
use compat_tests::home::root;
use contents::{Contents, contents, difference};
use fill::Filled;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(1800);
const TOPIC: &str = "compacted";
const CONFIGS: [(&str, &str); 4] = [
    ("cleanup.policy", "compact"),
    ("segment.bytes", "104857600"),
    ("min.cleanable.dirty.ratio", "0.01"),
    ("delete.retention.ms", "1000"),
];
/// What a start trusts, and must not: the files are changed while no broker runs.
const TRUSTED: [&str; 3] =
    [".kafka_cleanshutdown", "recovery-point-offset-checkpoint", "replication-offset-checkpoint"];
/// How the threads are named, as far as the kernel keeps it.
const THREADS: [(System, &str); 2] =
    [(System::Kafka, "kafka-log-clean"), (System::Highwater, "cleaner-")];

const COLUMNS: &str = "| | seconds | CPU-s | CPU-s/GB | peak MB | MB kept | records | tombstones \
                       | batches | empty | control |";

/// What a pass took.
#[derive(Clone, Copy, Debug)]
struct Took {
    seconds: f64,
    cpu_seconds: f64,
    /// The most memory that the process held, in bytes.
    peak_bytes: f64,
}

/// Cleans `records` records, and then a tenth more of them, which meets tombstones and markers whose
/// time has come; prints what both took.
pub(crate) fn run(options: &Options, records: u64) -> Outcome<()> {
    let place = options.dir.clone().unwrap_or_else(|| root().join("target"));
    let home = tempfile::Builder::new().prefix("compaction").tempdir_in(place)?;
    let systems = options.systems();
    let dirs: Vec<PathBuf> = systems.iter().map(|it| home.path().join(it.name())).collect();
    prepare(&dirs)?;
    let folders: Vec<PathBuf> = dirs.iter().map(|dir| folder(dir)).collect();
    let mut filled = Filled::nothing(options.keys.max(1))?;
    for (round, more) in [records, records.div_ceil(10)].into_iter().enumerate() {
        filled.more(more, &folders)?;
        let before = contents_bytes(&folders)?;
        println!("\nPass {}: {more} records more, {} MB in the log\n", round + 1, mega(before));
        println!("{COLUMNS}\n|{}", "---|".repeat(COLUMNS.matches('|').count() - 1));
        let mut kept: Vec<Contents> = Vec::new();
        for (system, dir) in systems.iter().zip(&dirs) {
            let took = pass(*system, dir, filled.active)?;
            let found = contents(&folder(dir), &filled)?;
            say(*system, took, &found, before);
            kept.push(found);
        }
        if let [one, other] = kept.as_slice()
            && let Some(what) = difference(&one.records, &other.records)
        {
            return Err(format!("the two have not kept the same: {what}").into());
        }
    }
    println!("\nBoth have kept the same records, and every key its last one.");
    Ok(())
}

fn folder(dir: &Path) -> PathBuf {
    dir.join("data").join(format!("{TOPIC}-0"))
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn mega(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn say(system: System, took: Took, found: &Contents, before: u64) {
    println!(
        "| {} | {:.1} | {:.2} | {:.2} | {:.0} | {} | {} | {} | {} | {} | {} |",
        system.name(),
        took.seconds,
        took.cpu_seconds,
        took.cpu_seconds / (before as f64 / 1e9),
        took.peak_bytes / 1e6,
        mega(found.bytes),
        found.records.len(),
        found.tombstones,
        found.batches,
        found.empty,
        found.control
    );
}

fn contents_bytes(folders: &[PathBuf]) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in folders.first().map(std::fs::read_dir).ok_or("no folder")?? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().ends_with(".log") {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}

/// Formats a directory with the topic in it, once for each.
fn prepare(dirs: &[PathBuf]) -> Outcome<()> {
    for dir in dirs {
        std::fs::create_dir_all(dir)?;
        let mut node = Node::start(System::Highwater, dir, "log.cleaner.enable=false\n")?;
        create(node.port, TOPIC, 1, &CONFIGS)?;
        node.stop()?;
        for entry in std::fs::read_dir(folder(dir))? {
            let entry = entry?;
            if entry.file_name() != "partition.metadata" {
                std::fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}

/// Starts a broker on what was filled in, waits until all below `active` is clean, and stops it.
fn pass(system: System, dir: &Path, active: i64) -> Outcome<Took> {
    for name in TRUSTED {
        let path = dir.join("data").join(name);
        if path.exists() {
            std::fs::remove_file(path)?;
        }
    }
    let since = Instant::now();
    let mut node = Node::start(system, dir, "log.cleaner.backoff.ms=100\n")?;
    let checkpoint = dir.join("data/cleaner-offset-checkpoint");
    until("the log is clean", LIMIT, || Ok((clean_to(&checkpoint) == Some(active)).then_some(())))?;
    let seconds = since.elapsed().as_secs_f64();
    let threads = THREADS.iter().find(|(of, _)| *of == system).map_or("", |(_, name)| name);
    let cpu_seconds = thread_cpu_seconds(node.pid(), threads)?;
    let peak_bytes = node.peak_bytes()?;
    node.stop()?;
    Ok(Took { seconds, cpu_seconds, peak_bytes })
}

/// None: there is no such file, or it does not know the partition.
fn clean_to(checkpoint: &Path) -> Option<i64> {
    let text = std::fs::read_to_string(checkpoint).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{TOPIC} 0 ")))?;
    line.trim().parse().ok()
}
