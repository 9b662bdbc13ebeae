//! One classic member on the wire: its connection, what it asks, and what it was told last.

use super::Side;
use bytes::Bytes;
use compat_tests::wire::Connection;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::{
    GroupId, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, Request, StrBytes,
    SyncGroupRequest,
};

/// A subscription to the topic `t`, and an assignment of nothing.
const SUBSCRIPTION: &[u8] = b"\0\0\0\0\0\x01\0\x01t\xff\xff\xff\xff";
const ASSIGNMENT: &[u8] = b"\0\0\0\0\0\0\xff\xff\xff\xff";

pub(super) fn text(text: impl Into<String>) -> StrBytes {
    StrBytes::from_string(text.into())
}

/// The versions of the APIs that a client of some age speaks: `level` is its JoinGroup.
pub(super) struct Member {
    pub(super) connection: Connection,
    level: i16,
    group: GroupId,
    pub(super) id: StrBytes,
    pub(super) generation: i32,
    pub(super) instance: Option<StrBytes>,
    pub(super) protocols: &'static [&'static str],
    /// What it says of itself under each.
    pub(super) metadata: &'static [u8],
}

impl Member {
    pub(super) fn new(side: &Side, level: i16, group: &str, instance: Option<&str>) -> Member {
        Member {
            connection: Connection::open(side.port).unwrap(),
            level,
            group: GroupId(text(group)),
            id: StrBytes::default(),
            generation: -1,
            instance: instance.map(text),
            protocols: &["range", "roundrobin"],
            metadata: SUBSCRIPTION,
        }
    }

    pub(super) fn join(&self) -> JoinGroupRequest {
        let protocol = |name: &&str| {
            JoinGroupRequestProtocol::default()
                .with_name(text(*name))
                .with_metadata(Bytes::from_static(self.metadata))
        };
        let request = JoinGroupRequest::default()
            .with_group_id(self.group.clone())
            .with_session_timeout_ms(30_000)
            .with_member_id(self.id.clone())
            .with_group_instance_id(self.instance.clone())
            .with_protocol_type(text("consumer"))
            .with_protocols(self.protocols.iter().map(protocol).collect());
        let rebalance = if self.level < 1 { -1 } else { 60_000 };
        let reason = (8 <= self.level).then(|| text("why"));
        request.with_rebalance_timeout_ms(rebalance).with_reason(reason)
    }

    pub(super) fn heartbeat(&self) -> HeartbeatRequest {
        HeartbeatRequest::default()
            .with_group_id(self.group.clone())
            .with_generation_id(self.generation)
            .with_member_id(self.id.clone())
            .with_group_instance_id(self.instance.clone())
    }

    /// With an assignment of nothing for each of those.
    pub(super) fn sync(&self, ids: &[&StrBytes]) -> SyncGroupRequest {
        let assignment = |id: &&StrBytes| {
            SyncGroupRequestAssignment::default()
                .with_member_id((*id).clone())
                .with_assignment(Bytes::from_static(ASSIGNMENT))
        };
        let says_protocol = 5 <= self.level;
        SyncGroupRequest::default()
            .with_group_id(self.group.clone())
            .with_generation_id(self.generation)
            .with_member_id(self.id.clone())
            .with_group_instance_id(self.instance.clone())
            .with_protocol_type(says_protocol.then(|| text("consumer")))
            .with_protocol_name(says_protocol.then(|| text(self.protocols[0])))
            .with_assignments(ids.iter().map(assignment).collect())
    }

    /// Sends, and does not wait. `newest` is the newest version of the API.
    pub(super) fn send<Q: Request>(&mut self, request: &Q, newest: i16) {
        let frame = request.frame(self.level.min(newest), 1, "compat").unwrap();
        self.connection.send(&frame).unwrap();
    }

    pub(super) fn receive<Q: Request>(&mut self, newest: i16) -> Q::Response {
        let frame = self.connection.receive().unwrap();
        Q::read_response(self.level.min(newest), frame).unwrap().1
    }

    pub(super) fn learn(&mut self, answer: &JoinGroupResponse) {
        self.id = answer.member_id.clone();
        if answer.error_code == 0 {
            self.generation = answer.generation_id;
        }
    }
}
