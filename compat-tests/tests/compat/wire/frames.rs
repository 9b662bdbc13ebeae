//! Frames that no client sends: both brokers close, or answer alike.

use super::{Pair, Side};
use compat_tests::wire::Connection;
use protocol::messages::ApiVersionsRequest;
use protocol::messages::{Request, StrBytes};

/// What comes back for raw bytes: an answer's bytes behind the correlation id, or the end.
fn ask(side: &Side, frame: &[u8]) -> String {
    let mut connection = Connection::open(side.port).unwrap();
    let answer = connection.send(frame).and_then(|()| connection.receive());
    match answer {
        Ok(bytes) => format!("{:02x?}", bytes.get(..10).unwrap_or_default()),
        Err(_) => "closed".to_owned(),
    }
}

fn frame(key: i16, version: i16, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(key.to_be_bytes());
    bytes.extend(version.to_be_bytes());
    bytes.extend(7_i32.to_be_bytes());
    bytes.extend([0, 1, b'x']);
    bytes.extend(body);
    let mut whole = i32::try_from(bytes.len()).unwrap().to_be_bytes().to_vec();
    whole.extend(bytes);
    whole
}

pub(super) fn refused(pair: &mut Pair) {
    let mut raw = |case: &str, bytes: &[u8]| {
        let (theirs, ours) = (ask(&pair.theirs, bytes), ask(&pair.ours, bytes));
        pair.compare(&format!("frame\t{case}"), &theirs, &ours);
    };
    raw("a negative length", &(-1_i32).to_be_bytes());
    raw("a length of 2 GiB", &i32::MAX.to_be_bytes());
    raw("an empty frame", &0_i32.to_be_bytes());
    raw("three bytes", &[0, 0, 0, 3, 0, 0, 0]);
    for key in [-1, 4, 5, 6, 7, 95, 1000] {
        raw(&format!("key {key}"), &frame(key, 0, &[]));
    }
    for (key, version) in [
        (0, 2),
        (0, 14),
        (1, 3),
        (1, 19),
        (2, 0),
        (2, 12),
        (3, 14),
        (19, 1),
        (19, 8),
        (32, 0),
        (18, 99),
        (18, -1),
    ] {
        raw(&format!("key {key} at version {version}"), &frame(key, version, &[0; 8]));
    }
    for (key, version) in [(0, 3), (1, 4), (2, 1), (3, 1), (19, 2), (20, 1), (32, 1)] {
        raw(&format!("key {key} cut short"), &frame(key, version, &[0, 0]));
        raw(
            &format!("key {key} with two billion items"),
            &frame(key, version, &[0x7f, 0xff, 0xff, 0xff]),
        );
    }
    pair.each("a bad software name", 3..=4, |_, _| {
        ApiVersionsRequest::default()
            .with_client_software_name(StrBytes::from("-".to_owned()))
            .with_client_software_version(StrBytes::from("1".to_owned()))
    });
    assert_eq!(ApiVersionsRequest::KEY.code(), 18);
}
