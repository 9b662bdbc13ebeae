//! The order of a sitting: each stage with one broker, then with the other, so that what the
//! machine does meanwhile falls on both.

mod durable;
mod groups;
mod load;
mod replay;
mod restart;

use crate::Outcome;
use crate::fetch::Fetched;
use crate::machine::Spent;
use crate::node::Node;
use crate::options::{Options, System};
use crate::produce::Produced;
use crate::sheet::{Sheet, Values};
use compat_tests::home::root;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

/// Until a broker that has started, or been loaded, has put away what it needed for that.
const SETTLE: Duration = Duration::from_secs(3);

/// What a stage works with.
pub(crate) struct Bench<'a> {
    pub(crate) system: System,
    pub(crate) options: &'a Options,
    pub(crate) dir: &'a Path,
}

impl Bench<'_> {
    /// A node on the stage's folder, formatted before, so that its start is as any other.
    fn node(&self, more: &str) -> Outcome<Node> {
        let mut node = Node::start(self.system, self.dir, more)?;
        node.stop()?;
        node.start_again()
    }
}

type Stage = fn(&Bench<'_>, &mut Sheet) -> Outcome<()>;

/// The stages, each with the beginnings of the names of its steps.
const STAGES: [(&[&str], Stage); 6] = [
    (&["start", "idle"], restart::starts),
    (&["produce", "fetch", "small", "open", "after_load"], load::run),
    (&["partitions", "crash"], restart::crash),
    (&["group"], groups::run),
    (&["durable"], durable::run),
    (&["replay"], replay::run),
];

/// Measures all that is wanted.
pub(crate) fn run(options: &Options, sheet: &mut Sheet) -> Outcome<()> {
    let home = options.dir.clone().unwrap_or_else(|| root().join("target"));
    std::fs::create_dir_all(&home)?;
    for _ in 0..options.rounds {
        for (steps, stage) in STAGES {
            if !steps.iter().any(|step| sheet.wants_any(step)) {
                continue;
            }
            for system in options.systems() {
                let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(&home)?;
                let bench = Bench { system, options, dir: dir.path() };
                let outcome = catch_unwind(AssertUnwindSafe(|| stage(&bench, sheet)));
                let outcome = outcome.unwrap_or_else(|_| Err("the driver itself failed".into()));
                if let Err(error) = outcome {
                    sheet.fail(&format!("{} {}: {error}", system.name(), steps.join(", ")));
                }
            }
        }
    }
    Ok(())
}

/// A count as a number to divide by or to divide.
fn number(count: u64) -> f64 {
    // Counts stay far below 2^53, where this is exact.
    #[expect(clippy::as_conversions, reason = "there is no lossless conversion to name")]
    let number = count as f64;
    number
}

/// CPU-seconds per GB, and MB/s.
fn per_gb(bytes: u64, spent: Spent) -> Values {
    let gb = number(bytes) / 1e9;
    vec![("cpu", spent.broker / gb), ("rate", gb * 1e3 / spent.seconds)]
}

impl Produced {
    fn per_gb(&self) -> Values {
        per_gb(self.bytes, self.spent)
    }

    /// CPU-microseconds per request, and requests per second.
    fn per_request(&self) -> Values {
        let requests = number(self.requests);
        vec![("cpu", self.spent.broker * 1e6 / requests), ("rate", requests / self.spent.seconds)]
    }
}

impl Fetched {
    fn per_gb(&self) -> Values {
        per_gb(self.bytes, self.spent)
    }
}
