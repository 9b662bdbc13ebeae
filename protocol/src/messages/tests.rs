//! Every request and response, at every version.

use super::fetch_response::{FetchableTopicResponse, PartitionData};
use super::*;
use bytes::Bytes;

/// Writes the empty request and its empty answer, and reads them.
struct RoundTrip(i16);

impl Visit for RoundTrip {
    type Output = ();

    fn visit<R: Request>(self) {
        let RoundTrip(version) = self;
        let mut frame = R::default().frame(version, 7, "me").unwrap();
        assert_eq!(frame.split_to(4)[..], u32::try_from(frame.len()).unwrap().to_be_bytes());
        let header = Header::read(&mut frame).unwrap();
        assert_eq!((header.key, header.version, header.correlation_id), (R::KEY, version, 7));
        assert_eq!(frame, R::default().body(version).unwrap());
        let read = R::read(frame.clone(), version).unwrap();
        assert_eq!(read.body(version).unwrap(), frame, "{} {version}", R::KEY.name());

        let parts = R::write(&R::Response::default(), version, 7).unwrap();
        let [Part::Bytes(frame)] = &parts[..] else { panic!("no holes: {parts:?}") };
        let (id, read) = R::read_response(version, frame.slice(4..)).unwrap();
        assert_eq!(id, 7);
        assert_eq!(R::write(&read, version, 7).unwrap(), parts, "{} {version}", R::KEY.name());
    }
}

#[test]
fn every_message_is_read_as_it_was_written() {
    for &key in ApiKey::ALL {
        for version in key.codec().min..=key.codec().max {
            key.visit(RoundTrip(version));
        }
    }
}

#[test]
fn versions_that_the_codec_lacks_on_one_side_are_not_spoken() {
    // The codec's own list says 10, 10 and 6.
    let check = |key: ApiKey, min, max| assert_eq!(key.codec(), Versions { min, max });
    check(ApiKey::OffsetCommit, 2, 9);
    check(ApiKey::OffsetFetch, 1, 9);
    check(ApiKey::InitProducerId, 0, 5);
    check(ApiKey::Produce, 3, 13);
    check(ApiKey::Fetch, 4, 18);
    check(ApiKey::ApiVersions, 0, 4);
}

#[test]
fn a_field_that_a_version_lacks_is_an_error() {
    let topic = FetchableTopicResponse::default().with_partitions(vec![
        PartitionData::default()
            .with_diverging_epoch(fetch_response::EpochEndOffset::default().with_epoch(1)),
    ]);
    let response = FetchResponse::default().with_responses(vec![topic]).with_session_id(1);
    assert!(FetchRequest::write(&response, 4, 7).is_err());
}

#[test]
fn a_response_shorter_than_its_header_is_refused() {
    for len in 0..4 {
        let frame = Bytes::from(vec![0; len]);
        assert!(MetadataRequest::read_response(12, frame).is_err());
    }
}
