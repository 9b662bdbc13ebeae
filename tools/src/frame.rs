//! What every tool has around it: its arguments read, its output flushed, its end told.

use crate::args::{Args, Command};
use crate::failure::Failure;
use crate::output::{Output, complain};
use std::ffi::OsString;
use std::process::ExitCode;

/// The release of Apache Kafka whose tools these are in flags and output.
const KAFKA_VERSION: &str = "4.4.0";

/// Reads the arguments, does the work of `body`, and says how it ended.
pub fn run(
    command: &Command,
    args: Vec<OsString>,
    body: impl FnOnce(&Args, &mut Output) -> Result<(), Failure>,
) -> ExitCode {
    let mut output = Output::stdout();
    let done = command.parse(args).and_then(|args| body(&args, &mut output));
    end(command, done, &mut output)
}

fn end(command: &Command, done: Result<(), Failure>, output: &mut Output) -> ExitCode {
    let said = match &done {
        Err(Failure::Help) => output.line(command.usage().trim_end()),
        Err(Failure::Version) => output.line(KAFKA_VERSION),
        Ok(()) | Err(_) => Ok(()),
    };
    let asked = if matches!(done, Err(Failure::Help | Failure::Version)) { said } else { done };
    // What was printed stands before what went wrong.
    match output.end(asked) {
        Ok(()) | Err(Failure::Help | Failure::Version | Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Exit(code)) => ExitCode::from(code),
        Err(Failure::Told(message)) => {
            complain(&message);
            ExitCode::FAILURE
        }
        Err(Failure::Usage(message)) => {
            complain(&message);
            complain(command.usage().trim_end());
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::Refusing;
    use std::io::{self, ErrorKind};

    #[test]
    fn a_help_that_cannot_be_written_is_a_failure() {
        let command = Command { name: "x", purpose: "x", flags: &[] };
        let ends = |done, mut output| end(&command, done, &mut output);
        let full = || Output::to(Refusing(ErrorKind::StorageFull));
        assert_eq!(ends(Err(Failure::Help), full()), ExitCode::FAILURE);
        assert_eq!(ends(Err(Failure::Version), full()), ExitCode::FAILURE);
        assert_eq!(ends(Err(Failure::Help), Output::to(io::sink())), ExitCode::SUCCESS);
    }
}
