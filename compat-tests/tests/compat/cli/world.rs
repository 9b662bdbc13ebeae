//! What the tools find: a topic with records, groups with a member and groups without.

use crate::groups::send;
use compat_tests::admin::{await_coordinator, commit, create_topic};
use compat_tests::process::until;
use compat_tests::wire::Connection;
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Makes it all, and gives the members, which stay until they are dropped.
pub(super) fn prepare(port: u16, bootstrap: &str, callers: &[&str]) -> Vec<BaseConsumer> {
    create_topic(port, "read", 2);
    send(bootstrap, "read", 2, 50);
    let mut connection = Connection::open(port).unwrap();
    for caller in callers {
        let group = format!("{caller}-idle");
        await_coordinator(port, &group);
        until("offsets are committed", LIMIT, || {
            let mut all = (0..2).map(|it| commit(&mut connection, &group, "read", it, 20));
            all.all(|done| done.is_ok()).then_some(())
        });
    }
    ["classic", "consumer"].map(|protocol| member(bootstrap, protocol)).into()
}

/// A member that owns both partitions and has committed all of them.
fn member(bootstrap: &str, protocol: &str) -> BaseConsumer {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", bootstrap).set("group.id", protocol);
    config.set("group.protocol", protocol).set("client.id", "reader");
    config.set("auto.offset.reset", "earliest").set("enable.auto.commit", "false");
    let consumer: BaseConsumer = config.create().unwrap();
    consumer.subscribe(&["read"]).unwrap();
    let mut count = 0;
    until("all is read", LIMIT, || {
        while let Some(Ok(_)) = consumer.poll(Duration::from_millis(5)) {
            count += 1;
        }
        (count == 100).then_some(())
    });
    consumer.commit_consumer_state(CommitMode::Sync).unwrap();
    consumer
}
