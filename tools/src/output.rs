//! What a tool prints: stdout, held and buffered, and lines on stderr.

use crate::failure::Failure;
use parking_lot::Mutex;
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::Arc;

/// What is held at most before it is written.
const HELD_MAX: usize = 32 << 10;

/// Where the answers go. Everything is written at the latest when the tool ends. Once something
/// could not be written, nothing is any more: what would follow stood behind a gap. Each clone is
/// the same place, because librdkafka asks within a poll that what is printed be written.
#[derive(Clone)]
pub struct Output {
    place: Arc<Mutex<Place>>,
}

struct Place {
    to: Box<dyn Write + Send>,
    held: Vec<u8>,
    /// Why it takes no more.
    lost: Option<Failure>,
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").finish_non_exhaustive()
    }
}

impl Place {
    fn put(&mut self, add: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<(), Failure> {
        self.is_taking()?;
        let added = add(&mut self.held);
        let full = HELD_MAX <= self.held.len();
        self.keep(added)?;
        if full { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), Failure> {
        self.is_taking()?;
        let written = self.to.write_all(&self.held);
        self.held.clear();
        self.keep(written)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.write()?;
        let flushed = self.to.flush();
        self.keep(flushed)
    }

    fn is_taking(&self) -> Result<(), Failure> {
        self.lost.clone().map_or(Ok(()), Err)
    }

    /// Keeps in mind what went wrong.
    fn keep(&mut self, done: io::Result<()>) -> Result<(), Failure> {
        self.lost = done.map_err(lost).err();
        self.is_taking()
    }
}

impl Output {
    /// The process's stdout, for this tool alone. Not that of `std`, which keeps the end of a line
    /// that could not be written, and tries again when the process ends.
    #[must_use]
    pub fn stdout() -> Output {
        match io::stdout().as_fd().try_clone_to_owned() {
            Ok(handle) => Output::to(File::from(handle)),
            Err(_) => Output::to(io::stdout()),
        }
    }

    /// Any other place.
    pub fn to(place: impl Write + Send + 'static) -> Output {
        let place = Place { to: Box::new(place), held: Vec::new(), lost: None };
        Output { place: Arc::new(Mutex::new(place)) }
    }

    /// Prints a line.
    ///
    /// # Errors
    /// The reader has gone, or the disk behind stdout is full: now, or at any time before.
    pub fn line(&mut self, text: impl fmt::Display) -> Result<(), Failure> {
        self.place.lock().put(|held| writeln!(held, "{text}"))
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
        self.place.lock().put(|held| {
            held.extend_from_slice(bytes);
            Ok(())
        })
    }

    /// Lets what was printed be seen now.
    ///
    /// # Errors
    /// As [`Output::line`].
    pub fn flush(&mut self) -> Result<(), Failure> {
        self.place.lock().flush()
    }

    /// Lets what was printed be seen, and says how a tool ends whose work has ended so: not well if
    /// something could not be printed, unless its reader had enough.
    ///
    /// # Errors
    /// Why it does not end well.
    pub fn end(&mut self, done: Result<(), Failure>) -> Result<(), Failure> {
        match (done, self.flush()) {
            (Ok(()), flushed) => flushed,
            (Err(Failure::Exit(_) | Failure::Closed), Err(Failure::Told(why))) => {
                Err(Failure::Told(why))
            }
            (done, _) => done,
        }
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

    /// Takes these many bytes, has none left for a while, and then has room again.
    #[derive(Clone, Default)]
    struct Full(Arc<Mutex<(usize, Vec<u8>)>>);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let (room, taken) = &mut *self.0.lock();
            if *room == 0 {
                *room = usize::MAX;
                return Err(ErrorKind::StorageFull.into());
            }
            let len = bytes.len().min(*room);
            *room -= len;
            taken.extend(&bytes[..len]);
            Ok(len)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nothing_is_printed_behind_a_gap() {
        let place = Full(Arc::new(Mutex::new((6, Vec::new()))));
        let mut output = Output::to(place.clone());
        output.line("one").unwrap();
        output.flush().unwrap();
        output.line("two").unwrap();
        let Err(Failure::Told(why)) = output.flush() else { panic!("it was written") };
        for tried in [output.line("three"), output.clone().bytes(b"four"), output.flush()] {
            assert_eq!(tried, Err(Failure::Told(why.clone())));
        }
        for done in [Ok(()), Err(Failure::Exit(130)), Err(Failure::Closed)] {
            assert_eq!(output.end(done), Err(Failure::Told(why.clone())));
        }
        drop(output);
        assert_eq!(place.0.lock().1, b"one\ntw");
    }

    #[test]
    fn much_is_written_before_it_is_asked_for() {
        let place = Full(Arc::new(Mutex::new((usize::MAX, Vec::new()))));
        let mut output = Output::to(place.clone());
        output.bytes(&[b'x'; HELD_MAX]).unwrap();
        assert_eq!(place.0.lock().1.len(), HELD_MAX);
    }
}
