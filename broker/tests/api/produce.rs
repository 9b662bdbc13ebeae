//! Produce: what is accepted, what is refused and how, and when it is answered.

use crate::broker::{Broker, NODE, NOW_MS, batch, builder, response};
use crate::delete_records;
use crate::served::soon;
use broker::api::{Close, Reply};
use broker::partition::Partition;
use broker::partition::dir::Syncs;
use bytes::Bytes;
use kraft::record::PartitionChangeRecord;
use protocol::compression::Codec;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::produce_response::PartitionProduceResponse;
use protocol::messages::{ProduceRequest, ProduceResponse, StrBytes};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use storage::disk::sim::{Fault, Operation};
use tokio::time::Instant;

pub(crate) fn to(topic: &str, number: i32, acks: i16, records: Bytes) -> ProduceRequest {
    let data = PartitionProduceData::default().with_index(number).with_records(Some(records));
    let topic = TopicProduceData::default()
        .with_name(StrBytes::from_string(topic.to_owned()).into())
        .with_partition_data(vec![data]);
    ProduceRequest::default().with_acks(acks).with_timeout_ms(1000).with_topic_data(vec![topic])
}

fn said(response: &ProduceResponse) -> &PartitionProduceResponse {
    &response.responses[0].partition_responses[0]
}

/// Produces with acks=1 and compares error, base offset and log start.
#[track_caller]
fn check(broker: &Broker, records: Bytes, want: (ErrorCode, i64, i64)) {
    let response = broker.ask(&to("t", 0, 1, records), 9);
    let said = said(&response);
    let got = (said.error_code, said.base_offset, said.log_start_offset);
    assert_eq!(got, (want.0.code(), want.1, want.2), "{:?}", said.error_message);
}

#[test]
fn a_request_of_names_alone_is_not_decoded() {
    let broker = Broker::new();
    let topics = |count| vec![TopicProduceData::default(); count];
    // In version 9 an empty topic takes three bytes.
    for (count, is_taken) in [(340_000, true), (350_000, false)] {
        let request = ProduceRequest::default().with_acks(1).with_topic_data(topics(count));
        let answer = broker.send(&request, 9);
        assert_eq!(answer.is_ok(), is_taken, "{count} topics");
        assert!(is_taken || matches!(answer, Err(Close(ErrorCode::InvalidRequest))));
    }
    let mut request = to("t", 0, 1, Bytes::from(vec![0; 2 << 20]));
    request.topic_data.extend(topics(300_000));
    assert_eq!(broker.ask(&request, 9).responses.len(), 300_001, "records are no part of it");
}

#[test]
fn offsets_are_given_in_order_at_every_version() {
    let mut broker = Broker::new();
    let id = broker.create("t", 1, &[]);
    let mut want = 0;
    for version in 3..=13 {
        for acks in [1, -1] {
            let mut request = to("t", 0, acks, batch(&["a", "b"]));
            if 13 <= version {
                request.topic_data[0].name = StrBytes::default().into();
                request.topic_data[0].topic_id = id.into();
            }
            let response = broker.ask(&request, version);
            let said = said(&response);
            assert_eq!((said.error_code, said.base_offset), (0, want), "version {version}");
            assert_eq!(said.log_append_time_ms, -1);
            want += 2;
        }
    }
    assert_eq!(broker.partition("t", 0).log().high_watermark(), want);
}

#[test]
fn what_is_not_here_is_said_by_the_name_it_was_asked_by() {
    let broker = Broker::with_topic(1);
    for (topic, number) in [("u", 0), ("t", 1), ("t", -1)] {
        let response = broker.ask(&to(topic, number, 1, batch(&["a"])), 9);
        let said = said(&response);
        assert_eq!(said.error_code, ErrorCode::UnknownTopicOrPartition.code());
        assert_eq!((said.base_offset, said.log_start_offset), (-1, -1));
    }
    let id = Uuid::from_random(9, 9);
    let mut request = to("", 0, 1, batch(&["a"]));
    request.topic_data[0].topic_id = id.into();
    let response = broker.ask(&request, 13);
    assert_eq!(said(&response).error_code, ErrorCode::UnknownTopicId.code());
    assert_eq!(Uuid::from(response.responses[0].topic_id), id);
}

#[test]
fn acks_other_than_three_are_refused() {
    let broker = Broker::with_topic(1);
    for acks in [2, -2, i16::MAX] {
        let response = broker.ask(&to("t", 0, acks, batch(&["a"])), 9);
        assert_eq!(said(&response).error_code, ErrorCode::InvalidRequiredAcks.code());
    }
    assert_eq!(broker.partition("t", 0).log().log_end(), 0);
}

#[test]
fn without_acks_there_is_no_answer_and_an_error_closes_the_connection() {
    let broker = Broker::with_topic(1);
    assert!(matches!(broker.send(&to("t", 0, 0, batch(&["a"])), 9), Ok(Reply::Silence)));
    let failed = broker.send(&to("u", 0, 0, batch(&["a"])), 9);
    assert_eq!(failed.err(), Some(Close(ErrorCode::UnknownTopicOrPartition)));
    assert_eq!(broker.partition("t", 0).log().log_end(), 1);
}

#[test]
fn a_batch_that_is_not_whole_is_refused_and_nothing_is_appended() {
    let broker = Broker::with_topic(1);
    let good = batch(&["a", "b"]);
    let changed = |at: usize, to: u8| {
        let mut bytes = good.to_vec();
        bytes[at] = to;
        Bytes::from(bytes)
    };
    let (corrupt, invalid) = (ErrorCode::CorruptMessage, ErrorCode::InvalidRecord);
    check(&broker, changed(70, 0xFF), (corrupt, -1, -1));
    check(&broker, Bytes::new(), (invalid, -1, -1));
    check(&broker, [good.clone(), good.clone()].concat().into(), (invalid, -1, -1));
    assert_eq!(broker.partition("t", 0).log().log_end(), 0);
    check(&broker, good, (ErrorCode::None, 0, 0));
}

#[test]
fn one_partitions_bad_batch_is_not_the_others_fault() {
    let broker = Broker::with_topic(2);
    let mut bad = batch(&["a"]).to_vec();
    bad[16] = 3; // The magic.
    let mut request = to("t", 0, -1, bad.into());
    request.topic_data.extend(to("t", 1, -1, batch(&["a"])).topic_data);
    let answer = broker.ask(&request, 12);
    let codes: Vec<_> =
        answer.responses.iter().map(|it| it.partition_responses[0].error_code).collect();
    assert_eq!(codes, [ErrorCode::CorruptMessage.code(), 0]);
    assert_eq!(broker.partition("t", 1).log().log_end(), 1);
}

#[test]
fn zstd_needs_version_7() {
    let broker = Broker::with_topic(1);
    let records = builder(&["a"]).codec(Codec::Zstd, None).build().unwrap();
    let code = |version| said(&broker.ask(&to("t", 0, 1, records.clone()), version)).error_code;
    assert_eq!(code(6), ErrorCode::UnsupportedCompressionType.code());
    assert_eq!(code(7), 0);
}

#[test]
fn a_compacted_topic_names_the_records_without_a_key() {
    let mut broker = Broker::new();
    broker.create("t", 1, &[("cleanup.policy", "compact")]);
    let mut records = builder(&["a"]);
    records.push(protocol::records::builder::NewRecord {
        timestamp_ms: NOW_MS,
        value: Some(b"b"),
        ..Default::default()
    });
    let response = broker.ask(&to("t", 0, 1, records.build().unwrap()), 9);
    let said = said(&response);
    assert_eq!(said.error_code, ErrorCode::InvalidRecord.code());
    let at: Vec<_> = said.record_errors.iter().map(|error| error.batch_index).collect();
    assert_eq!(at, [1]);
    assert!(said.error_message.is_some());
}

#[test]
fn the_brokers_time_is_given_back() {
    let mut broker = Broker::new();
    broker.create("t", 1, &[("message.timestamp.type", "LogAppendTime")]);
    broker.clock.pass(5);
    let response = broker.ask(&to("t", 0, 1, batch(&["a"])), 9);
    assert_eq!(said(&response).log_append_time_ms, NOW_MS + 5);
}

#[test]
fn a_batch_sent_twice_is_in_the_log_once() {
    let broker = Broker::with_topic(1);
    let sent = |sequence| builder(&["a", "b"]).producer(7, 0, sequence).build().unwrap();
    check(&broker, sent(0), (ErrorCode::None, 0, 0));
    check(&broker, sent(2), (ErrorCode::None, 2, 0));
    check(&broker, sent(0), (ErrorCode::None, 0, 0));
    check(&broker, sent(6), (ErrorCode::OutOfOrderSequenceNumber, -1, 0));
    let older = builder(&["a"]).producer(7, 1, 0).build().unwrap();
    check(&broker, older, (ErrorCode::None, 4, 0));
    check(&broker, sent(4), (ErrorCode::InvalidProducerEpoch, -1, 0));
    assert_eq!(broker.partition("t", 0).log().log_end(), 5);
}

#[test]
fn a_batch_larger_than_allowed_is_refused() {
    let mut broker = Broker::new();
    broker.create("t", 1, &[("max.message.bytes", "100")]);
    check(&broker, batch(&["x".repeat(100).as_str()]), (ErrorCode::MessageTooLarge, -1, -1));
    broker.configure("t", "max.message.bytes", "1000");
    check(&broker, batch(&["x".repeat(100).as_str()]), (ErrorCode::None, 0, 0));
}

#[test]
fn a_full_disk_refuses_and_takes_again_when_there_is_room() {
    let mut broker =
        Broker::with_dirs(Arc::default(), &["/data"], &["highwater.log.dir.reserve.bytes=1000000"]);
    broker.create("t", 1, &[]);
    check(&broker, batch(&["a"]), (ErrorCode::None, 0, 0));
    broker.disk.set_capacity(500_000);
    broker.ctx.upkeep.run(broker::partition::upkeep::Chore::Space);
    let response = broker.ask(&to("t", 0, -1, batch(&["b"])), 9);
    assert_eq!(said(&response).error_code, ErrorCode::KafkaStorageError.code());
    assert!(said(&response).error_message.as_ref().unwrap().contains("full"));
    broker.disk.set_capacity(u64::MAX);
    broker.ctx.upkeep.run(broker::partition::upkeep::Chore::Space);
    check(&broker, batch(&["c"]), (ErrorCode::None, 1, 0));
}

fn durable() -> (Broker, Arc<Partition>) {
    let mut broker = Broker::new();
    broker.create("t", 1, &[("flush.messages", "1")]);
    let partition = broker.partition("t", 0);
    (broker, partition)
}

#[tokio::test(start_paused = true)]
async fn a_durable_topic_answers_when_the_records_are_synced() {
    let (broker, partition) = durable();
    let request = to("t", 0, -1, batch(&["a"]));
    let waiting = broker.wait(&request, 9);
    let syncing = async {
        assert_eq!(partition.log().high_watermark(), 0, "nobody sees what could be lost");
        assert!(partition.sync());
    };
    let (response, ()) = tokio::join!(biased; waiting, syncing);
    assert_eq!((said(&response).error_code, said(&response).base_offset), (0, 0));
    assert_eq!(partition.log().high_watermark(), 1);
}

#[tokio::test(start_paused = true)]
async fn with_one_ack_a_durable_topic_answers_no_sooner() {
    let (broker, partition) = durable();
    let Ok(Reply::Later(answer)) = broker.send(&to("t", 0, 1, batch(&["a"])), 9) else {
        panic!("answered for what a power cut could take");
    };
    assert!(partition.sync());
    let response = response::<ProduceRequest>(answer.await.unwrap(), 9);
    assert_eq!((said(&response).error_code, said(&response).base_offset), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn one_ack_waits_for_the_disk_and_for_no_replica() {
    let mut broker = Broker::new();
    let id = broker.create("t", 1, &[("flush.messages", "1"), ("min.insync.replicas", "2")]);
    let another = PartitionChangeRecord {
        topic_id: id,
        partition_id: 0,
        replicas: Some(vec![NODE, 2]),
        ..PartitionChangeRecord::default()
    };
    broker.apply(vec![another.into()]);
    let response = broker.ask(&to("t", 0, -1, batch(&["a"])), 9);
    assert_eq!(said(&response).error_code, ErrorCode::NotEnoughReplicas.code());
    let (partition, begin) = (broker.partition("t", 0), Instant::now());
    let request = to("t", 0, 1, batch(&["a"]));
    let syncing = async { assert!(partition.sync()) };
    let (response, ()) = tokio::join!(biased; broker.wait(&request, 9), syncing);
    assert_eq!((said(&response).error_code, begin.elapsed()), (0, Duration::ZERO));
    assert_eq!(partition.log().high_watermark(), 0, "too few have it for others to see");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_the_disk_is_answered_by_the_disk_whatever_else_happens() {
    let (mut broker, partition) = durable();
    assert!(broker.send(&to("t", 0, 0, batch(&["a"])), 9).is_ok());
    assert!(partition.sync());
    for acks in [1, -1] {
        let Ok(Reply::Later(answer)) = broker.send(&to("t", 0, acks, batch(&["b"])), 9) else {
            panic!("it waits for the disk");
        };
        let happening = async {
            assert_eq!(delete_records::delete(&broker, "t", 1).await, (0, 1));
            broker.configure("t", "retention.ms", "1000000000");
            broker.ctx.partitions.close();
            tokio::task::yield_now().await;
            assert!(partition.sync());
        };
        let (answer, ()) = tokio::join!(biased; answer, happening);
        let response = response::<ProduceRequest>(answer.unwrap(), 9);
        assert_eq!(said(&response).error_code, 0, "acks={acks}");
    }
}

#[tokio::test]
async fn so_many_records_are_synced_without_waiting_for_the_clock() {
    let mut broker = Broker::new();
    broker.create("t", 1, &[("flush.messages", "3")]);
    let (partition, upkeep) = (broker.partition("t", 0), broker.look_after());
    broker.ask(&to("t", 0, 1, batch(&["a", "b"])), 9);
    assert_eq!(partition.log().synced(), 0);
    broker.ask(&to("t", 0, 1, batch(&["c"])), 9);
    // The clock stands still, so no chore is due.
    let synced = async {
        while partition.log().synced() < 3 {
            tokio::task::yield_now().await;
        }
    };
    soon(synced).await;
    tokio::task::spawn_blocking(|| upkeep.stop()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_sync_for_which_too_many_files_are_open_is_made_when_it_can_be() {
    let (broker, partition) = durable();
    assert!(broker.send(&to("t", 0, 0, batch(&["a"])), 9).is_ok());
    assert!(partition.sync());
    partition.log().roll(NOW_MS).unwrap();
    let request = to("t", 0, -1, batch(&["a"]));
    let waiting = broker.wait(&request, 9);
    let syncing = async {
        broker.disk.fail(Fault { os_error: 24, ..Fault::eio(Operation::SyncDir) });
        assert!(!partition.sync(), "it is to be asked again");
        assert_eq!(partition.log().high_watermark(), 1);
        broker.disk.mend();
        assert!(partition.sync());
    };
    let (response, ()) = tokio::join!(biased; waiting, syncing);
    assert_eq!(said(&response).error_code, 0);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_come_in_time_says_maybe() {
    let (broker, _) = durable();
    let response = broker.wait(&to("t", 0, -1, batch(&["a"])), 9).await;
    let said = said(&response);
    assert_eq!((said.error_code, said.base_offset), (ErrorCode::RequestTimedOut.code(), 0));
}

#[tokio::test(start_paused = true)]
async fn who_waits_when_the_disk_fails_is_told_maybe_and_who_comes_later_no() {
    let (broker, partition) = durable();
    let request = to("t", 0, -1, batch(&["a"]));
    let waiting = broker.wait(&request, 9);
    let failing = async {
        broker.disk.break_dir(Path::new("/data"));
        partition.sync();
    };
    let (response, ()) = tokio::join!(biased; waiting, failing);
    assert_eq!(said(&response).error_code, ErrorCode::RequestTimedOut.code());
    let response = broker.ask(&to("t", 0, -1, batch(&["b"])), 9);
    assert_eq!(said(&response).error_code, ErrorCode::KafkaStorageError.code());
}

#[test]
fn who_does_not_lead_says_who_does() {
    let mut broker = Broker::new();
    let id = broker.create("t", 1, &[]);
    broker.hand_over(id, 0, 2);
    for version in 3..=12 {
        let response = broker.ask(&to("t", 0, 1, batch(&["a"])), version);
        let said = said(&response);
        assert_eq!(said.error_code, ErrorCode::NotLeaderOrFollower.code());
        let hint = (said.current_leader.leader_id.0, said.current_leader.leader_epoch);
        let hosts: Vec<_> = response.node_endpoints.iter().map(|it| it.host.as_str()).collect();
        if version < 10 {
            assert_eq!((hint, hosts), ((-1, -1), vec![]), "version {version}");
        } else {
            assert_eq!((hint, hosts), ((2, 1), vec!["host-2"]), "version {version}");
        }
    }
}

#[tokio::test]
async fn the_flusher_commits_a_durable_topic() {
    let (broker, partition) = durable();
    let upkeep = broker.look_after();
    for want in 0..20 {
        let request = to("t", 0, -1, batch(&["a"])).with_timeout_ms(60_000);
        let response = broker.wait(&request, 9).await;
        assert_eq!((said(&response).error_code, said(&response).base_offset), (0, want));
    }
    assert_eq!(partition.log().synced(), 20);
    tokio::task::spawn_blocking(|| upkeep.stop()).await.unwrap();
}

#[test]
fn a_transactional_batch_is_refused_without_a_coordinator() {
    let broker = Broker::with_topic(1);
    let records = builder(&["a"]).producer(7, 0, 0).attributes(0b1_0000).build().unwrap();
    let id = StrBytes::from_static_str("tx").into();
    let with_id = to("t", 0, 1, records.clone()).with_transactional_id(Some(id));
    for (request, code) in [
        (to("t", 0, 1, records), ErrorCode::TransactionalIdAuthorizationFailed),
        (with_id, ErrorCode::NotEnoughReplicas),
    ] {
        let response = broker.ask(&request, 9);
        assert_eq!(said(&response).error_code, code.code());
        assert!(said(&response).error_message.is_some());
    }
    assert_eq!(broker.partition("t", 0).log().log_end(), 0);
}
