//! Classic members of a group, on a whole broker.

use super::served::{Served, soon, text};
use protocol::error::ErrorCode;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::{
    FindCoordinatorRequest, GroupId, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse,
    LeaveGroupRequest, StrBytes, SyncGroupRequest,
};

const CODE_NONE: i16 = 0;

fn group() -> GroupId {
    text("g").into()
}

async fn broker() -> Served {
    let told = "offsets.topic.num.partitions=1\ngroup.initial.rebalance.delay.ms=0\n";
    let broker = Served::told(told).await;
    broker.ask(&FindCoordinatorRequest::default().with_key(text("g")), 2).await;
    broker
}

fn join(id: &StrBytes) -> JoinGroupRequest {
    let protocol =
        JoinGroupRequestProtocol::default().with_name(text("p")).with_metadata("says".into());
    JoinGroupRequest::default()
        .with_group_id(group())
        .with_session_timeout_ms(10_000)
        .with_rebalance_timeout_ms(10_000)
        .with_member_id(id.clone())
        .with_protocol_type(text("kind"))
        .with_protocols(vec![protocol])
}

fn heartbeat(of: &JoinGroupResponse) -> HeartbeatRequest {
    HeartbeatRequest::default()
        .with_group_id(group())
        .with_member_id(of.member_id.clone())
        .with_generation_id(of.generation_id)
}

fn sync(of: &JoinGroupResponse) -> SyncGroupRequest {
    let assignment = |id: &StrBytes| {
        SyncGroupRequestAssignment::default()
            .with_member_id(id.clone())
            .with_assignment(id.to_string().into())
    };
    SyncGroupRequest::default()
        .with_group_id(group())
        .with_member_id(of.member_id.clone())
        .with_generation_id(of.generation_id)
        .with_protocol_type(Some(text("kind")))
        .with_protocol_name(Some(text("p")))
        .with_assignments(of.members.iter().map(|it| assignment(&it.member_id)).collect())
}

fn leave(id: &StrBytes) -> LeaveGroupRequest {
    let identity = MemberIdentity::default().with_member_id(id.clone());
    LeaveGroupRequest::default().with_group_id(group()).with_members(vec![identity])
}

/// The first member, in the first generation, which is not divided yet.
async fn first(broker: &Served) -> JoinGroupResponse {
    let id = broker.ask(&join(&StrBytes::default()), 9).await;
    assert_eq!(id.error_code, ErrorCode::MemberIdRequired.code());
    let joined = broker.ask(&join(&id.member_id), 9).await;
    assert_eq!((joined.error_code, joined.generation_id), (CODE_NONE, 1));
    joined
}

/// Waits until the member hears that it is to join again.
async fn hears_of_rebalance(broker: &Served, member: &JoinGroupResponse) {
    let hearing = async {
        loop {
            let answer = broker.ask(&heartbeat(member), 4).await;
            if answer.error_code != CODE_NONE {
                return answer.error_code;
            }
            tokio::task::yield_now().await;
        }
    };
    assert_eq!(soon(hearing).await, ErrorCode::RebalanceInProgress.code());
}

#[tokio::test]
async fn two_members_come_to_a_generation_and_each_gets_its_own() {
    let broker = broker().await;
    let a = first(&broker).await;
    let synced = broker.ask(&sync(&a), 5).await;
    assert_eq!(synced.assignment, a.member_id.to_string());
    let again = async {
        hears_of_rebalance(&broker, &a).await;
        broker.ask(&join(&a.member_id), 9).await
    };
    // Version 3 joins without asking for an id.
    let newcomer = join(&StrBytes::default());
    let (a, b) = tokio::join!(again, broker.ask(&newcomer, 3));
    assert_eq!((a.generation_id, b.generation_id), (2, 2));
    assert_eq!((a.members.len(), b.members.len(), &b.leader), (2, 0, &a.member_id));
    let (of_a, of_b) = (sync(&a), sync(&b));
    let (of_b, of_a) = tokio::join!(broker.ask(&of_b, 2), broker.ask(&of_a, 5));
    assert_eq!(of_a.assignment, a.member_id.to_string());
    assert_eq!(of_b.assignment, b.member_id.to_string());
    assert_eq!(broker.ask(&leave(&b.member_id), 5).await.members[0].error_code, CODE_NONE);
    broker.stop().await;
}

#[tokio::test]
async fn members_that_come_at_once_are_in_the_first_generation_together() {
    let broker = broker().await;
    let nameless = join(&StrBytes::default());
    let (a, b) = (broker.ask(&nameless, 9).await, broker.ask(&nameless, 9).await);
    let (a, b) = (join(&a.member_id), join(&b.member_id));
    let (a, b) = tokio::join!(broker.ask(&a, 9), broker.ask(&b, 9));
    assert_eq!((a.error_code, b.error_code), (CODE_NONE, CODE_NONE));
    assert_eq!((a.generation_id, b.generation_id), (1, 1));
    assert_eq!(a.members.len() + b.members.len(), 2);
    broker.stop().await;
}

#[tokio::test]
async fn a_join_that_its_client_gave_up_is_answered() {
    let broker = broker().await;
    let a = first(&broker).await;
    broker.ask(&sync(&a), 5).await;
    // Somebody who does not join holds the rebalance up.
    broker.ask(&join(&StrBytes::default()), 9).await;
    let (again, leaves) = (join(&a.member_id), leave(&a.member_id));
    let more = async {
        hears_of_rebalance(&broker, &a).await;
        broker.ask(&leaves, 5).await
    };
    let (given_up, last, _) = tokio::join!(broker.ask(&again, 9), broker.ask(&again, 9), more);
    assert_eq!(given_up.error_code, ErrorCode::RebalanceInProgress.code());
    assert_eq!(last.error_code, ErrorCode::UnknownMemberId.code());
    broker.stop().await;
}

#[tokio::test]
async fn a_member_that_waits_for_its_assignment_hears_that_it_was_removed() {
    let broker = broker().await;
    let a = first(&broker).await;
    let newcomer = join(&StrBytes::default());
    let again = async {
        // With other words it is a rebalance, for both.
        let mut request = join(&a.member_id);
        request.protocols[0].metadata = "says more".into();
        broker.ask(&request, 9).await
    };
    let (b, a) = tokio::join!(broker.ask(&newcomer, 3), again);
    let follower = if a.leader == a.member_id { &b } else { &a };
    let (of_follower, leaves) = (sync(follower), leave(&follower.member_id));
    let (synced, left) = tokio::join!(broker.ask(&of_follower, 4), broker.ask(&leaves, 5));
    assert_eq!(synced.error_code, ErrorCode::UnknownMemberId.code());
    assert_eq!(left.members[0].error_code, CODE_NONE);
    broker.stop().await;
}

#[tokio::test]
async fn what_no_group_needs_to_be_asked_for_is_refused_before_there_is_one() {
    let told = "group.min.session.timeout.ms=100\ngroup.max.session.timeout.ms=200\n";
    let broker = Served::told(told).await;
    for version in 0..=9 {
        for (ms, code) in [
            (99, ErrorCode::InvalidSessionTimeout),
            (100, ErrorCode::CoordinatorNotAvailable),
            (200, ErrorCode::CoordinatorNotAvailable),
            (201, ErrorCode::InvalidSessionTimeout),
        ] {
            let request = join(&text("m")).with_session_timeout_ms(ms);
            let request = if version < 1 { request.with_rebalance_timeout_ms(-1) } else { request };
            let answer = broker.ask(&request, version).await;
            let want = (code.code(), -1, text("m"));
            assert_eq!((answer.error_code, answer.generation_id, answer.member_id), want);
        }
    }
    let nowhere = GroupId::default;
    let code = ErrorCode::InvalidGroupId.code();
    let joined = broker.ask(&join(&text("m")).with_group_id(nowhere()), 9).await;
    let request = HeartbeatRequest::default().with_group_id(nowhere());
    let beat = broker.ask(&request, 4).await;
    let left = broker.ask(&leave(&text("m")).with_group_id(nowhere()), 5).await;
    let request = sync(&JoinGroupResponse::default()).with_group_id(nowhere());
    let synced = broker.ask(&request, 5).await;
    let codes = [joined.error_code, beat.error_code, left.error_code, synced.error_code];
    assert_eq!(codes, [code; 4]);
    let request = request.with_protocol_name(None);
    let answer = broker.ask(&request, 5).await;
    assert_eq!(answer.error_code, ErrorCode::InconsistentGroupProtocol.code());
    broker.stop().await;
}
