//! Fetch sessions: what need not be said again.

use crate::broker::{Broker, batch};
use crate::fetch::{append, bases, of};
use protocol::error::ErrorCode;
use protocol::messages::fetch_request::ForgottenTopic;
use protocol::messages::{FetchRequest, FetchResponse, StrBytes};

/// A fetch of `t` with these partitions, all from their beginning.
fn fetch(session: i32, epoch: i32, numbers: &[i32]) -> FetchRequest {
    let mut request = of("t", 0, 0).with_session_id(session).with_session_epoch(epoch);
    let partition = request.topics[0].partitions[0].clone();
    request.topics[0].partitions =
        numbers.iter().map(|number| partition.clone().with_partition(*number)).collect();
    if numbers.is_empty() {
        request.topics.clear();
    }
    request
}

fn numbers(response: &FetchResponse) -> Vec<i32> {
    let topics = response.responses.iter();
    topics.flat_map(|topic| topic.partitions.iter().map(|it| it.partition_index)).collect()
}

#[test]
fn a_session_says_only_what_is_new() {
    let broker = Broker::with_topic(3);
    let first = broker.ask(&fetch(0, 0, &[0, 1, 2]), 12);
    let id = first.session_id;
    assert!(0 < id);
    assert_eq!(numbers(&first), [0, 1, 2]);
    assert!(numbers(&broker.ask(&fetch(id, 1, &[]), 12)).is_empty());
    append(&broker, "t", 1, batch(&["a"]));
    let third = broker.ask(&fetch(id, 2, &[]), 12);
    assert_eq!((third.session_id, numbers(&third)), (id, vec![1]));
    let mut on = fetch(id, 3, &[1]);
    on.topics[0].partitions[0].fetch_offset = 1;
    assert!(numbers(&broker.ask(&on, 12)).is_empty(), "read, and nothing came since");
}

#[test]
fn who_returned_data_moves_to_the_end() {
    let broker = Broker::with_topic(2);
    let id = broker.ask(&fetch(0, 0, &[0, 1]), 12).session_id;
    append(&broker, "t", 0, batch(&["a"]));
    append(&broker, "t", 1, batch(&["a"]));
    let limit = batch(&["a"]).len().try_into().unwrap();
    let read = |epoch| {
        let response = broker.ask(&fetch(id, epoch, &[]).with_max_bytes(limit), 12);
        let with_data = response.responses[0].partitions.iter().filter(|it| !bases(it).is_empty());
        with_data.map(|it| it.partition_index).collect::<Vec<_>>()
    };
    assert_eq!([read(1), read(2), read(3)], [[0], [1], [0]]);
}

#[test]
fn partitions_come_and_go() {
    let broker = Broker::with_topic(3);
    let id = broker.ask(&fetch(0, 0, &[0]), 12).session_id;
    assert_eq!(numbers(&broker.ask(&fetch(id, 1, &[2]), 12)), [2]);
    for number in 0..3 {
        append(&broker, "t", number, batch(&["a"]));
    }
    let gone = ForgottenTopic::default()
        .with_topic(StrBytes::from_static_str("t").into())
        .with_partitions(vec![0]);
    let request = fetch(id, 2, &[]).with_forgotten_topics_data(vec![gone]);
    assert_eq!(numbers(&broker.ask(&request, 12)), [2]);
}

#[test]
fn an_error_is_said_and_then_the_watermark_again() {
    let broker = Broker::with_topic(1);
    let id = broker.ask(&fetch(0, 0, &[0]), 12).session_id;
    let mut behind = fetch(id, 1, &[0]);
    behind.topics[0].partitions[0].fetch_offset = 9;
    let response = broker.ask(&behind, 12);
    let code = response.responses[0].partitions[0].error_code;
    assert_eq!(code, ErrorCode::OffsetOutOfRange.code());
    assert_eq!(numbers(&broker.ask(&fetch(id, 2, &[0]), 12)), [0]);
    assert!(numbers(&broker.ask(&fetch(id, 3, &[]), 12)).is_empty());
}

#[test]
fn what_does_not_fit_the_session_is_an_error_of_its_own() {
    let broker = Broker::with_topic(1);
    let id = broker.ask(&fetch(0, 0, &[0]), 12).session_id;
    let code = |id, epoch, version| broker.ask(&fetch(id, epoch, &[]), version).error_code;
    assert_eq!(code(id.wrapping_add(1).max(1), 1, 12), ErrorCode::FetchSessionIdNotFound.code());
    assert_eq!(code(id, 2, 12), ErrorCode::InvalidFetchSessionEpoch.code());
    assert_eq!(code(id, 1, 13), ErrorCode::FetchSessionTopicIdError.code());
    assert_eq!(code(id, 1, 12), 0);
    // Closed by the last epoch, it is not there any more.
    assert_eq!(code(id, -1, 12), 0);
    assert_eq!(code(id, 2, 12), ErrorCode::FetchSessionIdNotFound.code());
}

#[test]
fn without_a_free_slot_there_is_no_session() {
    let broker = Broker::with_topic(3);
    let open = |numbers: &[i32]| broker.ask(&fetch(0, 0, numbers), 12).session_id;
    let (a, b) = (open(&[0, 1]), open(&[0]));
    assert!(a != 0 && b != 0);
    assert_eq!(open(&[0, 1, 2]), 0, "both are too young to go");
    broker.clock.pass(121_000);
    let c = open(&[0]);
    assert!(c != 0, "the stalest goes after two minutes");
    assert_eq!(broker.ctx.fetch_sessions.size().0, 2);
    assert_eq!(broker.ctx.fetch_sessions.evictions(), 1);
}
