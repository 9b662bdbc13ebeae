//! Members of every client library come, go and crash, and each record is read by one of them.

use super::{Group, QUICK};
use compat_tests::broker::Broker;
use compat_tests::clients::Client;
use compat_tests::member::Mode::{self, Consumer, Cooperative, Eager};
use tempfile::TempDir;

const PARTITIONS: usize = 7;

/// Three members join, one leaves, one crashes, one comes; all is read.
fn story(group: &mut Group, members: [(Client, Mode); 4]) {
    let [one, two, three, four] = members;
    group.send(30);
    group.join(one.0, one.1);
    group.settle();
    group.join(two.0, two.1);
    group.join(three.0, three.1);
    group.settle();
    group.send(30);
    group.catch_up();
    group.leave(0);
    group.settle();
    group.send(30);
    group.catch_up();
    group.check_once();
    group.crash(0);
    group.join(four.0, four.1);
    group.send(30);
    group.settle();
    group.catch_up();
    group.check();
    while !group.members.is_empty() {
        group.leave(0);
    }
    group.check();
}

#[track_caller]
fn homogeneous(name: &str, clients: &[(Client, Mode)]) {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), QUICK);
    for &(client, mode) in clients {
        let mut group = Group::new(broker.port, &format!("{name}-{client:?}-{mode:?}"), PARTITIONS);
        story(&mut group, [(client, mode); 4]);
    }
}

#[test]
fn members_of_java_share_in_each_mode() {
    homogeneous(
        "java",
        &[(Client::Java, Eager), (Client::Java, Cooperative), (Client::Java, Consumer)],
    );
}

#[test]
fn members_of_librdkafka_share_in_each_mode() {
    let client = Client::ConfluentPython;
    homogeneous("librdkafka", &[(client, Eager), (client, Cooperative), (client, Consumer)]);
}

#[test]
fn members_of_python_alone_share() {
    homogeneous("python", &[(Client::KafkaPython, Eager), (Client::AioKafka, Eager)]);
}

#[test]
fn members_of_franz_go_share_in_each_mode() {
    let client = Client::FranzGo;
    homogeneous("franz", &[(client, Eager), (client, Cooperative), (client, Consumer)]);
}

#[test]
fn members_of_sarama_of_kafka_go_and_of_kafkajs_share() {
    let clients = [Client::Sarama, Client::KafkaGo, Client::KafkaJs];
    homogeneous("others", &clients.map(|client| (client, Eager)));
}

#[test]
fn members_of_all_clients_share_one_classic_group() {
    let dir = TempDir::new().unwrap();
    let broker = Broker::start(dir.path(), QUICK);
    // Without kafka-go: its subscription says version 1 and ends before the owned partitions, so that
    // librdkafka, where it leads, gives it nothing.
    let all = [
        Client::Java,
        Client::ConfluentPython,
        Client::KafkaPython,
        Client::AioKafka,
        Client::FranzGo,
        Client::Sarama,
        Client::KafkaJs,
    ];
    let mut group = Group::new(broker.port, "all", 2 * all.len());
    group.send(20);
    for client in all {
        group.join(client, Eager);
    }
    group.settle();
    group.catch_up();
    // Whoever leads the group goes first, and another client's assignor takes over.
    while 1 < group.members.len() {
        group.leave(0);
        group.settle();
        group.send(10);
    }
    group.catch_up();
    group.check();
}

#[test]
fn members_of_both_protocols_share_one_group() {
    let dir = TempDir::new().unwrap();
    let more = format!("{QUICK}group.consumer.migration.policy=bidirectional\n");
    let broker = Broker::start(dir.path(), &more);
    let mut group = Group::new(broker.port, "migration", PARTITIONS);
    let (java, python) = (Client::Java, Client::ConfluentPython);
    story(
        &mut group,
        [(java, Cooperative), (python, Consumer), (java, Consumer), (java, Cooperative)],
    );
}
