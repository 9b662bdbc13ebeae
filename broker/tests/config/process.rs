//! The program under test, which has to come to an end, or say something, in time.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Far more than anything here takes.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs a command to its end.
#[track_caller]
pub(super) fn run(command: &mut Command) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    let id = child.id();
    let (ends, ended) = channel();
    thread::spawn(move || ends.send(child.wait_with_output()));
    match ended.recv_timeout(LIMIT) {
        Ok(output) => output.unwrap(),
        Err(_) => {
            send(id, Signal::SIGKILL);
            panic!("{command:?} does not end");
        }
    }
}

fn send(id: u32, signal: Signal) {
    kill(Pid::from_raw(id.try_into().unwrap()), signal).unwrap();
}

/// A process, and the lines that it prints.
pub(super) struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    pub(super) fn start(command: &mut Command) -> Running {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let (says, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|it| says.send(it)));
        Running { child, lines }
    }

    /// The next line that holds `part`.
    #[track_caller]
    pub(super) fn line(&mut self, part: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(LIMIT);
            let line = line.unwrap_or_else(|why| panic!("{why} before `{part}`"));
            if line.contains(part) {
                return line;
            }
        }
    }

    pub(super) fn signal(&self, signal: Signal) {
        send(self.child.id(), signal);
    }

    /// Whether it ended well. It has said its last line.
    pub(super) fn ends_well(mut self) -> bool {
        let why = loop {
            if let Err(why) = self.lines.recv_timeout(LIMIT) {
                break why;
            }
        };
        assert_eq!(why, RecvTimeoutError::Disconnected, "it does not end");
        self.child.wait().unwrap().success()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
