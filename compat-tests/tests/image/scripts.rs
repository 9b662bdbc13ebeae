//! The scripts of the image by themselves, with what breaks scripts: blanks, ends of lines, variables
//! that are empty, users without a name.

use crate::stage::Stage;
use std::os::unix::fs::PermissionsExt as _;

const APACHE: &str = "/etc/kafka/docker/run";
const CONFLUENT: &str = "/etc/confluent/docker/run";
const BITNAMI: [&str; 2] =
    ["/opt/bitnami/scripts/kafka/entrypoint.sh", "/opt/bitnami/scripts/kafka/run.sh"];
const DEBEZIUM: &str = "/docker-entrypoint.sh";
const MARK: &str = "bitnami/kafka/.user_scripts_initialized";

/// Prints the environment in place of the properties.
const SHOW: &str = "#!/bin/sh\nprintf '%s\\n' \"$*\"\nenv\n";

/// The last lines that were printed.
fn last(said: &str, count: usize) -> Vec<&str> {
    let mut lines: Vec<&str> = said.lines().rev().take(count).collect();
    lines.reverse();
    lines
}

#[test]
fn directories_are_those_that_the_broker_takes() {
    let stage = Stage::new();
    stage.write("rendered", "log.dirs=/volume/a, /volume/b c ,,\\n/volume/\\u00e9 ,\n");
    for user in ["0:0", "12345:0"] {
        let said = stage.run_as(user, &["KAFKA_LOG_DIRS=x"], &[CONFLUENT]).ok();
        assert_eq!(last(&said, 2)[0], "kafka-server-start");
    }
    for name in ["a", "b c", "é"] {
        let mode = stage.path(&format!("volume/{name}")).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o775, "{name}: another user of the group may go on with it");
    }
    assert_eq!(stage.path("volume").read_dir().unwrap().count(), 3);
    stage.write("rendered", "log.dirs=/volume/a, /opt/of root\n");
    let refused = stage.run_as("12345:0", &["KAFKA_LOG_DIRS=x"], &[CONFLUENT]);
    let why = "/opt/of root cannot be written by user 12345: let the mount";
    assert!(!refused.status.success() && refused.err.contains(why), "{refused:?}");
}

#[test]
fn scripts_of_bitnami_run_once_in_the_life_of_the_data() {
    for (mounts, dirs, mark) in [
        (&[][..], "/bitnami/kafka/data", MARK),
        (&["/bitnami"], "/bitnami/kafka/data", MARK),
        (&["/bitnami/kafka"], "/bitnami/kafka/data", MARK),
        (
            &["/var/lib/kafka/data"],
            "/var/lib/kafka/data",
            "var/lib/kafka/data/.user_scripts_initialized",
        ),
        (&["/kafka"], "/kafka/a b, /bitnami/kafka/data", "kafka/.user_scripts_initialized"),
        (&["/kafka"], "relative", MARK),
    ] {
        let stage = Stage::new();
        stage.mount(mounts);
        stage.write("rendered", &format!("log.dirs={dirs}\n"));
        let start = || stage.run(&["KAFKA_CFG_NODE_ID=1"], &BITNAMI);
        start().ok();
        assert!(!stage.has(mark), "there was no script");
        stage.script("docker-entrypoint-initdb.d/1.sh", "#!/bin/sh\necho executed >> /ran\n");
        stage.write("docker-entrypoint-initdb.d/2.sh", "[ -n \"$BASH\" ]; echo sourced >> /ran\n");
        stage.write("docker-entrypoint-initdb.d/3.txt", "echo never >> /ran\n");
        std::fs::create_dir(stage.path("docker-entrypoint-initdb.d/0.sh")).unwrap();
        for _ in 0..2 {
            assert_eq!(last(&start().ok(), 2)[0], "kafka-server-start");
            assert_eq!(stage.read("ran"), "executed\nsourced\n", "{dirs}");
        }
        assert!(stage.has(mark), "{dirs}");
    }
}

#[test]
fn a_script_of_bitnami_that_fails_starts_nothing_and_runs_again() {
    let stage = Stage::new();
    stage.write("rendered", "log.dirs=/bitnami/kafka/data\n");
    stage.script("docker-entrypoint-initdb.d/1.sh", "#!/bin/sh\n[ -e /there ]\n");
    let start = || stage.run(&["KAFKA_CFG_NODE_ID=1"], &BITNAMI);
    let failed = start();
    assert!(!failed.status.success() && !failed.out.contains("kafka-server-start"), "{failed:?}");
    assert!(!stage.has(MARK));
    stage.write("there", "");
    start().ok();
    assert!(stage.has(MARK));
}

#[test]
fn what_bitnami_itself_has_done_is_not_done_again() {
    let stage = Stage::new();
    stage.mount(&["/var/lib/kafka/data", "/bitnami/kafka"]);
    stage.write("rendered", "log.dirs=/var/lib/kafka/data\n");
    stage.write(MARK, "");
    stage.script("docker-entrypoint-initdb.d/1.sh", "#!/bin/sh\necho again >> /ran\n");
    stage.run(&["KAFKA_CFG_NODE_ID=1"], &BITNAMI).ok();
    assert_eq!(stage.read("ran"), "");
}

#[test]
fn where_nothing_can_be_remembered_the_broker_starts_and_says_so() {
    let stage = Stage::new();
    stage.write("rendered", "log.dirs=/bitnami/kafka/data\n");
    stage.script("docker-entrypoint-initdb.d/1.sh", "#!/bin/sh\necho ran\n");
    let said = stage.run_as("12345:12345", &["KAFKA_CFG_NODE_ID=1"], &BITNAMI);
    assert!(said.err.contains("will run again, since /bitnami/kafka/"), "{said:?}");
    assert_eq!(last(&said.ok(), 2), ["kafka-server-start", "/dev/shm/server.properties"]);
}

#[test]
fn topics_are_watched_as_debezium_does() {
    let stage = Stage::new();
    let at = ["kafka-console-consumer", "--bootstrap-server", "localhost:9092", "--topic", "t"];
    let check = |words: &[&str], want: &[&str]| {
        let said = stage.run(&[], &[&[DEBEZIUM, "watch-topic"], words].concat()).ok();
        assert_eq!(said.lines().collect::<Vec<_>>(), [&at, want].concat(), "{words:?}");
    };
    check(&["t"], &[]);
    check(&["-m", "5", "t"], &["--command-property", "fetch.min.bytes=5"]);
    check(
        &["-akm", "5", "t", "--max-messages", "1"],
        &[
            "--from-beginning",
            "--formatter-property",
            "print.key=true",
            "--command-property",
            "fetch.min.bytes=5",
            "--max-messages",
            "1",
        ],
    );
    let wrong: [&[&str]; 4] =
        [&["watch-topic"], &["watch-topic", "-m"], &["watch-topic", "-x", "t"], &["create-topic"]];
    for words in wrong {
        let said = stage.run(&[], &[&[DEBEZIUM], words].concat());
        let usage = format!("{} [-", words[0]);
        assert!(!said.status.success() && said.err.starts_with(&usage), "{words:?}: {said:?}");
    }
}

#[test]
fn the_value_of_a_variable_names_no_other() {
    let stage = Stage::new();
    stage.script("usr/bin/highwater", SHOW);
    let value =
        "NOTE=x\nKAFKA_CFG_A=1\nKAFKA_CREATE_TOPICS=a\nKAFKA_LOG_DIRS=/x\nKAFKA_PROCESS_ROLES=y";
    stage.run(&[value], &[APACHE]).ok();
    let rendered = stage.read("opt/kafka/config/server.properties");
    assert!(rendered.starts_with("config render --image apache-kafka\n"), "{rendered}");
    assert!(rendered.contains("\nKAFKA_LOG_DIRS=/var/lib/kafka/data\n"), "{rendered}");
    stage.run(&[value], &["/etc/confluent/docker/configure"]).ok();
    let rendered = stage.read("etc/kafka/kafka.properties");
    assert!(rendered.starts_with("config render --image confluent-local\n"), "{rendered}");
}

#[test]
fn data_of_debezium_is_found_where_it_lies() {
    for (mount, there) in [("/kafka/data", "kafka/data/1"), ("/kafka", "kafka/data/12")] {
        let stage = Stage::new();
        stage.script("usr/bin/highwater", SHOW);
        stage.mount(&[mount]);
        stage.dir(there);
        stage.dir("kafka/data/2fast-0");
        stage.write(&format!("{there}/meta.properties"), "");
        stage.run(&["NODE_ID=1"], &[DEBEZIUM]).ok();
        let rendered = stage.read("opt/kafka/config/server.properties");
        assert!(rendered.contains(&format!("\nKAFKA_LOG_DIRS=/{there}\n")), "{rendered}");
    }
}

#[test]
fn an_empty_variable_says_nothing() {
    let stage = Stage::new();
    stage.script("usr/bin/highwater", SHOW);
    for empty in ["KAFKA_LOG_DIRS=", "KAFKA_LOG_DIRS= ", "KAFKA_LOG_DIR=null"] {
        stage.run(&[empty], &["start-kafka.sh"]).ok();
        let rendered = stage.read("opt/kafka/config/server.properties");
        assert!(rendered.contains("\nKAFKA_LOG_DIRS=/kafka/kafka-logs\n"), "{empty}: {rendered}");
    }
    stage.run(&["KAFKA_LOG_DIRS=/x"], &["start-kafka.sh"]).ok();
    assert!(stage.read("opt/kafka/config/server.properties").contains("\nKAFKA_LOG_DIRS=/x\n"));
    stage.run(&["KAFKA_ZOOKEEPER_CONNECT="], &["/etc/confluent/docker/configure"]).ok();
    let rendered = stage.read("etc/kafka/kafka.properties");
    assert!(rendered.starts_with("config render --image confluent-local\n"), "{rendered}");
}

#[test]
fn a_mounted_file_that_says_where_data_lies_is_believed() {
    let stage = Stage::new();
    stage.script("usr/bin/highwater", SHOW);
    for line in ["log.dirs=/x", " log.dirs : /x", "log.dir /x"] {
        stage.write("mnt/shared/config/server.properties", line);
        stage.run(&[], &[APACHE]).ok();
        let rendered = stage.read("opt/kafka/config/server.properties");
        assert!(!rendered.contains("KAFKA_LOG_DIRS="), "{line}: {rendered}");
    }
}

#[test]
fn a_script_of_wurstmeister_may_edit_the_properties() {
    let stage = Stage::new();
    stage.write("rendered", "a=1\n");
    let script =
        "CUSTOM_INIT_SCRIPT=at=/opt/kafka/config/server.properties\necho \"b=$NOT_SET\" >> $at";
    let said = stage.run(&[script], &["start-kafka.sh"]).ok();
    assert_eq!(last(&said, 2), ["kafka-server-start", "/opt/kafka/config/server.properties"]);
    assert_eq!(stage.read("opt/kafka/config/server.properties"), "a=1\nb=\n");
}

#[test]
fn an_option_without_its_value_ends_the_wait() {
    let stage = Stage::new();
    for option in ["-b", "-c", "-s", "-z"] {
        let said = stage.run(&[], &["timeout", "20", "cub", "kafka-ready", "1", "9", option]);
        assert_eq!(said.status.code(), Some(2), "{option}: {said:?}");
    }
}

#[test]
fn listeners_are_made_of_what_is_advertised() {
    let stage = Stage::new();
    let said = stage.run(&[], &["cub", "listeners", "A://[::1]:1,B://b.c:2,C://:3"]).ok();
    assert_eq!(said, "A://0.0.0.0:1,B://0.0.0.0:2,C://0.0.0.0:3\n");
}
