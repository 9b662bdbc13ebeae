//! How a record is told in a line.

use super::metadata;
use protocol::coordinator::group::{
    ClassicGroupValue, ClassicMemberValue, ConsumerGroupValue, CurrentValue, GroupRecord,
    MemberTargetValue, MemberValue, OffsetKey, OffsetValue, RegexValue, TargetValue,
    TopicPartitions,
};
use std::sync::Arc;

pub(crate) fn spell(record: &GroupRecord) -> String {
    match record {
        GroupRecord::Classic(group, None) => format!("Classic {group}: gone"),
        GroupRecord::Classic(group, Some(value)) => format!("Classic {group}: {}", classic(value)),
        GroupRecord::Consumer(group, value) => {
            let epoch = |it: &ConsumerGroupValue| format!("epoch {}", it.epoch);
            format!("Consumer {group}: {}", or_gone(value, epoch))
        }
        GroupRecord::Member(group, id, value) => {
            format!("Member {group} {id}: {}", or_gone(value, member))
        }
        GroupRecord::Target(group, value) => {
            let target = |it: &TargetValue| format!("epoch {} at {}", it.epoch, it.timestamp_ms);
            format!("Target {group}: {}", or_gone(value, target))
        }
        GroupRecord::MemberTarget(group, id, value) => {
            let target = |it: &MemberTargetValue| partitions(&it.partitions);
            format!("MemberTarget {group} {id}: {}", or_gone(value, target))
        }
        GroupRecord::Current(group, id, value) => {
            format!("Current {group} {id}: {}", or_gone(value, current))
        }
        GroupRecord::Regex(group, regex, value) => {
            let topics = |it: &RegexValue| format!("{:?}", it.topics);
            format!("Regex {group} {regex}: {}", or_gone(value, topics))
        }
        GroupRecord::Offset(key, value) => {
            format!("Offset {}: {}", offset_key(key), or_gone(value, offset))
        }
        GroupRecord::PartitionMetadata(..) => format!("{record:?}"),
    }
}

fn or_gone<V>(value: &Option<V>, spell: impl Fn(&V) -> String) -> String {
    value.as_ref().map_or_else(|| "gone".to_owned(), spell)
}

fn member(value: &MemberValue) -> String {
    let mut words = vec![format!("topics {:?}", value.subscribed_topics)];
    let mut add = |what: &str, text: &Option<Arc<str>>| {
        let text = text.as_ref().filter(|text| !text.is_empty());
        words.extend(text.map(|text| format!("{what} {text}")));
    };
    add("regex", &value.subscribed_regex);
    add("instance", &value.instance_id);
    add("rack", &value.rack_id);
    add("assignor", &value.server_assignor);
    if let Some(it) = &value.classic {
        let protocols: Vec<_> = it.protocols.iter().map(|(name, _)| name.as_ref()).collect();
        words.push(format!("classic {}, session {}", protocols.join(" "), it.session_timeout_ms));
    }
    words.join(", ")
}

fn current(value: &CurrentValue) -> String {
    let state = match value.state {
        0 => "stable",
        1 => "must revoke",
        2 => "waits",
        _ => "in another state",
    };
    let (epoch, before) = (value.member_epoch, value.previous_member_epoch);
    let assigned = partitions(&value.assigned);
    let revoking = match value.pending_revocation.as_slice() {
        [] => String::new(),
        revoking => format!(", gives up {}", partitions(revoking)),
    };
    format!("{state} in epoch {epoch} after {before}, has {assigned}{revoking}")
}

/// `a[0@3 1@4]`: by topic, each with its epoch where that is said.
fn partitions(topics: &[TopicPartitions]) -> String {
    let topic = |it: &TopicPartitions| {
        let epochs = it.epochs.iter().map(|epoch| format!("@{epoch}"));
        let epochs = epochs.chain(std::iter::repeat(String::new()));
        let numbers = it.partitions.iter().zip(epochs);
        let numbers: Vec<_> = numbers.map(|(number, epoch)| format!("{number}{epoch}")).collect();
        format!("{}[{}]", it.topic_id, numbers.join(" "))
    };
    let topics: Vec<_> = topics.iter().map(topic).collect();
    if topics.is_empty() { "nothing".to_owned() } else { topics.join(" ") }
}

fn classic(value: &ClassicGroupValue) -> String {
    let member = |it: &ClassicMemberValue| {
        let instance = it.group_instance_id.as_ref().map(|id| format!(" as {id}"));
        let (subscription, assignment) =
            (metadata::spell(&it.subscription), metadata::spell_given(&it.assignment));
        format!("{}{} {subscription} {assignment}", it.member_id, instance.unwrap_or_default())
    };
    let members: Vec<_> = value.members.iter().map(member).collect();
    format!(
        "generation {}, {:?} {}, leader {}, since {}, members [{}]",
        value.generation,
        value.protocol_type,
        value.protocol.as_deref().unwrap_or("-"),
        value.leader.as_deref().unwrap_or("-"),
        value.current_state_timestamp_ms,
        members.join("; "),
    )
}

fn offset_key(key: &OffsetKey) -> String {
    format!("{} {}/{}", key.group, key.topic, key.partition)
}

fn offset(value: &OffsetValue) -> String {
    let note = if value.metadata.is_empty() { "" } else { "+" };
    let (offset, epoch, metadata) = (value.offset, value.leader_epoch, &value.metadata);
    let expires = match value.expire_timestamp_ms {
        -1 => String::new(),
        ms => format!(", until {ms}"),
    };
    format!(
        "{offset}@{epoch}{note}{metadata} of {}, at {}{expires}",
        value.topic_id, value.commit_timestamp_ms
    )
}
