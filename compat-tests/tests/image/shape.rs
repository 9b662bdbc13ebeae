//! What the image is: its size, its paths, its tools, who may write what.

use compat_tests::docker::{Container, IMAGE, docker};

/// Bytes of the image, uncompressed, at most.
const SIZE_MAX: u64 = 60_000_000;

#[test]
fn it_is_small() {
    let said = docker().run(&["image", "inspect", IMAGE, "--format", "{{.Size}}"]).ok();
    let size: u64 = said.trim().parse().unwrap();
    // A debug build is bigger, and nobody ships it.
    let is_release = compat_tests::home::highwater().to_string_lossy().contains("release");
    assert!(!is_release || size < SIZE_MAX, "{size} bytes");
    eprintln!("image: {} MB", size / 1_000_000);
}

#[test]
fn every_path_that_scripts_know_is_there() {
    let it = Container::start(&["--entrypoint", "sleep"], &["300"]);
    let script = r#"
        for tool in kafka-topics kafka-configs kafka-storage kafka-server-start kafka-run-class \
            kafka-console-consumer zookeeper-server-start; do
          for dir in /usr/bin /opt/kafka/bin /opt/bitnami/kafka/bin /kafka/bin; do
            [ -x $dir/$tool ] && [ -x $dir/$tool.sh ] || echo "no $dir/$tool"
          done
        done
        for tool in bash sh sed grep awk curl nc ps pgrep hostname cub ub getent timeout tar vi; do
          command -v $tool >/dev/null || echo "no $tool"
        done
        for file in /etc/kafka/docker/run /etc/kafka/docker/configure /etc/kafka/docker/launch \
            /etc/kafka/docker/configureDefaults /etc/kafka/docker/bash-config \
            /etc/confluent/docker/run /etc/confluent/docker/configure /etc/confluent/docker/ensure \
            /etc/confluent/docker/launch /etc/confluent/docker/bash-config \
            /opt/bitnami/scripts/kafka/run.sh /docker-entrypoint.sh \
            /opt/kafka/config/server.properties /opt/kafka/config/kraft/server.properties; do
          [ -f $file ] && [ ! -L $file ] && [ -w $file ] || echo "cannot write $file"
        done
        for dir in . /tmp /opt/kafka /etc/kafka/docker /etc/confluent/docker /etc/kafka/secrets \
            /var/lib/kafka/data /bitnami/kafka/data /kafka /mnt/shared/config; do
          touch $dir/written && rm $dir/written || echo "cannot write to $dir"
        done
        [ "$(pwd)" = /opt/kafka ] || pwd"#;
    for user in ["appuser", "1001", "12345", "root"] {
        assert_eq!(
            docker().run(&["exec", "-u", user, &it.id, "sh", "-c", script]).ok(),
            "",
            "{user}"
        );
    }
}

#[test]
fn a_shell_keeps_variables_that_only_java_can_name() {
    let name = "KAFKA_LISTENER_NAME_SECURE_SCRAM-SHA-256_SASL_JAAS_CONFIG";
    let it = Container::start(
        &["-e", &format!("{name}=x"), "--entrypoint", "sh"],
        &["-c", "sh -c env; sleep 300"],
    );
    it.until_said(&format!("{name}=x"));
}

#[test]
fn what_is_no_setting_of_a_broker_starts_none() {
    let it = Container::start(&[], &["bash", "-c", "echo a command; exit 3"]);
    it.until_said("a command");
    assert_eq!(docker().run(&["wait", &it.id]).ok().trim(), "3");
    let tls = ["-e", "KAFKA_LISTENERS=SSL://:9092", "-e", "KAFKA_PROCESS_ROLES=broker,controller"];
    let refused = Container::start(&tls, &[]);
    assert_ne!(docker().run(&["wait", &refused.id]).ok().trim(), "0", "{}", refused.log());
}
