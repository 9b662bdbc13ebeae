//! Requests about groups that name more than anybody has, on a whole broker.

use super::served::{Served, text};
use broker::api::Close;
use protocol::error::ErrorCode;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use protocol::messages::offset_delete_request::{
    OffsetDeleteRequestPartition, OffsetDeleteRequestTopic,
};
use protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::{
    ConsumerGroupDescribeRequest, DeleteGroupsRequest, DescribeGroupsRequest,
    FindCoordinatorRequest, GroupId, JoinGroupRequest, OffsetCommitRequest, OffsetDeleteRequest,
    OffsetFetchRequest, StrBytes, SyncGroupRequest, TopicName,
};

/// Groups that a request may name.
const GROUPS_MAX: usize = 100_000;

async fn broker(properties: &str) -> Served {
    let broker = Served::told(&format!("offsets.topic.num.partitions=1\n{properties}")).await;
    broker.ask(&FindCoordinatorRequest::default().with_key(text("g")), 2).await;
    broker
}

#[tokio::test]
async fn a_request_that_names_too_many_groups_is_closed() {
    let broker = broker("").await;
    let most = vec![GroupId(text("x")); GROUPS_MAX];
    let described =
        broker.ask(&DescribeGroupsRequest::default().with_groups(most.clone()), 6).await;
    assert_eq!(described.groups.len(), GROUPS_MAX);
    let more = || [most.clone(), vec![GroupId(text("x"))]].concat();
    let close = Some(Close(ErrorCode::InvalidRequest));
    let request = DescribeGroupsRequest::default().with_groups(more());
    assert_eq!(broker.ask_at("INSIDE", &request, 6).await.err(), close);
    let request = ConsumerGroupDescribeRequest::default().with_group_ids(more());
    assert_eq!(broker.ask_at("INSIDE", &request, 1).await.err(), close);
    let request = DeleteGroupsRequest::default().with_groups_names(more());
    assert_eq!(broker.ask_at("INSIDE", &request, 2).await.err(), close);
    let groups = vec![OffsetFetchRequestGroup::default(); GROUPS_MAX + 1];
    let request = OffsetFetchRequest::default().with_groups(groups);
    assert_eq!(broker.ask_at("INSIDE", &request, 9).await.err(), close);
    let keys = vec![StrBytes::default(); GROUPS_MAX + 1];
    let request = FindCoordinatorRequest::default().with_coordinator_keys(keys);
    assert_eq!(broker.ask_at("INSIDE", &request, 4).await.err(), close);
    broker.stop().await;
}

/// Topics that are not there, and then one that is, again and again. As many of both, so that
/// nothing may be looked for among all.
const TOPICS: usize = 100_000;

#[tokio::test]
async fn offsets_of_many_topics_of_which_half_are_not_there_are_answered() {
    let broker = broker("").await;
    broker.create("t", 1).await;
    let name = |number: usize| match number < TOPICS {
        true => TopicName(text(&format!("x{number}"))),
        false => TopicName(text("t")),
    };
    let partition = OffsetCommitRequestPartition::default().with_committed_offset(1);
    let topics = (0..2 * TOPICS).map(|number| {
        OffsetCommitRequestTopic::default()
            .with_name(name(number))
            .with_partitions(vec![partition.clone()])
    });
    let request = OffsetCommitRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(topics.collect());
    let answer = broker.ask(&request, 9).await;
    assert_eq!(answer.topics.len(), TOPICS + 1);
    assert_eq!(answer.topics[TOPICS].partitions.len(), TOPICS);
    assert!(answer.topics[TOPICS].partitions.iter().all(|it| it.error_code == 0));

    let topics = (0..2 * TOPICS).map(|number| {
        OffsetDeleteRequestTopic::default()
            .with_name(name(number))
            .with_partitions(vec![OffsetDeleteRequestPartition::default()])
    });
    let request = OffsetDeleteRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_topics(topics.collect());
    let answer = broker.ask(&request, 0).await;
    assert_eq!((answer.error_code, answer.topics.len()), (0, TOPICS + 1));
    broker.stop().await;
}

fn join(group: &str, protocols: usize, bytes: usize) -> JoinGroupRequest {
    let protocol = |number| {
        JoinGroupRequestProtocol::default()
            .with_name(text(&format!("p{number}")))
            .with_metadata(vec![0; bytes].into())
    };
    JoinGroupRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_session_timeout_ms(10_000)
        .with_rebalance_timeout_ms(10_000)
        .with_protocol_type(text("kind"))
        .with_protocols((0..protocols).map(protocol).collect())
}

#[tokio::test]
async fn members_that_say_more_than_a_record_can_hold_are_told_that_the_group_is_full() {
    let small = "offsets.topic.segment.bytes=1048576\ngroup.initial.rebalance.delay.ms=0\n";
    let broker = broker(small).await;
    let code = async |request: &JoinGroupRequest| broker.ask(request, 3).await.error_code;
    assert_eq!(code(&join("g", 1, 1 << 20)).await, ErrorCode::GroupMaxSizeReached.code());
    assert_eq!(code(&join("g", 1, 1 << 19)).await, 0);
    // Together with the first.
    assert_eq!(code(&join("g", 1, 1 << 19)).await, ErrorCode::GroupMaxSizeReached.code());
    let long = || text(&"x".repeat(32_750));
    let request = join("h", 1, 1).with_group_instance_id(Some(long()));
    let answer = broker.ask(&request, 9).await;
    assert_eq!(answer.error_code, ErrorCode::InvalidRequest.code());
    let request = join("h", 1, 1).with_protocol_type(long());
    assert_eq!(code(&request).await, ErrorCode::InvalidRequest.code());
    assert_eq!(code(&join("h", 101, 1)).await, ErrorCode::InconsistentGroupProtocol.code());
    assert_eq!(code(&join("h", 100, 1)).await, 0);
    broker.stop().await;
}

#[tokio::test]
async fn a_leader_that_divides_more_than_a_record_can_hold_is_told_so() {
    let small = "offsets.topic.segment.bytes=1048576\ngroup.initial.rebalance.delay.ms=0\n";
    let broker = broker(small).await;
    let joined = broker.ask(&join("g", 1, 1 << 19), 3).await;
    let sync = |bytes| {
        let given = SyncGroupRequestAssignment::default()
            .with_member_id(joined.member_id.clone())
            .with_assignment(vec![0; bytes].into());
        SyncGroupRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_member_id(joined.member_id.clone())
            .with_generation_id(joined.generation_id)
            .with_assignments(vec![given])
    };
    let code = async |bytes| broker.ask(&sync(bytes), 3).await.error_code;
    assert_eq!(code(1 << 19).await, ErrorCode::RecordListTooLarge.code());
    assert_eq!(code(1 << 18).await, 0);
    broker.stop().await;
}
