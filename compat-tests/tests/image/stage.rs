//! The image's file system without its binary: its scripts with their shell and busybox, in a folder,
//! and stand-ins for what they call. It needs root, and no Docker.

use compat_tests::home::{root, tool};
use compat_tests::process::{Output, run};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(60);

/// What stands for a program: it prints how it was called, a word a line.
const ECHO: &str = "#!/bin/sh\nprintf '%s\\n' \"${0##*/}\" \"$@\"\n";

/// What stands for `highwater config render`: it gives out a file of the test's.
const RENDER: &str = "#!/bin/sh\ncat /rendered\n";

/// Lays the file system out in `$1`, as `docker/build` does; `$2` has the image's own files.
const LAY_OUT: &str = r#"set -eu
    cd "$1"
    umask 0002
    mkdir -p usr/bin usr/lib usr/lib64 proc/self dev/shm tmp bitnami/kafka/config bitnami/kafka/data \
        kafka/config kafka/data mnt/shared/config var/lib/kafka/data docker-entrypoint-initdb.d
    ln -s usr/bin usr/lib usr/lib64 .
    cp -a "$2/." .
    chmod g+w opt/kafka/config etc/kafka
    for file in /bin/bash $(ldd /bin/bash | grep -o '/[^ )]*'); do
        mkdir -p ".${file%/*}"
        cp -L "$file" ".$file"
    done
    cp -L "$(command -v busybox)" usr/bin/busybox
    ln -s bash usr/bin/sh
    for name in $(busybox --list); do [ -e "usr/bin/$name" ] || ln -s busybox "usr/bin/$name"; done
    ln -s ../../kafka opt/bitnami/kafka
    mknod -m 666 dev/null c 1 3
    chmod 1777 dev/shm tmp
    echo "127.0.0.1 localhost" > etc/hosts
    : > proc/self/mountinfo"#;

pub(crate) struct Stage {
    dir: TempDir,
}

impl Stage {
    #[track_caller]
    pub(crate) fn new() -> Stage {
        tool("busybox");
        let stage = Stage { dir: TempDir::new().unwrap() };
        let mut lay_out = Command::new("sh");
        lay_out.args(["-c", LAY_OUT, "sh"]).arg(stage.dir.path());
        lay_out.arg(root().join("docker").join("root"));
        run(&mut lay_out, LIMIT).ok();
        for (name, text) in [
            ("highwater", RENDER),
            ("kafka-server-start", ECHO),
            ("kafka-console-consumer", ECHO),
            ("kafka-topics", ECHO),
        ] {
            stage.script(&format!("usr/bin/{name}"), text);
        }
        fs::set_permissions(stage.dir.path(), Permissions::from_mode(0o755)).unwrap();
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.path(name)).is_ok()
    }

    pub(crate) fn dir(&self, name: &str) {
        fs::create_dir_all(self.path(name)).unwrap();
    }

    /// What a file holds; nothing where there is none.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// A program of the test's.
    pub(crate) fn script(&self, name: &str, text: &str) {
        self.write(name, text);
        fs::set_permissions(self.path(name), Permissions::from_mode(0o755)).unwrap();
    }

    /// Has something mounted at these places, as the scripts see it.
    pub(crate) fn mount(&self, places: &[&str]) {
        let line = |place: &&str| format!("1 2 8:1 /volume {place} rw - ext4 x rw\n");
        self.write("proc/self/mountinfo", &places.iter().map(line).collect::<String>());
    }

    /// Runs a command there, as root and with these variables.
    #[track_caller]
    pub(crate) fn run(&self, variables: &[&str], words: &[&str]) -> Output {
        self.run_as("0:0", variables, words)
    }

    /// The same as `user`, which is `UID:GID`.
    #[track_caller]
    pub(crate) fn run_as(&self, user: &str, variables: &[&str], words: &[&str]) -> Output {
        let mut command = Command::new("chroot");
        command.arg(format!("--userspec={user}")).arg(self.dir.path());
        command.args(["/usr/bin/env", "-i", "PATH=/usr/bin", "LANG=C.UTF-8"]);
        run(command.args(variables).args(words), LIMIT)
    }
}
