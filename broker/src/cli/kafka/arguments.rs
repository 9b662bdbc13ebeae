//! How a script of Kafka reads its arguments.

use crate::cli::say;
use clap::Parser;
use std::ffi::OsString;
use std::process::ExitCode;
use tools::failure::Failure;
use tools::output::complain;

/// Reads arguments; what is wrong with them, and the help, is said here. The error is the code to
/// exit with.
pub(super) fn parse<T: Parser>(args: &[OsString]) -> Result<T, ExitCode> {
    let name = std::iter::once(OsString::from(T::command().get_name()));
    T::try_parse_from(name.chain(args.iter().cloned())).map_err(|error| {
        let said = say(&error);
        if let Err(Failure::Told(why)) = &said {
            complain(why);
        }
        // Kafka's scripts end with 1 whatever is wrong.
        let is_well = !error.use_stderr() && matches!(said, Ok(()) | Err(Failure::Closed));
        if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    })
}
