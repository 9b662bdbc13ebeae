//! Apache Kafka's tools in one Java process, one after the other: starting Java for each would
//! cost more than all that they do.

use crate::kafka::{class, java};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// The process.
#[derive(Debug)]
pub struct JavaTools {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

/// How one tool ended, and what it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl JavaTools {
    /// Starts Java.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start() -> JavaTools {
        let mut command = java();
        command.arg("Tools").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("java starts");
        let to = child.stdin.take().expect("a pipe");
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        JavaTools { child, to, from }
    }

    /// Runs a tool, by the name of its script, to its end.
    ///
    /// # Panics
    /// When Java is gone.
    #[track_caller]
    pub fn run(&mut self, tool: &str, args: &[String]) -> Said {
        let words: Vec<String> = [class(tool)].into_iter().chain(args.iter().cloned()).collect();
        writeln!(self.to, "{}", words.join("\t")).expect("java reads");
        self.to.flush().expect("java reads");
        let code = self.line().parse().expect("an exit code");
        Said { code, out: text(&self.line()), err: text(&self.line()) }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let count = self.from.read_line(&mut line).expect("java answers");
        assert!(0 < count, "java has ended");
        line.trim().to_owned()
    }
}

impl Drop for JavaTools {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn text(hex: &str) -> String {
    let digits = hex.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).expect("digits");
        u8::from_str_radix(pair, 16).expect("digits")
    });
    String::from_utf8_lossy(&digits.collect::<Vec<_>>()).into_owned()
}
