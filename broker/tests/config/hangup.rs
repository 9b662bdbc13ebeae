//! SIGHUP: the file is read anew while the broker runs.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A broker process, and the lines that it logs.
struct Running {
    child: Child,
    log: BufReader<ChildStdout>,
}

impl Running {
    fn start(file: &Path) -> Running {
        let mut child = Command::new(env!("CARGO_BIN_EXE_highwater"))
            .arg("start")
            .arg(file)
            .args(["--override", "min.insync.replicas=1"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stdout.take().unwrap());
        Running { child, log }
    }

    /// The next line that holds `part`.
    fn line(&mut self, part: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.log.read_line(&mut line).unwrap(), 0, "it ended before `{part}`");
            if line.contains(part) {
                return line;
            }
        }
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_hangup_has_the_file_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.properties");
    let write = |more: &str| {
        let dirs = folder.path().join("data");
        let text = format!(
            "listeners=PLAINTEXT://localhost:0\nlog.dirs={}\nhighwater.admin.listener=\n{more}\n",
            dirs.display()
        );
        std::fs::write(&file, text).unwrap();
    };
    write("log.retention.ms=1000000");
    let mut broker = Running::start(&file);
    broker.line("Kafka Server started");

    write("log.retention.ms=2000000\nnum.partitions=7\nmin.insync.replicas=3");
    broker.signal(Signal::SIGHUP);
    broker.line("These keys change with a restart: num.partitions (");
    broker.line("The configuration was read anew: log.retention.ms changed");

    write("log.retention.ms=soon");
    broker.signal(Signal::SIGHUP);
    let line = broker.line("The old value stays");
    assert!(line.contains("server.properties:4: log.retention.ms=soon: must be a 64-bit number"));
    broker.line("The configuration was read anew, and changes nothing now");

    // What has no effect now, and what is unknown, is told as at a start, each time.
    write("num.io.threads=many\nnum.partition=3\nlisteners=PLAINTEXT://a:1,PLAINTEXT://b:1");
    for _ in 0..2 {
        broker.signal(Signal::SIGHUP);
        broker.line("Unknown keys are ignored: num.partition (num.partitions?)");
        broker.line("server.properties:4: num.io.threads=many: must be a 32-bit number");
        broker.line("The configuration was read anew");
    }
    write("listeners=PLAINTEXT://a:1,PLAINTEXT://b:1");
    broker.signal(Signal::SIGHUP);
    let line = broker.line("A restart would be refused");
    assert!(line.contains("listeners=PLAINTEXT://b:1: must name each listener once"), "{line}");

    std::fs::remove_file(&file).unwrap();
    broker.signal(Signal::SIGHUP);
    assert!(broker.line("The configuration stays as it is").contains("cannot read"));

    broker.signal(Signal::SIGTERM);
    broker.line("shut down completed");
    assert!(broker.child.wait().unwrap().success());
}
