//! `kafka-dump-log`: what stands in the files of a log.

mod ask;
mod decoder;
mod found;
mod index;
mod log;
mod state_records;
mod whole;

use crate::args::{Args, Command, Flag, Takes, switch, value};
use crate::failure::Failure;
use crate::frame;
use crate::output::{Output, complain};
use ask::Ask;
use found::Found;
use kraft::env::Env;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use storage::disk::Disk;

const COMMAND: Command = Command {
    name: "kafka-dump-log",
    purpose: "Prints and checks the files of a log: segments, snapshots, indexes, producer states.",
    flags: &[
        value("files", "file1,file2,...", "The files, separated by commas."),
        switch("print-data-log", "Print keys and values. A decoder does so too."),
        switch("deep-iteration", "Go through the records of each batch. Printing does so too."),
        switch("cluster-metadata-decoder", "Read the records of __cluster_metadata."),
        switch("offsets-decoder", "Read the records of __consumer_offsets."),
        switch("transaction-log-decoder", "Read the records of __transaction_state."),
        switch("share-group-state-decoder", "Read the records of __share_group_state."),
        switch("remote-log-metadata-decoder", "Read the records of __remote_log_metadata."),
        Flag { name: "key-decoder-class", takes: Takes::Perhaps("class"), help: "Of the keys." },
        Flag {
            name: "value-decoder-class",
            takes: Takes::Perhaps("class"),
            help: "Of the values.",
        },
        switch("skip-record-metadata", "Print keys and values only, and no control records."),
        switch("verify-index-only", "Check an index without printing it."),
        switch("index-sanity-check", "Check only what a broker checks when it opens an index."),
        value(
            "max-message-size",
            "bytes",
            "The largest batch that an index may lead to (5242880).",
        ),
        value("max-bytes", "bytes", "Read so much of a log at most."),
    ],
};

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, out| dump(args, &*env.disk, out))
}

fn dump(args: &Args, disk: &dyn Disk, out: &mut Output) -> Result<(), Failure> {
    let files = args.required("files")?;
    let ask = Ask::read(args)?;
    let mut found = Found::default();
    let mut done = Ok(());
    // As Java splits: what is empty at the end is nothing.
    for file in files.trim_end_matches(',').split(',') {
        done = one(Path::new(file), &ask, disk, out, &mut found);
        if done.is_err() {
            break;
        }
    }
    // What was printed of the files stands before what was found wrong with them.
    out.flush()?;
    done?;
    found.lines().iter().for_each(|line| complain(line));
    Ok(())
}

fn one(
    path: &Path,
    ask: &Ask,
    disk: &dyn Disk,
    out: &mut Output,
    found: &mut Found,
) -> Result<(), Failure> {
    out.line(format_args!("Dumping {}", path.display()))?;
    match path.extension().and_then(|it| it.to_str()) {
        Some("log" | "checkpoint") => log::dump(path, ask, disk, out, found),
        Some("index") => index::dump_offsets(path, ask, disk, out, found),
        Some("timeindex") => index::dump_times(path, ask, disk, out, found),
        Some("snapshot") => whole::dump_producers(path, disk, out),
        Some("txnindex") => whole::dump_transactions(path, disk, out),
        Some(_) | None => {
            out.flush()?;
            complain(&format!("Ignoring unknown file {}", path.display()));
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;
