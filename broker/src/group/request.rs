//! What handlers ask the machine, and what it replies: the messages themselves.

use crate::coordinator::Refuse;
use protocol::error::ErrorCode;
use protocol::messages::consumer_group_describe_response;
use protocol::messages::describe_groups_response::DescribedGroup;
use protocol::messages::offset_fetch_response::OffsetFetchResponseGroup;
use protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse, DeleteGroupsRequest, DeleteGroupsResponse,
    DescribeGroupsRequest, DescribeGroupsResponse, HeartbeatRequest, HeartbeatResponse,
    JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest, LeaveGroupResponse, ListGroupsRequest,
    ListGroupsResponse, OffsetCommitRequest, OffsetCommitResponse, OffsetDeleteRequest,
    OffsetDeleteResponse, OffsetFetchRequest, OffsetFetchResponse, SyncGroupRequest,
    SyncGroupResponse,
};
use std::sync::Arc;

/// Of a group's name, in bytes: its records can hold no longer one.
pub const GROUP_ID_LEN_MAX: usize = 32_767;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    pub id: Arc<str>,
    /// As Kafka writes it: `/127.0.0.1`.
    pub host: Arc<str>,
    /// Of the request.
    pub version: i16,
}

macro_rules! messages {
    ($( $name:ident: $request:ident => $response:ident; )*) => {
        /// A client's request, or the part of it that belongs to one shard.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Request { $( $name(Client, $request), )* }

        #[derive(Clone, Debug, PartialEq)]
        pub enum Reply { $( $name($response), )* }

        $( impl From<$response> for Reply {
            fn from(response: $response) -> Reply {
                Reply::$name(response)
            }
        }

        impl From<(Client, $request)> for Request {
            fn from((client, request): (Client, $request)) -> Request {
                Request::$name(client, request)
            }
        }

        /// A reply to another request is given back.
        impl TryFrom<Reply> for $response {
            type Error = Box<Reply>;

            fn try_from(reply: Reply) -> Result<$response, Box<Reply>> {
                match reply {
                    Reply::$name(response) => Ok(response),
                    other => Err(Box::new(other)),
                }
            }
        } )*
    };
}

messages! {
    OffsetCommit: OffsetCommitRequest => OffsetCommitResponse;
    OffsetFetch: OffsetFetchRequest => OffsetFetchResponse;
    Join: JoinGroupRequest => JoinGroupResponse;
    Heartbeat: HeartbeatRequest => HeartbeatResponse;
    Leave: LeaveGroupRequest => LeaveGroupResponse;
    Sync: SyncGroupRequest => SyncGroupResponse;
    Describe: DescribeGroupsRequest => DescribeGroupsResponse;
    List: ListGroupsRequest => ListGroupsResponse;
    Delete: DeleteGroupsRequest => DeleteGroupsResponse;
    OffsetDelete: OffsetDeleteRequest => OffsetDeleteResponse;
    ConsumerHeartbeat: ConsumerGroupHeartbeatRequest => ConsumerGroupHeartbeatResponse;
    ConsumerDescribe: ConsumerGroupDescribeRequest => ConsumerGroupDescribeResponse;
}

impl Refuse for Reply {
    fn refuse(self, code: ErrorCode) -> Reply {
        let code = code.code();
        match self {
            Reply::OffsetCommit(mut it) => {
                let partitions = it.topics.iter_mut().flat_map(|topic| &mut topic.partitions);
                partitions.for_each(|it| it.error_code = code);
                it.into()
            }
            Reply::OffsetFetch(mut it) => {
                let refused = |group: OffsetFetchResponseGroup| {
                    let said = OffsetFetchResponseGroup::default().with_group_id(group.group_id);
                    said.with_error_code(code)
                };
                it.groups = it.groups.into_iter().map(refused).collect();
                it.into()
            }
            Reply::Join(it) => JoinGroupResponse::default()
                .with_error_code(code)
                .with_generation_id(-1)
                .with_protocol_name(None)
                .with_member_id(it.member_id)
                .into(),
            Reply::Heartbeat(it) => it.with_error_code(code).into(),
            Reply::Leave(_) => LeaveGroupResponse::default().with_error_code(code).into(),
            Reply::Sync(_) => SyncGroupResponse::default().with_error_code(code).into(),
            Reply::Describe(mut it) => {
                let refused = |group: DescribedGroup| {
                    let said = DescribedGroup::default().with_group_id(group.group_id);
                    said.with_error_code(code)
                };
                it.groups = it.groups.into_iter().map(refused).collect();
                it.into()
            }
            Reply::List(_) => ListGroupsResponse::default().with_error_code(code).into(),
            Reply::Delete(mut it) => {
                it.results.iter_mut().for_each(|result| result.error_code = code);
                it.into()
            }
            Reply::OffsetDelete(_) => OffsetDeleteResponse::default().with_error_code(code).into(),
            Reply::ConsumerHeartbeat(_) => {
                ConsumerGroupHeartbeatResponse::default().with_error_code(code).into()
            }
            Reply::ConsumerDescribe(mut it) => {
                let refused = |group: consumer_group_describe_response::DescribedGroup| {
                    consumer_group_describe_response::DescribedGroup::default()
                        .with_group_id(group.group_id)
                        .with_error_code(code)
                };
                it.groups = it.groups.into_iter().map(refused).collect();
                it.into()
            }
        }
    }
}
