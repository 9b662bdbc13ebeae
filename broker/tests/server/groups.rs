//! Groups over sockets, through stops and starts.

use crate::world::{Client, start};
use protocol::error::ErrorCode;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use protocol::messages::offset_fetch_request::OffsetFetchRequestTopic;
use protocol::messages::{
    DescribeGroupsRequest, FindCoordinatorRequest, GroupId, JoinGroupRequest, LeaveGroupRequest,
    OffsetCommitRequest, OffsetFetchRequest, Request, StrBytes, TopicName,
};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::task::JoinSet;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn topic() -> TopicName {
    TopicName(text("t"))
}

fn commit(group: &str, offset: i64) -> OffsetCommitRequest {
    let partition = OffsetCommitRequestPartition::default().with_committed_offset(offset);
    let topic =
        OffsetCommitRequestTopic::default().with_name(topic()).with_partitions(vec![partition]);
    OffsetCommitRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic])
}

async fn committed(client: &mut Client, group: &str) -> i64 {
    let topic =
        OffsetFetchRequestTopic::default().with_name(topic()).with_partition_indexes(vec![0]);
    let request = OffsetFetchRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_topics(Some(vec![topic]));
    let answer = client.ask(&request, 7).await;
    assert_eq!(answer.error_code, 0);
    answer.topics[0].partitions[0].committed_offset
}

/// Waits until the group can be asked, which is at once but while it is loaded.
async fn found(client: &mut Client, group: &str) {
    let request = FindCoordinatorRequest::default().with_coordinator_keys(vec![text(group)]);
    assert_eq!(client.ask(&request, 4).await.coordinators[0].error_code, 0);
    let ask = OffsetFetchRequest::default().with_group_id(GroupId(text(group))).with_topics(None);
    while client.ask(&ask, 7).await.error_code != 0 {
        tokio::task::yield_now().await;
    }
}

const OVERRIDES: [&str; 2] = ["offsets.topic.num.partitions=3", "num.partitions=1"];

async fn broker(dir: &Path, more: &[&str]) -> broker::server::Broker {
    start(dir, &[&OVERRIDES, more].concat()).await.unwrap()
}

/// Commits one offset after the other until the broker stops; the last one that was acknowledged.
async fn commit_on(mut client: Client, group: String, from: i64) -> i64 {
    let mut acknowledged = from;
    found(&mut client, &group).await;
    loop {
        let frame = commit(&group, acknowledged + 1).frame(8, 7, "c");
        client.send(&frame.unwrap()).await;
        let Some(answer) = client.answer().await else { return acknowledged };
        let (_, answer) = OffsetCommitRequest::read_response(8, answer).unwrap();
        if answer.topics[0].partitions[0].error_code == 0 {
            acknowledged += 1;
        }
    }
}

async fn no_commit_is_lost_by_stops(more: &[&str]) {
    let dir = TempDir::new().unwrap();
    let mut last = [0; 4];
    for round in 0..3 {
        let broker = broker(dir.path(), more).await;
        let address = broker.addresses[0].1;
        let mut client = Client::connect(address).await;
        if round == 0 {
            client.create("t").await;
        }
        let mut committing = JoinSet::new();
        for (number, last) in last.iter().enumerate() {
            let group = format!("g{number}");
            found(&mut client, &group).await;
            if 0 < round {
                assert_eq!(committed(&mut client, &group).await, *last, "{group} {round}");
            }
            let (client, last) = (Client::connect(address).await, *last);
            committing.spawn(async move { (number, commit_on(client, group, last).await) });
        }
        while committed(&mut client, "g3").await < last[3] + 20 {}
        drop(client);
        broker.stop().await;
        while let Some(ended) = committing.join_next().await {
            let (number, acknowledged) = ended.unwrap();
            last[number] = acknowledged;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stops_in_the_middle_of_commits_lose_none() {
    no_commit_is_lost_by_stops(&[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stops_in_the_middle_of_durable_commits_lose_none() {
    no_commit_is_lost_by_stops(&["log.flush.interval.messages=1"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_sends_away_who_waits_for_other_members_and_is_quick() {
    let dir = TempDir::new().unwrap();
    let broker = broker(dir.path(), &["group.initial.rebalance.delay.ms=60000"]).await;
    let mut client = Client::connect(broker.addresses[0].1).await;
    found(&mut client, "g").await;
    let join = join();
    // Since version 4 a member is given its id first.
    let named = client.ask(&join, 9).await;
    assert_eq!(named.error_code, ErrorCode::MemberIdRequired.code());
    client.send(&join.with_member_id(named.member_id).frame(9, 7, "test").unwrap()).await;
    // Once the group has a member, the request waits.
    let mut other = Client::connect(broker.addresses[0].1).await;
    while !has_member(&mut other).await {}
    let since = Instant::now();
    broker.stop().await;
    let (_, answer) = JoinGroupRequest::read_response(9, client.answer().await.unwrap()).unwrap();
    assert_eq!(answer.error_code, ErrorCode::NotCoordinator.code());
    assert!(since.elapsed() < Duration::from_secs(3), "{:?}", since.elapsed());
}

/// Clients that are closed during a rebalance do so, and wait a few seconds for the answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_waits_for_others_may_leave_on_the_same_connection() {
    let dir = TempDir::new().unwrap();
    let broker = broker(dir.path(), &["group.initial.rebalance.delay.ms=60000"]).await;
    let mut client = Client::connect(broker.addresses[0].1).await;
    found(&mut client, "g").await;
    let named = client.ask(&join(), 9).await;
    let id = named.member_id;
    client.send(&join().with_member_id(id.clone()).frame(9, 7, "test").unwrap()).await;
    let member = MemberIdentity::default().with_member_id(id);
    let leave =
        LeaveGroupRequest::default().with_group_id(GroupId(text("g"))).with_members(vec![member]);
    client.send(&leave.frame(5, 8, "test").unwrap()).await;
    let (_, joined) = JoinGroupRequest::read_response(9, client.answer().await.unwrap()).unwrap();
    assert_eq!(joined.error_code, ErrorCode::UnknownMemberId.code());
    let (_, left) = LeaveGroupRequest::read_response(5, client.answer().await.unwrap()).unwrap();
    assert_eq!((left.error_code, left.members[0].error_code), (0, 0));
    broker.stop().await;
}

fn join() -> JoinGroupRequest {
    JoinGroupRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_session_timeout_ms(10_000)
        .with_rebalance_timeout_ms(60_000)
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![JoinGroupRequestProtocol::default().with_name(text("range"))])
}

async fn has_member(client: &mut Client) -> bool {
    let request = DescribeGroupsRequest::default().with_groups(vec![GroupId(text("g"))]);
    client.ask(&request, 5).await.groups[0].group_state.as_str() == "PreparingRebalance"
}
