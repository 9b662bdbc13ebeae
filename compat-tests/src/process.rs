//! A child process that ends with its owner, and commands with a time limit.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A server in the background; its output goes to a file.
#[derive(Debug)]
pub struct Server {
    child: Child,
    pub log: PathBuf,
}

impl Server {
    /// Starts `command`, with both its outputs appended to `log`.
    ///
    /// # Panics
    /// When the program cannot be started.
    pub fn start(command: &mut Command, log: &Path) -> Server {
        let out = File::options().create(true).append(true).open(log).expect("a log file");
        let err = out.try_clone().expect("a second handle");
        // In a group of its own, so that an interrupt at the terminal does not reach it first.
        let child = command
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Server { child, log: log.to_owned() }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).expect("a process id");
        kill(Pid::from_raw(pid), signal).expect("the process is there");
    }

    /// Waits until it has ended by itself.
    ///
    /// # Panics
    /// When it is still there after `limit`.
    pub fn wait(&mut self, limit: Duration) -> ExitStatus {
        wait(&mut self.child, limit)
            .unwrap_or_else(|| panic!("it did not end in {limit:?}:\n{}", self.tail()))
    }

    /// Whether it runs.
    pub fn is_up(&mut self) -> bool {
        self.child.try_wait().expect("our child").is_none()
    }

    /// The end of what it printed.
    pub fn tail(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let from = text.len().saturating_sub(4000);
        String::from_utf8_lossy(text.get(from..).unwrap_or_default()).into_owned()
    }

    /// Resident memory in bytes.
    pub fn resident(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        1024 * kilobytes.unwrap_or(0_u64)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// How a command ended, and what it said.
#[derive(Clone, Debug)]
pub struct Output {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

impl Output {
    /// Its standard output, if it ended well.
    ///
    /// # Panics
    /// With all that it said, if it did not.
    #[track_caller]
    pub fn ok(self) -> String {
        assert!(self.status.success(), "{}\n{}\n{}", self.status, self.out, self.err);
        self.out
    }
}

/// Runs a command to its end.
///
/// # Panics
/// When it cannot be started, or runs longer than `limit`.
#[track_caller]
pub fn run(command: &mut Command, limit: Duration) -> Output {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let out = reader(child.stdout.take().expect("a pipe"));
    let err = reader(child.stderr.take().expect("a pipe"));
    let status = wait(&mut child, limit);
    if status.is_none() {
        drop(child.kill());
        drop(child.wait());
    }
    let (out, err) = (out.join().expect("a reader"), err.join().expect("a reader"));
    let status = status.unwrap_or_else(|| panic!("{command:?} ran over {limit:?}:\n{out}\n{err}"));
    Output { status, out, err }
}

fn reader(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(pipe.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    poll(PAUSE, limit, || child.try_wait().expect("our child"))
}

/// Between two questions that cost nothing.
const PAUSE: Duration = Duration::from_millis(5);

/// Asks until there is an answer. None: there was none within `limit`. The one place that pauses: what
/// another process does tells nobody here.
fn poll<T>(pause: Duration, limit: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        let answer = ask();
        if answer.is_some() || end <= Instant::now() {
            return answer;
        }
        std::thread::sleep(pause);
    }
}

/// Asks again every few milliseconds until there is an answer.
///
/// # Panics
/// When there is none within `limit`.
#[track_caller]
pub fn until<T>(what: &str, limit: Duration, ask: impl FnMut() -> Option<T>) -> T {
    until_every(PAUSE, what, limit, ask)
}

/// The same for questions that cost those who are asked something, with so long a pause between.
///
/// # Panics
/// When there is no answer within `limit`.
#[track_caller]
pub fn until_every<T>(
    pause: Duration,
    what: &str,
    limit: Duration,
    ask: impl FnMut() -> Option<T>,
) -> T {
    match poll(pause, limit, ask) {
        Some(answer) => answer,
        None => panic!("{what}: not within {limit:?}"),
    }
}
