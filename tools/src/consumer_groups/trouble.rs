//! How `kafka-consumer-groups` tells that something went wrong: on stdout, below an empty line, and
//! it goes on.

use crate::client::Refused;
use crate::failure::Failure;
use crate::output::Output;
use std::fmt;

pub(super) fn tell(message: impl fmt::Display, output: &mut Output) -> Result<(), Failure> {
    output.line(format!("\nError: {message}"))
}

/// What ends the tool. It ends with 0 all the same, as Kafka's does: scripts go by what is said.
pub(super) fn fatal(refused: &Refused, output: &mut Output) -> Failure {
    let (class, text) = (refused.exception(), &refused.text);
    let message = format!("Executing consumer group command failed due to {class}: {text}");
    tell(message, output).err().unwrap_or(Failure::Exit(0))
}
