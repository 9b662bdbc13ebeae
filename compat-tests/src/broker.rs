//! One node of Highwater as a process.

use crate::home::highwater;
use crate::process::{Server, until};
use crate::wire::Connection;
use nix::sys::signal::Signal;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A running node, and what it needs to be started again.
#[derive(Debug)]
pub struct Broker {
    pub server: Server,
    pub port: u16,
    pub dir: PathBuf,
}

/// A port that nobody listens on, and not one of the last thousands that this process was given: two
/// that are asked for before the first is used are two. It is below those that the kernel by default
/// gives to whoever connects, one of whom could take it meanwhile, and none that other people's files
/// publish.
///
/// # Panics
/// When the machine has none left.
pub fn free_port() -> u16 {
    const FIRST: u32 = 23_000;
    const COUNT: u32 = 4_000;
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    // Processes that run beside each other begin elsewhere, mostly.
    let first = std::process::id().wrapping_mul(101);
    let ports = (0..COUNT).filter_map(|_| {
        let at = first.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed)) % COUNT;
        u16::try_from(FIRST + at).ok()
    });
    let mut free = ports.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().expect("a free port")
}

/// The properties of a combined node with its data in `dir/data`.
pub fn properties(port: u16, controller_port: u16, dir: &Path) -> String {
    format!(
        "process.roles=broker,controller\nnode.id=1\n\
         controller.quorum.bootstrap.servers=127.0.0.1:{controller_port}\n\
         listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}\n\
         advertised.listeners=PLAINTEXT://127.0.0.1:{port}\n\
         controller.listener.names=CONTROLLER\nlog.dirs={}\n",
        dir.join("data").display()
    )
}

impl Broker {
    /// Starts a node whose data is under `dir`, with `more` lines in its properties,
    /// in which `CONTROLLER_PORT` stands for the port of its controller.
    pub fn start(dir: &Path, more: &str) -> Broker {
        let port = free_port();
        let controller_port = free_port();
        let more = more.replace("CONTROLLER_PORT", &controller_port.to_string());
        let text = properties(port, controller_port, dir) + &more;
        let path = dir.join("server.properties");
        std::fs::write(&path, text).expect("a properties file");
        // A power cut in a test is to take the broker's files, not this one.
        for path in [&path, dir] {
            std::fs::File::open(path).and_then(|it| it.sync_all()).expect("it is synced");
        }
        Broker::up(dir, port)
    }

    fn up(dir: &Path, port: u16) -> Broker {
        let mut command = Command::new(highwater());
        command.arg("start").arg(dir.join("server.properties"));
        let server = Server::start(&mut command, &dir.join("highwater.log"));
        let mut broker = Broker { server, port, dir: dir.to_owned() };
        broker.await_ready();
        broker
    }

    fn await_ready(&mut self) {
        let end = Instant::now() + Duration::from_secs(60);
        until("the broker answers", Duration::from_secs(61), || {
            let brokers = Connection::open(self.port).and_then(|mut it| it.brokers());
            assert!(self.server.is_up(), "the broker ended:\n{}", self.server.tail());
            assert!(Instant::now() < end, "the broker does not answer:\n{}", self.server.tail());
            brokers.ok().filter(|count| *count != 0)
        });
    }

    pub fn bootstrap(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Stops it as an operator would.
    pub fn stop(&mut self) -> ExitStatus {
        self.server.signal(Signal::SIGTERM);
        self.server.wait(Duration::from_secs(10))
    }

    /// Ends it at once, with whatever it was doing.
    pub fn kill(&mut self) {
        self.server.signal(Signal::SIGKILL);
        self.server.wait(Duration::from_secs(10));
    }

    /// Starts it again, on the same port and data.
    pub fn start_again(&mut self) {
        assert!(!self.server.is_up(), "it runs");
        *self = Broker::up(&self.dir, self.port);
    }

    /// Where its logs are.
    pub fn data(&self) -> PathBuf {
        self.dir.join("data")
    }
}
