//! What clients are told on Docker's own networks, without `advertised.listeners`.

use compat_tests::broker::free_port;
use compat_tests::docker::{Container, Network};

/// A container beside the broker's, whose tools are the clients.
#[track_caller]
fn client(network: &str) -> Container {
    Container::start(&["--network", network, "--entrypoint", "sleep"], &["300"])
}

/// The address that a client there is told.
#[track_caller]
fn told(on: &Container, bootstrap: &str) -> String {
    let said = on.exec(&["kafka-broker-api-versions", "--bootstrap-server", bootstrap]).ok();
    said.split(' ').next().unwrap().to_owned()
}

/// A client there produces, and reads it in a group.
#[track_caller]
fn uses(on: &Container, bootstrap: &str, topic: &str) {
    let script = "set -e
        echo hello | kafka-console-producer --bootstrap-server $0 --topic $1
        kafka-console-consumer --bootstrap-server $0 --topic $1 --from-beginning \
            --max-messages 1 --timeout-ms 20000";
    let said = on.exec(&["sh", "-c", script, bootstrap, topic]);
    assert_eq!(said.clone().ok(), "hello\n", "{bootstrap}: {said:?}");
}

#[test]
fn a_broker_on_two_networks_tells_everybody_what_they_reach() {
    let (first, second) = (Network::new("a"), Network::new("b"));
    // The one number that has to be free on this machine; all else is as it comes.
    let port = free_port();
    let listeners = format!("KAFKA_LISTENERS=PLAINTEXT://:{port},CONTROLLER://:9093");
    let args = ["-p", &format!("{port}:{port}"), "-e", &listeners];
    let broker = Container::start_on([&first, &second], "kafka", &args);
    broker.until_said("Kafka Server started");
    let [beside, beyond, host] = [first.name.as_str(), &second.name, "host"].map(client);
    let at = |host: &str| format!("{host}:{port}");
    let here = at("localhost");
    let (near, far) = (at(&broker.address_on(&first)), at(&broker.address_on(&second)));
    let peers = [
        ("the host", &host, here.clone(), &here),
        ("the host, through the gateway", &host, at(&first.gateway()), &here),
        ("a container on the first network, by the name", &beside, at("kafka"), &near),
        ("a container on the first network, by the address", &beside, near.clone(), &near),
        ("a container on the second network, by the name", &beyond, at("kafka"), &far),
        ("the container itself", &broker, here.clone(), &here),
    ];
    std::thread::scope(|scope| {
        for (number, (who, on, bootstrap, want)) in peers.into_iter().enumerate() {
            scope.spawn(move || {
                assert_eq!(&told(on, &bootstrap), want, "{who} at {bootstrap}");
                uses(on, &bootstrap, &format!("topic-{number}"));
            });
        }
    });
}
