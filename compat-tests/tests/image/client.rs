//! A client of today: produces and consumes as a test does that has just been told the broker is ready.

use rdkafka::ClientConfig;
use rdkafka::Message as _;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::producer::{BaseRecord, Producer as _, ThreadedProducer};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(20);

/// Sends `texts` to `topic`, and waits until all are acknowledged.
pub(crate) fn produce(bootstrap: &str, topic: &str, texts: &[&str]) {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", bootstrap).set("message.timeout.ms", "15000");
    let producer: ThreadedProducer<Said> = config.create_with_context(Said).unwrap();
    for text in texts {
        let record: BaseRecord<'_, str, str> = BaseRecord::to(topic).key(*text).payload(*text);
        producer.send(record).map_err(|(error, _)| error).unwrap();
    }
    producer.flush(LIMIT).unwrap();
}

struct Said;

impl rdkafka::ClientContext for Said {}

impl rdkafka::producer::ProducerContext for Said {
    type DeliveryOpaque = ();
    fn delivery(&self, result: &rdkafka::producer::DeliveryResult<'_>, (): ()) {
        // A record that is lost is missed by whoever consumes; why stands in the test's output.
        if let Err((error, _)) = result {
            eprintln!("not delivered: {error}");
        }
    }
}

/// A member of a group, from the topic's beginning.
pub(crate) fn member(bootstrap: &str, group: &str, topic: &str) -> BaseConsumer {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", bootstrap).set("group.id", group);
    config.set("auto.offset.reset", "earliest").set("session.timeout.ms", "6000");
    let consumer: BaseConsumer = config.create().unwrap();
    consumer.subscribe(&[topic]).unwrap();
    consumer
}

/// The next `count` records, sorted.
#[track_caller]
pub(crate) fn read(consumer: &BaseConsumer, count: usize) -> Vec<String> {
    let end = Instant::now() + LIMIT;
    let mut texts = Vec::new();
    while texts.len() < count {
        assert!(Instant::now() < end, "only {texts:?} of {count} came");
        match consumer.poll(Duration::from_millis(100)) {
            Some(Ok(message)) => {
                texts.push(String::from_utf8(message.payload().unwrap().to_vec()).unwrap());
            }
            Some(Err(error)) => eprintln!("while it waits: {error}"),
            None => {}
        }
    }
    texts.sort();
    texts
}

/// Records go in, and come out in a group.
#[track_caller]
pub(crate) fn check(bootstrap: &str) {
    let texts = ["one", "three", "two"];
    produce(bootstrap, "topic", &texts);
    assert_eq!(read(&member(bootstrap, "readers", "topic"), 3), texts);
}
