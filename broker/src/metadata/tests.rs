//! Views of small clusters.

use super::*;
use kraft::record::{
    Endpoint as Registered, PartitionRecord, Record, RegisterBrokerRecord, TopicRecord,
};

const DIR: Uuid = Uuid([7; 16]);
const OTHER_DIR: Uuid = Uuid([8; 16]);

fn broker(broker_id: i32, listeners: &[&str], fenced: bool) -> Record {
    let end_point = |name: &&str| Registered {
        name: (*name).to_owned(),
        host: format!("{}-{broker_id}", name.to_lowercase()),
        port: 9000,
        ..Registered::default()
    };
    let end_points = listeners.iter().map(end_point).collect();
    let log_dirs = vec![DIR];
    RegisterBrokerRecord { broker_id, end_points, fenced, log_dirs, ..Default::default() }.into()
}

/// Broker 1 serves on two listeners, 2 on one, 3 is fenced; 4 is not registered.
fn image(directories: &[Uuid]) -> Image {
    let topic_id = Uuid([1; 16]);
    let partition = PartitionRecord {
        topic_id,
        partition_id: 0,
        replicas: vec![1, 2, 3, 4],
        isr: vec![1],
        leader: 1,
        directories: directories.to_vec(),
        ..PartitionRecord::default()
    };
    let topic = TopicRecord { name: "t".to_owned(), topic_id, ..TopicRecord::default() };
    let mut image = Image::default();
    for record in [
        broker(1, &["IN", "OUT"], false),
        broker(2, &["IN"], false),
        broker(3, &["IN", "OUT"], true),
        topic.into(),
        partition.into(),
    ] {
        image.apply(&record, image.offset + 1).unwrap();
    }
    image
}

#[test]
fn each_listener_has_its_own_addresses() {
    let image = image(&[DIR; 4]);
    let hosts = |listener| {
        let view = View::new(&image, listener, None);
        let shown = |it: Reached<'_>| it.host.to_owned();
        let all: Vec<_> = view.brokers().map(shown).collect();
        let live: Vec<_> = view.live_brokers().map(shown).collect();
        (all.join(" "), live.join(" "))
    };
    assert_eq!(hosts("IN"), ("in-1 in-2 in-3".to_owned(), "in-1 in-2".to_owned()));
    assert_eq!(hosts("OUT"), ("out-1 out-3".to_owned(), "out-1".to_owned()));
    assert_eq!(hosts("NONE"), (String::new(), String::new()));
}

#[test]
fn of_one_node_a_client_may_be_told_something_else() {
    let image = image(&[DIR; 4]);
    let at = Endpoint { host: "localhost".to_owned(), port: 9092 };
    let shown = |listener| {
        let view = View::new(&image, listener, Some((1, &at)));
        let shown = view.brokers().map(|it| format!("{}:{}", it.host, it.port));
        shown.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown("IN"), "localhost:9092 in-2:9000 in-3:9000");
    assert_eq!(shown("NONE"), "", "a listener that it has not");
}

#[test]
fn a_replica_is_offline_if_its_broker_or_its_directory_is() {
    let check = |listener: &str, directories: &[Uuid], want: &[i32]| {
        let image = image(directories);
        let partition = image.partition("t", 0).unwrap();
        let view = View::new(&image, listener, None);
        let offline =
            partition.replicas.iter().copied().filter(|id| view.is_offline(partition, *id));
        assert_eq!(offline.collect::<Vec<_>>(), want);
    };
    check("IN", &[DIR; 4], &[3, 4]);
    check("OUT", &[DIR; 4], &[2, 3, 4]);
    check("IN", &[OTHER_DIR, DIR, DIR, DIR], &[1, 3, 4]);
    check("IN", &[Uuid::ZERO, Uuid::MIGRATING, DIR, DIR], &[3, 4]);
    check("IN", &[Uuid::METADATA_TOPIC, DIR, DIR, DIR], &[1, 3, 4]);
}

#[test]
fn the_controller_that_clients_are_told_of_is_a_live_broker() {
    let image = image(&[DIR; 4]);
    assert_eq!(
        [0, 1, 2, u64::MAX].map(|random| any_live(&image, random)),
        [Some(1), Some(2), Some(1), Some(2)]
    );
    assert_eq!(any_live(&Image::default(), 7), None);
}
