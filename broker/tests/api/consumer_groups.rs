//! ConsumerGroupHeartbeat and ConsumerGroupDescribe, on a whole broker.

use super::served::{Served, soon, text};
use protocol::error::ErrorCode;
use protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest, GroupId, TopicName,
};

const OFFSETS: &str = "__consumer_offsets";
/// No operations were asked for.
const NO_OPERATIONS: i32 = i32::MIN;

fn group(name: &str) -> GroupId {
    GroupId(text(name))
}

fn enter(name: &str, member: &str, topic: &str) -> ConsumerGroupHeartbeatRequest {
    ConsumerGroupHeartbeatRequest::default()
        .with_group_id(group(name))
        .with_member_id(text(member))
        .with_rebalance_timeout_ms(60_000)
        .with_subscribed_topic_names(Some(vec![TopicName(text(topic))]))
        .with_topic_partitions(Some(vec![]))
}

fn describe(names: &[&str]) -> ConsumerGroupDescribeRequest {
    let names = names.iter().map(|name| group(name)).collect();
    ConsumerGroupDescribeRequest::default().with_group_ids(names)
}

/// As soon as its coordinator is there.
async fn entered(
    broker: &Served,
    request: &ConsumerGroupHeartbeatRequest,
    version: i16,
) -> protocol::messages::ConsumerGroupHeartbeatResponse {
    let entering = async {
        loop {
            let answer = broker.ask(request, version).await;
            let code = ErrorCode::from_code(answer.error_code).unwrap();
            if !code.is_retriable() && code != ErrorCode::NotCoordinator {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    };
    soon(entering).await
}

#[tokio::test]
async fn a_member_comes_is_described_and_goes() {
    let broker = Served::start().await;
    broker.create("t", 3).await;
    broker.create(OFFSETS, 4).await;
    for version in 0..=1 {
        let name = format!("g{version}");
        let answer = entered(&broker, &enter(&name, "m", "t"), version).await;
        assert_eq!((answer.error_code, answer.member_epoch), (0, 2));
        let assignment = answer.assignment.unwrap().topic_partitions;
        assert_eq!(assignment[0].partitions, [0, 1, 2]);

        let answer = broker.ask(&describe(&[&name, "", "x"]), version).await;
        let codes: Vec<_> = answer.groups.iter().map(|it| it.error_code).collect();
        let want = [ErrorCode::None, ErrorCode::InvalidGroupId, ErrorCode::GroupIdNotFound];
        assert_eq!(codes, want.map(ErrorCode::code));
        let found = &answer.groups[0];
        assert_eq!(
            (found.group_state.as_str(), found.assignor_name.as_str()),
            ("Stable", "uniform")
        );
        assert_eq!((found.group_epoch, found.assignment_epoch), (2, 2));
        assert_eq!(found.authorized_operations, NO_OPERATIONS);
        let member = &found.members[0];
        assert_eq!((member.member_id.as_str(), member.member_epoch), ("m", 2));
        assert_eq!(member.client_host.as_str(), "/127.0.0.1");
        assert_eq!(member.assignment.topic_partitions[0].topic_name.as_str(), "t");
        assert_eq!(member.member_type, if version == 0 { -1 } else { 1 });

        let leave = ConsumerGroupHeartbeatRequest::default()
            .with_group_id(group(&name))
            .with_member_id(text("m"))
            .with_member_epoch(-1);
        assert_eq!(broker.ask(&leave, version).await.member_epoch, -1);
        let answer = broker.ask(&describe(&[&name]), version).await;
        assert_eq!(answer.groups[0].group_state.as_str(), "Empty");
    }
    broker.stop().await;
}

#[tokio::test]
async fn what_is_wrong_is_told_without_a_coordinator() {
    let broker = Served::start().await;
    let answer = broker.ask(&enter("", "m", "t"), 1).await;
    assert_eq!(answer.error_code, ErrorCode::InvalidRequest.code());
    let answer = broker.ask(&enter("g", "m", "t"), 1).await;
    assert_eq!(answer.error_code, ErrorCode::CoordinatorNotAvailable.code());
    let answer = broker.ask(&describe(&["g"]), 1).await;
    assert_eq!(answer.groups[0].error_code, ErrorCode::CoordinatorNotAvailable.code());
    broker.stop().await;
}

#[tokio::test]
async fn a_broker_may_be_told_to_have_no_consumer_groups() {
    let broker = Served::told("group.coordinator.rebalance.protocols=classic\n").await;
    let answer = broker.ask(&enter("g", "m", "t"), 1).await;
    assert_eq!(answer.error_code, ErrorCode::UnsupportedVersion.code());
    let answer = broker.ask(&describe(&["g"]), 1).await;
    assert_eq!(answer.groups[0].error_code, ErrorCode::UnsupportedVersion.code());
    broker.stop().await;
}
