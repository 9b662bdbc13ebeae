//! Records of `__consumer_offsets` as JSON, in the names and the order of Kafka's schemas.

use crate::json::{Json, base64, object};
use protocol::coordinator::consumer_protocol::{Assignment, NamedPartitions, Subscription};
use protocol::coordinator::group::{
    ClassicGroupValue, ClassicMemberValue, GroupRecord, MemberValue, OffsetValue, TopicPartitions,
};
use protocol::ids::Uuid;
use std::sync::Arc;

/// A key and what it holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decoded {
    /// Kafka's number of the type of the key.
    pub(crate) kind: i16,
    pub(crate) key: Json,
    /// The version of the value, and the value; None: a tombstone.
    pub(crate) value: Option<(i16, Json)>,
}

/// What could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undecoded {
    /// The number of the type is none of ours.
    UnknownType(i16),
    Malformed(String),
}

/// Whether what members say of themselves is shown as it is, or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Members {
    AsBytes,
    Read,
}

/// Reads a record.
///
/// # Errors
/// The bytes are none of `__consumer_offsets`, or of a kind of group that is not known here.
pub(crate) fn decode(
    key: &[u8],
    value: Option<&[u8]>,
    members: Members,
) -> Result<Decoded, Undecoded> {
    let first = |bytes: &[u8]| bytes.first_chunk().map(|it| i16::from_be_bytes(*it));
    let kind = first(key).ok_or_else(|| Undecoded::Malformed("a key without a type".to_owned()))?;
    let record = GroupRecord::read(key, value).map_err(|why| Undecoded::Malformed(why.0))?;
    let record = record.ok_or(Undecoded::UnknownType(kind))?;
    let version = value.and_then(first).unwrap_or_default();
    let (key, value) = of(&record, version, members);
    Ok(Decoded { kind, key, value: value.map(|value| (version, value)) })
}

fn of(record: &GroupRecord, version: i16, members: Members) -> (Json, Option<Json>) {
    let group = |name: &str, group: &Arc<str>| object([(name, text(group))]);
    let pair = |id: &Arc<str>, name: &str, of_group: &Arc<str>| {
        object([("groupId", text(id)), (name, text(of_group))])
    };
    match record {
        GroupRecord::Offset(key, value) => {
            let key = object([
                ("group", text(&key.group)),
                ("topic", text(&key.topic)),
                ("partition", key.partition.into()),
            ]);
            (key, value.as_ref().map(|value| offset(value, version)))
        }
        GroupRecord::Classic(id, value) => {
            let value = value.as_ref().map(|value| classic(value, version, members));
            (group("group", id), value)
        }
        GroupRecord::Consumer(id, value) => {
            let value = value
                .as_ref()
                .map(|it| tagged(("epoch", it.epoch), ("metadataHash", it.metadata_hash)));
            (group("groupId", id), value)
        }
        GroupRecord::PartitionMetadata(id, value) => {
            let value = value.as_ref().map(|bytes| base64(bytes).as_str().into());
            (group("groupId", id), value)
        }
        GroupRecord::Member(id, member, value) => {
            (pair(id, "memberId", member), value.as_ref().map(of_member))
        }
        GroupRecord::Target(id, value) => {
            let value = value.as_ref().map(|it| {
                tagged(("assignmentEpoch", it.epoch), ("assignmentTimestamp", it.timestamp_ms))
            });
            (group("groupId", id), value)
        }
        GroupRecord::MemberTarget(id, member, value) => {
            let value = value.as_ref();
            let value =
                value.map(|value| object([("topicPartitions", partitions(&value.partitions))]));
            (pair(id, "memberId", member), value)
        }
        GroupRecord::Current(id, member, value) => {
            let value = value.as_ref().map(|value| {
                object([
                    ("memberEpoch", value.member_epoch.into()),
                    ("previousMemberEpoch", value.previous_member_epoch.into()),
                    ("state", i32::from(value.state).into()),
                    ("assignedPartitions", partitions(&value.assigned)),
                    ("partitionsPendingRevocation", partitions(&value.pending_revocation)),
                ])
            });
            (pair(id, "memberId", member), value)
        }
        GroupRecord::Regex(id, regex, value) => {
            let value = value.as_ref().map(|value| {
                object([
                    ("topics", Json::List(value.topics.iter().map(text).collect())),
                    ("version", value.version.into()),
                    ("timestamp", value.timestamp_ms.into()),
                ])
            });
            (pair(id, "regularExpression", regex), value)
        }
    }
}

/// A field, and one that is tagged: left out where it is zero.
fn tagged((name, value): (&str, i32), (tagged, number): (&str, i64)) -> Json {
    let mut fields = vec![(name, value.into())];
    fields.extend((number != 0).then_some((tagged, number.into())));
    list(fields)
}

fn offset(value: &OffsetValue, version: i16) -> Json {
    let mut fields = vec![("offset", value.offset.into())];
    fields.extend((3 <= version).then_some(("leaderEpoch", value.leader_epoch.into())));
    fields.push(("metadata", text(&value.metadata)));
    fields.push(("commitTimestamp", value.commit_timestamp_ms.into()));
    let expires = value.expire_timestamp_ms;
    fields.extend((version == 1).then_some(("expireTimestamp", expires.into())));
    if 4 <= version && value.topic_id != Uuid::default() {
        fields.push(("topicId", id(&value.topic_id)));
    }
    list(fields)
}

fn classic(value: &ClassicGroupValue, version: i16, members: Members) -> Json {
    let reads = members == Members::Read && &*value.protocol_type == "consumer";
    let mut fields = vec![
        ("protocolType", text(&value.protocol_type)),
        ("generation", value.generation.into()),
        ("protocol", value.protocol.as_ref().map(text).into()),
        ("leader", value.leader.as_ref().map(text).into()),
    ];
    let since = value.current_state_timestamp_ms;
    fields.extend((2 <= version).then_some(("currentStateTimestamp", since.into())));
    let members = value.members.iter().map(|it| classic_member(it, version, reads));
    fields.push(("members", Json::List(members.collect())));
    list(fields)
}

fn classic_member(member: &ClassicMemberValue, version: i16, reads: bool) -> Json {
    let mut fields = vec![("memberId", text(&member.member_id))];
    let instance = member.group_instance_id.as_ref().map(text);
    fields.extend((3 <= version).then_some(("groupInstanceId", instance.into())));
    fields.push(("clientId", text(&member.client_id)));
    fields.push(("clientHost", text(&member.client_host)));
    let timeout = member.rebalance_timeout_ms;
    fields.extend((1 <= version).then_some(("rebalanceTimeout", timeout.into())));
    fields.push(("sessionTimeout", member.session_timeout_ms.into()));
    let subscription = Subscription::read(&member.subscription).ok().filter(|_| reads);
    let bytes = || base64(&member.subscription).as_str().into();
    fields.push(("subscription", subscription.map_or_else(bytes, |it| of_subscription(&it))));
    let assignment = Assignment::read(&member.assignment).ok().filter(|_| reads);
    let bytes = || base64(&member.assignment).as_str().into();
    fields.push(("assignment", assignment.map_or_else(bytes, |it| of_assignment(&it))));
    list(fields)
}

fn of_subscription(it: &Subscription) -> Json {
    let mut fields = vec![
        ("topics", Json::List(it.topics.iter().map(text).collect())),
        ("userData", it.user_data.as_ref().map(|bytes| Json::Text(base64(bytes))).into()),
    ];
    fields.extend((1 <= it.version).then(|| ("ownedPartitions", named(&it.owned))));
    fields.extend((2 <= it.version).then(|| ("generationId", it.generation.into())));
    fields.extend((3 <= it.version).then(|| ("rackId", it.rack.as_ref().map(text).into())));
    list(fields)
}

fn of_assignment(it: &Assignment) -> Json {
    object([
        ("assignedPartitions", named(&it.partitions)),
        ("userData", it.user_data.as_ref().map(|bytes| Json::Text(base64(bytes))).into()),
    ])
}

fn named(all: &[NamedPartitions]) -> Json {
    let one = |it: &NamedPartitions| {
        object([("topic", text(&it.topic)), ("partitions", numbers(&it.partitions))])
    };
    Json::List(all.iter().map(one).collect())
}

fn of_member(value: &MemberValue) -> Json {
    let mut fields = vec![
        ("instanceId", value.instance_id.as_ref().map(text).into()),
        ("rackId", value.rack_id.as_ref().map(text).into()),
        ("clientId", text(&value.client_id)),
        ("clientHost", text(&value.client_host)),
        ("subscribedTopicNames", Json::List(value.subscribed_topics.iter().map(text).collect())),
        ("subscribedTopicRegex", value.subscribed_regex.as_ref().map(text).into()),
        ("rebalanceTimeoutMs", value.rebalance_timeout_ms.into()),
        ("serverAssignor", value.server_assignor.as_ref().map(text).into()),
    ];
    if let Some(classic) = &value.classic {
        let protocols = classic.protocols.iter().map(|(name, metadata)| {
            object([("name", text(name)), ("metadata", Json::Text(base64(metadata)))])
        });
        let classic = object([
            ("sessionTimeoutMs", classic.session_timeout_ms.into()),
            ("supportedProtocols", Json::List(protocols.collect())),
        ]);
        fields.push(("classicMemberMetadata", classic));
    }
    list(fields)
}

fn partitions(all: &[TopicPartitions]) -> Json {
    let one = |it: &TopicPartitions| {
        let mut fields =
            vec![("topicId", id(&it.topic_id)), ("partitions", numbers(&it.partitions))];
        if !it.epochs.is_empty() {
            fields.push(("assignmentEpochs", numbers(&it.epochs)));
        }
        list(fields)
    };
    Json::List(all.iter().map(one).collect())
}

fn numbers(all: &[i32]) -> Json {
    Json::List(all.iter().map(|it| (*it).into()).collect())
}

fn id(id: &Uuid) -> Json {
    Json::Text(id.to_string())
}

fn text(text: &Arc<str>) -> Json {
    Json::Text(text.to_string())
}

fn list(fields: Vec<(&str, Json)>) -> Json {
    Json::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::coordinator::group::{ConsumerGroupValue, OffsetKey};

    #[track_caller]
    fn check(record: &GroupRecord, want: &str) {
        let (key, value) = (record.key().unwrap(), record.value().unwrap());
        let decoded = decode(&key, value.as_deref(), Members::Read).unwrap();
        let value = decoded.value.map(|(version, value)| format!("{version} {value}"));
        let got = format!("{} {} {}", decoded.kind, decoded.key, value.unwrap_or_default());
        assert_eq!(got, want);
    }

    #[test]
    fn an_offset_says_what_its_version_has() {
        let key = OffsetKey { group: "g".into(), topic: "t".into(), partition: 3 };
        let mut value = OffsetValue {
            offset: 7,
            leader_epoch: 2,
            metadata: "m".into(),
            commit_timestamp_ms: 9,
            expire_timestamp_ms: -1,
            topic_id: Uuid::default(),
        };
        let front = r#"1 {"group":"g","topic":"t","partition":3} "#;
        let now = r#"4 {"offset":7,"leaderEpoch":2,"metadata":"m","commitTimestamp":9}"#.to_owned();
        check(&GroupRecord::Offset(key.clone(), Some(value.clone())), &(front.to_owned() + &now));
        value.expire_timestamp_ms = 11;
        let old = r#"1 {"offset":7,"metadata":"m","commitTimestamp":9,"expireTimestamp":11}"#;
        check(&GroupRecord::Offset(key.clone(), Some(value)), &(front.to_owned() + old));
        check(&GroupRecord::Offset(key, None), front);
    }

    #[test]
    fn a_classic_member_is_read_where_it_speaks_of_partitions() {
        let owned = NamedPartitions { topic: "t".into(), partitions: vec![0] };
        let subscription = Subscription {
            version: 1,
            topics: vec!["t".into()],
            owned: vec![owned.clone()],
            generation: -1,
            ..Default::default()
        };
        let assignment = Assignment { partitions: vec![owned], ..Default::default() };
        let member = ClassicMemberValue {
            member_id: "m".into(),
            group_instance_id: None,
            client_id: "c".into(),
            client_host: "/h".into(),
            rebalance_timeout_ms: 1,
            session_timeout_ms: 2,
            subscription: subscription.to_bytes(),
            assignment: assignment.to_bytes(),
        };
        let value = ClassicGroupValue {
            protocol_type: "consumer".into(),
            generation: 5,
            protocol: Some("range".into()),
            leader: Some("m".into()),
            current_state_timestamp_ms: 3,
            members: vec![member],
        };
        let want = r#"2 {"group":"g"} 3 {"protocolType":"consumer","generation":5,"protocol":"range","leader":"m","currentStateTimestamp":3,"members":[{"memberId":"m","groupInstanceId":null,"clientId":"c","clientHost":"/h","rebalanceTimeout":1,"sessionTimeout":2,"subscription":{"topics":["t"],"userData":null,"ownedPartitions":[{"topic":"t","partitions":[0]}]},"assignment":{"assignedPartitions":[{"topic":"t","partitions":[0]}],"userData":null}}]}"#;
        check(&GroupRecord::Classic("g".into(), Some(value)), want);
    }

    #[test]
    fn what_is_default_and_tagged_is_left_out() {
        let value = ConsumerGroupValue { epoch: 4, metadata_hash: 0 };
        check(
            &GroupRecord::Consumer("g".into(), Some(value)),
            r#"3 {"groupId":"g"} 0 {"epoch":4}"#,
        );
        let value = ConsumerGroupValue { epoch: 4, metadata_hash: 6 };
        let want = r#"3 {"groupId":"g"} 0 {"epoch":4,"metadataHash":6}"#;
        check(&GroupRecord::Consumer("g".into(), Some(value)), want);
    }

    #[test]
    fn other_records_are_told() {
        let got = decode(&[0, 11, 0, 0], None, Members::Read);
        assert_eq!(got, Err(Undecoded::UnknownType(11)));
        assert!(matches!(decode(&[0], None, Members::Read), Err(Undecoded::Malformed(_))));
        assert!(matches!(decode(&[0, 2, 9], None, Members::Read), Err(Undecoded::Malformed(_))));
    }
}
