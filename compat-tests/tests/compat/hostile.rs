//! Input that no honest client sends: the broker refuses it, stays small, and serves the others.

use compat_tests::broker::Broker;
use compat_tests::process::until;
use compat_tests::wire::Connection;
use protocol::messages::{ApiVersionsRequest, Request};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const MIB: u64 = 1 << 20;

/// A frame with its length: header of the given version, then `body`.
fn frame(key: i16, version: i16, body: &[u8]) -> Vec<u8> {
    let head =
        [&key.to_be_bytes()[..], &version.to_be_bytes(), &7_i32.to_be_bytes(), &[0, 1, b'x']];
    let bytes = [head.concat(), body.to_vec()].concat();
    [&i32::try_from(bytes.len()).unwrap().to_be_bytes()[..], &bytes].concat()
}

/// Every key and version that the broker says it serves.
fn served(port: u16) -> Vec<(i16, i16)> {
    let answer = Connection::open(port).unwrap().ask(&ApiVersionsRequest::default(), 0).unwrap();
    let versions = |api: protocol::messages::api_versions_response::ApiVersion| {
        (api.min_version..=api.max_version).map(move |version| (api.api_key, version))
    };
    answer.api_keys.into_iter().flat_map(versions).collect()
}

/// Sends bytes and reads whatever comes until the broker closes, or is silent for a moment.
fn throw(port: u16, bytes: &[u8]) {
    let mut connection = Connection::open(port).unwrap().0;
    connection.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    drop(connection.write_all(bytes));
    drop(connection.shutdown(Shutdown::Write));
    drop(connection.read_to_end(&mut Vec::new()));
}

#[track_caller]
fn still_serves(broker: &mut Broker, resident_max: u64) {
    assert!(broker.server.is_up(), "the broker ended:\n{}", broker.server.tail());
    Connection::open(broker.port).unwrap().brokers().unwrap();
    let resident = broker.server.resident();
    assert!(resident < resident_max, "{} MiB resident", resident / MIB);
    assert!(!broker.server.tail().contains("panicked"), "{}", broker.server.tail());
}

#[test]
fn counts_that_no_frame_can_hold_are_refused_in_every_version() {
    let dir = TempDir::new().unwrap();
    let mut broker = Broker::start(dir.path(), "");
    let bodies: [&[u8]; 8] = [
        &[0x7f, 0xff, 0xff, 0xff],
        &[0xff, 0xff, 0xff, 0xff, 0x0f],
        &[0, 0xff, 0xff, 0xff, 0xff, 0x0f],
        &[0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f],
        &[0xff, 0xff, 0, 1, 0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff],
        &[0, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f],
        &[0x80; 64],
        &[0xff; 64],
    ];
    for (key, version) in served(broker.port) {
        for body in bodies {
            throw(broker.port, &frame(key, version, body));
        }
        for cut in 4..15 {
            throw(broker.port, &frame(key, version, &[])[..cut]);
        }
    }
    still_serves(&mut broker, 150 * MIB);
}

#[test]
fn valid_frames_that_swell_when_decoded_stay_in_bounds() {
    let dir = TempDir::new().unwrap();
    let mut broker = Broker::start(dir.path(), "");
    // Ten million empty names, and five million unknown tagged fields.
    let mut names = 10_000_000_i32.to_be_bytes().to_vec();
    names.extend(vec![0; 20_000_000]);
    throw(broker.port, &frame(3, 0, &names));
    let mut tags = vec![0, 1, 1, 0xc0, 0x96, 0xb1, 0x02];
    (0..5_000_000_u32).for_each(|tag| {
        tags.extend([
            0x80 | (tag as u8 & 0x7f),
            0x80 | ((tag >> 7) as u8 & 0x7f),
            (tag >> 14) as u8 & 0x7f,
            0,
        ])
    });
    throw(broker.port, &frame(18, 3, &tags));
    still_serves(&mut broker, 300 * MIB);
}

#[test]
fn mutated_frames_never_end_the_broker() {
    let dir = TempDir::new().unwrap();
    let mut broker = Broker::start(dir.path(), "");
    let keys = served(broker.port);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let round = |draw: &mut dyn FnMut() -> u64| {
        let (key, version) = keys[usize::try_from(draw()).unwrap() % keys.len()];
        let length = usize::try_from(draw() % 200).unwrap();
        let small = draw().is_multiple_of(2);
        let byte = |draw: &mut dyn FnMut() -> u64| (draw() % if small { 4 } else { 256 }) as u8;
        let body: Vec<u8> = (0..length).map(|_| byte(draw)).collect();
        frame(key, version, &body)
    };
    for _ in 0..3000 {
        throw(broker.port, &round(&mut draw));
    }
    still_serves(&mut broker, 150 * MIB);
}

#[test]
fn a_thousand_idlers_do_not_stop_the_others() {
    let dir = TempDir::new().unwrap();
    let mut broker = Broker::start(dir.path(), "");
    let mut idlers: Vec<_> = (0..1000).map(|_| Connection::open(broker.port).unwrap().0).collect();
    // A third says nothing, a third half a frame, a third one byte a round.
    let whole = frame(18, 0, &[]);
    idlers.iter_mut().skip(333).take(333).for_each(|idler| idler.write_all(&whole[..9]).unwrap());
    for byte in &whole[..8] {
        idlers.iter_mut().skip(666).for_each(|idler| idler.write_all(&[*byte]).unwrap());
        let began = Instant::now();
        Connection::open(broker.port).unwrap().brokers().unwrap();
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
    still_serves(&mut broker, 150 * MIB);
    // And each of them is still served when it says the rest.
    let last = idlers.last_mut().unwrap();
    last.write_all(&whole[8..]).unwrap();
    let mut length = [0; 4];
    last.read_exact(&mut length).unwrap();
    assert!(0 < i32::from_be_bytes(length));
}

#[test]
fn fifty_claims_of_a_hundred_megabytes_cost_what_they_send() {
    let dir = TempDir::new().unwrap();
    let mut broker = Broker::start(dir.path(), "");
    let claim = [&(100 * 1_000_000_i32).to_be_bytes()[..], &frame(0, 9, &[0; 4096])[4..]].concat();
    let mut claimers: Vec<_> = (0..50).map(|_| Connection::open(broker.port).unwrap().0).collect();
    for claimer in &mut claimers {
        claimer.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
        claimer.write_all(&claim).unwrap();
    }
    // They go on as far as the broker takes it.
    for _ in 0..8 {
        claimers.iter_mut().for_each(|claimer| drop(claimer.write(&[0; 1 << 20])));
        still_serves(&mut broker, 300 * MIB);
    }
    drop(claimers);
    until("the memory is given back", Duration::from_secs(60), || {
        (broker.server.resident() < 150 * MIB).then_some(())
    });
    assert_eq!(ApiVersionsRequest::KEY.code(), 18);
}
