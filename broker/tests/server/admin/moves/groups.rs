//! Groups that come and go.

use super::{answer, text};
use crate::admin::pages::commit;
use crate::admin::watch::Move::{self, By, Gone, To};
use crate::admin::watch::Watch;
use crate::world::{Client, World};
use protocol::error::ErrorCode;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::{
    DeleteGroupsRequest, GroupId, JoinGroupRequest, LeaveGroupRequest, Request, StrBytes,
    SyncGroupRequest,
};

fn join(member: &StrBytes) -> JoinGroupRequest {
    let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
    JoinGroupRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_session_timeout_ms(30_000)
        .with_rebalance_timeout_ms(60_000)
        .with_member_id(member.clone())
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol])
}

/// A member's id; since version 4 it is given before it joins.
async fn member(client: &mut Client) -> StrBytes {
    let named = client.ask(&join(&StrBytes::default()), 9).await;
    assert_eq!(named.error_code, ErrorCode::MemberIdRequired.code());
    named.member_id
}

async fn sync(client: &mut Client, member: &StrBytes, generation: i32) {
    let all = SyncGroupRequestAssignment::default().with_member_id(member.clone());
    let request = SyncGroupRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_generation_id(generation)
        .with_member_id(member.clone())
        .with_assignments(vec![all]);
    assert_eq!(client.ask(&request, 3).await.error_code, 0);
}

async fn leave(client: &mut Client, member: &StrBytes) {
    let member = MemberIdentity::default().with_member_id(member.clone());
    let request =
        LeaveGroupRequest::default().with_group_id(GroupId(text("g"))).with_members(vec![member]);
    assert_eq!(client.ask(&request, 3).await.error_code, 0);
}

/// A group without members that commits, and one of two members.
pub(super) async fn groups(world: &World, watch: &mut Watch<'_>, client: &mut Client) {
    commit(client, "readers", 1).await;
    watch.saw("a commit", COMMITTED).await;
    let delete = DeleteGroupsRequest::default().with_groups_names(vec![GroupId(text("readers"))]);
    assert_eq!(client.ask(&delete, 2).await.results[0].error_code, 0);
    let moves = [
        ("kafka_coordinator_group_groupmetadatamanager_numgroups", By(-1.0)),
        ("kafka_coordinator_group_groupmetadatamanager_numoffsets", By(-1.0)),
        ("kafka_consumergroup_lag{consumergroup=\"readers\",topic=\"t\",partition=\"0\"}", Gone),
    ];
    watch.saw("a group that is deleted", &moves).await;

    let in_state =
        |state: &str| format!("kafka_coordinator_group_groupmetadatamanager_numgroups{state}");
    let members = "kafka_consumergroup_members{consumergroup=\"g\"}";
    let first = member(client).await;
    let joined = client.ask(&join(&first), 9).await;
    assert_eq!(joined.error_code, 0);
    let completing = in_state("completingrebalance");
    watch.saw("a member", &[(&completing, To(1.0)), (members, To(1.0))]).await;
    sync(client, &first, joined.generation_id).await;
    let stable = in_state("stable");
    watch.saw("its assignment", &[(&completing, To(0.0)), (&stable, To(1.0))]).await;

    let mut other = world.connect().await;
    let second = member(&mut other).await;
    other.send(&join(&second).frame(9, 7, "test").unwrap()).await;
    let preparing = in_state("preparingrebalance");
    let moves = [(&*preparing, To(1.0)), (&stable, To(0.0)), (members, To(2.0))];
    watch.sees("another member", &moves).await;
    leave(client, &first).await;
    let joined = answer::<JoinGroupRequest>(&mut other, 9).await;
    assert_eq!(joined.error_code, 0);
    leave(&mut other, &second).await;
    let moves = [(&*in_state("empty"), To(1.0)), (&preparing, To(0.0)), (members, To(0.0))];
    watch.saw("the last member's going", &moves).await;
}

const COMMITTED: &[(&str, Move)] = &[
    ("kafka_coordinator_group_groupmetadatamanager_numgroups", By(1.0)),
    ("kafka_coordinator_group_groupmetadatamanager_numgroupsempty", By(1.0)),
    ("kafka_coordinator_group_groupmetadatamanager_numoffsets", By(1.0)),
    (
        "kafka_consumergroup_current_offset{consumergroup=\"readers\",topic=\"t\",partition=\"0\"}",
        To(1.0),
    ),
    ("kafka_consumergroup_current_offset_sum{consumergroup=\"readers\",topic=\"t\"}", To(1.0)),
    ("kafka_consumergroup_lag{consumergroup=\"readers\",topic=\"t\",partition=\"0\"}", To(1.0)),
    ("kafka_consumergroup_lag_sum{consumergroup=\"readers\",topic=\"t\"}", To(1.0)),
    ("kafka_consumergroup_members{consumergroup=\"readers\"}", To(0.0)),
];
