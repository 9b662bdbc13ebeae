//! One node of either broker as a process: started, stopped, killed, measured.

use crate::Outcome;
use crate::administration::{serves, until};
use crate::machine::peak_resident_bytes;
use crate::options::System;
use compat_tests::broker::{free_port, properties};
use compat_tests::home::{highwater, tool};
use compat_tests::process::{Server, run};
use nix::sys::signal::Signal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const START_LIMIT: Duration = Duration::from_secs(120);
const STOP_LIMIT: Duration = Duration::from_secs(120);
/// As `kafka-server-start.sh` and `kafka-run-class.sh` start it.
const JVM: [&str; 8] = [
    "-Xmx1G",
    "-Xms1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
];

#[derive(Debug)]
pub(crate) struct Node {
    system: System,
    server: Server,
    pub(crate) port: u16,
    dir: PathBuf,
    /// From the start of its process to its first metadata answer.
    pub(crate) start_ms: f64,
}

impl Node {
    /// Starts a node on `dir/data`, formatted if it is empty (which counts), with `more` lines in
    /// its properties, else its defaults.
    pub(crate) fn start(system: System, dir: &Path, more: &str) -> Outcome<Node> {
        let port = free_port();
        let mut text = properties(port, free_port(), dir) + more;
        if system == System::Kafka {
            // The defaults ask for three nodes.
            text.push_str("offsets.topic.replication.factor=1\n");
            text.push_str("transaction.state.log.replication.factor=1\n");
            text.push_str("transaction.state.log.min.isr=1\n");
        }
        std::fs::write(dir.join("server.properties"), text)?;
        Node::up(system, dir, port)
    }

    fn up(system: System, dir: &Path, port: u16) -> Outcome<Node> {
        let mut command = command(system, dir);
        let since = Instant::now();
        if system == System::Kafka && !dir.join("data/meta.properties").exists() {
            let mut format = java();
            format.args(["kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg"]);
            format.args(["--standalone", "-c"]).arg(dir.join("server.properties"));
            run(&mut format, START_LIMIT).ok();
        }
        let server = Server::start(&mut command, &dir.join("broker.log"));
        let mut node = Node { system, server, port, dir: dir.to_owned(), start_ms: 0.0 };
        let server = &mut node.server;
        let mut ended = false;
        let ready = until("the broker answers", START_LIMIT, || {
            ended = !server.is_up();
            if ended { Ok(Some(())) } else { serves(port) }
        });
        node.start_ms = since.elapsed().as_secs_f64() * 1e3;
        match ready {
            Ok(()) if !ended => Ok(node),
            Ok(()) => Err(format!("{} ended:\n{}", system.name(), node.server.tail()).into()),
            Err(error) => Err(format!("{}: {error}\n{}", system.name(), node.server.tail()).into()),
        }
    }

    /// Starts it again on the same port and data, after a stop or a kill.
    pub(crate) fn start_again(self) -> Outcome<Node> {
        let Node { system, port, dir, .. } = &self;
        Node::up(*system, dir, *port)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.pid()
    }

    pub(crate) fn is_up(&mut self) -> bool {
        self.server.is_up()
    }

    pub(crate) fn resident_bytes(&self) -> f64 {
        let kilobytes = u32::try_from(self.server.resident() / 1024).unwrap_or(u32::MAX);
        1024.0 * f64::from(kilobytes)
    }

    /// The most memory that it held so far.
    pub(crate) fn peak_bytes(&self) -> Outcome<f64> {
        peak_resident_bytes(self.pid())
    }

    /// Where its logs are.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// Stops it as an operator would.
    pub(crate) fn stop(&mut self) -> Outcome<()> {
        self.end(Signal::SIGTERM)
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) -> Outcome<()> {
        self.end(Signal::SIGKILL)
    }

    fn end(&mut self, signal: Signal) -> Outcome<()> {
        self.server.signal(signal);
        let server = &mut self.server;
        until("it ends", STOP_LIMIT, || Ok((!server.is_up()).then_some(())))
    }
}

fn java() -> Command {
    let home = tool("kafka");
    let mut command = tied("java".as_ref());
    command.args(JVM);
    command.arg(format!("-Dlog4j2.configurationFile={}", home.join("log4j2.xml").display()));
    command.arg("-cp").arg(format!("{}/*", home.join("libs").display()));
    command
}

/// A process that ends when the driver does, even when that is killed.
fn tied(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

fn command(system: System, dir: &Path) -> Command {
    let mut command = match system {
        System::Kafka => {
            let mut command = java();
            command.arg("kafka.Kafka");
            command
        }
        System::Highwater => {
            let mut command = tied(&highwater());
            command.arg("start");
            command
        }
    };
    command.arg(dir.join("server.properties"));
    command
}

/// What a broker calls itself.
pub(crate) fn version(system: System) -> String {
    match system {
        System::Highwater => {
            let said = run(Command::new(highwater()).arg("--version"), START_LIMIT);
            said.out.trim().to_owned()
        }
        System::Kafka => {
            let libs = std::fs::read_dir(tool("kafka").join("libs"));
            let names = libs.into_iter().flatten().flatten().map(|entry| entry.file_name());
            let version = names.into_iter().find_map(|name| {
                let name = name.to_str()?.strip_prefix("kafka_2.13-")?.strip_suffix(".jar")?;
                Some(name.to_owned())
            });
            format!("Apache Kafka {}", version.as_deref().unwrap_or("?"))
        }
    }
}
