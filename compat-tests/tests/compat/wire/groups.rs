//! Committed offsets; groups of any kind described, listed and deleted.

use super::admin::name;
use super::{Pair, Side};
use compat_tests::process::until;
use compat_tests::wire::Connection;
use protocol::messages::offset_commit_request as commit;
use protocol::messages::offset_delete_request as forget;
use protocol::messages::offset_fetch_request as fetch;
use protocol::messages::{
    DeleteGroupsRequest, DescribeGroupsRequest, FindCoordinatorRequest, GroupId, ListGroupsRequest,
    OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest,
};
use std::time::Duration;

/// A topic, a partition, an offset, and a text.
type Offset<'a> = (&'a str, i32, i64, Option<&'a str>);

/// Partitions by topic; None: all that there are.
type Asked<'a> = Option<&'a [(&'a str, &'a [i32])]>;

fn id(text: &str) -> GroupId {
    name(text).into()
}

pub(super) fn commits(group: &str, offsets: &[Offset<'_>]) -> OffsetCommitRequest {
    let topic = |(topic, partition, offset, metadata): &Offset<'_>| {
        let partition = commit::OffsetCommitRequestPartition::default()
            .with_partition_index(*partition)
            .with_committed_offset(*offset)
            .with_committed_metadata(metadata.map(name));
        commit::OffsetCommitRequestTopic::default()
            .with_name(name(topic).into())
            .with_partitions(vec![partition])
    };
    OffsetCommitRequest::default()
        .with_group_id(id(group))
        .with_topics(offsets.iter().map(topic).collect())
}

pub(super) fn fetches(version: i16, group: &str, topics: Asked<'_>) -> OffsetFetchRequest {
    if 8 <= version {
        return batch(&[(group, topics)]);
    }
    let topic = |(topic, partitions): &(&str, &[i32])| {
        fetch::OffsetFetchRequestTopic::default()
            .with_name(name(topic).into())
            .with_partition_indexes(partitions.to_vec())
    };
    OffsetFetchRequest::default()
        .with_group_id(id(group))
        .with_topics(topics.map(|topics| topics.iter().map(topic).collect()))
}

fn batch(groups: &[(&str, Asked<'_>)]) -> OffsetFetchRequest {
    let topic = |(topic, partitions): &(&str, &[i32])| {
        fetch::OffsetFetchRequestTopics::default()
            .with_name(name(topic).into())
            .with_partition_indexes(partitions.to_vec())
    };
    let group = |(group, topics): &(&str, Asked<'_>)| {
        fetch::OffsetFetchRequestGroup::default()
            .with_group_id(id(group))
            .with_topics(topics.map(|topics| topics.iter().map(topic).collect()))
    };
    OffsetFetchRequest::default().with_groups(groups.iter().map(group).collect())
}

/// Who keeps groups: one of them before version 4, many from then on.
fn found(pair: &mut Pair) {
    let find = FindCoordinatorRequest::default;
    pair.each("a group", 0..=3, |_, _| find().with_key(name("g")));
    pair.each("a group without a name", 0..=3, |_, _| find().with_key(name("")));
    let many =
        |keys: &[&str]| find().with_coordinator_keys(keys.iter().map(|it| name(it)).collect());
    pair.each("groups", 4..=6, |_, _| many(&["g", "h", "absent", "g"]));
    pair.each("groups without a name", 4..=6, |_, _| many(&["", " "]));
    pair.each("no groups", 4..=6, |_, _| many(&[]));
}

/// Both have their topic of groups, and have read it.
fn await_coordinators(pair: &Pair) {
    for port in [pair.theirs.port, pair.ours.port] {
        until("a coordinator of each group", Duration::from_secs(60), || {
            let mut connection = Connection::open(port).unwrap();
            let find = FindCoordinatorRequest::default().with_key(name("g"));
            let found = connection.ask(&find, 1).ok()?.error_code == 0;
            let groups = ["", "g", "h", "absent", "m", "long"];
            let all = batch(&groups.map(|group| (group, None)));
            let answer = connection.ask(&all, 8).ok()?;
            (found && answer.groups.iter().all(|group| group.error_code == 0)).then_some(())
        });
    }
}

pub(super) fn offsets(pair: &mut Pair) {
    await_coordinators(pair);
    found(pair);
    committed(pair);
    refused(pair);
    fetched(pair);
    described(pair);
    forgotten(pair);
}

fn committed(pair: &mut Pair) {
    for version in 2..=9 {
        let offset = 10 + i64::from(version);
        pair.each("a commit", version..=version, |_, _| {
            commits("g", &[("data", 0, offset, Some("a note"))])
        });
        pair.each("what was committed", 1..=9, |version, _| {
            fetches(version, "g", Some(&[("data", &[0, 1])]))
        });
    }
    pair.each("a leader's epoch", 6..=9, |_, _| {
        let mut request = commits("g", &[("data", 0, 7, None)]);
        request.topics[0].partitions[0].committed_leader_epoch = 3;
        request
    });
    pair.each("with a leader's epoch", 1..=9, |version, _| {
        fetches(version, "g", Some(&[("data", &[0])]))
    });
    pair.each("for an hour", 2..=4, |_, _| {
        commits("h", &[("data", 0, 5, None)]).with_retention_time_ms(3_600_000)
    });
    pair.each("at a negative offset", 2..=9, |_, _| commits("m", &[("data", 0, -5, None)]));
    pair.each("twice", 2..=9, |_, _| commits("m", &[("data", 0, 1, None), ("data", 0, 2, None)]));
    pair.each("the last of two", 1..=9, |version, _| {
        fetches(version, "m", Some(&[("data", &[0])]))
    });
    pair.each("of the group without a name", 2..=9, |_, _| commits("", &[("data", 0, 3, None)]));
    pair.each("the group without a name", 1..=9, |version, _| {
        fetches(version, "", Some(&[("data", &[0])]))
    });
}

fn refused(pair: &mut Pair) {
    pair.each("nothing", 2..=9, |_, _| commits("g", &[]));
    pair.each("an unknown topic", 2..=9, |_, _| commits("g", &[("absent", 0, 1, None)]));
    pair.each("an unknown partition among others", 2..=9, |_, _| {
        let offsets = [("data", 0, 9, None), ("absent", 0, 1, None), ("data", 99, 1, None)];
        commits("g", &offsets)
    });
    for (case, text) in [
        ("a text of 4096", "x".repeat(4096)),
        ("a text of 4097", "x".repeat(4097)),
        ("a text of 4096 umlauts", "\u{e4}".repeat(4096)),
        ("a text of 2049 pairs", "\u{1f600}".repeat(2049)),
    ] {
        pair.each(case, 2..=9, |_, _| commits("m", &[("data", 0, 1, Some(&text))]));
    }
    let as_member = |group: &str, generation, member: &str| {
        commits(group, &[("data", 0, 1, None)])
            .with_generation_id_or_member_epoch(generation)
            .with_member_id(name(member))
    };
    for (case, group, generation, member) in [
        ("a generation of no group", "absent", 3, ""),
        ("a member of no group", "absent", 0, "m"),
        ("a generation of a group without members", "g", 3, ""),
        ("a member of a group without members", "g", 0, "m"),
        ("a member that says no generation", "g", -1, "m"),
        ("a generation below none", "g", -2, ""),
    ] {
        pair.each(case, 2..=9, |_, _| as_member(group, generation, member));
    }
    pair.each("an instance of a group without members", 7..=9, |_, _| {
        as_member("g", 1, "m").with_group_instance_id(Some(name("i")))
    });
    pair.each("a name too long for a record", 8..=9, |_, _| {
        commits(&"x".repeat(40_000), &[("data", 0, 1, None)])
    });
}

fn fetched(pair: &mut Pair) {
    pair.each("all", 2..=9, |version, _| fetches(version, "h", None));
    pair.each("of no topic", 1..=9, |version, _| fetches(version, "g", Some(&[])));
    pair.each("of no partition", 1..=9, |version, _| fetches(version, "g", Some(&[("data", &[])])));
    pair.each("of unknown ones", 1..=9, |version, _| {
        fetches(version, "g", Some(&[("absent", &[0]), ("data", &[0, 99, 0])]))
    });
    pair.each("of no group", 1..=9, |version, _| {
        fetches(version, "absent", Some(&[("data", &[0])]))
    });
    pair.each("all of no group", 2..=9, |version, _| fetches(version, "absent", None));
    pair.each("stable ones", 7..=9, |version, _| {
        fetches(version, "g", Some(&[("data", &[0])])).with_require_stable(true)
    });
    pair.each("many groups", 8..=9, |_, _| {
        batch(&[("g", Some(&[("data", &[0])])), ("absent", None), ("h", None), ("g", None)])
    });
    pair.each("no groups", 8..=9, |_, _| batch(&[]));
    pair.each("as a member", 9..=9, |_, _| {
        let mut request = batch(&[("g", None)]);
        request.groups[0].member_id = Some(name("m"));
        request.groups[0].member_epoch = 3;
        request
    });
}

fn groups(ids: &[&str]) -> Vec<GroupId> {
    ids.iter().map(|text| id(text)).collect()
}

pub(super) fn delete(ids: &[&str]) -> DeleteGroupsRequest {
    DeleteGroupsRequest::default().with_groups_names(groups(ids))
}

fn described(pair: &mut Pair) {
    let describe = |ids: &[&str]| DescribeGroupsRequest::default().with_groups(groups(ids));
    pair.each("one that only commits", 0..=6, |_, _| describe(&["g"]));
    pair.each("one that is not there", 0..=6, |_, _| describe(&["absent"]));
    pair.each("one without a name", 0..=6, |_, _| describe(&[""]));
    pair.each("several", 0..=6, |_, _| describe(&["h", "absent", "g"]));
    pair.each("none", 0..=6, |_, _| describe(&[]));
    pair.each("what may be done", 3..=6, |_, _| {
        describe(&["g", "absent"]).with_include_authorized_operations(true)
    });
    let list = |states: &[&str], types: &[&str]| {
        let names = |texts: &[&str]| texts.iter().map(|text| name(text)).collect();
        ListGroupsRequest::default()
            .with_states_filter(names(states))
            .with_types_filter(names(types))
    };
    pair.each("all", 0..=5, |_, _| list(&[], &[]));
    for state in ["Empty", "eMPTY", "Stable", "nonsense", ""] {
        pair.each(&format!("in state `{state}`"), 4..=5, |_, _| list(&[state], &[]));
    }
    for kind in ["classic", "CLASSIC", "consumer", "share", "nonsense", ""] {
        pair.each(&format!("of kind `{kind}`"), 5..=5, |_, _| list(&[], &[kind]));
    }
    pair.each("of two filters", 5..=5, |_, _| list(&["Empty", "Dead"], &["consumer", "classic"]));
}

pub(super) fn forgets(group: &str, offsets: &[(&str, &[i32])]) -> OffsetDeleteRequest {
    let partition = |number: &i32| {
        forget::OffsetDeleteRequestPartition::default().with_partition_index(*number)
    };
    let topic = |(topic, partitions): &(&str, &[i32])| {
        forget::OffsetDeleteRequestTopic::default()
            .with_name(name(topic).into())
            .with_partitions(partitions.iter().map(partition).collect())
    };
    OffsetDeleteRequest::default()
        .with_group_id(id(group))
        .with_topics(offsets.iter().map(topic).collect())
}

fn forgotten(pair: &mut Pair) {
    for (case, group, offsets) in [
        ("one", "g", &[("data", &[0][..])][..]),
        ("one that is not committed", "g", &[("data", &[2])]),
        ("of unknown ones", "g", &[("absent", &[0]), ("data", &[1, 99])]),
        ("of no topic", "g", &[]),
        ("of no group", "absent", &[("data", &[0])]),
        ("unknown ones of no group", "absent", &[("absent", &[0])]),
        ("some unknown of no group", "absent", &[("absent", &[0]), ("data", &[0])]),
        ("of the group without a name", "", &[("data", &[0])]),
    ] {
        pair.each(case, 0..=0, |_, _| forgets(group, offsets));
    }
    pair.each("what was forgotten", 1..=9, |version, _| {
        fetches(version, "g", Some(&[("data", &[0])]))
    });
    for version in 0..=2 {
        let group = format!("deleted{version}");
        let only = version..=version;
        pair.each("before it is deleted", 9..=9, |_, _| commits(&group, &[("data", 0, 1, None)]));
        pair.each("one", only.clone(), |_, _| delete(&[&group]));
        pair.each("one again", only.clone(), |_, _| delete(&[&group]));
        pair.each("what is left of it", 9..=9, |version, _| fetches(version, &group, None));
        pair.each("several", only.clone(), |_, _| delete(&["absent", "", "absent"]));
        pair.each("none", only, |_, _| delete(&[]));
    }
    pair.each("what is left", 0..=5, |_, _: &Side| ListGroupsRequest::default());
}
