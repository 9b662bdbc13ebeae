//! What a broker costs: Highwater and Apache Kafka in turn, on one machine, under one client.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that stands outside the broker, and prints"
)]

mod administration;
mod batches;
mod cache;
mod compaction;
mod connection;
mod fetch;
mod figures;
mod groups;
mod latency;
mod machine;
mod node;
mod open_loop;
mod options;
mod produce;
mod report;
mod sheet;
mod stages;
mod tail;

use clap::Parser;
use options::Options;
use sheet::Sheet;
use std::process::ExitCode;

/// Whatever kept a step from being measured.
type Failure = Box<dyn std::error::Error + Send + Sync>;
type Outcome<T> = Result<T, Failure>;

fn main() -> ExitCode {
    let options = Options::parse();
    // A sleep of the open loop may otherwise end 50 us late, and the broker would be charged for it.
    if let Err(error) = nix::sys::prctl::set_timerslack(1) {
        eprintln!("the timer slack stays as it is: {error}");
    }
    if let Some(row) = options.rows.iter().find(|row| !figures::is_step(row)) {
        eprintln!("no step begins with `{row}`; there are: {}", figures::steps().join(", "));
        return ExitCode::from(2);
    }
    // Now, since it also shows whether they are there at all; what is missing has said so itself.
    let Ok(brokers) = std::panic::catch_unwind(|| report::brokers(&options)) else {
        return ExitCode::FAILURE;
    };
    if let Some(records) = options.compaction {
        let ran = compaction::run(&options, records);
        return ran.map_or_else(
            |error| {
                eprintln!("failed: {error}");
                ExitCode::FAILURE
            },
            |()| ExitCode::SUCCESS,
        );
    }
    let mut sheet = Sheet::new(&options.rows);
    if let Err(error) = stages::run(&options, &mut sheet) {
        sheet.fail(&format!("{error}"));
    }
    match options.json {
        true => println!("{}", report::json(&options, &brokers, &sheet)),
        false => print!("{}", report::markdown(&options, &brokers, &sheet)),
    }
    for failure in sheet.failures() {
        eprintln!("failed: {failure}");
    }
    if sheet.is_empty() {
        eprintln!("failed: nothing was measured");
    }
    ExitCode::from(u8::from(sheet.is_empty() || !sheet.failures().is_empty()))
}
