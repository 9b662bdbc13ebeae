//! `highwater config check` says yes exactly where a broker would start.

use crate::process::run;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn highwater(args: &[&str], dir: &Path) -> Output {
    run(Command::new(env!("CARGO_BIN_EXE_highwater")).args(args).current_dir(dir))
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

/// What a check of `file`, in a folder where `make` was, is refused with; a start is, too.
fn refusal(file: &str, make: impl Fn(&Path)) -> String {
    let dir = TempDir::new().unwrap();
    make(dir.path());
    fs::write(dir.path().join("f"), file).unwrap();
    let (check, start) =
        (highwater(&["config", "check", "f"], dir.path()), highwater(&["start", "f"], dir.path()));
    let [why, other] = [&check, &start].map(|output| text_of(&output.stderr));
    assert!(!check.status.success() && !start.status.success(), "{file}: {why}\n{other}");
    assert_eq!(why, other, "{file}");
    assert!(!why.contains('\n') && !text_of(&check.stdout).contains("would start"), "{why}");
    why
}

/// What a check of `file` tells that is not at the default.
fn told(file: &str, make: impl Fn(&Path)) -> String {
    let dir = TempDir::new().unwrap();
    make(dir.path());
    fs::write(dir.path().join("f"), file).unwrap();
    let check = highwater(&["config", "check", "f"], dir.path());
    assert!(check.status.success(), "{file}: {}", text_of(&check.stderr));
    text_of(&check.stdout)
}

fn nothing(_: &Path) {}

#[test]
fn what_a_start_would_find_is_found_before() {
    for (file, why) in [
        ("highwater.create.topics=a b:1:1", "highwater.create.topics=a b:1:1: a topic's name is"),
        ("highwater.create.topics=a:1:1:x", "must be of compact, delete"),
        (
            "listeners=A://0.0.0.0:1,B://127.0.0.1:1\nlistener.security.protocol.map=A:PLAINTEXT,\
          B:PLAINTEXT\ninter.broker.listener.name=A",
            "must have a port of its own",
        ),
        ("listeners=PLAINTEXT://300.1.1.1:9092", "must be `NAME://host:port`"),
        ("highwater.admin.listener=a b:1", "must name a host and a port that can be"),
        ("log.cleaner.dedupe.buffer.size=1", "must be above 1048576"),
        ("process.roles=broker", "a broker that follows the controller of another node is not"),
        ("log.dirs=data,./data", "must name each directory once"),
        (
            "config.providers=e\nconfig.providers.e.class=EnvVarConfigProvider\n\
             broker.rack=${e:NOBODY_SETS_THIS}",
            "broker.rack=${e:NOBODY_SETS_THIS}: the environment has no NOBODY_SETS_THIS",
        ),
    ] {
        let found = refusal(&format!("log.dirs=data\n{file}"), nothing);
        assert!(found.contains(why), "{file}: {found}");
    }
}

#[test]
fn a_log_directory_that_cannot_be_used_is_found_before() {
    let is_a_file = |dir: &Path| fs::write(dir.join("data"), "").unwrap();
    let found = refusal("log.dirs=data", is_a_file);
    assert!(found.contains("Not a directory"), "{found}");
    let is_anothers = |dir: &Path| {
        fs::create_dir(dir.join("data")).unwrap();
        fs::write(dir.join("data/precious"), "x").unwrap();
    };
    let found = refusal("log.dirs=data", is_anothers);
    assert!(found.contains("holds 'precious' but no meta.properties"), "{found}");
    let is_of_node_1 = |dir: &Path| {
        fs::write(dir.join("g"), "node.id=1\nlog.dirs=data").unwrap();
        assert!(highwater(&["format", "g"], dir).status.success());
    };
    let found = refusal("node.id=2\nlog.dirs=data", is_of_node_1);
    assert!(found.contains("node.id"), "{found}");
    let found = refusal("log.dirs=new,data", is_of_node_1);
    assert!(found.contains("new"), "{found}");
    let has_a_copy = |dir: &Path| {
        is_of_node_1(dir);
        fs::create_dir(dir.join("copy")).unwrap();
        fs::copy(dir.join("data/meta.properties"), dir.join("copy/meta.properties")).unwrap();
    };
    let found = refusal("log.dirs=data,copy", has_a_copy);
    assert!(found.contains("directory.id"), "{found}");
    // One of several can be done without, unless it has the metadata.
    let lines = told("log.dirs=more,data", is_a_file);
    assert!(lines.contains("WARN Log directory data is offline: Not a directory"), "{lines}");
    refusal("log.dirs=data,more", is_a_file);
}

#[test]
fn a_directory_is_not_formatted_beside_one_of_another_node_or_cluster() {
    let dir = TempDir::new().unwrap();
    let format = |id: i32, dirs: &str, cluster: &str| {
        let text = format!("node.id={id}\nlog.dirs={dirs}\nmetadata.log.dir=data");
        fs::write(dir.path().join("f"), text).unwrap();
        let output = highwater(&["format", "f", "-g", "-t", cluster], dir.path());
        (output.status.success(), text_of(&output.stderr))
    };
    assert!(format(1, "data", "one").0);
    for (id, cluster, want) in [(1, "two", "belongs to cluster 'one'"), (2, "one", "node 1")] {
        let (is_well, why) = format(id, "data,more", cluster);
        assert!(!is_well && why.contains(want), "{why}");
        assert!(!dir.path().join("more/meta.properties").exists(), "{why}");
    }
    assert!(format(1, "data,more", "one").0);
}

#[test]
fn a_check_leaves_no_trace() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("f"), "log.dirs=data").unwrap();
    assert!(highwater(&["config", "check", "f"], dir.path()).status.success());
    assert!(!dir.path().join("data").exists());
}

#[test]
fn several_brokers_of_a_zookeeper_are_told_last_and_loudest() {
    let lines = told("broker.id=2\nzookeeper.connect=z:2181\nport=1\nlog.dirs=d", nothing);
    let [.., alarm, verdict] = &lines.lines().collect::<Vec<_>>()[..] else { panic!("{lines}") };
    assert!(alarm.starts_with("ERROR Several brokers seem to be meant (broker.id=2)"), "{alarm}");
    assert_eq!(*verdict, "A broker would start with this.");
}

#[test]
fn a_line_of_an_env_file_that_cannot_be_read_is_named() {
    let dir = TempDir::new().unwrap();
    let check = |env: &str| {
        fs::write(dir.path().join("kafka.env"), env).unwrap();
        let args = ["config", "check", "--image", "cp-kafka", "--env-file", "kafka.env"];
        let output = highwater(&args, dir.path());
        (output.status.success(), text_of(&output.stdout), text_of(&output.stderr))
    };
    let (is_well, _, why) = check("KAFKA_BROKER_ID=1\nKAFKA_LISTENERS=>-\n  PLAINTEXT://:9092,\n");
    assert_eq!(
        (is_well, why.as_str()),
        (
            false,
            "kafka.env:3: must be `NAME=value`; a value goes on in the next line only within \
                 quotes"
        )
    );
    let (is_well, lines, _) = check("KAFKA_NODE_ID='7' # the seventh\n");
    assert!(is_well && lines.contains("node.id"), "{lines}");
    assert!(lines.contains("WARN kafka.env is read as Compose reads it"), "{lines}");
}
