//! A broker in a container on two networks, without `advertised.listeners`: whoever can reach it at
//! all is told an address that it reaches. The container is made of namespaces.

use compat_tests::home::{highwater, tool};
use compat_tests::network::Namespace;
use compat_tests::process::{Output, Server, run, until};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(30);

/// The broker, the host with its bridge, one container beside the broker on that bridge, and one on
/// the broker's second network.
struct World {
    broker: Namespace,
    host: Namespace,
    neighbour: Namespace,
    other: Namespace,
}

impl World {
    fn new() -> World {
        tool("network");
        let broker = Namespace::new("broker");
        let host = Namespace::new("host");
        let neighbour = Namespace::new("neighbour");
        let other = Namespace::new("other");
        host.ip("link add bridge type bridge");
        host.ip("link set bridge up");
        for (container, port, last) in [(&broker, "first", "2"), (&neighbour, "second", "3")] {
            host.cable(port, container, "eth0");
            host.ip(&format!("link set {port} master bridge"));
            container.address("eth0", &format!("172.30.0.{last}/24"));
            container.address("eth0", &format!("fd30::{last}/64"));
        }
        host.address("bridge", "172.30.0.1/24");
        host.address("bridge", "fd30::1/64");
        broker.ip("route add default via 172.30.0.1");
        broker.ip("route add default via fd30::1");
        broker.cable("eth1", &other, "eth0");
        broker.address("eth1", "10.77.0.2/24");
        other.address("eth0", "10.77.0.3/24");
        World { broker, host, neighbour, other }
    }

    /// Starts the broker as in a container: it finds the mark that Podman makes.
    fn start(&self, dir: &Path, settings: &[&str]) -> Server {
        let script = "mount -t tmpfs none /run && touch /run/.containerenv && exec \"$@\"";
        let mut command = self.broker.command("unshare");
        command.args(["--mount", "sh", "-c", script, "sh"]).arg(highwater()).arg("start");
        let data = format!("log.dirs={}", dir.join("data").display());
        let quick = ["offsets.topic.num.partitions=1", "group.initial.rebalance.delay.ms=0"];
        for setting in settings.iter().chain(&quick).chain(&[data.as_str()]) {
            command.args(["--override", setting]);
        }
        let server = Server::start(&mut command, &dir.join("log"));
        until("the broker starts", LIMIT, || {
            server.tail().contains("Kafka Server started").then_some(())
        });
        server
    }
}

fn kcat(on: &Namespace, bootstrap: &str, words: &[&str]) -> Output {
    let mut command = on.command("kcat");
    command.args(["-b", bootstrap, "-q", "-m", "5", "-X", "auto.offset.reset=earliest"]);
    run(command.args(words), LIMIT)
}

/// What a client on that machine is told.
#[track_caller]
fn told(on: &Namespace, bootstrap: &str) -> String {
    let metadata = kcat(on, bootstrap, &["-L", "-J"]).ok();
    let metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
    metadata["brokers"][0]["name"].as_str().unwrap().to_owned()
}

/// A client there produces, consumes, and consumes in a group.
#[track_caller]
fn uses(on: &Namespace, bootstrap: &str, topic: &str) {
    let mut sent = on.command("sh");
    let script = "echo hello | kcat -b \"$1\" -P -t \"$2\" -X message.timeout.ms=10000";
    run(sent.args(["-c", script, "sh", bootstrap, topic]), LIMIT).ok();
    assert_eq!(kcat(on, bootstrap, &["-C", "-t", topic, "-e"]).ok(), "hello\n");
    assert_eq!(kcat(on, bootstrap, &["-e", "-G", topic, topic]).ok(), "hello\n");
}

#[test]
fn in_a_container_on_two_networks_everybody_is_told_what_they_reach() {
    tool("kcat");
    let (world, dir) = (World::new(), TempDir::new().unwrap());
    let World { broker, host, neighbour, other } = &world;
    let server = world.start(
        dir.path(),
        &[
            "listeners=PLAINTEXT://:9092,HOST://:19092",
            "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,HOST:PLAINTEXT",
        ],
    );
    // Published as `-p 9092:9092 -p 19092:19092`, and once under another number.
    let published = |at: &str, to: &str| host.publish(at.parse().unwrap(), to.parse().unwrap());
    let _published = [
        published("127.0.0.1:9092", "172.30.0.2:9092"),
        published("[::1]:9092", "[fd30::2]:9092"),
        published("127.0.0.1:19092", "172.30.0.2:19092"),
        published("127.0.0.1:29092", "172.30.0.2:9092"),
    ];
    let peers = [
        ("the container itself", broker, "localhost:9092", "localhost:9092"),
        ("the container, by its address", broker, "172.30.0.2:9092", "localhost:9092"),
        ("the host", host, "127.0.0.1:9092", "localhost:9092"),
        ("the host, over IPv6", host, "[::1]:9092", "localhost:9092"),
        ("the host, at the second listener", host, "localhost:19092", "localhost:19092"),
        ("the neighbour", neighbour, "172.30.0.2:9092", "172.30.0.2:9092"),
        // librdkafka shows it without brackets.
        ("the neighbour, over IPv6", neighbour, "[fd30::2]:9092", "fd30::2:9092"),
        ("the other network", other, "10.77.0.2:9092", "10.77.0.2:9092"),
        ("the other network", other, "10.77.0.2:19092", "10.77.0.2:19092"),
    ];
    std::thread::scope(|scope| {
        for (number, (who, on, bootstrap, want)) in peers.into_iter().enumerate() {
            scope.spawn(move || {
                assert_eq!(told(on, bootstrap), want, "{who} at {bootstrap}");
                uses(on, bootstrap, &format!("topic-{number}"));
            });
        }
    });
    // What cannot be known needs `advertised.listeners`: the number of the published port.
    assert_eq!(told(host, "127.0.0.1:29092"), "localhost:9092");
    let log = server.tail();
    let line = "PLAINTEXT is told to clients: localhost:9092 on this machine or through the \
                container's gateway 172.30.0.1, fd30::1, else the address they reached. A port \
                published under another number, or a client behind address translation, needs \
                advertised.listeners";
    assert!(log.contains(line), "{log}");
}

#[test]
fn a_container_that_is_put_on_another_network_follows_it() {
    tool("kcat");
    let (world, dir) = (World::new(), TempDir::new().unwrap());
    world.broker.ip("route del default");
    world.broker.ip("route add default via 10.77.0.3");
    let _server = world.start(dir.path(), &["listeners=PLAINTEXT://:9092"]);
    let (host, other) = (&world.host, &world.other);
    let told = |on, to| told(on, to);
    assert_eq!(told(host, "172.30.0.2:9092"), "172.30.0.2:9092");
    assert_eq!(told(other, "10.77.0.2:9092"), "localhost:9092");
    world.broker.ip("route replace default via 172.30.0.1");
    until("the broker sees its new gateway", LIMIT, || {
        (told(host, "172.30.0.2:9092") == "localhost:9092").then_some(())
    });
    assert_eq!(told(other, "10.77.0.2:9092"), "10.77.0.2:9092");
}

#[test]
fn on_a_network_of_ipv6_alone_everybody_is_told_what_they_reach() {
    tool("kcat");
    let (world, dir) = (World::new(), TempDir::new().unwrap());
    let World { broker, host, neighbour, .. } = &world;
    for machine in [broker, host, neighbour] {
        machine.ip("-4 address flush scope global");
    }
    let server = world.start(dir.path(), &["listeners=PLAINTEXT://:9092"]);
    assert_eq!(told(broker, "[::1]:9092"), "localhost:9092");
    assert_eq!(told(host, "[fd30::2]:9092"), "localhost:9092");
    assert_eq!(told(neighbour, "[fd30::2]:9092"), "fd30::2:9092");
    uses(neighbour, "[fd30::2]:9092", "topic");
    let log = server.tail();
    assert!(log.contains("through the container's gateway fd30::1, else"), "{log}");
}
