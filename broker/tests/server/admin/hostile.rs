//! Who may not call the admin port, or calls it badly.

use super::http::{get, raw, read};
use crate::world::World;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

async fn check(at: SocketAddr, request: &str, want: u16) {
    let answer = raw(at, request.as_bytes()).await.unwrap();
    assert_eq!(answer.status, want, "{request}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_reads_of_callers_who_know_it_are_answered() {
    let world = World::with_admin(&["highwater.admin.hosts=known.example"]).await;
    let at = world.admin();
    let end = "Connection: close\r\n\r\n";
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
        check(at, &format!("{method} /health/ready HTTP/1.1\r\nHost: localhost\r\n{end}"), 405)
            .await;
    }
    for (host, want) in [("known.example:9644", 200), ("evil.example", 421), ("[::1]:1", 200)] {
        check(at, &format!("GET /health/ready HTTP/1.1\r\nHost: {host}\r\n{end}"), want).await;
    }
    check(
        at,
        &format!("GET http://evil.example/health/ready HTTP/1.1\r\nHost: localhost\r\n{end}"),
        421,
    )
    .await;
    check(at, &format!("GET /health/ready HTTP/1.1\r\n{end}"), 400).await;
    check(at, "GET /health/ready HTTP/1.0\r\n\r\n", 200).await;
    let origin = "Host: localhost\r\nOrigin: http://evil.example\r\n";
    check(at, &format!("GET /health/ready HTTP/1.1\r\n{origin}{end}"), 403).await;
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_is_refused_and_the_next_caller_served() {
    let world = World::with_admin(&[]).await;
    let at = world.admin();
    let long = "x".repeat(64 << 10);
    check(at, &format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"), 431).await;
    check(at, &format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}\r\n\r\n"), 431).await;
    let many = "X: y\r\n".repeat(500);
    check(at, &format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"), 431).await;
    check(at, "\0\0\0\x10\0\x12\0\x03\r\n\r\n", 400).await;
    // A body is not read, however long it says it is.
    let body = "Content-Length: 99999999999\r\nConnection: close\r\n\r\n";
    check(at, &format!("GET /health/live HTTP/1.1\r\nHost: localhost\r\n{body}"), 200).await;
    assert_eq!(get(at, "/health/ready").await.status, 200);
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_say_nothing_hold_up_no_stop() {
    let world = World::with_admin(&[]).await;
    let mut idle = Vec::new();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(world.admin()).await.unwrap();
        stream.write_all(b"GET /health").await.unwrap();
        idle.push(stream);
    }
    let began = Instant::now();
    world.broker.stop().await;
    assert!(began.elapsed() < Duration::from_secs(5));
    for stream in &mut idle {
        assert!(read(stream).await.is_none());
    }
}
