//! Records against what Apache Kafka writes, and against bytes that nobody should have written.

use super::super::group::*;
use super::*;
use crate::ids::Uuid;
use proptest::option;
use proptest::prelude::*;
use proptest::strategy::Union;

const GOLDEN: &str = include_str!("golden/groups.txt");

fn from_hex(hex: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2).unwrap(), 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

struct Golden {
    name: &'static str,
    version: i16,
    key: Vec<u8>,
    value: Option<Vec<u8>>,
}

impl Golden {
    fn read(&self) -> Option<GroupRecord> {
        let value = self.value.as_deref();
        GroupRecord::read(&self.key, value).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

fn golden() -> impl Iterator<Item = Golden> {
    GOLDEN.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let value = (words[3] != "-").then(|| from_hex(words[3]));
        let version = words[1].parse().unwrap();
        Golden { name: words[0], version, key: from_hex(words[2]), value }
    })
}

const ID: Uuid = Uuid::from_bytes([
    0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
]);
const SOME_TIME_MS: i64 = 1_700_000_000_000;

fn offset(value: Option<OffsetValue>) -> GroupRecord {
    let key = OffsetKey { group: "my-group".into(), topic: "topic".into(), partition: 7 };
    GroupRecord::Offset(key, value)
}

fn offset_of(version: i16) -> GroupRecord {
    offset(Some(OffsetValue {
        offset: 1 << 40,
        leader_epoch: if version < 3 { -1 } else { 5 },
        metadata: "café".into(),
        commit_timestamp_ms: SOME_TIME_MS,
        expire_timestamp_ms: if version == 1 { SOME_TIME_MS + 9999 } else { -1 },
        topic_id: if version < 4 { Uuid::ZERO } else { ID },
    }))
}

fn classic_of(version: i16) -> GroupRecord {
    let member = |id: &str, instance: Option<&str>, bytes: [&'static [u8]; 2]| ClassicMemberValue {
        member_id: id.into(),
        group_instance_id: instance.filter(|_| 3 <= version).map(Arc::from),
        client_id: "c".into(),
        client_host: "/127.0.0.1".into(),
        rebalance_timeout_ms: if version < 1 { -1 } else { 300_000 },
        session_timeout_ms: 45_000,
        subscription: Bytes::from_static(bytes[0]),
        assignment: Bytes::from_static(bytes[1]),
    };
    let value = ClassicGroupValue {
        protocol_type: "consumer".into(),
        generation: 3,
        protocol: Some("range".into()),
        leader: Some("m1".into()),
        current_state_timestamp_ms: if version < 2 { -1 } else { SOME_TIME_MS },
        members: vec![member("m1", Some("i1"), [&[1, 2], &[3]]), member("m2", None, [b"", b""])],
    };
    GroupRecord::Classic("my-group".into(), Some(value))
}

fn member() -> GroupRecord {
    let value = MemberValue {
        instance_id: Some("i1".into()),
        rack_id: Some("r1".into()),
        client_id: "c".into(),
        client_host: "/127.0.0.1".into(),
        subscribed_topics: vec!["bar".into(), "foo".into()],
        subscribed_regex: Some("f.*".into()),
        rebalance_timeout_ms: 1000,
        server_assignor: Some("range".into()),
        classic: Some(ClassicMemberMetadata {
            session_timeout_ms: 45_000,
            protocols: vec![("range".into(), Bytes::from_static(&[1, 2, 3]))],
        }),
    };
    GroupRecord::Member("my-group".into(), "m1".into(), Some(value))
}

fn plain_member() -> GroupRecord {
    let value = MemberValue {
        instance_id: None,
        rack_id: None,
        client_id: "c".into(),
        client_host: "/127.0.0.1".into(),
        subscribed_topics: vec!["foo".into()],
        subscribed_regex: None,
        rebalance_timeout_ms: -1,
        server_assignor: None,
        classic: None,
    };
    GroupRecord::Member("my-group".into(), "m1".into(), Some(value))
}

fn current() -> GroupRecord {
    let some = |partitions: &[i32], epochs: &[i32]| {
        let (partitions, epochs) = (partitions.to_vec(), epochs.to_vec());
        vec![TopicPartitions { topic_id: ID, partitions, epochs }]
    };
    let value = CurrentValue {
        member_epoch: 4,
        previous_member_epoch: 3,
        state: 1,
        assigned: some(&[0, 1], &[3, 4]),
        pending_revocation: some(&[2], &[]),
    };
    GroupRecord::Current("my-group".into(), "m1".into(), Some(value))
}

/// What the golden case of that name says.
#[expect(clippy::too_many_lines, reason = "a table, and read as one")]
fn expected(name: &str, version: i16) -> Option<GroupRecord> {
    let (group, member_id) = (Arc::<str>::from("my-group"), Arc::<str>::from("m1"));
    let consumer = |metadata_hash| Some(ConsumerGroupValue { epoch: 9, metadata_hash });
    let target = |timestamp_ms| Some(TargetValue { epoch: 4, timestamp_ms });
    let member_target = |partitions| Some(MemberTargetValue { partitions });
    let partitions = TopicPartitions { topic_id: ID, partitions: vec![0, 1, 300], epochs: vec![] };
    let nothing = OffsetValue {
        offset: 0,
        leader_epoch: -1,
        metadata: "".into(),
        commit_timestamp_ms: 0,
        expire_timestamp_ms: -1,
        topic_id: Uuid::ZERO,
    };
    Some(match name {
        "offset" => offset_of(version),
        "offset-default" => offset(Some(nothing)),
        "offset-tombstone" => offset(None),
        "offset-legacy" => {
            offset(Some(OffsetValue { offset: 3, commit_timestamp_ms: 9, ..nothing }))
        }
        "classic" => classic_of(version),
        "classic-empty" => {
            let value = ClassicGroupValue {
                protocol_type: "".into(),
                generation: 0,
                protocol: None,
                leader: None,
                current_state_timestamp_ms: 12,
                members: vec![],
            };
            GroupRecord::Classic(group, Some(value))
        }
        "classic-tombstone" => GroupRecord::Classic(group, None),
        "consumer" => GroupRecord::Consumer(group, consumer(-7)),
        "consumer-default" => GroupRecord::Consumer(group, consumer(0)),
        "consumer-tombstone" => GroupRecord::Consumer(group, None),
        "partition-metadata" => {
            let opaque = "0000020123456789abcdef112233445566778806746f70696300000003010000";
            GroupRecord::PartitionMetadata(group, Some(from_hex(opaque).into()))
        }
        "partition-metadata-tombstone" => GroupRecord::PartitionMetadata(group, None),
        "member" => member(),
        "member-plain" => plain_member(),
        "member-tombstone" => GroupRecord::Member(group, member_id, None),
        "target" => GroupRecord::Target(group, target(SOME_TIME_MS)),
        "target-default" => GroupRecord::Target(group, target(0)),
        "target-tombstone" => GroupRecord::Target(group, None),
        "member-target" => {
            GroupRecord::MemberTarget(group, member_id, member_target(vec![partitions]))
        }
        "member-target-none" => GroupRecord::MemberTarget(group, member_id, member_target(vec![])),
        "member-target-tombstone" => GroupRecord::MemberTarget(group, member_id, None),
        "current" => current(),
        "current-none" => {
            let value = CurrentValue {
                member_epoch: 0,
                previous_member_epoch: 0,
                state: 0,
                assigned: vec![],
                pending_revocation: vec![],
            };
            GroupRecord::Current(group, member_id, Some(value))
        }
        "current-tombstone" => GroupRecord::Current(group, member_id, None),
        "regex" => {
            let topics = vec!["bar".into(), "foo".into()];
            let value = RegexValue { topics, version: 17, timestamp_ms: SOME_TIME_MS };
            GroupRecord::Regex(group, "f.*".into(), Some(value))
        }
        "regex-tombstone" => GroupRecord::Regex(group, "f.*".into(), None),
        "share" | "streams-tombstone" => return None,
        other => panic!("no expectation for {other}"),
    })
}

#[test]
fn every_record_of_kafka_is_read_as_it_was_meant() {
    for it in golden() {
        assert_eq!(it.read(), expected(it.name, it.version), "{} {}", it.name, it.version);
    }
}

#[test]
fn what_kafka_writes_today_is_written_the_same() {
    let mut written = 0;
    for it in golden().filter(|it| it.name != "offset-legacy") {
        let Some(record) = it.read() else { continue };
        assert_eq!(record.key(), Ok(it.key), "{}", it.name);
        let is_of_today = match it.name {
            "offset" => it.version == 1 || it.version == 4,
            "classic" => it.version == 3,
            _ => true,
        };
        if is_of_today {
            assert_eq!(record.value(), Ok(it.value), "{} {}", it.name, it.version);
            written += 1;
        }
    }
    assert_eq!(written, 26);
}

#[test]
fn what_is_no_record_is_refused_by_name() {
    let check = |key: &str, value: &str, want: &str| {
        let error = GroupRecord::read(&from_hex(key), Some(&from_hex(value))).unwrap_err();
        assert_eq!(error.to_string(), want);
    };
    check("", "", "key: ends after 0 bytes");
    check("00", "", "key: ends after 1 bytes");
    check("0002", "", "key of type 2: 2 bytes are due, and 0 are left");
    check("0002ffff", "", "key of type 2: null where a value is due");
    check("0002000161ff", "", "key of type 2: 1 bytes are left over");
    check("00020001ff", "", "key of type 2: a string is not UTF-8");
    check("0005000161", "", "key of type 5: 2 bytes are due, and 0 are left");
    check("0001000161000162", "", "key of type 1: partition: 4 bytes are due, and 0 are left");
    let group = "0002000161";
    check(group, "", "classic group: ends after 0 bytes");
    check(group, "0005", "classic group: version 5 is unknown");
    check(group, "ffff", "classic group: version -1 is unknown");
    check("0003000161", "0001", "consumer group: version 1 is unknown");
    check("0003000161", "00000000000900ff", "consumer group: 1 bytes are left over");
    check("0006000161", "000000000004ffffffffff7f", "target: no varint of 32 bits stands here");
    check(
        "0010000161000162",
        "0000ffffffff0f",
        "pattern: topics: no varint of 32 bits stands here",
    );
}

#[test]
fn a_key_of_another_type_is_passed_over_whatever_follows_it() {
    for kind in [-1_i16, 9, 10, 11, 15, 17, 22, 99] {
        let key = [&kind.to_be_bytes()[..], &[0xff, 0xff]].concat();
        assert_eq!(GroupRecord::read(&key, Some(&[9, 9])), Ok(None));
    }
}

#[test]
fn a_tag_of_a_later_version_is_passed_over() {
    let value = from_hex("0000000000090209020102000 8fffffffffffffff9".replace(' ', "").as_str());
    let key = from_hex("0003000161");
    let Ok(Some(GroupRecord::Consumer(_, Some(read)))) = GroupRecord::read(&key, Some(&value))
    else {
        panic!("not read")
    };
    assert_eq!(read, ConsumerGroupValue { epoch: 9, metadata_hash: -7 });
}

#[test]
fn a_name_that_no_key_can_hold_is_not_written() {
    let check = |len: usize, writable: bool| {
        let name: Arc<str> = "x".repeat(len).into();
        let record = GroupRecord::Member(name.clone(), name, None);
        assert_eq!(record.key().is_ok(), writable, "{len}");
    };
    check(32_767, true);
    check(32_768, false);
    // Flexible versions have no such bound.
    let mut record = offset_of(4);
    let GroupRecord::Offset(_, Some(value)) = &mut record else { panic!() };
    value.metadata = "x".repeat(32_768).into();
    assert!(record.value().is_ok());
    let GroupRecord::Offset(_, Some(value)) = &mut record else { panic!() };
    value.expire_timestamp_ms = 1;
    assert_eq!(record.value(), Err(TooLong));
}

#[test]
fn a_record_cut_short_is_an_error_wherever_it_is_cut() {
    let known = |it: &Golden| !["share", "streams-tombstone"].contains(&it.name);
    for it in golden().filter(known) {
        for len in 0..it.key.len() {
            assert!(GroupRecord::read(&it.key[..len], None).is_err(), "{} {len}", it.name);
        }
        let value = it.value.filter(|_| it.name != "partition-metadata").unwrap_or_default();
        for len in 0..value.len() {
            let read = GroupRecord::read(&it.key, Some(&value[..len]));
            assert!(read.is_err(), "{} {} cut to {len}", it.name, it.version);
        }
    }
}

fn text() -> impl Strategy<Value = Arc<str>> {
    "[a-zé]{0,6}".prop_map(Arc::from)
}

fn bytes() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(any::<u8>(), 0..9).prop_map(Bytes::from)
}

fn few<T: std::fmt::Debug>(item: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
    prop::collection::vec(item, 0..4)
}

fn uuid() -> impl Strategy<Value = Uuid> {
    prop_oneof![Just(Uuid::ZERO), any::<[u8; 16]>().prop_map(Uuid)]
}

fn partitions() -> impl Strategy<Value = Vec<TopicPartitions>> {
    few((uuid(), few(any::<i32>()), few(any::<i32>())).prop_map(
        |(topic_id, partitions, epochs)| TopicPartitions { topic_id, partitions, epochs },
    ))
}

fn any_offset() -> impl Strategy<Value = GroupRecord> {
    let value = (any::<i64>(), any::<i32>(), text(), any::<i64>(), any::<i64>(), uuid());
    let value = value.prop_map(|(offset, epoch, metadata, committed, expires, id)| OffsetValue {
        offset,
        leader_epoch: if expires < 0 { epoch } else { -1 },
        metadata,
        commit_timestamp_ms: committed,
        expire_timestamp_ms: expires.max(-1),
        topic_id: if expires < 0 { id } else { Uuid::ZERO },
    });
    (text(), text(), any::<i32>(), option::of(value)).prop_map(
        |(group, topic, partition, value)| {
            GroupRecord::Offset(OffsetKey { group, topic, partition }, value)
        },
    )
}

fn any_classic() -> impl Strategy<Value = GroupRecord> {
    let names = (text(), option::of(text()), text(), text());
    let member = (names, any::<(i32, i32)>(), bytes(), bytes()).prop_map(
        |((member_id, group_instance_id, client_id, client_host), times, told, given)| {
            ClassicMemberValue {
                member_id,
                group_instance_id,
                client_id,
                client_host,
                rebalance_timeout_ms: times.0,
                session_timeout_ms: times.1,
                subscription: told,
                assignment: given,
            }
        },
    );
    let names = (text(), option::of(text()), option::of(text()));
    let value = (names, any::<(i32, i64)>(), few(member)).prop_map(
        |((protocol_type, protocol, leader), (generation, since), members)| ClassicGroupValue {
            protocol_type,
            generation,
            protocol,
            leader,
            current_state_timestamp_ms: since,
            members,
        },
    );
    (text(), option::of(value)).prop_map(|(group, value)| GroupRecord::Classic(group, value))
}

fn any_member() -> impl Strategy<Value = GroupRecord> {
    let some = || option::of(text());
    let classic = (any::<i32>(), few((text(), bytes()))).prop_map(|(timeout, protocols)| {
        ClassicMemberMetadata { session_timeout_ms: timeout, protocols }
    });
    let names = (some(), some(), text(), text(), some(), some());
    let value = (names, few(text()), any::<i32>(), option::of(classic)).prop_map(
        |((instance_id, rack_id, client_id, client_host, regex, assignor), topics, ms, classic)| {
            MemberValue {
                instance_id,
                rack_id,
                client_id,
                client_host,
                subscribed_topics: topics,
                subscribed_regex: regex,
                rebalance_timeout_ms: ms,
                server_assignor: assignor,
                classic,
            }
        },
    );
    (text(), text(), option::of(value)).prop_map(|(g, m, value)| GroupRecord::Member(g, m, value))
}

fn any_current() -> impl Strategy<Value = GroupRecord> {
    let value = (any::<(i32, i32, i8)>(), partitions(), partitions()).prop_map(
        |((member_epoch, previous_member_epoch, state), assigned, pending_revocation)| {
            CurrentValue {
                member_epoch,
                previous_member_epoch,
                state,
                assigned,
                pending_revocation,
            }
        },
    );
    (text(), text(), option::of(value)).prop_map(|(g, m, value)| GroupRecord::Current(g, m, value))
}

/// Kinds with few fields.
fn any_small() -> impl Strategy<Value = GroupRecord> {
    let consumer = any::<(i32, i64)>()
        .prop_map(|(epoch, metadata_hash)| ConsumerGroupValue { epoch, metadata_hash });
    let target =
        any::<(i32, i64)>().prop_map(|(epoch, timestamp_ms)| TargetValue { epoch, timestamp_ms });
    let given = partitions().prop_map(|partitions| MemberTargetValue { partitions });
    let regex = (few(text()), any::<(i64, i64)>())
        .prop_map(|(topics, (version, timestamp_ms))| RegexValue { topics, version, timestamp_ms });
    prop_oneof![
        (text(), option::of(consumer)).prop_map(|(g, value)| GroupRecord::Consumer(g, value)),
        (text(), option::of(target)).prop_map(|(g, value)| GroupRecord::Target(g, value)),
        (text(), option::of(bytes()))
            .prop_map(|(g, value)| GroupRecord::PartitionMetadata(g, value)),
        (text(), text(), option::of(given))
            .prop_map(|(g, m, value)| GroupRecord::MemberTarget(g, m, value)),
        (text(), text(), option::of(regex))
            .prop_map(|(g, r, value)| GroupRecord::Regex(g, r, value)),
    ]
}

fn any_record() -> impl Strategy<Value = GroupRecord> {
    Union::new([
        any_offset().boxed(),
        any_classic().boxed(),
        any_member().boxed(),
        any_current().boxed(),
        any_small().boxed(),
    ])
}

proptest! {
    #[test]
    fn every_record_comes_back(record in any_record()) {
        let (key, value) = (record.key().unwrap(), record.value().unwrap());
        prop_assert_eq!(GroupRecord::read(&key, value.as_deref()), Ok(Some(record)));
    }

    /// One byte is wrong, or many.
    #[test]
    fn bytes_are_a_record_or_an_error(
        record in any_record(), at in any::<prop::sample::Index>(), wrong in bytes(),
    ) {
        let (mut key, value) = (record.key().unwrap(), record.value().unwrap());
        let mut value = value.unwrap_or_default();
        let spoil = |bytes: &mut Vec<u8>| {
            let at = at.index(bytes.len() + 1);
            bytes.splice(at..(at + wrong.len()).min(bytes.len()), wrong.iter().copied()).for_each(drop);
        };
        spoil(&mut value);
        drop(GroupRecord::read(&key, Some(&value)));
        spoil(&mut key);
        drop(GroupRecord::read(&key, Some(&value)));
    }
}
