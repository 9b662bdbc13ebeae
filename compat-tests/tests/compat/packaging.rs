//! The Debian package: installed, replaced, removed and purged on a bare root.

use compat_tests::broker::free_port;
use compat_tests::home::{highwater, root, tool};
use compat_tests::process::{Server, run, until};
use compat_tests::wire::Connection;
use nix::sys::signal::Signal;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(60);
const PROPERTIES: &str = "etc/highwater/server.properties";
const RECORDS: &str = "var/lib/highwater";

/// The package, built once.
fn package() -> &'static [u8] {
    static PACKAGE: OnceLock<Vec<u8>> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let dir = TempDir::new().unwrap();
        let mut build = Command::new(root().join("packaging/deb"));
        build.arg(dir.path()).env("HIGHWATER", highwater());
        fs::read(run(&mut build, LIMIT).ok().trim()).unwrap()
    })
}

/// Debian's essential packages in a folder, and the package of the binary under test.
struct Bare {
    dir: TempDir,
}

impl Bare {
    fn unpack() -> Bare {
        let bare = Bare { dir: TempDir::new().unwrap() };
        let mut tar = Command::new("tar");
        tar.arg("-xpf").arg(tool("debian").join("root.tar")).arg("-C").arg(bare.dir.path());
        run(&mut tar, LIMIT).ok();
        fs::write(bare.path("opt/highwater.deb"), package()).unwrap();
        // No power fails here, and dpkg would sync every file.
        fs::write(bare.path("etc/dpkg/dpkg.cfg.d/unsafe"), "force-unsafe-io\n").unwrap();
        bare
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.path(name)).is_ok()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A command line inside, as `user`.
    fn command(&self, user: &str, line: &str) -> Command {
        let mut command = Command::new("chroot");
        command.arg(format!("--userspec={user}:{user}")).arg(self.dir.path());
        command.args(line.split_whitespace());
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C.UTF-8");
        command
    }

    #[track_caller]
    fn run(&self, line: &str) -> String {
        run(&mut self.command("root", line), LIMIT).ok()
    }

    /// Owner, group and mode of a file, as in `root:root 644`.
    fn stat(&self, name: &str) -> String {
        self.run(&format!("stat -c %U:%G_%a /{name}")).trim().replace('_', " ")
    }

    /// Makes a service manager of which only what is asked of it can be seen.
    fn add_systemd(&self) {
        fs::create_dir_all(self.path("run/systemd/system")).unwrap();
        let systemctl = self.path("usr/bin/systemctl");
        fs::write(&systemctl, "#!/bin/sh\necho \"$*\" >> /opt/asked\n").unwrap();
        fs::set_permissions(&systemctl, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What the service manager was asked since the last time.
    fn asked(&self) -> Vec<String> {
        let asked = self.read("opt/asked").lines().map(str::to_owned).collect();
        drop(fs::remove_file(self.path("opt/asked")));
        asked
    }

    /// Runs the broker as the unit does, on ports of its own, while `work` is done.
    fn with_broker(&self, work: impl FnOnce(&str)) {
        let [port, admin] = [free_port(), free_port()];
        let line = format!(
            "/usr/bin/highwater start /{PROPERTIES} --override listeners=PLAINTEXT://127.0.0.1:{port} \
             --override highwater.admin.listener=127.0.0.1:{admin}"
        );
        let mut command = self.command("highwater", &line);
        let mut server = Server::start(&mut command, &self.path("opt/log"));
        until("the broker serves", LIMIT, || {
            assert!(server.is_up(), "{}", server.tail());
            Connection::open(port).ok()?.brokers().ok().filter(|count| *count == 1)
        });
        work(&format!("127.0.0.1:{port}"));
        server.signal(Signal::SIGTERM);
        assert!(server.wait(LIMIT).success(), "{}", server.tail());
    }
}

#[test]
fn a_package_is_installed_removed_and_purged_and_records_outlive_it() {
    let bare = Bare::unpack();
    bare.run("dpkg --install /opt/highwater.deb");

    assert_eq!(bare.run("highwater --version"), bare.run("/usr/bin/highwater --version"));
    assert_eq!(bare.stat("usr/bin/highwater"), "root:root 755");
    assert_eq!(bare.stat(PROPERTIES), "root:root 644");
    assert_eq!(bare.stat(RECORDS), "highwater:highwater 750");
    assert_eq!(bare.run("dpkg --verify highwater"), "", "all files are as they were packed");
    assert_eq!(
        bare.read("usr/lib/systemd/system/highwater.service"),
        fs::read_to_string(root().join("packaging/highwater.service")).unwrap(),
        "the unit is the one that systemd was asked about"
    );
    tool("systemd");
    let mut verify = Command::new("systemd-analyze");
    verify
        .arg(format!("--root={}", bare.dir.path().display()))
        .args(["verify", "highwater.service"]);
    // Units of the system are not there to be found; each program that this one runs is.
    let said = run(&mut verify, LIMIT).err;
    assert!(!said.contains("not executable"), "{said}");
    for name in [
        "usr/share/man/man1/highwater.1.gz",
        "usr/share/bash-completion/completions/highwater",
        "usr/share/zsh/vendor-completions/_highwater",
        "usr/share/fish/vendor_completions.d/highwater.fish",
        "usr/share/doc/highwater/copyright",
    ] {
        assert!(fs::metadata(bare.path(name)).unwrap().size() > 100, "{name}");
    }

    bare.with_broker(|bootstrap| {
        let create = "kafka-topics --create --topic orders --bootstrap-server";
        bare.run(&format!("{create} {bootstrap}"));
        let listed = bare.run(&format!("kafka-topics.sh --list --bootstrap-server {bootstrap}"));
        assert_eq!(listed, "orders\n");
    });
    let edited = bare.read(PROPERTIES) + "num.partitions=3\n";
    fs::write(bare.path(PROPERTIES), &edited).unwrap();

    bare.run("dpkg --remove highwater");
    assert!(!bare.has("usr/bin/highwater") && !bare.has("usr/bin/kafka-topics"));
    assert_eq!(bare.read(PROPERTIES), edited, "the configuration outlives a removal");
    bare.run("dpkg --install /opt/highwater.deb");
    assert_eq!(bare.read(PROPERTIES), edited, "and is that of the program that comes back");

    let told = bare.run("dpkg --purge highwater");
    assert!(told.contains("the records stay in /var/lib/highwater"), "{told}");
    assert!(!bare.has("etc/highwater"));
    assert!(bare.has("var/lib/highwater/orders-0/00000000000000000000.log"));
    bare.run("dpkg --install /opt/highwater.deb");
    bare.with_broker(|bootstrap| {
        let listed = bare.run(&format!("kafka-topics --list --bootstrap-server {bootstrap}"));
        assert_eq!(listed, "orders\n", "who installs it again finds the topics again");
    });
}

#[test]
fn an_installation_starts_nothing_and_a_broker_that_runs_goes_on_with_the_new_binary() {
    let bare = Bare::unpack();
    bare.add_systemd();
    bare.run("dpkg --install /opt/highwater.deb");
    assert_eq!(bare.asked(), ["daemon-reload"]);
    assert_eq!(fs::read_dir(bare.path(RECORDS)).unwrap().count(), 0, "nothing is formatted");
    bare.run("dpkg --install /opt/highwater.deb");
    assert_eq!(bare.asked(), ["daemon-reload", "daemon-reload", "try-restart highwater.service"]);
    bare.run("dpkg --remove highwater");
    assert_eq!(bare.asked(), ["disable --now highwater.service", "daemon-reload"]);
    let told = bare.run("dpkg --purge highwater");
    assert!(!bare.has(RECORDS) && !told.contains("records"), "an empty folder goes: {told}");
}

#[test]
fn a_link_in_the_place_of_the_records_is_its_makers_and_so_is_what_it_leads_to() {
    let bare = Bare::unpack();
    symlink("/srv/records", bare.path(RECORDS)).unwrap();
    let lives: [&[&str]; 3] = [&[], &["srv/records"], &["srv/records", "srv/records/orders-0"]];
    for folders in lives {
        folders.iter().for_each(|name| fs::create_dir_all(bare.path(name)).unwrap());
        bare.run("dpkg --install /opt/highwater.deb");
        let told = bare.run("dpkg --purge highwater");
        let stays =
            "/var/lib/highwater is a link and stays, as does what it leads to, /srv/records";
        assert!(told.contains(stays), "{told}");
        assert_eq!(fs::read_link(bare.path(RECORDS)).unwrap(), Path::new("/srv/records"));
        folders.iter().for_each(|name| assert!(bare.has(name), "{name}"));
    }
    assert!(!bare.has("etc/highwater"));
}

#[test]
fn a_mount_in_the_place_of_the_records_stays() {
    let bare = Bare::unpack();
    bare.run("dpkg --install /opt/highwater.deb");
    for (file, told) in [("", false), ("record", true)] {
        let script = "mount -t tmpfs none \"$0/var/lib/highwater\"
            [ -z \"$1\" ] || touch \"$0/var/lib/highwater/$1\"
            exec chroot \"$0\" dpkg --purge highwater";
        let mut purge = Command::new("unshare");
        purge.args(["--mount", "sh", "-ec", script]).arg(bare.dir.path()).arg(file);
        let said = run(&mut purge, LIMIT).ok();
        assert_eq!(said.contains("the records stay in /var/lib/highwater"), told, "{said}");
        assert_eq!(bare.stat(RECORDS), "highwater:highwater 750");
        bare.run("dpkg --install /opt/highwater.deb");
    }
}

#[test]
fn every_tool_is_linked_and_does_its_work_by_its_link() {
    let bare = Bare::unpack();
    bare.run("dpkg --install /opt/highwater.deb");
    let tools = bare.run("highwater tools");
    let wanted: BTreeSet<_> =
        tools.lines().flat_map(|tool| [tool.to_owned(), format!("{tool}.sh")]).collect();
    let links = fs::read_dir(bare.path("usr/bin")).unwrap().map(|entry| entry.unwrap());
    let links = links.filter(|entry| {
        fs::read_link(entry.path()).is_ok_and(|target| target == Path::new("highwater"))
    });
    let linked: BTreeSet<_> =
        links.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(linked, wanted);
    // One that the binary did not know would be taken for `highwater --help`.
    for name in wanted {
        let said = run(&mut bare.command("root", &format!("{name} --help")), LIMIT);
        let said = said.out + &said.err;
        assert!(!said.is_empty() && !said.contains("Usage: highwater <COMMAND>"), "{name}: {said}");
    }
}
