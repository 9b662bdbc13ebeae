//! The systemd unit, and what the broker tells the service manager.

use compat_tests::broker::{free_port, properties};
use compat_tests::home::{highwater, root, tool};
use compat_tests::process::{Server, run};
use compat_tests::wire::Connection;
use nix::sys::signal::Signal;
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

#[test]
fn systemd_takes_the_unit() {
    tool("systemd");
    let dir = TempDir::new().unwrap();
    let unit = std::fs::read_to_string(root().join("packaging/highwater.service")).unwrap();
    // The binary under test stands for the one that is installed.
    let unit = unit.replace("/usr/bin/highwater", &highwater().display().to_string());
    let path = dir.path().join("highwater.service");
    std::fs::write(&path, unit).unwrap();
    let mut verify = Command::new("systemd-analyze");
    let verified = run(verify.arg("verify").arg(&path), Duration::from_secs(60));
    let about = verified.err.lines().filter(|line| line.contains("highwater.service"));
    let about: Vec<_> = about.collect();
    assert!(verified.status.success() && about.is_empty(), "{about:?}\n{}", verified.err);
}

#[test]
fn the_manager_hears_when_clients_are_served() {
    let dir = TempDir::new().unwrap();
    let manager = UnixDatagram::bind(dir.path().join("notify")).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let heard = || {
        let mut bytes = [0; 1000];
        let count = manager.recv(&mut bytes).expect("the broker says how far it is");
        let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
        text.lines().next().unwrap_or_default().to_owned()
    };
    let port = free_port();
    let file = dir.path().join("server.properties");
    std::fs::write(&file, properties(port, free_port(), dir.path())).unwrap();
    let mut command = Command::new(highwater());
    command.arg("start").arg(&file).env("NOTIFY_SOCKET", dir.path().join("notify"));
    let mut server = Server::start(&mut command, &dir.path().join("log"));
    assert_eq!(heard(), "READY=1");
    assert_eq!(Connection::open(port).unwrap().brokers().unwrap(), 1, "it serves at once");
    server.signal(Signal::SIGHUP);
    assert_eq!([heard(), heard()], ["RELOADING=1", "READY=1"]);
    server.signal(Signal::SIGTERM);
    assert_eq!(heard(), "STOPPING=1");
    assert!(server.wait(Duration::from_secs(10)).success());
}
