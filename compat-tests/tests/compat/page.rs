//! The page at the admin port, in a real browser, at the size of a desk and of a phone.

use compat_tests::admin::create_topic;
use compat_tests::broker::{Broker, free_port};
use compat_tests::home::{root, tool};
use compat_tests::kafka::kafka_tool;
use compat_tests::process::run;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Orders with headers, one with a value that would be markup, one without a value, one of bytes.
fn produce(bootstrap: &str) {
    let producer: BaseProducer =
        ClientConfig::new().set("bootstrap.servers", bootstrap).create().unwrap();
    let of = |partition, key: &'static str| BaseRecord::to("orders").partition(partition).key(key);
    let headers = || OwnedHeaders::new().insert(Header { key: "source", value: Some("shop") });
    let sent = [
        of(0, "ada")
            .payload(&br#"{"amount":7,"id":12345678901234567890,"of":[]}"#[..])
            .headers(headers()),
        of(0, "grace").payload(&b"<img src=x onerror=alert(1)>"[..]),
        of(0, "nobody"),
        of(0, "bytes").payload(&b"\xff\xfe\0raw"[..]),
        of(1, "mary").payload(&b"one line"[..]),
    ];
    for record in sent {
        producer.send(record).map_err(|(why, _)| why).unwrap();
    }
    producer.flush(Duration::from_secs(20)).unwrap();
}

/// Produces the lines `tick 0`, `tick 1` and so on, for as long as what it gives is kept.
fn tick(bootstrap: &str) -> Sender<()> {
    let producer: BaseProducer =
        ClientConfig::new().set("bootstrap.servers", bootstrap).create().unwrap();
    let (kept, dropped) = channel();
    std::thread::spawn(move || {
        for number in 0.. {
            let line = format!("tick {number}");
            let record = BaseRecord::<(), _>::to("ticking").payload(&line);
            producer.send(record).map_err(|(why, _)| why).unwrap();
            producer.poll(Duration::ZERO);
            if dropped.recv_timeout(Duration::from_millis(200)) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    });
    kept
}

/// A member that has read all, and stays.
fn join(bootstrap: &str) -> BaseConsumer {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", bootstrap)
        .set("group.id", "shoppers")
        .set("auto.offset.reset", "earliest")
        .create()
        .unwrap();
    consumer.subscribe(&["orders"]).unwrap();
    let end = Instant::now() + Duration::from_secs(30);
    let mut read = 0;
    while read < 5 {
        assert!(Instant::now() < end, "only {read} of 5 records came");
        if let Some(message) = consumer.poll(Duration::from_millis(100)) {
            consumer.commit_message(&message.unwrap(), CommitMode::Sync).unwrap();
            read += 1;
        }
    }
    consumer
}

/// A group whose name no path keeps.
fn commit(bootstrap: &str) {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", bootstrap)
        .set("group.id", "..")
        .create()
        .unwrap();
    let mut offsets = TopicPartitionList::new();
    offsets.add_partition_offset("orders", 0, Offset::Offset(2)).unwrap();
    consumer.commit(&offsets, CommitMode::Sync).unwrap();
}

#[test]
fn a_person_sees_topics_messages_and_groups_on_a_desk_and_on_a_phone() {
    let dir = TempDir::new().unwrap();
    let admin = free_port();
    let more = format!(
        "highwater.admin.listener=127.0.0.1:{admin}\noffsets.topic.num.partitions=5\n\
         group.initial.rebalance.delay.ms=0\n"
    );
    let broker = Broker::start(dir.path(), &more);
    let bootstrap = broker.bootstrap();
    create_topic(broker.port, "orders", 3);
    create_topic(broker.port, "empty", 1);
    create_topic(broker.port, "ticking", 1);
    let entity = ["--entity-type", "topics", "--entity-name", "orders"];
    let alter = ["--alter", "--add-config", "retention.ms=86400000"];
    let args = [&["--bootstrap-server", &bootstrap], &entity[..], &alter[..]].concat();
    kafka_tool("kafka-configs", &args).ok();
    produce(&bootstrap);
    let _member = join(&bootstrap);
    let _ticking = tick(&bootstrap);
    commit(&bootstrap);

    let mut node = Command::new("node");
    node.env("NODE_PATH", tool("browser").join("node_modules"));
    node.arg(root().join("compat-tests/clients/browser/drive.js"));
    node.arg(format!("http://127.0.0.1:{admin}")).arg(dir.path()).arg("shoppers");
    let seen = run(&mut node, Duration::from_secs(150));
    assert_eq!(seen.ok().trim(), "seen");
    for size in ["desk", "phone"] {
        for view in ["brokers", "topics", "topic", "messages", "follow", "group"] {
            let picture = dir.path().join(format!("{size}-{view}.png"));
            assert!(picture.exists(), "{} was not taken", picture.display());
        }
    }
}
