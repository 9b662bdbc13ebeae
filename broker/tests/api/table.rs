//! The table: what is offered to whom, and what becomes of all else.

use crate::broker::Broker;
use broker::api::ListenerKind::{Client, Controller};
use broker::api::{Close, ListenerKind, RequestContext, dispatch};
use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::messages::{ApiVersionsRequest, ProduceRequest};
use std::sync::Arc;

#[track_caller]
fn check_closed(broker: &Broker, kind: ListenerKind, (key, version): (i16, i16), want: ErrorCode) {
    let from = RequestContext {
        listener: "A".into(),
        listener_kind: kind,
        peer: ([127, 0, 0, 1], 40_000).into(),
        told: None,
        principal: "User:ANONYMOUS".into(),
        client_id: "test".into(),
        software: Arc::default(),
        correlation_id: 7,
    };
    let closed = dispatch(&broker.ctx, &from, key, version, Bytes::new()).err();
    assert_eq!(closed, Some(Close(want)), "{key} {version}");
}

#[test]
fn what_is_unknown_or_on_another_listener_closes_the_connection() {
    let broker = Broker::new();
    for (kind, what) in [
        (Client, (7, 0)),      // no such key
        (Client, (0, 2)),      // below its versions
        (Client, (0, 14)),     // above them
        (Controller, (0, 12)), // not on a controller's listener
    ] {
        check_closed(&broker, kind, what, ErrorCode::UnsupportedVersion);
    }
    check_closed(&broker, Client, (0, 9), ErrorCode::InvalidRequest);
}

#[test]
fn what_is_switched_off_is_neither_listed_nor_answered() {
    let mut broker = Broker::new();
    let lists = |broker: &Broker, key| {
        let said = broker.ask(&ApiVersionsRequest::default(), 0);
        said.api_keys.iter().any(|it| it.api_key == key)
    };
    assert!(lists(&broker, 0));
    broker.ctx.enabled = Arc::new(|key| key.code() != 0);
    assert!(!lists(&broker, 0));
    let sent = broker.send(&ProduceRequest::default(), 9);
    assert_eq!(sent.err(), Some(Close(ErrorCode::UnsupportedVersion)));
}

#[test]
fn an_unknown_version_of_api_versions_is_answered_as_v0_with_35() {
    let broker = Broker::new();
    let said = broker.ask_raw::<ApiVersionsRequest>(99, Bytes::from_static(b"unread"), 0);
    assert_eq!(said.error_code, 35);
    let keys: Vec<_> = said.api_keys.iter().map(|it| (it.api_key, it.min_version)).collect();
    assert_eq!(keys, [(18, 0)]);
}
