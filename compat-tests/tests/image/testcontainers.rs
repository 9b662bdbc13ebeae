//! Testcontainers itself, the crate, starts the image as it would start `apache/kafka` and
//! `confluentinc/cp-kafka`.

use crate::client::{member, produce, read};
use compat_tests::docker::{IMAGE, docker};
use rdkafka::consumer::Consumer as _;
use std::process::Command;
use std::time::{Duration, Instant};
use testcontainers::core::{ContainerPort, ExecCommand, WaitFor};
use testcontainers::runners::SyncRunner as _;
use testcontainers::{GenericImage, ImageExt as _};

/// Testcontainers finds Docker by the environment, which a test may not change for its neighbours:
/// so the test is another process, and this one only looks how it ends. True in that process.
fn is_inside(test: &str) -> bool {
    const INSIDE: &str = "HIGHWATER_INSIDE_TESTCONTAINERS";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(INSIDE, "yes");
    docker().reach(&mut command);
    compat_tests::process::run(&mut command, Duration::from_secs(120)).ok();
    false
}

/// Starts the image as a module does: it waits for a script, which says what is advertised and runs
/// what the image runs. Then it is used, by several members of a group too.
fn start_and_use(run: &str) {
    let script = "/tmp/testcontainers_start.sh";
    let wait = format!("while [ ! -f {script} ]; do sleep 0.1; done; {script}");
    let image = GenericImage::new(IMAGE, "latest")
        .with_exposed_port(ContainerPort::Tcp(9092))
        .with_entrypoint("sh");
    let variables = [
        ("CLUSTER_ID", "5L6g3nShT-eMCtK--X86sw"),
        ("KAFKA_PROCESS_ROLES", "broker,controller"),
        ("KAFKA_NODE_ID", "1"),
        ("KAFKA_CONTROLLER_LISTENER_NAMES", "CONTROLLER"),
        ("KAFKA_CONTROLLER_QUORUM_VOTERS", "1@localhost:9094"),
        ("KAFKA_INTER_BROKER_LISTENER_NAME", "BROKER"),
        ("KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR", "1"),
        ("KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS", "0"),
        ("KAFKA_NUM_PARTITIONS", "4"),
        (
            "KAFKA_LISTENERS",
            "PLAINTEXT://0.0.0.0:9092,BROKER://0.0.0.0:9093,CONTROLLER://0.0.0.0:9094",
        ),
        (
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP",
            "BROKER:PLAINTEXT,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        ),
    ];
    let mut request = image.with_cmd(["-c", &wait]);
    for (name, value) in variables {
        request = request.with_env_var(name, value);
    }
    let container = request.start().unwrap();
    let port = container.get_host_port_ipv4(9092).unwrap();
    let text = format!(
        "printf '#!/bin/bash\\nexport KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:{port},BROKER://localhost:9093\\n{run}\\n' > {script}.new && chmod 755 {script}.new && mv {script}.new {script}"
    );
    let ready = [WaitFor::message_on_stdout("Transitioning from RECOVERY to RUNNING")];
    let command = ExecCommand::new(["sh", "-c", &text]);
    container.exec(command.with_container_ready_conditions(ready.to_vec())).unwrap();
    use_it(&format!("127.0.0.1:{port}"));
}

fn use_it(at: &str) {
    let texts: Vec<String> = (0..40).map(|number| format!("{number:02}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    produce(at, "shared", &texts);
    let first = member(at, "readers", "shared");
    assert_eq!(read(&first, 40), texts);
    // Another comes, and they share; the first one goes, and the other has all.
    let second = member(at, "readers", "shared");
    until_owned(&[&first, &second], &[2, 2]);
    first.unsubscribe();
    until_owned(&[&second], &[4]);
    drop(first);
    let second = member(at, "others", "shared");
    assert_eq!(read(&second, 40), texts);
}

/// Has the members poll until each owns so many partitions.
#[track_caller]
fn until_owned(members: &[&rdkafka::consumer::BaseConsumer], want: &[usize]) {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        for member in members {
            drop(member.poll(Duration::from_millis(50)));
        }
        let owned: Vec<_> = members.iter().map(|it| it.assignment().unwrap().count()).collect();
        if owned == want {
            return;
        }
        assert!(Instant::now() < end, "they own {owned:?}, not {want:?}");
    }
}

#[test]
fn as_apache_kafka() {
    if is_inside("testcontainers::as_apache_kafka") {
        start_and_use("/etc/kafka/docker/run");
    }
}

#[test]
fn as_cp_kafka() {
    if is_inside("testcontainers::as_cp_kafka") {
        start_and_use("/etc/confluent/docker/run");
    }
}
