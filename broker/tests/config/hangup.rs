//! SIGHUP: the file is read anew while the broker runs.

use crate::process::Running;
use nix::sys::signal::Signal;
use std::path::Path;
use std::process::Command;

fn start(file: &Path) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater"));
    command.arg("start").arg(file).args(["--override", "min.insync.replicas=1"]);
    Running::start(&mut command)
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
    let mut broker = start(&file);
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
    assert!(broker.ends_well());
}
