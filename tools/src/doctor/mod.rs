//! `highwater doctor`: why a client cannot work, with any Kafka broker. It goes where a client goes,
//! and says what the client was told.

mod findings;
mod report;
mod seen;
mod visit;

pub use findings::{Finding, Level, controller, diagnose};
pub use seen::{Cluster, End, Seen, Visit};

use crate::client::{Client, Entrance, addresses, block_on, with_port};
use crate::failure::Failure;
use crate::output::Output;
use crate::properties::Properties;
use kraft::env::Env;
use std::time::Duration;

/// What to examine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    /// `host:port`, comma-separated, as a client's `bootstrap.servers`. Without a port it is 9092.
    pub bootstrap: String,
    /// How long each step may take.
    pub limit: Duration,
    pub is_json: bool,
}

/// Examines, and prints what was found.
///
/// # Errors
/// `Failure::Exit(1)` when a client could not work; all is said then.
pub fn run(what: &Examination, env: &Env, output: &mut Output) -> Result<(), Failure> {
    let bootstrap = with_port(&what.bootstrap);
    let places = addresses(&bootstrap)?;
    let mut client = Client::new(env, Entrance::Brokers(&bootstrap), &Properties::new())?;
    client.set_timeout(what.limit);
    let seen = block_on(async { Ok(visit::look(env, &client, places, what.limit).await) })?;
    let findings = diagnose(&seen);
    if what.is_json {
        output.line(format!("{:#}", report::json(&seen, &findings)))?;
    } else {
        for line in report::lines(&seen, &findings) {
            output.line(line)?;
        }
    }
    output.flush()?;
    let is_ill = findings.iter().any(|finding| finding.level == Level::Fault);
    if is_ill { Err(Failure::Exit(1)) } else { Ok(()) }
}
