//! Starts and stops.

use crate::world::{Client, World, batch, offset, start};
use broker::config::{BrokerConfig, Given};
use broker::server::Broker;
use kraft::env::os;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::messages::{FetchRequest, Request, StrBytes};
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_there_after_a_stop_and_a_start() {
    let dir = TempDir::new().unwrap();
    for round in 0..3 {
        let broker = start(dir.path(), &[]).await.unwrap();
        let mut client = Client::connect(broker.addresses[0].1).await;
        if round == 0 {
            client.create("t").await;
        }
        assert_eq!(offset(&client.produce("t", batch(10)).await), Ok(round));
        broker.stop().await;
        assert_eq!(client.answer().await, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn localhost_is_both_loopbacks() {
    let world = World::new(&[]).await;
    let port = world.address().port();
    for address in [([127, 0, 0, 1], port).into(), (std::net::Ipv6Addr::LOCALHOST, port).into()] {
        Client::connect(address).await.is_answered().await;
    }
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_answers_what_waits_and_is_quick() {
    let world = World::new(&[]).await;
    let mut client = world.connect().await;
    client.create("t").await;
    let partition = FetchPartition::default().with_partition_max_bytes(1 << 20);
    let topic = FetchTopic::default()
        .with_topic(StrBytes::from("t").into())
        .with_partitions(vec![partition]);
    let fetch = FetchRequest::default()
        .with_max_wait_ms(60_000)
        .with_min_bytes(1)
        .with_max_bytes(1 << 20)
        .with_topics(vec![topic]);
    let asked = world.broker.ctx.metrics.requests.get();
    client.send(&fetch.frame(4, 7, "").unwrap()).await;
    while world.broker.ctx.metrics.requests.get() == asked {
        tokio::task::yield_now().await;
    }
    let began = Instant::now();
    let (_, answer) = tokio::join!(world.broker.stop(), client.answer());
    assert!(answer.is_some(), "a fetch that waits is answered");
    // Not at the end of the fetch, nor of the patience with who waits.
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[track_caller]
fn check_refused(started: Result<Broker, broker::server::StartError>, want: &str) {
    let why = started.err().expect("it does not start").to_string();
    assert!(why.contains(want), "{why}");
    assert!(!why.contains('\n'), "one line: {why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_cannot_be_says_what_to_do() {
    let world = World::new(&[]).await;
    check_refused(start(world.dir.path(), &[]).await, "is using this directory: stop that one");

    let other = TempDir::new().unwrap();
    let taken = format!("listeners=PLAINTEXT://localhost:{}", world.address().port());
    check_refused(start(other.path(), &[&taken]).await, "another process listens there: stop it");
    let admin = format!("highwater.admin.listener=localhost:{}", world.address().port());
    check_refused(start(other.path(), &[&admin]).await, "Cannot open the admin port");
    assert!(!other.path().join("data").exists(), "nothing is formatted for a start that cannot be");
    let optional = format!("{admin}?");
    let broker = start(other.path(), &[&optional]).await.unwrap();
    assert_eq!(broker.admin.address(), None);
    broker.stop().await;
    check_refused(start(other.path(), &["node.id=2"]).await, "node.id");
    check_refused(start(other.path(), &["num.partitions=0"]).await, "num.partitions");
    check_refused(start(other.path(), &["nonsense"]).await, "must be a key, `=` and a value");

    let foreign = TempDir::new().unwrap();
    std::fs::create_dir(foreign.path().join("data")).unwrap();
    std::fs::write(foreign.path().join("data/precious"), "x").unwrap();
    check_refused(start(foreign.path(), &[]).await, "holds 'precious' but no meta.properties");

    let [a, b] = [world.dir.path(), other.path()].map(|dir| dir.join("data"));
    world.broker.stop().await;
    let both = format!("log.dirs={},{}", a.display(), b.display());
    let mut given = Given::standalone();
    for text in ["listeners=PLAINTEXT://localhost:0", &both] {
        given = given.with_override(text).unwrap();
    }
    let started = Broker::start(BrokerConfig::of(given, "localhost").unwrap(), os::env()).await;
    check_refused(started, "belongs to cluster");
}
