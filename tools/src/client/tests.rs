//! The client against brokers that live in the test.

use super::*;
use bytes::{Buf, Bytes};
use kraft::env::{Bound, Boxed, Endpoint, Env, Net, Stream, os};
use protocol::error::ErrorCode;
use protocol::messages::api_versions_response::ApiVersion;
use protocol::messages::metadata_response::MetadataResponseBroker;
use protocol::messages::{
    ApiKey, ApiVersionsRequest, ApiVersionsResponse, BrokerId, CreateTopicsRequest,
    CreateTopicsResponse, MetadataRequest, MetadataResponse, Part, Request, StrBytes,
};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Answers one request: key, version, and the bytes of the frame behind them.
type Answer = fn(ApiKey, i16, i32, usize) -> Vec<u8>;

/// A network with one broker, at port 2.
#[derive(Debug)]
struct OneBroker {
    answer: Answer,
    asked: UnboundedSender<(ApiKey, i16)>,
}

impl Net for OneBroker {
    fn bind<'a>(&'a self, _: &'a Endpoint) -> Boxed<'a, io::Result<Box<dyn Bound>>> {
        Box::pin(async { Err(ErrorKind::Unsupported.into()) })
    }
    fn connect<'a>(&'a self, _: &'a str, port: u16) -> Boxed<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            if port != 2 {
                return Err(ErrorKind::ConnectionRefused.into());
            }
            let (ours, theirs) = duplex(1 << 20);
            tokio::spawn(serve(theirs, self.answer, self.asked.clone()));
            Ok(Box::new(ours) as _)
        })
    }
}

async fn serve(mut stream: DuplexStream, answer: Answer, asked: UnboundedSender<(ApiKey, i16)>) {
    let mut count = 0;
    while let Ok(length) = stream.read_i32().await {
        let mut frame = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut frame).await.unwrap();
        let mut frame = Bytes::from(frame);
        let key = ApiKey::from_code(frame.get_i16()).unwrap();
        let (version, id) = (frame.get_i16(), frame.get_i32());
        asked.send((key, version)).unwrap();
        stream.write_all(&answer(key, version, id, count)).await.unwrap();
        count += 1;
    }
}

fn write<R: Request>(response: &R::Response, version: i16, id: i32) -> Vec<u8> {
    let parts = R::write(response, version, id).unwrap();
    let bytes = parts.into_iter().map(|part| match part {
        Part::Bytes(bytes) => bytes,
        Part::Hole(_) => Bytes::new(),
    });
    bytes.flatten().collect()
}

fn served(ranges: &[(ApiKey, i16, i16)]) -> ApiVersionsResponse {
    let keys = ranges.iter().map(|(key, min, max)| {
        ApiVersion::default().with_api_key(key.code()).with_min_version(*min).with_max_version(*max)
    });
    ApiVersionsResponse::default().with_api_keys(keys.collect())
}

fn metadata(version: i16, id: i32) -> Vec<u8> {
    let broker = MetadataResponseBroker::default()
        .with_node_id(BrokerId(7))
        .with_host(StrBytes::from_static_str("there"))
        .with_port(2);
    let response =
        MetadataResponse::default().with_brokers(vec![broker]).with_controller_id(BrokerId(7));
    write::<MetadataRequest>(&response, version, id)
}

/// A client whose world has the broker, and what that was asked.
fn client(answer: Answer) -> (Client, tokio::sync::mpsc::UnboundedReceiver<(ApiKey, i16)>) {
    let (asked, asks) = unbounded_channel();
    let env = Env { net: Arc::new(OneBroker { answer, asked }), ..os::env() };
    let bootstrap = Entrance::Brokers("gone:1,there:2");
    (Client::new(&env, bootstrap, &std::collections::BTreeMap::new()).unwrap(), asks)
}

fn request() -> MetadataRequest {
    MetadataRequest::default().with_topics(Some(Vec::new()))
}

#[tokio::test]
async fn an_old_broker_is_spoken_to_in_its_versions() {
    let (mut client, mut asks) = client(|key, version, id, _| {
        let ranges = served(&[(ApiKey::ApiVersions, 0, 2), (ApiKey::Metadata, 0, 5)]);
        if key != ApiKey::ApiVersions {
            metadata(version, id)
        } else if 2 < version {
            let code = ErrorCode::UnsupportedVersion.code();
            write::<ApiVersionsRequest>(&ranges.with_error_code(code), 0, id)
        } else {
            write::<ApiVersionsRequest>(&ranges, version, id)
        }
    });
    let answer = client.ask(To::Anyone, &request()).await.unwrap();
    assert_eq!(answer.brokers.first().unwrap().node_id.0, 7);
    let newest = ApiVersionsRequest::CODEC.max;
    for want in [(ApiKey::ApiVersions, newest), (ApiKey::ApiVersions, 2), (ApiKey::Metadata, 5)] {
        assert_eq!(asks.recv().await, Some(want));
    }
    let refused = client.ask(To::Anyone, &CreateTopicsRequest::default()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::UnsupportedVersion);
}

fn modern(key: ApiKey, version: i16, id: i32, count: usize) -> Vec<u8> {
    let all =
        [(ApiKey::ApiVersions, 0, 4), (ApiKey::Metadata, 0, 12), (ApiKey::CreateTopics, 2, 7)];
    if key == ApiKey::ApiVersions {
        write::<ApiVersionsRequest>(&served(&all), version, id)
    } else if key == ApiKey::Metadata {
        metadata(version, id)
    } else {
        // The throttle time is how often it was asked before on this connection.
        let count = i32::try_from(count).unwrap();
        let response = CreateTopicsResponse::default().with_throttle_time_ms(count);
        write::<CreateTopicsRequest>(&response, version, id)
    }
}

#[tokio::test]
async fn a_broker_that_is_gone_is_passed_over() {
    let (mut client, _asks) = client(modern);
    let nodes = client.nodes().await.unwrap();
    let want = Address { host: "there".to_owned(), port: 2 };
    assert_eq!(nodes.iter().map(|node| (node.id, &node.address)).collect::<Vec<_>>(), [(7, &want)]);
    client.ask(To::Node(7), &request()).await.unwrap();
    client.set_timeout(Duration::ZERO);
    let refused = client.ask(To::Node(8), &request()).await.unwrap_err();
    assert!(refused.text.contains("no live broker 8"), "{}", refused.text);
}

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_asked_again() {
    let (mut client, _asks) = client(modern);
    let request = CreateTopicsRequest::default();
    let judge = |response: &CreateTopicsResponse| match response.throttle_time_ms {
        0..4 => Refused::check(ErrorCode::NotController.code(), None),
        _ => Ok(()),
    };
    let answer = client.ask_until(To::Controller, &request, judge).await.unwrap();
    assert!(4 <= answer.throttle_time_ms, "{answer:?}");
    let refuse = |_: &CreateTopicsResponse| Refused::check(ErrorCode::InvalidRequest.code(), None);
    let refused = client.ask_until(To::Controller, &request, refuse).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidRequest);
}

#[tokio::test]
async fn a_web_server_is_told_at_once() {
    let (asked, _asks) = unbounded_channel();
    let answer: Answer = |_, _, _, _| b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec();
    let env = Env { net: Arc::new(OneBroker { answer, asked }), ..os::env() };
    let bootstrap = Entrance::Brokers("there:2");
    let mut client = Client::new(&env, bootstrap, &std::collections::BTreeMap::new()).unwrap();
    let refused = client.ask(To::Anyone, &request()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NetworkException);
    let want = "there:2: what answers is no Kafka broker, or speaks TLS";
    assert_eq!(refused.text, want);
}

#[tokio::test]
async fn a_controller_is_not_taken_for_a_broker() {
    let (mut client, _asks) = client(|_, version, id, _| {
        let served = served(&[(ApiKey::ApiVersions, 0, 4), (ApiKey::DescribeCluster, 0, 2)]);
        write::<ApiVersionsRequest>(&served, version, id)
    });
    assert_eq!(client.mistaken_controller(), None);
    client.ask(To::Anyone, &request()).await.unwrap_err();
    let there = Address { host: "there".to_owned(), port: 2 };
    assert_eq!(client.mistaken_controller(), Some(&there));
}

#[tokio::test]
async fn a_cluster_that_is_not_there_is_told_with_its_addresses() {
    let env = os::env();
    let bootstrap = Entrance::Brokers("127.0.0.1:1,[::1]:1");
    let mut client = Client::new(&env, bootstrap, &std::collections::BTreeMap::new()).unwrap();
    client.set_timeout(Duration::from_millis(200));
    let refused = client.ask(To::Anyone, &request()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::RequestTimedOut);
    assert!(refused.text.contains("127.0.0.1:1") && refused.text.contains("[::1]:1"), "{refused}");
}
