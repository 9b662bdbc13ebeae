//! What whoever waits for a broker is told.

use super::http::{LISTENER, get, raw};
use crate::world::{World, start};
use broker::metrics::State;
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_serves_is_live_and_ready() {
    let world = World::with_admin(&[]).await;
    for path in ["/health/live", "/health/ready", "/v1/status/ready", "/v1/ready", "/v1/ready/"] {
        let answer = get(world.admin(), path).await;
        assert_eq!((answer.status, &*answer.json()["state"].to_string()), (200, "\"RUNNING\""));
    }
    assert_eq!(get(world.admin(), "/v1/broker-state").await.json()["brokerState"], 3);
    assert_eq!(get(world.admin(), "/health").await.status, 404);
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_starts_or_stops_is_live_and_says_why_it_is_not_ready() {
    let world = World::with_admin(&[]).await;
    let state = &world.broker.ctx.metrics.state;
    for (at, reason) in [
        (State::Starting, "the metadata log is being opened"),
        (State::Recovery, "the logs are being opened and checked"),
        (State::PendingControlledShutdown, "the broker stops: what waits is being answered"),
        (State::ShuttingDown, "the broker stops: the logs are being closed"),
    ] {
        state.set(at);
        let ready = get(world.admin(), "/health/ready").await;
        assert_eq!((ready.status, &ready.json()["reason"]), (503, &reason.into()));
        assert_eq!(get(world.admin(), "/health/live").await.status, 200);
    }
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_request_is_answered_without_a_body() {
    let world = World::with_admin(&[]).await;
    let request = b"HEAD /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = raw(world.admin(), request).await.unwrap();
    assert_eq!((answer.status, &*answer.body), (200, ""));
    assert!(answer.head.contains("content-length: "));
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_closes_the_port_and_a_start_takes_it_again() {
    let dir = TempDir::new().unwrap();
    let broker = start(dir.path(), &[LISTENER]).await.unwrap();
    let at = broker.admin.address().unwrap();
    broker.stop().await;
    assert!(tokio::net::TcpStream::connect(at).await.is_err());
    let again = format!("highwater.admin.listener=localhost:{}", at.port());
    let broker = start(dir.path(), &[&again]).await.unwrap();
    assert_eq!(get(at, "/health/ready").await.status, 200);
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_was_asked_for_and_is_taken_stops_the_start_and_a_default_does_not() {
    let world = World::with_admin(&[]).await;
    let other = TempDir::new().unwrap();
    let taken = format!("highwater.admin.listener=localhost:{}", world.admin().port());
    let why = start(other.path(), &[&taken]).await.err().unwrap().to_string();
    assert!(why.contains("Cannot open the admin port on localhost:"), "{why}");
    assert!(why.contains("set highwater.admin.listener to another address"), "{why}");
    // Two with the default cannot both have the port, and both start.
    let first = start(other.path(), &[]).await.unwrap();
    let dir = TempDir::new().unwrap();
    let second = start(dir.path(), &[]).await.unwrap();
    assert!(first.admin.address().is_none() || second.admin.address().is_none());
    for broker in [first, second, world.broker] {
        broker.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_address_there_is_no_port() {
    let world = World::new(&["highwater.admin.listener="]).await;
    assert!(world.broker.admin.address().is_none());
    world.broker.stop().await;
}
