//! `kafka-storage`, and the scripts that start and stop a server, beside Apache Kafka's.

use compat_tests::broker::{free_port, properties};
use compat_tests::home::highwater;
use compat_tests::kafka::kafka_tool;
use compat_tests::process::{Output, run, until};
use compat_tests::wire::Connection;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(30);
const CLUSTER: &str = "MkU3OEVBNTcwNTJENDM2Qg";

/// The binary under another name.
fn called(name: &str, args: &[&str]) -> Command {
    let mut command = Command::new(highwater());
    command.arg0(name).args(args);
    command
}

/// What a tool said, without what differs from run to run, and whether it went well.
fn said(output: &Output, dir: &Path) -> (Vec<String>, bool) {
    let text = format!("{}{}", output.out, output.err).replace(&dir.display().to_string(), "DIR");
    let lines = text.lines().filter(|line| !line.starts_with("Bootstrap metadata: "));
    let lines = lines.map(|line| match line.split_once("directory.id=") {
        Some((before, after)) => {
            format!("{before}directory.id=ID{}", &after[after.find(',').unwrap()..])
        }
        None => line.to_owned(),
    });
    (lines.collect(), output.status.success())
}

#[test]
fn storage_says_what_apache_kafkas_tool_says() {
    let (ours, theirs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    for dir in [ours.path(), theirs.path()] {
        let dynamic = properties(9092, 9093, dir).replace("/data", "/a,DIR/b");
        let dynamic = dynamic.replace("DIR", &dir.display().to_string());
        std::fs::write(dir.join("dynamic"), dynamic).unwrap();
        let fixed = properties(9092, 9093, dir)
            .replace("controller.quorum.bootstrap.servers=", "controller.quorum.voters=1@");
        std::fs::write(dir.join("static"), fixed).unwrap();
    }
    let same = [
        "info -c DIR/dynamic",
        "format -t CLUSTER -c DIR/dynamic --standalone",
        "info -c DIR/dynamic",
        "format --ignore-formatted --cluster-id=CLUSTER --config DIR/dynamic --standalone",
        "format -t=any_name -c DIR/static",
        "format -t=any_name -c DIR/static",
        "info -c DIR/static",
        "version-mapping",
        "version-mapping -r 3.7",
        "feature-dependencies -f eligible.leader.replicas.version=1 -f kraft.version=1",
        "feature-dependencies -f metadata.version=33 -f group.version=1",
        "feature-dependencies -f share.version=9",
        "feature-dependencies -f zoo=1",
    ];
    // What is wrong is said in other words, and ends the same way.
    let fails = [
        "",
        "format -t CLUSTER",
        "format -c DIR/static",
        "format -t CLUSTER -c DIR/none",
        "format -t CLUSTER -c DIR/static --standalone",
        "format -t CLUSTER -c DIR/dynamic -s -N",
        "format --ignore-formatted -t another -c DIR/dynamic --standalone",
    ];
    let both = |line: &str| {
        let of = |dir: &TempDir, tool: &dyn Fn(&[&str]) -> Output| {
            let path = dir.path().display().to_string();
            let line = line.replace("DIR", &path).replace("CLUSTER", CLUSTER);
            said(&tool(&line.split_whitespace().collect::<Vec<_>>()), dir.path())
        };
        let mine = of(&ours, &|args| run(&mut called("kafka-storage.sh", args), LIMIT));
        (mine, of(&theirs, &|args| kafka_tool("kafka.tools.StorageTool", args)))
    };
    for line in same {
        let (mut mine, mut theirs) = both(line);
        // Theirs has several directories in the order of a hash.
        if line.contains("DIR/dynamic") {
            mine.0.sort();
            theirs.0.sort();
        }
        assert_eq!(mine, theirs, "kafka-storage {line}");
    }
    for line in fails {
        let (mine, theirs) = both(line);
        assert!(!mine.1 && !theirs.1 && !mine.0.is_empty(), "{line}: {mine:?} {theirs:?}");
    }
    // Theirs opens what ours has formatted.
    let config = ours.path().join("dynamic").display().to_string();
    kafka_tool("kafka.tools.StorageTool", &["info", "-c", &config]).ok();
}

#[test]
fn a_new_id_is_one_that_a_format_takes() {
    let dir = TempDir::new().unwrap();
    let id = run(&mut called("kafka-storage", &["random-uuid"]), LIMIT).ok();
    assert_eq!(id.trim().len(), 22, "{id}");
    let file = dir.path().join("file").display().to_string();
    std::fs::write(&file, properties(9092, 9093, dir.path())).unwrap();
    run(&mut called("kafka-storage", &["format", "-t", id.trim(), "-c", &file]), LIMIT).ok();
    let meta = std::fs::read_to_string(dir.path().join("data/meta.properties")).unwrap();
    assert!(meta.contains(&format!("cluster.id={}", id.trim())), "{meta}");
}

#[test]
fn a_quorum_that_is_named_has_the_directory_that_is_named() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file").display().to_string();
    std::fs::write(&file, properties(9092, 9093, dir.path())).unwrap();
    let format = |members: &str| {
        let args = ["format", "-t", CLUSTER, "-c", &file, "--initial-controllers", members];
        run(&mut called("kafka-storage", &args), LIMIT)
    };
    let me = "1@127.0.0.1:9093:vG9_cnZoSVaudS_nPu7M1g";
    for wrong in [&format!("{me},2@b:9093:07R5amHmR32VDA6jHkGbTA"), "2@b:1:07R5amHmR32VDA6jHkGbTA"]
    {
        assert!(!format(wrong).status.success(), "{wrong}");
    }
    format(me).ok();
    let meta = std::fs::read_to_string(dir.path().join("data/meta.properties")).unwrap();
    assert!(meta.contains("directory.id=vG9_cnZoSVaudS_nPu7M1g"), "{meta}");
}

#[test]
fn a_server_in_the_background_is_stopped_by_its_script() {
    let dir = TempDir::new().unwrap();
    let port = free_port();
    let node_id = 1_000_000 + i32::from(port);
    let text = properties(port, free_port(), dir.path())
        .replace("node.id=1\n", &format!("node.id={node_id}\n"));
    std::fs::write(dir.path().join("server.properties"), text).unwrap();
    let script = dir.path().join("kafka-server-start.sh");
    symlink(highwater(), &script).unwrap();
    let mut start = Command::new(&script);
    start.args(["-daemon", "server.properties", "--override", "num.partitions=3"]);
    run(start.current_dir(dir.path()).env("LOG_DIR", "logs"), LIMIT).ok();
    until("the server answers", LIMIT, || {
        Connection::open(port).ok()?.brokers().ok().filter(|&count| 0 < count)
    });
    let stop = |args: &[&str]| run(&mut called("kafka-server-stop", args), LIMIT);
    let me = format!("--node-id={node_id}");
    let none = stop(&[&me, "--process-role", "nobody"]);
    assert_eq!((none.status.code(), none.err.trim()), (Some(1), "No kafka server to stop"));
    stop(&[&me]).ok();
    let log = dir.path().join("logs/kafkaServer.out");
    until("the server has stopped", LIMIT, || {
        let text = std::fs::read_to_string(&log).unwrap();
        text.contains("shut down completed").then_some(())
    });
    assert!(!run(&mut called("kafka-server-start", &[]), LIMIT).status.success());
}
