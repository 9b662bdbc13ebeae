//! What the Testcontainers modules of each language do, step by step, until they take the broker for
//! started: the same commands, the same scripts at the same places, the same lines waited for.

use crate::client::check;
use compat_tests::docker::Container;
use compat_tests::process::until;
use std::time::Duration;

const READY: &str = "Transitioning from RECOVERY to RUNNING";
const READY_BESIDE_ZOOKEEPER: &str = "[KafkaServer id=1] started";
const APACHE: &str = "/etc/kafka/docker/run";
const CONFLUENT: &str = "/etc/confluent/docker/run";
const CLUSTER: &str = "CLUSTER_ID=4L6g3nShT-eMCtK--X86sw";

/// What nearly all modules set.
const ONE_NODE: [&str; 8] = [
    "KAFKA_INTER_BROKER_LISTENER_NAME=BROKER",
    "KAFKA_BROKER_ID=1",
    "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR=1",
    "KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS=1",
    "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR=1",
    "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR=1",
    "KAFKA_LOG_FLUSH_INTERVAL_MESSAGES=9223372036854775807",
    "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS=0",
];
const KRAFT: [&str; 5] = [
    "KAFKA_NODE_ID=1",
    "KAFKA_PROCESS_ROLES=broker,controller",
    "KAFKA_CONTROLLER_LISTENER_NAMES=CONTROLLER",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=BROKER:PLAINTEXT,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "KAFKA_CONTROLLER_QUORUM_VOTERS=1@localhost:9094",
];
const ZOOKEEPER: [&str; 1] =
    ["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=BROKER:PLAINTEXT,PLAINTEXT:PLAINTEXT"];
const START_ZOOKEEPER: &str = "echo 'clientPort=2181' > zookeeper.properties
echo 'dataDir=/var/lib/zookeeper/data' >> zookeeper.properties
echo 'dataLogDir=/var/lib/zookeeper/log' >> zookeeper.properties
zookeeper-server-start zookeeper.properties &
";

/// Where a module's clients connect, and where its broker talks to itself.
fn listeners(client: u16, broker: u16, has_controller: bool) -> String {
    let controller = if has_controller { ",CONTROLLER://0.0.0.0:9094" } else { "" };
    format!("KAFKA_LISTENERS=PLAINTEXT://0.0.0.0:{client},BROKER://0.0.0.0:{broker}{controller}")
}

/// Starts a container that waits for a script, with these variables.
#[track_caller]
fn begin(variables: &[&[&str]], args: &[&str], command: &[&str]) -> Container {
    let variables = variables.concat();
    let set = variables.iter().flat_map(|variable| ["-e", variable]).collect::<Vec<_>>();
    Container::start(&[&set[..], args].concat(), command)
}

fn hostname(container: &Container) -> String {
    container.inspect("{{.Config.Hostname}}")
}

fn address(container: &Container) -> String {
    container.inspect("{{.NetworkSettings.IPAddress}}")
}

#[track_caller]
fn ready(container: &Container, line: &str, port: u16) {
    container.until_said(line);
    check(&format!("localhost:{}", container.port(port)));
}

fn wait_for(script: &str) -> String {
    format!("while [ ! -f {script} ]; do sleep 0.1; done; {script}")
}

#[test]
fn java() {
    for run in [APACHE, CONFLUENT] {
        let script = "/tmp/testcontainers_start.sh";
        let listeners = listeners(9092, 9093, true);
        let variables: [&[&str]; 4] = [&ONE_NODE, &KRAFT, &[CLUSTER], &[&listeners]];
        let it = begin(&variables, &["-p", "9092"], &["sh", "-c", &wait_for(script)]);
        let text = format!(
            "#!/bin/bash\nexport KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://localhost:{},BROKER://{}:9093\n{run}\n",
            it.port(9092),
            hostname(&it)
        );
        it.put(script, 0o777, &text);
        ready(&it, READY, 9092);
    }
}

#[test]
fn java_deprecated() {
    let script = "/testcontainers_start.sh";
    let listeners = listeners(9093, 9092, false);
    let zookeeper = ["KAFKA_ZOOKEEPER_CONNECT=localhost:2181"];
    let variables: [&[&str]; 4] = [&ONE_NODE, &ZOOKEEPER, &zookeeper, &[&listeners]];
    let args = ["-p", "9093", "-p", "2181", "--entrypoint", "sh"];
    let it = begin(&variables, &args, &["-c", &wait_for(script)]);
    let text = format!(
        "#!/bin/bash\n{START_ZOOKEEPER}echo '' > /etc/confluent/docker/ensure\n\
         export KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://localhost:{},BROKER://{}:9092\n{CONFLUENT}\n",
        it.port(9093),
        hostname(&it)
    );
    it.put(script, 0o777, &text);
    ready(&it, READY_BESIDE_ZOOKEEPER, 9093);
    assert!(it.log().contains("There is no ZooKeeper in this image"), "{}", it.log());
}

#[test]
fn go() {
    let script = "/usr/sbin/testcontainers_start.sh";
    let listeners = listeners(9093, 9092, true);
    let rest = listeners.replace("KAFKA_LISTENERS", "KAFKA_REST_BOOTSTRAP_SERVERS");
    let variables: [&[&str]; 4] = [&ONE_NODE, &KRAFT, &[&listeners], &[&rest]];
    let wait = format!("while [ ! -f {script} ]; do sleep 0.1; done; bash {script}");
    let it = begin(&variables, &["-p", "9093", "--entrypoint", "sh"], &["-c", &wait]);
    let text = format!(
        r#"#!/bin/bash
source /etc/confluent/docker/bash-config
export KAFKA_ADVERTISED_LISTENERS="PLAINTEXT://localhost:{},BROKER://{}:9092${{EXTRA_ADVERTISED_LISTENERS:+,${{EXTRA_ADVERTISED_LISTENERS}}}}"
echo Starting Kafka KRaft mode
sed -i '/KAFKA_ZOOKEEPER_CONNECT/d' /etc/confluent/docker/configure
echo 'kafka-storage format --ignore-formatted -t "$(kafka-storage random-uuid)" -c /etc/kafka/kafka.properties' >> /etc/confluent/docker/configure
echo '' > /etc/confluent/docker/ensure
/etc/confluent/docker/configure
/etc/confluent/docker/launch"#,
        it.port(9093),
        hostname(&it)
    );
    it.put(script, 0o755, &text);
    ready(&it, READY, 9093);
    assert!(it.log().contains("Formatting metadata directory"), "{}", it.log());
}

#[test]
fn node() {
    for is_kraft in [true, false] {
        let script = "/testcontainers_start.sh";
        let listeners = listeners(9093, 9092, is_kraft);
        let beside: &[&str] =
            if is_kraft { &[CLUSTER] } else { &["KAFKA_ZOOKEEPER_CONNECT=localhost:2181"] };
        let own = [
            "KAFKA_CONFLUENT_SUPPORT_METRICS_ENABLE=false",
            "KAFKA_ADVERTISED_LISTENERS=BROKER://localhost:9092",
            &listeners,
        ];
        let mode: &[&str] = if is_kraft { &KRAFT } else { &ZOOKEEPER };
        let wait = format!("echo 'Waiting for script...'; {}", wait_for(script));
        let args = ["-p", "9093", "-p", "2181", "--entrypoint", "sh"];
        let it = begin(&[&ONE_NODE, mode, beside, &own], &args, &["-c", &wait]);
        it.until_said("Waiting for script...");
        let zookeeper = format!("echo '' > /etc/confluent/docker/ensure \n{START_ZOOKEEPER}");
        let text = format!(
            "#!/bin/bash\nexport KAFKA_ADVERTISED_LISTENERS=BROKER://{}:9092,PLAINTEXT://localhost:{}\n{}{CONFLUENT} \n",
            hostname(&it),
            it.port(9093),
            if is_kraft { "" } else { &zookeeper }
        );
        it.put(script, 0o777, &text);
        // It waits for no line: for its ports, seen from inside.
        let ports: &[u16] = if is_kraft { &[9093] } else { &[9093, 2181] };
        for port in ports {
            let open = format!("true &>/dev/null < /dev/tcp/localhost/{port}");
            until("the port is open", Duration::from_secs(30), || {
                it.exec(&["/bin/bash", "-c", &open]).status.success().then_some(())
            });
        }
        check(&format!("localhost:{}", it.port(9093)));
    }
}

#[test]
fn python() {
    for is_kraft in [true, false] {
        let script = "/tc-start.sh";
        let listeners = listeners(9093, 9092, is_kraft);
        // A cluster's id by its own rules: none that Kafka would make.
        let id = "4Xk2YlhoQ+a0l/1x3Jm7Sw==";
        let own = [&listeners, "KAFKA_LOG_FLUSH_INTERVAL_MESSAGES=10000000"];
        let cluster = format!("CLUSTER_ID={id}");
        let beside: &[&str] = if is_kraft { &[&cluster] } else { &[] };
        let mode: &[&str] = if is_kraft { &KRAFT } else { &ZOOKEEPER };
        let wait = format!("while [ ! -f {script} ]; do sleep 0.1; done; sh {script}");
        let it =
            begin(&[&ONE_NODE[..4], mode, beside, &own], &["-p", "9093"], &["sh", "-c", &wait]);
        let boot = if is_kraft {
            format!(
                "sed -i '/KAFKA_ZOOKEEPER_CONNECT/d' /etc/confluent/docker/configure\n\
                 echo 'kafka-storage format --ignore-formatted -t {id} -c /etc/kafka/kafka.properties' >> /etc/confluent/docker/configure\n"
            )
        } else {
            format!("{START_ZOOKEEPER}export KAFKA_ZOOKEEPER_CONNECT='localhost:2181'\n")
        };
        let text = format!(
            "#!/bin/bash\n{boot}\n\
             export KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://localhost:{},BROKER://$(hostname -i):9092\n\
             . /etc/confluent/docker/bash-config\n\
             /etc/confluent/docker/configure\n/etc/confluent/docker/launch",
            it.port(9093)
        );
        it.put(script, 0o644, &text);
        ready(&it, if is_kraft { "Kafka Server started" } else { READY_BESIDE_ZOOKEEPER }, 9093);
    }
}

#[test]
fn dotnet() {
    for (is_kraft, run) in [(true, APACHE), (true, CONFLUENT), (false, CONFLUENT)] {
        let script = "/testcontainers.sh";
        let listeners = listeners(9092, 9093, is_kraft);
        let beside: &[&str] =
            if is_kraft { &[CLUSTER] } else { &["KAFKA_ZOOKEEPER_CONNECT=localhost:2181"] };
        let mode: &[&str] = if is_kraft { &KRAFT } else { &ZOOKEEPER };
        let args = ["-p", "9092", "-p", "9093", "-p", "2181", "--entrypoint", "/bin/sh"];
        let variables: [&[&str]; 4] = [&ONE_NODE, mode, beside, &[&listeners]];
        let it = begin(&variables, &args, &["-c", &wait_for(script)]);
        let text = format!(
            "#!/bin/bash\n\n{}export KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://localhost:{},BROKER://{}:9093,\n{}exec {run}\n",
            if is_kraft { "" } else { START_ZOOKEEPER },
            it.port(9092),
            address(&it),
            if is_kraft { "" } else { "echo '' > /etc/confluent/docker/ensure\n" },
        );
        it.put(script, 0o755, &text);
        ready(&it, if is_kraft { READY } else { READY_BESIDE_ZOOKEEPER }, 9092);
    }
}

#[test]
fn rust() {
    let script = "/opt/kafka/testcontainers_start.sh";
    let listeners = listeners(9092, 9093, true);
    let own = [
        "CLUSTER_ID=5L6g3nShT-eMCtK--X86sw",
        "KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://localhost:9092,BROKER://localhost:9092",
        &listeners,
    ];
    let wait =
        format!("while [ ! -f {script}  ]; do sleep 0.1; done; chmod 755 {script} && {script}");
    // This one sets no node.id.
    let variables: [&[&str]; 3] = [&ONE_NODE[..3], &KRAFT[1..], &own];
    let it = begin(&variables, &["-p", "9092", "--entrypoint", "bash"], &["-c", &wait]);
    let write = format!(
        "echo '#!/usr/bin/env bash\nexport KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:{},BROKER://localhost:9093\n{APACHE} \n' > {script}",
        it.port(9092)
    );
    it.exec(&["sh", "-c", &write]).ok();
    ready(&it, "Kafka Server started", 9092);
}
