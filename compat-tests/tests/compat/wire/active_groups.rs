//! Groups that have members, and what others ask of them: members of epochs gone by, administrators,
//! and topics that go and come.

use super::Pair;
use super::admin::{create, topic};
use super::consumer_groups::{SUBSCRIPTION, TOPIC, beat, enter, prepare};
use super::groups::{commits, delete, fetches, forgets};
use super::member::text;
use super::membership::{JOIN, Told, both, leave};
use protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use protocol::messages::create_partitions_request::CreatePartitionsTopic;
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::{
    ConsumerGroupHeartbeatRequest, CreatePartitionsRequest, DeleteTopicsRequest, TopicName,
};

/// What nobody subscribes to.
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

fn classic(told: &mut Told<'_>) {
    let group = told.group.clone();
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
    told.ask("one on its way in leaves", &leave(&group, &[(&other, None)]), 5);
    told.ask("all leave", &leave(&group, &[(&id, None), (&id, None)]), 5);
    told.look("an active group is empty");
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
    told.ask(
        "consumers are sent away",
        &leave(&group, &[("a", None), ("nobody", None), ("", Some("j"))]),
        5,
    );
    told.ask("the wrong instance", &leave(&group, &[("b", Some("i")), ("", None)]), 5);
    told.ask("a static consumer is sent away", &leave(&group, &[("", Some("i"))]), 5);
    told.look("who is left");
    told.ask("nothing to read", &nothing(&group, "d"), 1);
    told.look("one that reads nothing");
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
    told.look("a pattern alone");
    let other = beat(&group, "a", epoch).with_subscribed_topic_regex(Some(text("")));
    told.ask("no pattern any more", &other, 1);
    told.look("no pattern any more");
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
    told.look("a topic came");
    let gone = DeleteTopicState::default().with_name(Some(TopicName(text(NAME))));
    let gone = DeleteTopicsRequest::default().with_topics(vec![gone]).with_timeout_ms(10_000);
    told.ask("a topic goes", &gone, 6);
    follow(told, "it is taken away", &mut epoch);
    told.look("a topic went");
    told.ask("a topic comes again", &create(vec![topic(NAME, 1)]), 7);
    follow(told, "it is assigned again", &mut epoch);
    told.look("a topic came again");
    let grow = CreatePartitionsTopic::default()
        .with_name(TopicName(text(NAME)))
        .with_count(3)
        .with_assignments(None);
    let grow = CreatePartitionsRequest::default().with_topics(vec![grow]).with_timeout_ms(10_000);
    told.ask("a topic grows", &grow, 3);
    follow(told, "more is assigned", &mut epoch);
    told.look("a topic grew");
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
