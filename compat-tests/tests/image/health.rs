//! Health checks that compose files and scripts have.

use compat_tests::docker::{Container, docker};
use compat_tests::process::until;
use std::time::Duration;

#[test]
fn a_second_container_on_the_same_network_goes_without_an_admin_port_or_has_one_of_its_own() {
    let first = Container::start(&[], &[]);
    first.until_said("Kafka Server started");
    let network = format!("container:{}", first.id);
    let listeners = "KAFKA_LISTENERS=PLAINTEXT://localhost:0,CONTROLLER://localhost:0";
    let beside = |more: &[&str]| {
        let args = ["--network", &network, "-e", listeners];
        Container::start(&[&args, more].concat(), &[])
    };
    let node = |it: &Container, port: u16| {
        let url = format!("http://localhost:{port}/api/brokers");
        let said = it.exec(&["curl", "-fs", &url]).ok();
        serde_json::from_str::<serde_json::Value>(&said).unwrap()["clusterId"].clone()
    };
    let without = beside(&[]);
    without.until_said("Kafka Server started");
    let why = "There is no admin port, since :9644 cannot be had";
    assert!(without.log().contains(why), "{}", without.log());
    // Who asks there hears of the first one.
    assert_eq!(node(&without, 9644), node(&first, 9644));

    let own = beside(&["-e", "KAFKA_HIGHWATER_ADMIN_LISTENER=:9645"]);
    own.until_said("Kafka Server started");
    assert_ne!(node(&own, 9645), node(&own, 9644));
    own.exec(&["/usr/lib/highwater/health"]).ok();

    let refused = beside(&["-e", "KAFKA_HIGHWATER_ADMIN_LISTENER=:9645"]);
    assert_ne!(docker().run(&["wait", &refused.id]).ok().trim(), "0", "{}", refused.log());
    assert!(refused.log().contains("Cannot open the admin port on :9645"), "{}", refused.log());

    docker().run(&["stop", &first.id]).ok();
    own.exec(&["/usr/lib/highwater/health"]).ok();
}

#[test]
fn each_says_that_the_broker_is_well_and_when_it_is_not() {
    let it = Container::start(&[], &[]);
    it.until_said("Kafka Server started");
    let checks = [
        "nc -z localhost 9092",
        "nc -vz -w 2 localhost 9092",
        "curl -fs localhost:9644/health/ready",
        "curl -fs localhost:9644/v1/status/ready",
        "bash -c '</dev/tcp/localhost/9092'",
        "pgrep -f kafka",
        "ps aux | grep '[k]afka'",
        "cub wait localhost 9092 10",
        "ub ensure PATH && ub path /var/lib/kafka/data writable",
        "kafka-topics.sh --bootstrap-server localhost:9092 --list",
        "kafka-topics --bootstrap-server localhost:9092 --zookeeper z:2181 --list",
        "/opt/kafka/bin/kafka-broker-api-versions.sh --bootstrap-server localhost:9092",
        "kafka-cluster cluster-id --bootstrap-server localhost:9092",
        "cub kafka-ready -b localhost:9092 1 20",
        "ub kafka-ready 1 20 -b localhost:9092",
    ];
    for check in checks {
        let said = it.exec(&["sh", "-c", check]);
        assert!(said.status.success(), "{check}: {said:?}");
    }
    let fails = [
        "nc -z localhost 9099",
        "curl -fs localhost:9099",
        "cub wait localhost 9099 1",
        "cub kafka-ready -b localhost:9092 2 1",
    ];
    for check in fails {
        assert!(!it.exec(&["sh", "-c", check]).status.success(), "{check}");
    }
}

#[test]
fn docker_learns_of_it_without_being_told_how() {
    let it = Container::start(&[], &["/etc/confluent/docker/run"]);
    until("it is healthy", Duration::from_secs(30), || {
        (it.inspect("{{.State.Health.Status}}") == "healthy").then_some(())
    });
    assert!(it.log().contains("Kafka Server started"));
}

#[test]
fn a_broker_that_hangs_is_not_healthy_until_it_goes_on() {
    // 0 seconds would leave the image's own start period, in which no failure counts.
    let often =
        ["--health-interval", "1s", "--health-retries", "1", "--health-start-period", "1ms"];
    let it = Container::start(&often, &[]);
    let until_health = |state: &str| {
        until(state, Duration::from_secs(30), || {
            (it.inspect("{{.State.Health.Status}}") == state).then_some(())
        });
    };
    until_health("healthy");
    docker().run(&["kill", "--signal", "STOP", &it.id]).ok();
    until_health("unhealthy");
    docker().run(&["kill", "--signal", "CONT", &it.id]).ok();
    until_health("healthy");
}
