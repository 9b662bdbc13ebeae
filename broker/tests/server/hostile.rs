//! Bytes that no client sends, and connections that no client makes.

use crate::world::{Client, World, batch, offset, produce};
use bytes::Bytes;
use protocol::messages::Request;
use std::time::Duration;
use tokio::io::AsyncWriteExt;

/// A frame around bytes that may be anything.
fn frame(bytes: &[u8]) -> Vec<u8> {
    [&i32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
}

/// A request with an empty client id: header 2 where it is flexible, else 1.
fn request(key: i16, version: i16, flexible: bool, body: &[u8]) -> Vec<u8> {
    let head = [&key.to_be_bytes(), &version.to_be_bytes(), &[0, 0, 0, 7, 0, 0][..]].concat();
    let tags: &[u8] = if flexible { &[0] } else { &[] };
    frame(&[&head, tags, body].concat())
}

/// Lengths far beyond the bytes that follow, and what does not decode.
fn refused() -> Vec<(&'static str, Vec<u8>)> {
    let most = [0xff, 0xff, 0xff, 0xff, 0x0f];
    let produce = [&[0, 0, 1, 0, 0, 0, 1][..], &most].concat();
    vec![
        ("topics of Metadata v0", request(3, 0, false, &[0x7f, 0xff, 0xff, 0xff])),
        ("topics of Metadata v1", request(3, 1, false, &[0x7f, 0xff, 0xff, 0xff])),
        ("topics of Produce v9", request(0, 9, true, &produce)),
        ("creations of CreateAcls v3", request(30, 3, true, &most)),
        ("no such key", request(1000, 0, false, &[])),
        ("no such version", request(3, 99, true, &[])),
        ("a request for brokers", request(4, 0, false, &[])),
        ("1 byte", frame(&[0])),
        ("3 bytes", frame(&[0, 3, 0])),
        ("9 bytes", frame(&[0, 3, 0, 0, 0, 0, 0, 7, 0])),
        ("no bytes", frame(&[])),
        ("a length below 0", (-5_i32).to_be_bytes().to_vec()),
        ("a length of 2 GiB", i32::MAX.to_be_bytes().to_vec()),
        ("a client id of -2 bytes", frame(b"\0\x03\0\0\0\0\0\x07\xff\xfe")),
        ("a client id beyond the frame", frame(b"\0\x03\0\0\0\0\0\x07\x7f\xff")),
        (
            "6 MB of topics without a name",
            request(0, 9, true, &{
                [&[0, 0, 1, 0, 0, 0, 1, 0x81, 0x89, 0x7a][..], &[1, 1, 0].repeat(2_000_000), &[0]]
                    .concat()
            }),
        ),
        ("another protocol", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec()),
        ("TLS", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03".to_vec()),
        (
            "20 MB of empty topic names",
            request(3, 0, false, &{
                [&10_000_000_i32.to_be_bytes()[..], &vec![0; 20_000_000]].concat()
            }),
        ),
        (
            "23 MB of tagged fields",
            request(18, 3, true, &{
                [&[2, b'a', 2, b'1', 0xc0, 0xcf, 0xb1, 0x02][..], &vec![1; 23_000_000]].concat()
            }),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_decode_closes_its_connection_and_no_other() {
    let world = World::new(&[]).await;
    let mut bystander = world.connect().await;
    for (what, bytes) in refused() {
        let mut stranger = world.connect().await;
        // It may be closed before all is written.
        drop(stranger.stream.write_all(&bytes).await);
        assert_eq!(stranger.answer().await, None, "{what}");
        bystander.is_answered().await;
    }
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_that_lie_are_refused_and_the_connection_lives() {
    let world = World::new(&[]).await;
    let mut client = world.connect().await;
    client.create("t").await;
    let good = batch(100);
    let patched = |at: usize, bytes: &[u8]| {
        let mut batch = good.to_vec();
        batch[at..at + bytes.len()].copy_from_slice(bytes);
        Bytes::from(batch)
    };
    let most = i32::MAX.to_be_bytes();
    for (what, records) in [
        ("its count of records", patched(57, &most)),
        ("its length", patched(8, &most)),
        ("its magic", patched(16, &[9])),
        ("its checksum", patched(17, &[0; 4])),
        ("its end", good.slice(..good.len() - 1)),
        ("its header", good.slice(..20)),
        ("nothing", Bytes::new()),
    ] {
        let response = client.produce("t", records).await;
        assert!(offset(&response).is_err(), "a batch that lies about {what}");
    }
    assert_eq!(offset(&client.produce("t", good).await), Ok(0));
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_connections_that_say_little_do_not_stop_the_others() {
    let world = World::new(&[]).await;
    let half = produce("t", batch(1000)).frame(9, 1, "").unwrap();
    let mut strangers = Vec::new();
    for number in 0..1000 {
        let mut stranger = world.connect().await;
        match number % 3 {
            0 => {}
            1 => stranger.send(&half[..half.len() / 2]).await,
            _ => stranger.send(&half[..1]).await,
        }
        strangers.push(stranger);
    }
    let mut client = world.connect().await;
    client.create("t").await;
    for round in 0..20 {
        for stranger in strangers.iter_mut().skip(2).step_by(3) {
            stranger.send(&half[1 + round..][..1]).await;
        }
        let began = std::time::Instant::now();
        let want = i64::try_from(round).unwrap();
        assert_eq!(offset(&client.produce("t", batch(1000)).await), Ok(want));
        assert!(began.elapsed() < Duration::from_secs(5), "the others hold it up");
    }
    drop(strangers);
    world.broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_claims_of_100_mb_hold_up_nobody_for_long() {
    let world = World::new(&["highwater.request.stall.timeout.ms=200"]).await;
    let address = world.address();
    let claim = |_| {
        tokio::spawn(async move {
            let mut stranger = Client::connect(address).await;
            let head = [&100_000_000_i32.to_be_bytes()[..], &[0, 0, 0, 9, 0, 0, 0, 1]].concat();
            stranger.send(&head).await;
            // Four of them; then nothing more.
            let chunk = vec![0; 1 << 20];
            for _ in 0..4 {
                if stranger.stream.write_all(&chunk).await.is_err() {
                    break;
                }
            }
            stranger
        })
    };
    let strangers: Vec<_> = (0..50).map(claim).collect();
    let mut client = world.connect().await;
    client.create("t").await;
    let mut sent = 0;
    while !strangers.iter().all(tokio::task::JoinHandle::is_finished) {
        assert_eq!(offset(&client.produce("t", batch(1000)).await), Ok(sent));
        sent += 1;
    }
    // What needs more than a read-ahead buffer waits until those who stand still are closed.
    assert_eq!(offset(&client.produce("t", batch(1_000_000)).await), Ok(sent));
    drop(strangers);
    world.broker.stop().await;
}
