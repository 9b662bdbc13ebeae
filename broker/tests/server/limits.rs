//! How many may connect, and for how long.

use crate::world::{Client, World};
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn an_address_with_too_many_connections_is_refused_until_one_ends() {
    let world = World::new(&["max.connections.per.ip=2"]).await;
    let (mut first, mut second) = (world.connect().await, world.connect().await);
    first.is_answered().await;
    second.is_answered().await;
    assert_eq!(world.connect().await.answer().await, None);
    drop(first);
    loop {
        let mut third = world.connect().await;
        let frame = b"\0\0\0\x0a\0\x12\0\0\0\0\0\x07\0\0";
        if tokio::io::AsyncWriteExt::write_all(&mut third.stream, frame).await.is_ok()
            && third.answer().await.is_some()
        {
            break;
        }
    }
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_connections_than_the_broker_takes_wait_for_their_turn() {
    let world = World::new(&["max.connections=1"]).await;
    let mut first = world.connect().await;
    first.is_answered().await;
    let address = world.address();
    let second = tokio::spawn(async move { Client::connect(address).await.is_answered().await });
    first.is_answered().await;
    assert!(!second.is_finished());
    drop(first);
    second.await.unwrap();
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_is_closed() {
    let world = World::new(&["connections.max.idle.ms=300"]).await;
    let mut client = world.connect().await;
    client.is_answered().await;
    let began = Instant::now();
    assert_eq!(client.answer().await, None);
    assert!(Duration::from_millis(250) < began.elapsed());
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_above_the_rate_wait_for_their_turn() {
    let world = World::new(&["max.connection.creation.rate=2"]).await;
    let began = Instant::now();
    for _ in 0..3 {
        world.connect().await.is_answered().await;
    }
    assert!(Duration::from_millis(400) < began.elapsed());
    world.broker.stop().await;
}
