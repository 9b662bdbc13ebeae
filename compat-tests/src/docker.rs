//! Docker: a daemon, our image, and containers that end with their owners.

use crate::home::{highwater, root, tool};
use crate::process::{Output, run, until};
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// The image under test.
pub const IMAGE: &str = "highwater-test";
const LIMIT: Duration = Duration::from_secs(60);

/// A Docker daemon that has the image.
#[derive(Debug)]
pub struct Docker {
    /// What `DOCKER_HOST` has to say; None: nothing.
    pub host: Option<String>,
    /// Holds the end of a pipe for as long as this process lives; then the daemon stops.
    _keeper: Option<Child>,
}

/// The daemon of this machine, if one runs, else one of our own; with the image built from the
/// binary under test.
///
/// # Panics
/// When there is none to be had.
pub fn docker() -> &'static Docker {
    static DOCKER: OnceLock<Docker> = OnceLock::new();
    DOCKER.get_or_init(|| {
        tool("docker");
        let docker = if answers(None) { Docker { host: None, _keeper: None } } else { own() };
        let mut build = Command::new(root().join("docker/build"));
        docker.reach(build.arg(IMAGE).env("HIGHWATER", highwater()));
        run(&mut build, Duration::from_secs(300)).ok();
        docker
    })
}

fn answers(host: Option<&str>) -> bool {
    let mut command = Command::new("docker");
    command.args(host.map(|host| format!("--host={host}"))).args(["version"]);
    run(&mut command, LIMIT).status.success()
}

/// Starts a daemon that stops with this process, however that ends.
fn own() -> Docker {
    let home = root().join("target/docker");
    std::fs::create_dir_all(&home).expect("a folder");
    let at = |name: &str| home.join(name).display().to_string();
    // A path of a socket has room for 107 bytes.
    let socket = std::env::temp_dir().join(format!("highwater-docker-{}", std::process::id()));
    let host = format!("unix://{}", socket.display());
    let log = File::create(home.join("log")).expect("a log file");
    let script = "dockerd \"$@\" </dev/null & pid=$!; cat >/dev/null; kill $pid; wait $pid";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", "--host", &host, "--data-root", &at("data")]);
    command.args(["--exec-root", &at("exec"), "--pidfile", &at("pid")]);
    command.stdin(Stdio::piped()).stderr(log.try_clone().expect("a handle")).stdout(log);
    let keeper = command.spawn().expect("a shell");
    until("the Docker daemon answers", LIMIT, || answers(Some(&host)).then_some(()));
    Docker { host: Some(host), _keeper: Some(keeper) }
}

impl Docker {
    /// Has a command talk to this daemon.
    pub fn reach(&self, command: &mut Command) {
        command.envs(self.host.as_ref().map(|host| ("DOCKER_HOST", host)));
    }

    /// Runs `docker` with these arguments.
    #[track_caller]
    pub fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new("docker");
        self.reach(command.args(args));
        run(&mut command, LIMIT)
    }
}

/// A network of containers that is taken away with its owner.
#[derive(Debug)]
pub struct Network {
    pub name: String,
}

impl Network {
    /// Docker leads a container's way out through the first of its networks, by their names.
    #[track_caller]
    pub fn new(name: &str) -> Network {
        let network = Network { name: format!("highwater-{}-{name}", std::process::id()) };
        docker().run(&["network", "create", &network.name]).ok();
        network
    }

    /// The address of this machine on it.
    #[track_caller]
    pub fn gateway(&self) -> String {
        let template = "{{(index .IPAM.Config 0).Gateway}}";
        let said = docker().run(&["network", "inspect", "-f", template, &self.name]);
        said.ok().trim().to_owned()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        drop(docker().run(&["network", "rm", &self.name]));
    }
}

/// A container that is taken away with its owner.
#[derive(Debug)]
pub struct Container {
    pub id: String,
}

impl Container {
    /// Starts the image: `args` stand before its name, `command` behind it.
    ///
    /// # Panics
    /// When Docker does not start it.
    #[track_caller]
    pub fn start(args: &[&str], command: &[&str]) -> Container {
        let args = [&["run", "-d"], args, &[IMAGE], command].concat();
        Container { id: docker().run(&args).ok().trim().to_owned() }
    }

    /// The same on several networks from its start on; by `name` on the second.
    ///
    /// # Panics
    /// When Docker does not start it.
    #[track_caller]
    pub fn start_on(networks: [&Network; 2], name: &str, args: &[&str]) -> Container {
        let [first, second] = networks.map(|it| it.name.as_str());
        let on_first = ["create", "--network", first, "--network-alias", name];
        let created = docker().run(&[&on_first, args, &[IMAGE]].concat());
        let container = Container { id: created.ok().trim().to_owned() };
        docker().run(&["network", "connect", "--alias", name, second, &container.id]).ok();
        docker().run(&["start", &container.id]).ok();
        container
    }

    /// Where on this machine the container's port is published.
    ///
    /// # Panics
    /// When it is not.
    #[track_caller]
    pub fn port(&self, inside: u16) -> u16 {
        let said = docker().run(&["port", &self.id, &format!("{inside}/tcp")]).ok();
        let port = said.lines().next().and_then(|line| line.rsplit(':').next());
        port.and_then(|port| port.trim().parse().ok()).expect("a published port")
    }

    /// What `docker inspect` says of it, by a template.
    #[track_caller]
    pub fn inspect(&self, template: &str) -> String {
        docker().run(&["inspect", "-f", template, &self.id]).ok().trim().to_owned()
    }

    /// Its address on a network.
    #[track_caller]
    pub fn address_on(&self, network: &Network) -> String {
        let name = &network.name;
        self.inspect(&format!("{{{{(index .NetworkSettings.Networks {name:?}).IPAddress}}}}"))
    }

    /// All that it has printed.
    pub fn log(&self) -> String {
        let Output { out, err, .. } = docker().run(&["logs", &self.id]);
        out + &err
    }

    /// Waits until it has printed `text`.
    ///
    /// # Panics
    /// When it ends before.
    #[track_caller]
    pub fn until_said(&self, text: &str) {
        until(text, LIMIT, || {
            let log = self.log();
            let found = log.contains(text);
            assert!(found || self.inspect("{{.State.Running}}") == "true", "it ended:\n{log}");
            found.then_some(())
        });
    }

    /// Runs a command in it.
    #[track_caller]
    pub fn exec(&self, command: &[&str]) -> Output {
        docker().run(&[&["exec", &self.id], command].concat())
    }

    /// Puts a file into it, as root and with a mode.
    ///
    /// # Panics
    /// When that fails.
    #[track_caller]
    pub fn put(&self, path: &str, mode: u32, text: &str) {
        let dir = tempfile::TempDir::new().expect("a folder");
        let file = dir.path().join(Path::new(path).file_name().expect("a name"));
        std::fs::write(&file, text).expect("a file");
        std::fs::set_permissions(&file, Permissions::from_mode(mode)).expect("a mode");
        let to = format!("{}:{path}", self.id);
        docker().run(&["cp", &file.display().to_string(), &to]).ok();
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        drop(docker().run(&["rm", "-f", "-v", &self.id]));
    }
}
