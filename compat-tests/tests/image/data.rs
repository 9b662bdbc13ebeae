//! What was written under one image's path and user is found again under another's.

use crate::client::{member, produce, read};
use compat_tests::docker::{Container, docker};

/// A volume that is taken away with its owner.
struct Volume {
    name: String,
}

impl Volume {
    fn new() -> Volume {
        Volume { name: docker().run(&["volume", "create"]).ok().trim().to_owned() }
    }

    fn named(name: &str) -> Volume {
        let name = format!("highwater-{name}-{}", std::process::id());
        docker().run(&["volume", "create", &name]).ok();
        Volume { name }
    }

    fn at(&self, path: &str) -> String {
        format!("{}:{path}", self.name)
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        drop(docker().run(&["volume", "rm", "-f", &self.name]));
    }
}

/// Starts a broker whose clients are here, on the volume.
fn start(mount: &str, args: &[&str], command: &[&str]) -> (Container, String) {
    // Nothing says what is advertised: whoever comes over the published port has to be told of it.
    let port = compat_tests::broker::free_port();
    let publish = format!("{port}:{port}");
    let listeners = format!("LISTENERS=PLAINTEXT://:{port},CONTROLLER://:9093");
    let advertised = format!("ADVERTISED_LISTENERS=PLAINTEXT://localhost:{port}");
    let prefix =
        if args.iter().any(|arg| arg.contains("KAFKA_CFG_")) { "KAFKA_CFG_" } else { "KAFKA_" };
    let (listeners, advertised) = (format!("{prefix}{listeners}"), format!("{prefix}{advertised}"));
    let own = ["-p", &publish, "-v", mount, "-e", &listeners, "-e", &advertised];
    let container = Container::start(&[&own, args].concat(), command);
    container.until_said("Kafka Server started");
    (container, format!("localhost:{port}"))
}

#[test]
fn data_moves_from_one_image_to_the_next() {
    let volume = Volume::named("moves");
    let (bitnami, at) =
        start(&volume.at("/bitnami/kafka"), &["-u", "1001", "-e", "KAFKA_CFG_NODE_ID=1"], &[]);
    produce(&at, "kept", &["one", "two"]);
    drop(bitnami);
    let confluent: &[&str] = &["/etc/confluent/docker/run"];
    let entrypoint = "/opt/bitnami/scripts/kafka/entrypoint.sh";
    let as_bitnami = ["--entrypoint", entrypoint, "-e", "KAFKA_CFG_NODE_ID=1"];
    let lives: [(&str, &[&str], &[&str]); 5] = [
        ("/var/lib/kafka/data", &["-e", "KAFKA_NODE_ID=1"], confluent),
        ("/var/lib/kafka/data", &["-u", "1234", "-e", "KAFKA_NODE_ID=1"], &[]),
        ("/bitnami/kafka", &as_bitnami, &["/opt/bitnami/scripts/kafka/run.sh"]),
        ("/kafka", &["-u", "root"], &["start-kafka.sh"]),
        ("/tmp/kraft-combined-logs", &["-u", "1001"], &["/docker-entrypoint.sh", "start"]),
    ];
    for (life, (path, args, command)) in lives.into_iter().enumerate() {
        let (container, at) = start(&volume.at(path), args, command);
        let found = read(&member(&at, &format!("life-{life}"), "kept"), 2);
        assert_eq!(found, ["one", "two"], "{path} {command:?}\n{}", container.log());
    }
}

#[test]
fn an_anonymous_volume_hides_no_named_one() {
    let volume = Volume::named("named");
    let (container, _at) = start(&volume.at("/kafka"), &[], &[]);
    let found = container.exec(&["sh", "-c", "ls /kafka/*/meta.properties /var/lib/kafka/data"]);
    assert_eq!(found.out.trim(), "/kafka/kafka-logs/meta.properties\n\n/var/lib/kafka/data:");
}

#[test]
fn data_stays_where_it_was_told_to_be() {
    let volume = Volume::new();
    let said = ["-e", "KAFKA_LOG_DIRS=/tmp/kraft-combined-logs"];
    let (container, _at) = start(&volume.at("/var/lib/kafka/data"), &said, &[]);
    container.exec(&["test", "-f", "/tmp/kraft-combined-logs/meta.properties"]).ok();
}

#[test]
fn a_container_that_is_started_again_goes_on() {
    let volume = Volume::named("again");
    let (container, at) = start(&volume.at("/var/lib/kafka/data"), &[], &[]);
    produce(&at, "kept", &["one"]);
    docker().run(&["stop", &container.id]).ok();
    assert_eq!(container.inspect("{{.State.ExitCode}}"), "0", "{}", container.log());
    assert!(container.log().contains("shut down completed"));
    docker().run(&["start", &container.id]).ok();
    assert_eq!(read(&member(&at, "readers", "kept"), 1), ["one"]);
}
