//! How `kafka-consumer-groups` tells that something went wrong: on stdout, below an empty line, and
//! it goes on.

use crate::client::Refused;
use crate::failure::Failure;
use crate::output::Output;
use std::fmt;

pub(super) fn tell(message: impl fmt::Display, output: &mut Output) -> Result<(), Failure> {
    output.line(format!("\nError: {message}"))
}

/// What ends the tool.
pub(super) fn fatal(refused: &Refused, output: &mut Output) -> Failure {
    failed(format_args!("{}: {}", refused.exception(), refused.text), output)
}

/// The same in other words. It ends with 0 all the same, as Kafka's does: scripts go by what is said.
pub(super) fn failed(why: impl fmt::Display, output: &mut Output) -> Failure {
    let message = format_args!("Executing consumer group command failed due to {why}");
    tell(message, output).err().unwrap_or(Failure::Exit(0))
}
