//! Headers, whole and cut.

use super::*;
use crate::messages::{ApiVersionsRequest, MetadataRequest, Request};

fn read(bytes: &[u8]) -> Result<(Header, usize), Malformed> {
    let mut frame = Bytes::copy_from_slice(bytes);
    let header = Header::read(&mut frame)?;
    Ok((header, frame.len()))
}

#[test]
fn both_header_versions_are_read_as_written() {
    for version in 0..=4 {
        let frame = ApiVersionsRequest::default().frame(version, 7, "me").unwrap();
        let body = ApiVersionsRequest::default().body(version).unwrap();
        let (header, left) = read(&frame[4..]).unwrap();
        let want = Header {
            key: ApiKey::ApiVersions,
            version,
            correlation_id: 7,
            client_id: StrBytes::from_static_str("me"),
        };
        assert_eq!((header, left), (want, body.len()));
    }
}

#[test]
fn a_version_that_nobody_knows_has_a_header_all_the_same() {
    let (header, left) = read(b"\0\x12\0\x09\0\0\0\x01\xff\xff\0rest").unwrap();
    assert_eq!((header.version, header.client_id.as_str(), left), (9, "", 4));
}

#[test]
fn tagged_fields_are_skipped() {
    let (_, left) = read(b"\0\x12\0\x03\0\0\0\x01\xff\xff\x02\x00\x02ab\x81\x01\x00rest").unwrap();
    assert_eq!(left, 4);
}

#[test]
fn a_frame_cut_anywhere_within_its_header_is_refused() {
    let frame = MetadataRequest::default().frame(12, 7, "client").unwrap();
    for len in 0..4 + 2 + 2 + 2 + 6 {
        assert!(read(&frame[4..4 + len]).is_err(), "{len}");
    }
}

#[test]
fn what_is_no_header_is_refused() {
    for bytes in [
        &b"\x7f\xff\0\0\0\0\0\x01\xff\xff"[..],       // No such key.
        b"\0\x12\0\0\0\0\0\x01\xff\xfe",              // Length -2.
        b"\0\x12\0\0\0\0\0\x01\0\x01\xff",            // Not UTF-8.
        b"\0\x12\0\x03\0\0\0\x01\xff\xff\x01\0\x7fa", // A tagged field past the end.
        b"\0\x12\0\x03\0\0\0\x01\xff\xff\xff\xff\xff\xff\xff\x0f", // More fields than bytes.
        b"\0\x12\0\x03\0\0\0\x01\xff\xff\x80\x80\x80\x80\x80\x80", // A number without end.
    ] {
        assert!(read(bytes).is_err(), "{bytes:x?}");
    }
}
