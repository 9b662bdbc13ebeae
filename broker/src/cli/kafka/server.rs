//! `kafka-server-start` and `kafka-server-stop`.

use super::arguments::{complain, parse};
use crate::cli::Where;
use clap::Parser;
use kraft::env::Env;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use protocol::config::node::NodeConfig;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use storage::disk::{Disk, mkdir_all};
use storage::properties;

/// Of Apache Kafka, whose place is taken; what stands behind it is ours.
const VERSION: &str = concat!("4.4.0 (Highwater ", env!("CARGO_PKG_VERSION"), ")");

/// The name that a started server goes by, which `ps` and `pgrep` show.
pub const SERVER: &str = "kafka-server-start";

/// Start a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// In the background, its output in `$LOG_DIR/kafkaServer.out`.
    pub is_daemon: bool,
    pub place: Where,
}

#[derive(Parser)]
#[command(name = SERVER, max_term_width = 100)]
#[command(override_usage = "kafka-server-start [-daemon] FILE [--override KEY=VALUE]...")]
#[command(about = "Start a broker. With -daemon first, in the background.")]
#[command(arg_required_else_help = true)]
struct Arguments {
    /// A server.properties file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Sets a key over what the file says; may be repeated.
    #[arg(long = "override", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

impl Start {
    pub(super) fn of(args: &[OsString]) -> Result<Start, ExitCode> {
        let (is_daemon, args) = match args.split_first() {
            Some((first, rest)) if first == "-daemon" => (true, rest),
            // What the scripts of Kafka take beside it tells a JVM's name, which nobody needs.
            Some((first, [_, rest @ ..])) if first == "-name" => (false, rest),
            _ => (false, args),
        };
        if args.iter().any(|arg| arg == "--version") {
            // Whoever closed stdout does not read it.
            drop(writeln!(io::stdout(), "{VERSION}"));
            return Err(ExitCode::SUCCESS);
        }
        let Arguments { file, overrides } = parse(args)?;
        Ok(Start { is_daemon, place: Where { file: Some(file), overrides, ..Where::default() } })
    }

    /// Starts the same once more, in the background, and comes back when it runs.
    ///
    /// # Errors
    /// When it could not be started, in a line.
    pub fn daemon(&self, env: &Env, log_dir: &Path) -> Result<(), String> {
        let path = log_dir.join("kafkaServer.out");
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        mkdir_all(&*env.disk, log_dir).map_err(failed)?;
        let out = output(&path).map_err(failed)?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0(SERVER).args(self.place.file.iter());
        for text in &self.place.overrides {
            command.args(["--override", text]);
        }
        // Of a group of its own, so that what stops the caller does not stop it too.
        command.stdin(Stdio::null()).stderr(out.try_clone().map_err(failed)?).stdout(out);
        command.process_group(0).spawn().map_err(failed)?;
        Ok(())
    }
}

/// Where the scripts put what a background server prints: `LOG_DIR`, which is theirs and no setting
/// of the broker.
pub fn log_dir() -> PathBuf {
    std::env::var_os("LOG_DIR").map_or_else(|| PathBuf::from("logs"), PathBuf::from)
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process writes it, and not the broker's disk"
)]
fn output(path: &Path) -> io::Result<std::fs::File> {
    std::fs::File::options().create(true).append(true).open(path)
}

/// Ask the brokers of this machine to stop.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(name = "kafka-server-stop", max_term_width = 100)]
pub struct Stop {
    /// Only those with this role: broker or controller.
    #[arg(long, value_name = "ROLE")]
    pub process_role: Option<String>,
    /// Only the one with this node.id.
    #[arg(long, value_name = "ID")]
    pub node_id: Option<i32>,
}

/// A broker that runs on this machine, and what its properties file says.
struct Running {
    pid: i32,
    settings: Vec<properties::Property>,
}

impl Stop {
    /// Sends each of them SIGTERM, upon which it stops in order. Does not wait for the end, as
    /// Kafka's script does not.
    pub fn run(&self, env: &Env) -> ExitCode {
        let found: Vec<_> = running(&*env.disk).into_iter().filter(|it| self.means(it)).collect();
        if found.is_empty() {
            complain("No kafka server to stop");
            return ExitCode::FAILURE;
        }
        let mut done = ExitCode::SUCCESS;
        for server in found {
            if let Err(error) = kill(Pid::from_raw(server.pid), Signal::SIGTERM) {
                complain(&format!("Process {} cannot be stopped: {error}", server.pid));
                done = ExitCode::FAILURE;
            }
        }
        done
    }

    fn means(&self, server: &Running) -> bool {
        let of = |name: &str| {
            server.settings.iter().rev().find(|it| it.name == name).map(|it| it.value.as_str())
        };
        let is_role = self.process_role.as_ref().is_none_or(|wanted| {
            let roles = of(NodeConfig::process_roles().name).unwrap_or("broker,controller");
            roles.split(',').any(|role| role.trim() == wanted)
        });
        let is_node = self.node_id.is_none_or(|wanted| {
            let ids = [NodeConfig::node_id().name, NodeConfig::broker_id().name];
            ids.into_iter().find_map(of).and_then(|id| id.trim().parse().ok()) == Some(wanted)
        });
        is_role && is_node
    }
}

fn running(disk: &dyn Disk) -> Vec<Running> {
    let entries = disk.list(Path::new("/proc")).unwrap_or_default();
    let pids = entries.iter().filter_map(|entry| entry.name.parse::<i32>().ok());
    let me = i32::try_from(std::process::id()).unwrap_or(0);
    pids.filter(|pid| *pid != me)
        .filter_map(|pid| {
            let line = read(disk, &PathBuf::from(format!("/proc/{pid}/cmdline")))?;
            let line = String::from_utf8_lossy(&line).into_owned();
            let words: Vec<&str> = line.trim_end_matches('\0').split('\0').collect();
            let arguments = served_with(&words)?;
            let settings = arguments.iter().find(|word| !word.starts_with('-'));
            let settings = settings.and_then(|file| {
                let from = PathBuf::from(format!("/proc/{pid}/cwd")).join(file);
                properties::parse(&read(disk, &from)?).ok()
            });
            Some(Running { pid, settings: settings.unwrap_or_default() })
        })
        .collect()
}

/// The arguments of a command line that is a broker's.
fn served_with<'a, 'b>(words: &'b [&'a str]) -> Option<&'b [&'a str]> {
    let (called, rest) = words.split_first()?;
    let name = called.rsplit('/').next().unwrap_or(called);
    match (name.strip_suffix(".sh").unwrap_or(name), rest) {
        (SERVER, rest) => Some(rest),
        ("highwater", ["start", rest @ ..]) => Some(rest),
        _ => None,
    }
}

/// The whole of a file that does not know its size; None where it cannot be read.
fn read(disk: &dyn Disk, path: &Path) -> Option<Vec<u8>> {
    let file = disk.open(path).ok()?;
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        match file.read_at(bytes.len() as u64, &mut chunk) {
            Ok(0) => return Some(bytes),
            Ok(count) => bytes.extend_from_slice(chunk.get(..count)?),
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broker_is_known_by_its_command_line() {
        let of = |line: &str| served_with(&line.split(' ').collect::<Vec<_>>()).map(<[_]>::len);
        assert_eq!(of("/usr/bin/kafka-server-start a.properties"), Some(1));
        assert_eq!(of("kafka-server-start.sh a.properties --override k=v"), Some(3));
        assert_eq!(of("target/release/highwater start"), Some(0));
        assert_eq!(of("highwater format"), None);
        assert_eq!(of("vim kafka-server-start"), None);
    }

    #[test]
    fn a_stop_means_a_role_and_a_node() {
        let server = Running {
            pid: 7,
            settings: properties::parse(b"process.roles=broker,controller\nnode.id=3").unwrap(),
        };
        let means = |process_role: Option<&str>, node_id| {
            Stop { process_role: process_role.map(str::to_owned), node_id }.means(&server)
        };
        assert!(means(None, None));
        assert!(means(Some("controller"), Some(3)));
        assert!(!means(Some("broker"), Some(1)));
        assert!(!means(Some("nobody"), None));
    }
}
