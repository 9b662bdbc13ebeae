//! Groups that have members, and what others ask of them: members of epochs gone by, administrators,
//! and topics that go and come.

use super::Pair;
use super::admin::{create, topic};
use super::consumer_groups::{beat, enter, prepare};
use super::groups::{commits, delete, fetches, forgets};
use super::member::text;
use super::membership::{JOIN, Told, both};
use protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use protocol::messages::create_partitions_request::CreatePartitionsTopic;
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest, CreatePartitionsRequest,
    DeleteTopicsRequest, DescribeGroupsRequest, GroupId, LeaveGroupRequest, TopicName,
};

/// A subscription to the topic `of-consumers`.
const SUBSCRIPTION: &[u8] = b"\0\0\0\0\0\x01\0\x0cof-consumers\xff\xff\xff\xff";
/// What is subscribed to, and what is not.
const TOPIC: &str = "of-consumers";
const UNREAD: &str = "data";

pub(super) fn told(pair: &mut Pair) {
    let names = ["active-classic", "active-consumers", "patterns", "moving"];
    let groups: Vec<_> = names.iter().map(|name| format!("{name}-{JOIN}")).collect();
    prepare(pair, &groups);
    both(pair, "active-classic", JOIN, classic);
    both(pair, "active-consumers", JOIN, consumers);
    both(pair, "patterns", JOIN, patterns);
    both(pair, "moving", JOIN, moving_topics);
}

/// What an administrator may do to a group that has members.
fn administered(told: &mut Told<'_>, who: &str) {
    let group = told.group.clone();
    for version in [2, 8, 9] {
        let commit = commits(&group, &[(UNREAD, 0, 5, None)]);
        told.ask(&format!("an administrator commits for {who}"), &commit, version);
    }
    told.ask(&format!("an administrator deletes {who}"), &delete(&[&group]), 2);
    let offsets: &[(&str, &[i32])] = &[(TOPIC, &[0]), (UNREAD, &[0])];
    told.ask(&format!("an administrator deletes offsets of {who}"), &forgets(&group, offsets), 0);
    told.ask(&format!("what is left of {who}"), &fetches(9, &group, None), 9);
}

/// Commits and fetches as a member of a generation or an epoch.
fn read_by(told: &mut Told<'_>, step: &str, (member, epoch): (&str, i32)) {
    let group = told.group.clone();
    let commit = commits(&group, &[(TOPIC, 0, i64::from(epoch), None), (UNREAD, 0, 1, None)])
        .with_generation_id_or_member_epoch(epoch)
        .with_member_id(text(member));
    for version in [8, 9] {
        told.ask(&format!("{step} commits"), &commit, version);
    }
    let mut fetch = fetches(9, &group, None);
    fetch.groups[0].member_id = Some(text(member));
    fetch.groups[0].member_epoch = epoch;
    told.ask(&format!("{step} fetches"), &fetch, 9);
}

fn leave(told: &mut Told<'_>, step: &str, who: &[(&str, Option<&str>)]) {
    let identity = |(id, instance): &(&str, Option<&str>)| {
        MemberIdentity::default()
            .with_member_id(text(*id))
            .with_group_instance_id(instance.map(text))
    };
    let request = LeaveGroupRequest::default()
        .with_group_id(GroupId(text(&*told.group)))
        .with_members(who.iter().map(identity).collect());
    told.ask(step, &request, 5);
}

fn look(told: &mut Told<'_>, step: &str) {
    let id = || GroupId(text(&*told.group));
    let classic = DescribeGroupsRequest::default().with_groups(vec![id()]);
    let consumer = ConsumerGroupDescribeRequest::default().with_group_ids(vec![id()]);
    told.ask(step, &classic, 6);
    told.ask(step, &consumer, 1);
}

fn classic(told: &mut Told<'_>) {
    let mut a = told.member(None);
    a.metadata = SUBSCRIPTION;
    told.take_id("a member of an active group", &mut a);
    told.join("a member of an active group", &mut a);
    let id = a.id.clone();
    read_by(told, "a member without its assignment", (&id, a.generation));
    told.sync("a member of an active group", &mut a, &[&id]);
    read_by(told, "a classic member", (&id, a.generation));
    read_by(told, "a classic member of a generation gone by", (&id, a.generation - 1));
    read_by(told, "a classic member of a generation to come", (&id, a.generation + 1));
    read_by(told, "nobody in a classic group", ("nobody", a.generation));
    administered(told, "a classic group");
    let mut pending = told.member(None);
    told.take_id("one on its way in", &mut pending);
    let other = pending.id.clone();
    read_by(told, "one on its way in", (&other, a.generation));
    leave(told, "one on its way in leaves", &[(&other, None)]);
    leave(told, "all leave", &[(&id, None), (&id, None)]);
    look(told, "an active group is empty");
}

fn consumers(told: &mut Told<'_>) {
    let group = told.group.clone();
    told.ask("the first of an active group", &enter(&group, "a"), 1);
    read_by(told, "a member in its first epoch", ("a", 2));
    told.ask("the second of an active group", &enter(&group, "b"), 1);
    told.ask("the first gives up", &beat(&group, "a", 2), 1);
    read_by(told, "a member that gives up", ("a", 2));
    read_by(told, "a member that waits", ("b", 3));
    let first = &told.partitions(TOPIC, &[0, 1]);
    told.ask("it has", &beat(&group, "a", 2).with_topic_partitions(first.clone()), 1);
    told.ask("the second is given its part", &beat(&group, "b", 3), 1);
    read_by(told, "a member of the epoch before", ("a", 2));
    read_by(told, "a member of an epoch long gone", ("a", 1));
    read_by(told, "a member of an epoch to come", ("a", 9));
    read_by(told, "nobody in a consumer group", ("nobody", 3));
    read_by(told, "no member and an epoch", ("", 3));
    administered(told, "a consumer group");
    let fixed = |member: &str| enter(&group, member).with_instance_id(Some(text("i")));
    told.ask("a static one", &fixed("c"), 1);
    leave(told, "consumers are sent away", &[("a", None), ("nobody", None), ("", Some("j"))]);
    leave(told, "the wrong instance", &[("b", Some("i")), ("", None)]);
    leave(told, "a static consumer is sent away", &[("", Some("i"))]);
    look(told, "who is left");
    told.ask("nothing to read", &nothing(&group, "d"), 1);
    look(told, "one that reads nothing");
    for member in ["b", "d"] {
        told.ask("all leave an active group", &beat(&group, member, -1), 1);
    }
    read_by(told, "one who left", ("b", 3));
    administered(told, "a consumer group without members");
}

fn nothing(group: &str, member: &str) -> ConsumerGroupHeartbeatRequest {
    enter(group, member).with_subscribed_topic_names(Some(Vec::new()))
}

fn patterns(told: &mut Told<'_>) {
    let group = told.group.clone();
    let by = |pattern: &str| nothing(&group, "a").with_subscribed_topic_regex(Some(text(pattern)));
    for (step, pattern) in [("no pattern", "["), ("one that looks ahead", "(?=a)b")] {
        told.ask(step, &by(pattern), 1);
    }
    let only = by("of-consumer.").with_subscribed_topic_names(None);
    told.ask("a pattern alone", &only, 1);
    let mut epoch = 0;
    told.ask_until("its topics are found", 1, |answer| {
        epoch = answer.map_or(0, |it: &Answer| it.member_epoch.max(epoch));
        (answer.is_some_and(has_any), only.clone())
    });
    look(told, "a pattern alone");
    let other = beat(&group, "a", epoch).with_subscribed_topic_regex(Some(text("")));
    told.ask("no pattern any more", &other, 1);
    look(told, "no pattern any more");
}

type Answer = protocol::messages::ConsumerGroupHeartbeatResponse;

fn has_any(answer: &Answer) -> bool {
    answer.assignment.as_ref().is_some_and(|it| !it.topic_partitions.is_empty())
}

/// A topic goes, comes again, and grows.
fn moving_topics(told: &mut Told<'_>) {
    const NAME: &str = "moving";
    let group = told.group.clone();
    let reads = |member: &str| {
        enter(&group, member).with_subscribed_topic_names(Some(vec![TopicName(text(NAME))]))
    };
    told.ask("reads what is not there", &reads("a"), 1);
    let mut epoch = 2;
    told.ask("a topic comes", &create(vec![topic(NAME, 2)]), 7);
    follow(told, "it is assigned", &mut epoch);
    look(told, "a topic came");
    let gone = DeleteTopicState::default().with_name(Some(TopicName(text(NAME))));
    let gone = DeleteTopicsRequest::default().with_topics(vec![gone]).with_timeout_ms(10_000);
    told.ask("a topic goes", &gone, 6);
    follow(told, "it is taken away", &mut epoch);
    look(told, "a topic went");
    told.ask("a topic comes again", &create(vec![topic(NAME, 1)]), 7);
    follow(told, "it is assigned again", &mut epoch);
    look(told, "a topic came again");
    let grow = CreatePartitionsTopic::default()
        .with_name(TopicName(text(NAME)))
        .with_count(3)
        .with_assignments(None);
    let grow = CreatePartitionsRequest::default().with_topics(vec![grow]).with_timeout_ms(10_000);
    told.ask("a topic grows", &grow, 3);
    follow(told, "more is assigned", &mut epoch);
    look(told, "a topic grew");
    told.ask("the reader leaves", &beat(&group, "a", -1), 1);
}

/// Beats, owning nothing, until the group is in another epoch.
fn follow(told: &mut Told<'_>, step: &str, epoch: &mut i32) {
    let group = told.group.clone();
    let old = *epoch;
    told.ask_until(step, 1, |answer: Option<&Answer>| {
        let is_new = answer.is_some_and(|it| it.member_epoch != old);
        *epoch = answer.map_or(old, |it| it.member_epoch);
        (is_new, beat(&group, "a", old).with_topic_partitions(Some(Vec::<TopicPartitions>::new())))
    });
}
