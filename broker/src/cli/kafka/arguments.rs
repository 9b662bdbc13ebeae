//! How a script of Kafka reads its arguments, and complains.

use crate::cli::say;
use clap::Parser;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

/// Reads arguments; what is wrong with them, and the help, is said here. The error is the code to
/// exit with.
pub(super) fn parse<T: Parser>(args: &[OsString]) -> Result<T, ExitCode> {
    let name = std::iter::once(OsString::from(T::command().get_name()));
    T::try_parse_from(name.chain(args.iter().cloned())).map_err(|error| {
        let said = say(&error).map_err(|why| complain(&why));
        // Kafka's scripts end with 1 whatever is wrong.
        if error.use_stderr() || said.is_err() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    })
}

/// Says a line to whoever reads the errors of a script.
pub(super) fn complain(line: &str) {
    drop(writeln!(std::io::stderr(), "{line}"));
}
