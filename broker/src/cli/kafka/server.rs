//! `kafka-server-start` and `kafka-server-stop`.

use super::arguments::parse;
use crate::cli::Where;
use crate::config::given::file;
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
use tools::output::complain;
use tools::run_class;

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

/// A broker that runs on this machine, and what its file and its overrides say; the later counts.
struct Running {
    pid: i32,
    settings: Vec<(String, String)>,
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
            let said = server.settings.iter().rev().find(|(it, _)| it == name);
            said.map(|(_, value)| value.as_str())
        };
        let is_role = self.process_role.as_ref().is_none_or(|wanted| {
            let roles = of(NodeConfig::process_roles().name).unwrap_or("broker,controller");
            roles.split(',').any(|role| role.trim() == wanted)
        });
        let is_node = self.node_id.is_none_or(|wanted| {
            let ids = [NodeConfig::node_id().name, NodeConfig::broker_id().name];
            // What is said elsewhere, as in its environment, is not known: it is left alone.
            ids.into_iter().find_map(of).is_some_and(|id| id.trim().parse() == Ok(wanted))
        });
        is_role && is_node
    }
}

/// What a broker is that has neither a file nor an image's environment.
const STANDALONE: [&str; 2] = [NodeConfig::node_id().name, "1"];

fn running(disk: &dyn Disk) -> Vec<Running> {
    let entries = disk.list(Path::new("/proc")).unwrap_or_default();
    let pids = entries.iter().filter_map(|entry| entry.name.parse::<i32>().ok());
    let me = i32::try_from(std::process::id()).unwrap_or(0);
    pids.filter(|pid| *pid != me)
        .filter_map(|pid| {
            let line = file::read(disk, &PathBuf::from(format!("/proc/{pid}/cmdline"))).ok()?;
            let line = String::from_utf8_lossy(&line).into_owned();
            let words: Vec<&str> = line.trim_end_matches('\0').split('\0').collect();
            let words = served_with(&words)?;
            let (given, overrides) = told(words);
            let pair = |text: &str| {
                text.split_once('=').map(|(a, b)| (a.trim().to_owned(), b.trim().to_owned()))
            };
            let settings = match given {
                Some(given) => {
                    let from = PathBuf::from(format!("/proc/{pid}/cwd")).join(given);
                    let said = file::read(disk, &from).ok();
                    let said = said.and_then(|said| properties::parse(&said).ok());
                    said.unwrap_or_default().into_iter().map(|it| (it.name, it.value)).collect()
                }
                None if words.iter().any(|word| word.starts_with("--image")) => Vec::new(),
                None => vec![STANDALONE.map(str::to_owned).into()],
            };
            let overrides = overrides.into_iter().filter_map(pair);
            Some(Running { pid, settings: settings.into_iter().chain(overrides).collect() })
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
        // As the program takes it, the name of a script may stand behind its own.
        ("highwater", rest @ [_, ..]) => served_with(rest),
        (run_class::RUN_CLASS, rest) => {
            let is_class = |word: &&str| word.rsplit('.').next() == Some(run_class::NODE);
            rest.get(rest.iter().position(is_class)? + 1..)
        }
        _ => None,
    }
}

/// The file that a broker's arguments name, and its overrides.
fn told<'a>(arguments: &[&'a str]) -> (Option<&'a str>, Vec<&'a str>) {
    const WITH_VALUE: [&str; 5] = ["-name", "--override", "--image", "--env-file", "--log-level"];
    let (mut file, mut overrides) = (None, Vec::new());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            file.get_or_insert(*word);
            continue;
        }
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None if WITH_VALUE.contains(word) => (*word, words.next().copied()),
            None => (*word, None),
        };
        if flag == "--override" {
            overrides.extend(value);
        }
    }
    (file, overrides)
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
        assert_eq!(of("highwater kafka-server-start.sh a.properties"), Some(1));
        assert_eq!(of("kafka-run-class.sh -name kafka kafka.Kafka a.properties"), Some(1));
        assert_eq!(of("kafka-run-class kafka.tools.GetOffsetShell"), None);
        assert_eq!(of("highwater kafka-topics --list"), None);
    }

    #[test]
    fn a_broker_is_told_a_file_and_overrides() {
        let line = "--override node.id=3 --log-level warn a.properties --override=k=v=w --image x";
        let words: Vec<_> = line.split(' ').collect();
        assert_eq!(told(&words), (Some("a.properties"), vec!["node.id=3", "k=v=w"]));
        assert_eq!(told(&["-name", "x", "f"]), (Some("f"), Vec::new()));
        assert_eq!(told(&[]), (None, Vec::new()));
    }

    #[test]
    fn a_stop_means_a_role_and_a_node() {
        let settings = [("process.roles", "broker,controller"), ("node.id", "1"), ("node.id", "3")];
        let owned = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let server = Running { pid: 7, settings: owned.to_vec() };
        let means = |process_role: Option<&str>, node_id| {
            Stop { process_role: process_role.map(str::to_owned), node_id }.means(&server)
        };
        assert!(means(None, None));
        assert!(means(Some("controller"), Some(3)));
        assert!(!means(Some("broker"), Some(1)));
        assert!(!means(Some("nobody"), None));
        let unknown = Running { pid: 7, settings: Vec::new() };
        assert!(!Stop { process_role: None, node_id: Some(1) }.means(&unknown));
    }
}
