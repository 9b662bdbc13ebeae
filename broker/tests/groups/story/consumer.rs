//! The requests of consumer groups' members in a story.
//!
//! `a enter g topics=t,u regex=t.* assignor=range rebalance=60000 instance=i rack=r`: joins, under
//! `member=`, its last id, or one that it makes up. `a beat g owns=t0,t1 topics=..`: goes
//! on, saying what it owns (`owns=none`: nothing). `a quit g` leaves, `a pause g` leaves for a while,
//! `a inspect g,h` describes groups. `epoch=` says another epoch than the last reply's.

use super::{Ask, Caller, Make};
use broker::group::{Reply, Request};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::consumer_group_describe_response::{
    Assignment as Described, DescribedGroup, Member,
};
use protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
    GroupId, StrBytes, TopicName,
};
use std::collections::BTreeMap;

/// The version that is meant unless the line says another.
const VERSION: i16 = 1;

fn text(text: impl Into<String>) -> StrBytes {
    StrBytes::from_string(text.into())
}

pub(crate) fn request(ask: &Ask<'_>) -> Option<(i16, Make)> {
    let epoch = match ask.words.plain(1) {
        "enter" => 0,
        "beat" => ask.caller.generation,
        "quit" => -1,
        "pause" => -2,
        "inspect" => {
            let ids = ask.words.plain(2).split(',').map(|id| GroupId(text(id))).collect();
            let it = ConsumerGroupDescribeRequest::default().with_group_ids(ids);
            let make: Make = Box::new(|client| Request::ConsumerDescribe(client.clone(), it));
            return Some((VERSION, make));
        }
        _ => return None,
    };
    let it = heartbeat(ask, epoch);
    Some((VERSION, Box::new(|client| Request::ConsumerHeartbeat(client.clone(), it))))
}

fn heartbeat(ask: &Ask<'_>, epoch: i32) -> ConsumerGroupHeartbeatRequest {
    let words = &ask.words;
    let option = |key: &str| words.get(key).map(text);
    let topics = words.get("topics").map(|_| words.list("topics"));
    let topics = topics.or_else(|| (epoch == 0 && words.get("regex").is_none()).then(Vec::new));
    let topic = |name: &str| TopicName(text(name));
    let rebalance = if epoch == 0 { 60_000 } else { -1 };
    // A text that no other word has in it, because ids are told by their short names.
    let made_up = || format!("id-of-{}", words.plain(0));
    let own = || if ask.member().is_empty() { made_up() } else { ask.member() };
    let id = if words.number_or("version", VERSION) == 0 { ask.member() } else { own() };
    ConsumerGroupHeartbeatRequest::default()
        .with_group_id(GroupId(text(words.plain(2))))
        .with_member_id(text(id))
        .with_member_epoch(words.number_or("epoch", epoch))
        .with_instance_id(option("instance"))
        .with_rack_id(option("rack"))
        .with_rebalance_timeout_ms(words.number_or("rebalance", rebalance))
        .with_subscribed_topic_names(topics.map(|names| names.into_iter().map(topic).collect()))
        .with_subscribed_topic_regex(option("regex"))
        .with_server_assignor(option("assignor"))
        .with_topic_partitions(owned(ask, epoch))
}

fn owned(ask: &Ask<'_>, epoch: i32) -> Option<Vec<TopicPartitions>> {
    if ask.words.get("owns").is_none() {
        return (epoch == 0).then(Vec::new);
    }
    let mut topics: BTreeMap<String, Vec<i32>> = BTreeMap::new();
    for word in ask.words.list("owns").into_iter().filter(|it| *it != "none") {
        let name = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let number = word.trim_start_matches(name).parse().unwrap();
        topics.entry(ask.names.full(name)).or_default().push(number);
    }
    let topics = topics.into_iter().map(|(id, partitions)| {
        let id: Uuid = id.parse().unwrap();
        TopicPartitions::default().with_topic_id(id.into()).with_partitions(partitions)
    });
    Some(topics.collect())
}

pub(crate) fn learn(reply: &Reply, caller: &mut Caller) {
    if let Reply::ConsumerHeartbeat(it) = reply
        && it.error_code == ErrorCode::None.code()
    {
        caller.member = it.member_id.as_ref().map(|id| id.to_string()).unwrap_or_default();
        caller.generation = it.member_epoch;
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other kinds are told by their own files")]
pub(crate) fn spell(reply: &Reply) -> Option<String> {
    match reply {
        Reply::ConsumerHeartbeat(it) => Some(format!("ConsumerGroupHeartbeat {}", heard(it))),
        Reply::ConsumerDescribe(it) => {
            let groups: Vec<_> = it.groups.iter().map(described).collect();
            Some(format!("ConsumerGroupDescribe\n{}", groups.join("\n")))
        }
        _ => None,
    }
}

fn code(code: i16) -> &'static str {
    ErrorCode::from_code(code).unwrap().name()
}

fn heard(it: &ConsumerGroupHeartbeatResponse) -> String {
    if it.error_code != ErrorCode::None.code() {
        return code(it.error_code).to_owned();
    }
    let member = it.member_id.as_ref().map_or("-", |id| id.as_str());
    let assigned = it.assignment.as_ref().map_or_else(String::new, |assignment| {
        let topics = assignment.topic_partitions.iter();
        let topics = topics.map(|it| (Uuid::from(it.topic_id).to_string(), &it.partitions));
        format!(", assigned {}", spelled(topics))
    });
    format!(
        "{member} in epoch {}, again in {} ms{assigned}",
        it.member_epoch, it.heartbeat_interval_ms
    )
}

/// `a[0 1] b[2]`, or `nothing`.
fn spelled<'a>(topics: impl Iterator<Item = (String, &'a Vec<i32>)>) -> String {
    let topic = |(name, partitions): (String, &Vec<i32>)| {
        let numbers: Vec<_> = partitions.iter().map(i32::to_string).collect();
        format!("{name}[{}]", numbers.join(" "))
    };
    let topics: Vec<_> = topics.map(topic).collect();
    if topics.is_empty() { "nothing".to_owned() } else { topics.join(" ") }
}

fn described(it: &DescribedGroup) -> String {
    if it.error_code != ErrorCode::None.code() {
        return format!("  {} {}", it.group_id.as_str(), code(it.error_code));
    }
    let head = format!(
        "  {} {}, epoch {}, assignment of {}, {}",
        it.group_id.as_str(),
        it.group_state.as_str(),
        it.group_epoch,
        it.assignment_epoch,
        it.assignor_name.as_str(),
    );
    std::iter::once(head).chain(it.members.iter().map(member)).collect::<Vec<_>>().join("\n")
}

fn member(it: &Member) -> String {
    let held = |it: &Described| {
        let topics = it.topic_partitions.iter();
        spelled(topics.map(|it| (it.topic_name.to_string(), &it.partitions)))
    };
    let kind = if it.member_type == 0 { "classic, " } else { "" };
    format!(
        "    {} {kind}in epoch {}: has {}, should have {}",
        it.member_id.as_str(),
        it.member_epoch,
        held(&it.assignment),
        held(&it.target_assignment),
    )
}
