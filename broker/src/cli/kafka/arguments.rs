//! How a script of Kafka reads its arguments, and complains.

use clap::Parser;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

/// Reads arguments; what is wrong with them, and the help, is said here. The error is the code to
/// exit with.
pub(super) fn parse<T: Parser>(args: &[OsString]) -> Result<T, ExitCode> {
    let name = std::iter::once(OsString::from(T::command().get_name()));
    T::try_parse_from(name.chain(args.iter().cloned())).map_err(|error| {
        // Whoever closed the stream does not read it.
        drop(error.print());
        // Kafka's scripts end with 1 whatever is wrong.
        if error.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    })
}

/// Says a line to whoever reads the errors of a script.
pub(super) fn complain(line: &str) {
    drop(writeln!(std::io::stderr(), "{line}"));
}
