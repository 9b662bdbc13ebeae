//! Containers that leave a broker little: a root that cannot be written, a user without a name,
//! little memory, no network.

use compat_tests::docker::{Container, docker};

/// Records go in and come out, by the tools in the container.
#[track_caller]
fn works(it: &Container) {
    it.until_said("Kafka Server started");
    let script = "set -e
        seq 1000 | kafka-console-producer --bootstrap-server localhost:9092 --topic t
        kafka-console-consumer --bootstrap-server localhost:9092 --topic t --from-beginning \
            --max-messages 1000 --timeout-ms 30000 | tail -n 1
        /usr/lib/highwater/health";
    let said = it.exec(&["sh", "-c", script]);
    assert_eq!(said.clone().ok(), "1000\n", "{said:?}\n{}", it.log());
}

#[track_caller]
fn start(args: &[&str]) -> Container {
    Container::start(args, &[])
}

#[test]
fn a_root_that_cannot_be_written_is_no_matter() {
    works(&start(&["--read-only"]));
    let confluent = Container::start(&["--read-only"], &["/etc/confluent/docker/run"]);
    works(&confluent);
    let bitnami = ["--read-only", "-e", "KAFKA_CFG_NODE_ID=3", "-v", "/bitnami/kafka"];
    let bitnami = start(&bitnami);
    works(&bitnami);
    assert!(bitnami.log().contains("nodeId=3"), "{}", bitnami.log());
}

#[test]
fn a_user_without_a_name_or_a_group_works_where_it_may_write() {
    works(&start(&["--user", "12345"]));
    let of_nobody = start(&["--user", "12345:12345", "--tmpfs", "/var/lib/kafka/data:uid=12345"]);
    works(&of_nobody);
    // Where it may not, it is told so.
    let refused = start(&["--user", "12345:12345"]);
    assert_ne!(docker().run(&["wait", &refused.id]).ok().trim(), "0");
    let log = refused.log();
    assert!(log.contains("/var/lib/kafka/data") && log.contains("ermission denied"), "{log}");
}

#[test]
fn little_memory_and_a_tenth_of_a_core_are_enough() {
    works(&start(&["--memory", "64m", "--memory-swap", "64m", "--cpus", "0.1"]));
}

#[test]
fn a_container_without_a_network_or_with_an_odd_name_serves_itself() {
    works(&start(&["--network", "none"]));
    works(&start(&["--hostname", "my_host"]));
}

#[test]
fn the_first_process_of_a_container_ends_when_it_is_told_to() {
    let it = start(&[]);
    works(&it);
    assert_eq!(it.exec(&["ps", "-o", "comm=", "-p", "1"]).ok().trim(), "kafka-server-st");
    docker().run(&["stop", "--time", "10", &it.id]).ok();
    assert_eq!(it.inspect("{{.State.ExitCode}}"), "0", "{}", it.log());
    assert!(it.log().contains("due to signal SIGTERM"), "{}", it.log());
}
