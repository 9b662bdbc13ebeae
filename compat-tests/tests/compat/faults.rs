//! Real faults: a power cut under the file system, a full disk, a directory that is held.

use compat_tests::broker::{Broker, free_port, properties};
use compat_tests::home::{highwater, tool};
use compat_tests::http;
use compat_tests::kafka::{java, kafka_tool};
use compat_tests::lines::input;
use compat_tests::process::{Output, Server, run, until};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(120);

/// A file system of its own, in a file or in memory; unmounted when it is dropped.
struct Mount(PathBuf);

impl Mount {
    fn ext4(dir: &Path) -> Mount {
        let (image, at) = (dir.join("image"), dir.join("mount"));
        std::fs::File::create(&image).unwrap().set_len(1 << 30).unwrap();
        run(Command::new("mkfs.ext4").arg("-q").arg(&image), LIMIT).ok();
        std::fs::create_dir(&at).unwrap();
        let mount = Mount(at);
        mount.mount(dir);
        mount
    }

    fn mount(&self, dir: &Path) {
        run(Command::new("mount").args(["-o", "loop"]).arg(dir.join("image")).arg(&self.0), LIMIT)
            .ok();
    }

    fn tmpfs(dir: &Path, size: &str) -> Mount {
        let at = dir.join("mount");
        std::fs::create_dir(&at).unwrap();
        run(
            Command::new("mount")
                .args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
                .arg(&at),
            LIMIT,
        )
        .ok();
        Mount(at)
    }

    fn unmount(&self) {
        run(Command::new("umount").arg(&self.0), LIMIT).ok();
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).output());
    }
}

/// What a producer was told: `key TAB partition TAB offset` lines, whole ones only.
fn acknowledged(path: &Path) -> BTreeMap<String, (i32, i64)> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let line = |line: &str| {
        let mut parts = line.split('\t');
        let key = parts.next()?.to_owned();
        Some((key, (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?)))
    };
    whole.lines().filter_map(line).collect()
}

/// Starts a Java producer of `file` that notes in `acked` what it is told.
fn producing(broker: &Broker, topic: &str, file: &Path, acked: &Path) -> Server {
    let mut command = java();
    command.args(["Lines", "produce", &broker.bootstrap(), topic]).arg(file);
    Server::start(command.env("ACKED", acked), &acked.with_extension("log"))
}

/// Every acknowledged record is where its producer was told, and none stands twice.
#[track_caller]
fn nothing_acknowledged_is_lost(broker: &Broker, topic: &str, acked: &Path, dir: &Path) -> usize {
    let out = dir.join("read");
    let mut command = java();
    command.args(["Lines", "consume", &broker.bootstrap(), topic]).arg(&out);
    run(&mut command, LIMIT).ok();
    let text = std::fs::read_to_string(format!("{}.0", out.display())).unwrap();
    let mut at = BTreeMap::new();
    for (offset, line) in text.lines().enumerate() {
        let key = line.split('\t').next().unwrap().to_owned();
        assert_eq!(at.insert(key.clone(), offset), None, "{key} stands twice");
    }
    let acked = acknowledged(acked);
    for (key, (_, offset)) in &acked {
        let offset = usize::try_from(*offset).unwrap();
        assert_eq!(at.get(key), Some(&offset), "{key} was acknowledged at {offset}");
    }
    acked.len()
}

#[test]
fn a_power_cut_in_durable_mode_loses_nothing_that_was_acknowledged() {
    tool("kcat");
    let dir = TempDir::new().unwrap();
    let mount = Mount::ext4(dir.path());
    std::fs::create_dir(mount.0.join("node")).unwrap();
    let file = dir.path().join("lines");
    input(&file, 60_000_000);
    let mut broker = Broker::start(&mount.0.join("node"), "log.flush.interval.messages=1\n");
    let bootstrap = broker.bootstrap();
    let create =
        ["--bootstrap-server", &bootstrap, "--create", "--topic", "durable", "--partitions", "1"];
    kafka_tool("kafka-topics", &create).ok();
    let acked = dir.path().join("acked");
    let producer = producing(&broker, "durable", &file, &acked);
    until("some are acknowledged", LIMIT, || (2000 < acknowledged(&acked).len()).then_some(()));
    // The file system stops as a machine without power does: what was not synced is gone.
    run(Command::new("xfs_io").args(["-x", "-c", "shutdown"]).arg(&mount.0), LIMIT).ok();
    broker.kill();
    drop(producer);
    mount.unmount();
    mount.mount(dir.path());
    broker.start_again();
    let count = nothing_acknowledged_is_lost(&broker, "durable", &acked, dir.path());
    assert!(2000 < count, "{count}");
    assert!(broker.stop().success());
}

#[test]
fn a_full_disk_refuses_produce_and_ends_by_itself() {
    let dir = TempDir::new().unwrap();
    let mount = Mount::tmpfs(dir.path(), "96m");
    std::fs::create_dir(mount.0.join("node")).unwrap();
    let file = dir.path().join("lines");
    input(&file, 4_000_000);
    let admin = free_port();
    let more = format!(
        "highwater.log.dir.reserve.bytes=16777216\nhighwater.admin.listener=127.0.0.1:{admin}\n"
    );
    let mut broker = Broker::start(&mount.0.join("node"), &more);
    let ready = |want| {
        let seen = || http::get(admin, "/health/ready").is_some_and(|(status, _)| status == want);
        until("what /health/ready is to say", LIMIT, || seen().then_some(()));
    };
    ready(200);
    let bootstrap = broker.bootstrap();
    let create =
        ["--bootstrap-server", &bootstrap, "--create", "--topic", "full", "--partitions", "1"];
    kafka_tool("kafka-topics", &create).ok();
    let ballast = mount.0.join("ballast");
    run(Command::new("fallocate").args(["-l", "82M"]).arg(&ballast), LIMIT).ok();
    let acked = dir.path().join("acked");
    let mut producer = producing(&broker, "full", &file, &acked);
    until("the broker says that the disk is full", LIMIT, || {
        let log = std::fs::read_to_string(&broker.server.log).unwrap();
        log.to_lowercase().contains("reserve").then_some(())
    });
    ready(503);
    assert!(broker.server.is_up() && producer.is_up());
    // A group keeps its offsets all the same.
    let group = "--group readers --topic full --reset-offsets --to-earliest --execute";
    let group = ["--bootstrap-server", &bootstrap].into_iter().chain(group.split(' '));
    let reset = kafka_tool("kafka-consumer-groups", &group.collect::<Vec<_>>()).ok();
    assert!(reset.contains("readers") && !reset.contains("Error"), "{reset}");
    // Metadata and reads go on; then there is room again, and the producer ends well.
    kafka_tool("kafka-topics", &["--bootstrap-server", &bootstrap, "--list"]).ok();
    std::fs::remove_file(&ballast).unwrap();
    let status = producer.wait(LIMIT);
    assert!(status.success(), "{}", producer.tail());
    ready(200);
    let count = nothing_acknowledged_is_lost(&broker, "full", &acked, dir.path());
    assert!(0 < count);
    assert!(broker.stop().success());
}

/// Starts the program with these properties and expects one clear line and status 1.
#[track_caller]
fn refused(dir: &Path, text: &str, want: &str) {
    let file = dir.join("refused.properties");
    std::fs::write(&file, text).unwrap();
    let Output { status, out, err } =
        run(Command::new(highwater()).arg("start").arg(&file), Duration::from_secs(20));
    assert_eq!(status.code(), Some(1), "{out}\n{err}");
    assert!(err.contains(want) && err.trim().lines().count() == 1, "wanted `{want}`:\n{err}");
}

#[test]
fn what_cannot_start_says_why_in_one_line() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), "");
    let own = |dir: &Path| properties(free_port(), free_port(), dir);
    refused(dir.path(), &own(dir.path()), "data"); // Held by the broker above.
    let other = TempDir::new().unwrap();
    let taken = format!(":{}", broker.port);
    refused(other.path(), &properties(broker.port, free_port(), other.path()), &taken);
    refused(other.path(), &(own(other.path()) + "num.partitions=many\n"), "num.partitions");
    refused(other.path(), &(own(other.path()).replace("node.id=1", "node.id=-7")), "node.id");
    let full = TempDir::new().unwrap();
    std::fs::create_dir(full.path().join("data")).unwrap();
    std::fs::write(full.path().join("data/letter.txt"), "not a log").unwrap();
    refused(full.path(), &own(full.path()), "meta.properties");
    let tls = own(other.path()).replace("PLAINTEXT://", "SSL://");
    refused(other.path(), &tls, "SSL");
}
