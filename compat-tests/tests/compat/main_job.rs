//! The main job: a real file through every client, byte for byte, in every codec, over a kill -9.

use compat_tests::broker::Broker;
use compat_tests::clients::{CODECS, CONSUMERS, Client};
use compat_tests::kafka::{dump, kafka_tool};
use compat_tests::lines::{check, input, partitions};
use compat_tests::process::{Server, run};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

const PARTITIONS: usize = 3;
const LIMIT: Duration = Duration::from_secs(900);

/// `COMPAT_MEGABYTES` sizes the input; CI sends little, a run by hand 100 and more.
fn bytes() -> usize {
    let megabytes = std::env::var("COMPAT_MEGABYTES").map_or(6, |text| text.parse().unwrap());
    megabytes * 1_000_000
}

fn create(broker: &Broker, topic: &str) {
    let count = PARTITIONS.to_string();
    let args = ["--create", "--topic", topic, "--partitions", &count];
    kafka_tool("kafka-topics", &[&["--bootstrap-server", &broker.bootstrap()], &args[..]].concat())
        .ok();
}

/// The records of a topic, read by librdkafka from assigned partitions.
fn by_rdkafka(bootstrap: &str, topic: &str) -> BTreeMap<usize, Vec<u8>> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", bootstrap)
        .set("group.id", "unused")
        .set("enable.auto.commit", "false")
        .create()
        .unwrap();
    let (mut assignment, mut ends, mut found) =
        (TopicPartitionList::new(), BTreeMap::new(), BTreeMap::new());
    for partition in 0..PARTITIONS {
        let number = i32::try_from(partition).unwrap();
        assignment.add_partition_offset(topic, number, Offset::Beginning).unwrap();
        let (_, end) = consumer.fetch_watermarks(topic, number, Duration::from_secs(30)).unwrap();
        found.insert(partition, Vec::new());
        if 0 < end {
            ends.insert(partition, end);
        }
    }
    consumer.assign(&assignment).unwrap();
    while !ends.is_empty() {
        let message =
            consumer.poll(Duration::from_secs(60)).expect("a record within a minute").unwrap();
        let partition = usize::try_from(message.partition()).unwrap();
        let Some(&end) = ends.get(&partition) else { continue };
        let into = found.get_mut(&partition).unwrap();
        writeln!(into, "{}\t{}", text(message.key()), text(message.payload())).unwrap();
        if end <= message.offset() + 1 {
            ends.remove(&partition);
        }
    }
    found
}

fn text(bytes: Option<&[u8]>) -> &str {
    std::str::from_utf8(bytes.unwrap_or_default()).unwrap()
}

/// Every client reads the same bytes, and they are the lines that were sent.
fn all_read(broker: &Broker, topic: &str, dir: &Path, lines: &[String]) {
    let want = by_rdkafka(&broker.bootstrap(), topic);
    check(&want, lines);
    for client in CONSUMERS {
        let out = dir.join(format!("{topic}.{client:?}"));
        run(&mut client.consume(&broker.bootstrap(), topic, &out), LIMIT).ok();
        assert!(partitions(&out, PARTITIONS) == want, "{client:?} reads something else");
    }
}

/// A batch of so few records may be larger compressed; some clients then send it as it is.
const FEW: usize = 8;

/// The codec of each batch of more than a few records, as a topic lies on the disk.
fn codecs_on_disk(broker: &Broker, topic: &str) -> Vec<String> {
    let dir =
        |partition| broker.data().join(format!("{topic}-{partition}/00000000000000000000.log"));
    let logs: Vec<_> = (0..PARTITIONS).map(dir).collect();
    let said = dump(&logs, &[]);
    let word = |line: &str, name: &str| {
        line.split(&format!("{name}: ")).nth(1)?.split(' ').next().map(str::to_owned)
    };
    let batch = |line: &str| {
        let codec = word(line, "compresscodec")?;
        let records: usize = word(line, "count")?.parse().ok()?;
        (FEW < records).then_some(codec)
    };
    said.lines().filter_map(batch).collect()
}

#[test]
fn a_real_file_comes_back_from_every_client_byte_for_byte() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("lines");
    let lines = input(&file, bytes());
    let broker = Broker::start(dir.path(), "");
    for producer in [Client::Kcat, Client::JavaConsole, Client::KafkaJs] {
        let topic = format!("by-{producer:?}");
        create(&broker, &topic);
        run(&mut producer.produce(&broker.bootstrap(), &topic, &file, "none"), LIMIT).ok();
        all_read(&broker, &topic, dir.path(), &lines);
    }
}

#[test]
fn every_codec_reaches_the_disk_and_comes_back() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("lines");
    let lines = input(&file, bytes() / 4);
    let broker = Broker::start(dir.path(), "");
    let producers = [
        Client::Java,
        Client::Kcat,
        Client::FranzGo,
        Client::Sarama,
        Client::KafkaGo,
        Client::ConfluentPython,
        Client::AioKafka,
    ];
    for codec in CODECS {
        for producer in producers {
            let topic = format!("{codec}-{producer:?}");
            create(&broker, &topic);
            run(&mut producer.produce(&broker.bootstrap(), &topic, &file, codec), LIMIT).ok();
            check(&by_rdkafka(&broker.bootstrap(), &topic), &lines);
            let found = codecs_on_disk(&broker, &topic);
            let all = found.iter().all(|word| word.eq_ignore_ascii_case(codec));
            assert!(all && !found.is_empty(), "{topic}: {found:?}");
        }
        let topic = format!("{codec}-{:?}", Client::Java);
        all_read(&broker, &topic, dir.path(), &lines);
    }
}

#[test]
fn what_was_acknowledged_before_a_kill_is_there_after_it() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("lines");
    let lines = input(&file, bytes());
    let mut broker = Broker::start(dir.path(), "");
    for (topic, producer) in [("java", Client::Java), ("python", Client::ConfluentPython)] {
        create(&broker, topic);
        let mut command = producer.produce(&broker.bootstrap(), topic, &file, "lz4");
        let mut sending = Server::start(&mut command, &dir.path().join("producer.log"));
        // Three kills while it sends; the idempotent producer goes on where it was.
        for kill in 1..=3 {
            let log = broker.data().join(format!("{topic}-0/00000000000000000000.log"));
            let enough = |size: u64| u64::try_from(bytes() / 60).unwrap() * kill < size;
            compat_tests::process::until("the log grows", LIMIT, || {
                let size = std::fs::metadata(&log).map_or(0, |meta| meta.len());
                (enough(size) || !sending.is_up()).then_some(())
            });
            broker.kill();
            broker.start_again();
        }
        let status = sending.wait(LIMIT);
        assert!(status.success(), "the producer was told of a loss:\n{}", sending.tail());
        all_read(&broker, topic, dir.path(), &lines);
    }
}
