//! What a tool prints: stdout, held and buffered, and lines on stderr.

use crate::failure::Failure;
use std::fmt;
use std::io::{self, BufWriter, ErrorKind, Write};

/// Where the answers go. Everything is written at the latest when the tool ends.
pub struct Output {
    to: BufWriter<Box<dyn Write>>,
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").finish_non_exhaustive()
    }
}

impl Output {
    /// The process's stdout, for this tool alone.
    #[must_use]
    pub fn stdout() -> Output {
        Output::to(io::stdout().lock())
    }

    /// Any other place.
    pub fn to(place: impl Write + 'static) -> Output {
        Output { to: BufWriter::with_capacity(32 << 10, Box::new(place)) }
    }

    /// Prints a line.
    ///
    /// # Errors
    /// The reader has gone, or the disk behind stdout is full.
    pub fn line(&mut self, text: impl fmt::Display) -> Result<(), Failure> {
        writeln!(self.to, "{text}").map_err(lost)
    }

    /// Prints lines, if there are any, and lets them be seen now.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub fn lines_now<T: fmt::Display>(&mut self, lines: &[T]) -> Result<(), Failure> {
        lines.iter().try_for_each(|line| self.line(line))?;
        if lines.is_empty() { Ok(()) } else { self.flush() }
    }

    /// Prints bytes as they are.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.to.write_all(bytes).map_err(lost)
    }

    /// Lets what was printed be seen now.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub fn flush(&mut self) -> Result<(), Failure> {
        self.to.flush().map_err(lost)
    }
}

/// Why stdout takes no more. A reader that has gone has had enough.
#[must_use]
pub fn lost(error: io::Error) -> Failure {
    if error.kind() == ErrorKind::BrokenPipe {
        return Failure::Closed;
    }
    Failure::Told(format!("cannot write to stdout: {error}"))
}

/// Prints a line on stderr. Whoever closed it does not read it.
pub fn complain(line: &str) {
    drop(writeln!(io::stderr(), "{line}"));
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Takes nothing, for this reason.
    pub(crate) struct Refusing(pub(crate) ErrorKind);

    impl Write for Refusing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_has_enough_is_no_error() {
        let mut output = Output::to(Refusing(ErrorKind::BrokenPipe));
        output.line("one").unwrap();
        assert_eq!(output.flush(), Err(Failure::Closed));
    }
}
