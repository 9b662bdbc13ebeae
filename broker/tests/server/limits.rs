//! How many may connect, and for how long.

use crate::world::{Client, World};
use kraft::env::{Bound, Boxed, Endpoint, Env, Net, Stream, os};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::disk::sim::SimDisk;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

/// What everybody may ask.
const ASK: &[u8] = b"\0\0\0\x0a\0\x12\0\0\0\0\0\x07\0\0";

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
        if third.stream.write_all(ASK).await.is_ok() && third.answer().await.is_some() {
            break;
        }
    }
    world.broker.stop().await;
}

/// One more is let in when `first` is gone, and not before.
async fn another_waits_for_its_end(world: &World, mut first: Client) {
    let address = world.address();
    let second = tokio::spawn(async move { Client::connect(address).await.is_answered().await });
    first.is_answered().await;
    assert!(!second.is_finished());
    drop(first);
    second.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn more_connections_than_the_broker_takes_wait_for_their_turn() {
    let world = World::new(&["max.connections=1"]).await;
    let mut first = world.connect().await;
    first.is_answered().await;
    another_waits_for_its_end(&world, first).await;
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_connects_after_the_limit_was_lowered_waits_too() {
    let world = World::new(&["max.connections=3"]).await;
    let node = world.broker.ctx.node_id;
    let mut first = world.connect().await;
    first.configure(node, &[("max.connections", "1")]).await;
    another_waits_for_its_end(&world, first).await;
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

/// The network of the system, with a name server that never answers.
#[derive(Debug)]
struct NoAnswer(Arc<dyn Net>);

impl Net for NoAnswer {
    fn bind<'a>(&'a self, at: &'a Endpoint) -> Boxed<'a, io::Result<Box<dyn Bound>>> {
        self.0.bind(at)
    }
    fn connect<'a>(&'a self, host: &'a str, port: u16) -> Boxed<'a, io::Result<Box<dyn Stream>>> {
        self.0.connect(host, port)
    }
    fn resolve<'a>(&'a self, _host: &'a str) -> Boxed<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_that_is_raised_lets_in_who_waits_and_slow_names_hold_up_nothing() {
    let system = os::env();
    let net = Arc::new(NoAnswer(system.net));
    let env = Env { net, disk: Arc::new(SimDisk::default()), ..system };
    let own = "listener.name.plaintext.max.connections";
    let world = World::within(env, &[&format!("{own}=1")]).await;
    let node = world.broker.ctx.node_id;
    let mut first = world.connect().await;
    first.is_answered().await;
    let address = world.address();
    let second = tokio::spawn(async move { Client::connect(address).await.is_answered().await });
    first.configure(node, &[("max.connections.per.ip.overrides", "slow.example:7")]).await;
    assert!(!second.is_finished());
    first.configure(node, &[(own, "2")]).await;
    let rest = async {
        second.await.unwrap();
        first.create("t").await;
    };
    timeout(Duration::from_secs(60), rest).await.expect("nobody waits for a name");
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_that_the_metadata_has_is_in_force_after_a_restart() {
    let disk = SimDisk::default();
    let world = World::on(&disk, &[]).await;
    let node = world.broker.ctx.node_id;
    world.connect().await.configure(node, &[("max.connections.per.ip", "1")]).await;
    world.broker.stop().await;

    let world = World::on(&disk, &[]).await;
    let mut first = world.connect().await;
    first.is_answered().await;
    let mut second = world.connect().await;
    // It may be closed before that is written.
    drop(second.stream.write_all(ASK).await);
    assert_eq!(second.answer().await, None);
    first.is_answered().await;
    world.broker.stop().await;
}
