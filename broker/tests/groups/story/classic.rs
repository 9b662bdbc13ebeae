//! The classic members' requests in a story.
//!
//! `a join g protocols=range:x,roundrobin topics=t,u type=consumer session=10000 rebalance=60000
//! instance=i reason=..`: what it says of itself under a protocol stands behind the colon, or else
//! is a subscription to the topics, of somebody who `owns=t0,t1`. `a sync g give=a1:x,b1:+t0+t1
//! type= protocol=`, a plus for a consumer's assignment, `a heartbeat g`,
//! `a leave g`, and `a leave g members=a1,b1/i,/j`: ids, and instances behind the slash.

use super::{Ask, Caller, Make, metadata};
use broker::group::{Reply, Request};
use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::join_group_response::JoinGroupResponseMember;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::leave_group_response::MemberResponse;
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::{
    GroupId, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest, StrBytes,
    SyncGroupRequest,
};

/// Since then a member is named by its identity.
const IDENTITIES_SINCE: i16 = 3;

fn text(text: impl Into<String>) -> StrBytes {
    StrBytes::from_string(text.into())
}

pub(crate) fn request(ask: &Ask<'_>) -> Option<(i16, Make)> {
    let make: (i16, Make) = match ask.words.plain(1) {
        "join" => {
            let it = join(ask);
            (9, Box::new(|client| Request::Join(client.clone(), it)))
        }
        "sync" => {
            let it = sync(ask);
            (5, Box::new(|client| Request::Sync(client.clone(), it)))
        }
        "heartbeat" => {
            let it = heartbeat(ask);
            (4, Box::new(|client| Request::Heartbeat(client.clone(), it)))
        }
        "leave" => {
            let it = leave(ask);
            (5, Box::new(|client| Request::Leave(client.clone(), it)))
        }
        _ => return None,
    };
    Some(make)
}

fn group(ask: &Ask<'_>) -> GroupId {
    GroupId(text(ask.words.plain(2)))
}

fn instance(ask: &Ask<'_>) -> Option<StrBytes> {
    ask.words.get("instance").map(text)
}

fn join(ask: &Ask<'_>) -> JoinGroupRequest {
    let words = &ask.words;
    let protocol = |protocol: &str| {
        let (name, says) = protocol.split_once(':').unwrap_or((protocol, ""));
        let says = match words.get("topics") {
            Some(_) => metadata::subscription(&words.list("topics"), &words.list("owns")),
            None => Bytes::copy_from_slice(says.as_bytes()),
        };
        JoinGroupRequestProtocol::default().with_name(text(name)).with_metadata(says)
    };
    let protocols = words.list("protocols");
    let protocols = if protocols.is_empty() { vec!["range"] } else { protocols };
    JoinGroupRequest::default()
        .with_group_id(group(ask))
        .with_session_timeout_ms(words.number_or("session", 10_000))
        .with_rebalance_timeout_ms(words.number_or("rebalance", 60_000))
        .with_member_id(text(ask.member()))
        .with_group_instance_id(instance(ask))
        .with_protocol_type(text(words.get("type").unwrap_or("consumer")))
        .with_protocols(protocols.into_iter().map(protocol).collect())
        .with_reason(words.get("reason").map(text))
}

fn sync(ask: &Ask<'_>) -> SyncGroupRequest {
    let assignment = |pair: &str| {
        let (member, assignment) = pair.split_once(':').unwrap();
        SyncGroupRequestAssignment::default()
            .with_member_id(text(ask.names.full(member)))
            .with_assignment(metadata::assignment(assignment))
    };
    SyncGroupRequest::default()
        .with_group_id(group(ask))
        .with_generation_id(ask.generation())
        .with_member_id(text(ask.member()))
        .with_group_instance_id(instance(ask))
        .with_protocol_type(ask.words.get("type").map(text))
        .with_protocol_name(ask.words.get("protocol").map(text))
        .with_assignments(ask.words.list("give").into_iter().map(assignment).collect())
}

fn heartbeat(ask: &Ask<'_>) -> HeartbeatRequest {
    HeartbeatRequest::default()
        .with_group_id(group(ask))
        .with_generation_id(ask.generation())
        .with_member_id(text(ask.member()))
        .with_group_instance_id(instance(ask))
}

fn leave(ask: &Ask<'_>) -> LeaveGroupRequest {
    let leave = LeaveGroupRequest::default().with_group_id(group(ask));
    if ask.words.number_or("version", IDENTITIES_SINCE) < IDENTITIES_SINCE {
        return leave.with_member_id(text(ask.member()));
    }
    let identity = |pair: &str| {
        let (member, instance) = pair.split_once('/').unwrap_or((pair, ""));
        MemberIdentity::default()
            .with_member_id(text(ask.names.full(member)))
            .with_group_instance_id((!instance.is_empty()).then(|| text(instance)))
    };
    let own = || MemberIdentity::default().with_member_id(text(ask.member()));
    let named: Vec<_> = ask.words.list("members").into_iter().map(identity).collect();
    leave.with_members(if named.is_empty() { vec![own()] } else { named })
}

pub(crate) fn learn(reply: &Reply, caller: &mut Caller) {
    if let Reply::Join(it) = reply {
        caller.member = it.member_id.to_string();
        if it.error_code == ErrorCode::None.code() {
            caller.generation = it.generation_id;
        }
    }
}

fn code(code: i16) -> &'static str {
    ErrorCode::from_code(code).unwrap().name()
}

pub(crate) fn spell(reply: &Reply) -> Option<String> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are told elsewhere")]
    Some(match reply {
        Reply::Join(it) => format!("JoinGroup {}", joined(it)),
        Reply::Sync(it) => {
            let assigned = metadata::spell_given(&it.assignment);
            let (kind, name) = (spell_option(&it.protocol_type), spell_option(&it.protocol_name));
            format!("SyncGroup {} {assigned}, {kind} {name}", code(it.error_code))
        }
        Reply::Heartbeat(it) => format!("Heartbeat {}", code(it.error_code)),
        Reply::Leave(it) => {
            let member = |it: &MemberResponse| {
                let as_instance =
                    it.group_instance_id.as_ref().map(|id| format!(" as {}", id.as_str()));
                let as_instance = as_instance.unwrap_or_default();
                format!("; {}{as_instance} {}", it.member_id.as_str(), code(it.error_code))
            };
            let members: String = it.members.iter().map(member).collect();
            format!("LeaveGroup {}{members}", code(it.error_code))
        }
        _ => return None,
    })
}

fn spell_option(text: &Option<StrBytes>) -> &str {
    text.as_ref().map_or("-", |text| text.as_str())
}

fn joined(it: &JoinGroupResponse) -> String {
    let member = |it: &JoinGroupResponseMember| {
        let instance = it.group_instance_id.as_ref().map(|id| format!(" as {}", id.as_str()));
        let says = metadata::spell(&it.metadata);
        format!("{}{} {says}", it.member_id.as_str(), instance.unwrap_or_default())
    };
    let members: Vec<_> = it.members.iter().map(member).collect();
    let members =
        if members.is_empty() { String::new() } else { format!(", of [{}]", members.join("; ")) };
    let skip = if it.skip_assignment { ", skip" } else { "" };
    format!(
        "{} generation {}, {} {}, leader {}, member {}{members}{skip}",
        code(it.error_code),
        it.generation_id,
        spell_option(&it.protocol_type),
        spell_option(&it.protocol_name),
        it.leader.as_str(),
        it.member_id.as_str(),
    )
}
