//! Who may not call the admin port, or calls it badly.

use super::http::{get, raw, read};
use crate::world::World;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
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

/// Whether the answer to the bytes has this status; a request without an end gets none.
async fn check_bytes(at: SocketAddr, request: &[u8], want: u16) {
    let answer = raw(at, request).await.map(|answer| answer.status);
    assert_eq!(answer, Some(want), "{}", request.escape_ascii());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_leads_to_pages_and_to_nothing_else() {
    let world = World::with_admin(&[]).await;
    let mut client = world.connect().await;
    client.create("a.b").await;
    for (path, want) in [
        ("/api/topics/a%2Eb", 200),
        ("/api/topics/a.b?x=%ff", 200),
        ("http://localhost/health/live", 200),
        ("/health/live?verbose=1", 200),
        ("/health/live/", 404),
        ("/HEALTH/LIVE", 404),
        ("/%68ealth/live", 404),
        ("//health/live", 404),
        ("/web/../web/page.css", 404),
        ("/web/%2e%2e/%2e%2e/etc/passwd", 404),
        ("/../../../../etc/passwd", 404),
        ("/api/topics/../brokers", 404),
        ("/api/topics/..%2Fbrokers", 404),
        ("/api/topics/%ff%fe", 404),
        ("/api/topics/%00", 404),
        ("/api/topics//messages", 404),
        ("/api/topics/a.b/messages/more", 404),
        ("/api/", 404),
        ("/api", 404),
        ("/metrics/x", 404),
    ] {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        check(world.admin(), &request, want).await;
    }
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_text_or_another_protocol_are_refused() {
    let world = World::with_admin(&[]).await;
    let at = world.admin();
    let end = b"Connection: close\r\n\r\n";
    let host = |name: &[u8]| [b"GET /health/live HTTP/1.1\r\nHost: ", name, b"\r\n", end].concat();
    check_bytes(at, &host(b"localhost"), 200).await;
    check_bytes(at, &host(b"local\xffhost"), 400).await;
    check_bytes(at, &host("localhost\r\nOrigin: http://löcalhost".as_bytes()), 403).await;
    check_bytes(at, &host(b"localhost\r\nhost: localhost"), 400).await;
    check_bytes(at, &host(b"localhost\r\nContent-Length: 1\r\nContent-Length: 2"), 400).await;
    check_bytes(at, &host(b"localhost\r\n folded: line"), 400).await;
    check_bytes(at, b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n", 400).await;
    check_bytes(at, b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", 400).await;
    assert!(raw(at, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.is_none());
    check_bytes(at, b"CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 405).await;
    check_bytes(at, b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n", 400).await;
    assert_eq!(get(at, "/health/ready").await.status, 200);
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_takes_one_request_after_the_other() {
    let world = World::with_admin(&[]).await;
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n");
    let body = "Content-Length: 5\r\n\r\nGET /";
    let all = [
        get("/health/live") + "\r\n",
        // Its body is no request.
        get("/none") + body,
        "HEAD /api/brokers HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        get("/v1/broker-state") + "Connection: close\r\n\r\n",
    ];
    let mut stream = TcpStream::connect(world.admin()).await.unwrap();
    stream.write_all(all.concat().as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let statuses: Vec<_> =
        text.split("HTTP/1.1 ").skip(1).filter_map(|answer| answer.get(..3)).collect();
    assert_eq!(statuses, ["200", "404", "200", "200"], "{text}");
    assert!(!text.contains("logDirs"), "a HEAD has no body: {text}");
    assert!(text.ends_with("{\"brokerState\":3}"), "{text}");
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_slow_is_cut_off_and_keeps_nobody_out() {
    let world = World::with_admin(&[]).await;
    let at = world.admin();
    let mut slow = Vec::new();
    // More than there are seats: some say nothing, some do not end a line, some no head.
    for part in ["", "GET /health", "GET / HTTP/1.1\r\nHost: localhost\r\nX: "].repeat(30) {
        let mut stream = TcpStream::connect(at).await.unwrap();
        stream.write_all(part.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    let (mut dribbling, began) = (slow.pop().unwrap(), Instant::now());
    let mut every = tokio::time::interval(Duration::from_millis(50));
    let dribble = async {
        while dribbling.write_all(b"x").await.is_ok() {
            every.tick().await;
        }
    };
    let (ready, ()) = tokio::join!(get(at, "/health/ready"), dribble);
    assert_eq!(ready.status, 200);
    for stream in &mut slow {
        // A late head is told so, or not at all.
        let status = read(stream).await.map_or(408, |answer| answer.status);
        assert_eq!(status, 408);
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_port_is_had_on_an_address_of_version_6() {
    let world = World::new(&["highwater.admin.listener=[::1]:0"]).await;
    let at = world.admin();
    assert!(at.is_ipv6());
    let request = |host: &str| {
        format!("GET /health/ready HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
    };
    check(at, &request(&format!("[::1]:{}", at.port())), 200).await;
    check(at, &request("localhost"), 200).await;
    check(at, &request("[::1"), 421).await;
    check(at, &request("evil.example"), 421).await;
    world.broker.stop().await;
}
