//! ConsumerGroupHeartbeat and ConsumerGroupDescribe: lives of members, and wrong requests.

use super::{Pair, Side};
use compat_tests::process::until;
use compat_tests::wire::Connection;
use protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::incremental_alter_configs_request::{
    AlterConfigsResource, AlterableConfig,
};
use protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest, CreateTopicsRequest,
    FindCoordinatorRequest, GroupId, IncrementalAlterConfigsRequest, StrBytes, TopicName,
};
use std::time::Duration;

pub(super) const TOPIC: &str = "of-consumers";
/// What a classic member says that reads it.
pub(super) const SUBSCRIPTION: &[u8] = b"\0\0\0\0\0\x01\0\x0cof-consumers\xff\xff\xff\xff";
pub(super) const OTHER: &str = "of-consumers-too";
/// Kafka's number of groups among the kinds of config resources.
const GROUP: i8 = 32;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

pub(super) fn beat(group: &str, member: &str, epoch: i32) -> ConsumerGroupHeartbeatRequest {
    ConsumerGroupHeartbeatRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_member_id(text(member))
        .with_member_epoch(epoch)
}

pub(super) fn enter(group: &str, member: &str) -> ConsumerGroupHeartbeatRequest {
    beat(group, member, 0)
        .with_rebalance_timeout_ms(60_000)
        .with_subscribed_topic_names(Some(vec![TopicName(text(TOPIC))]))
        .with_topic_partitions(Some(vec![]))
}

fn owned(side: &Side, partitions: &[i32]) -> Option<Vec<TopicPartitions>> {
    let topic = TopicPartitions::default().with_topic_id(side.topic_id(TOPIC));
    Some(vec![topic.with_partitions(partitions.to_vec())])
}

/// Topics, a coordinator, and groups that assign anew at once: nothing here waits for a second.
pub(super) fn prepare(pair: &mut Pair, groups: &[String]) {
    pair.each("topics of consumer groups", 7..=7, |_, _| {
        let topic = |name, count: i32| {
            let topic = CreatableTopic::default().with_name(TopicName(text(name)));
            topic.with_num_partitions(count).with_replication_factor(1)
        };
        CreateTopicsRequest::default().with_topics(vec![topic(TOPIC, 4), topic(OTHER, 1)])
    });
    pair.each("the interval of a consumer group", 1..=1, |_, _| {
        let config = AlterableConfig::default()
            .with_name(text("consumer.assignment.interval.ms"))
            .with_value(Some(text("0")));
        let resource = |group: &String| {
            AlterConfigsResource::default()
                .with_resource_type(GROUP)
                .with_resource_name(text(group))
                .with_configs(vec![config.clone()])
        };
        let resources = groups.iter().map(resource).collect();
        IncrementalAlterConfigsRequest::default().with_resources(resources)
    });
    for port in [pair.theirs.port, pair.ours.port] {
        until("a coordinator", Duration::from_secs(60), || {
            let find = FindCoordinatorRequest::default()
                .with_coordinator_keys(groups.iter().map(|it| text(it)).collect());
            let mut connection = Connection::open(port).unwrap();
            let found = connection.ask(&find, 4).unwrap();
            let is_there = found.coordinators.iter().all(|it| it.error_code == 0);
            // It loads, or is not there yet, until it knows that the group is unknown.
            let knows = |group: &String| {
                connection.ask(&beat(group, "nobody", 1), 1).unwrap().error_code == 69
            };
            (is_there && groups.iter().all(knows)).then_some(())
        });
    }
}

pub(super) fn told(pair: &mut Pair) {
    let group = |version: i16| format!("consumers-{version}");
    let fixed = |version: i16| format!("static-consumers-{version}");
    let groups: Vec<_> = (0..=1).flat_map(|it| [group(it), fixed(it)]).collect();
    prepare(pair, &groups);
    for version in 0..=1 {
        wrong(pair, version);
        two_members(pair, version, &group(version));
        fenced(pair, version, &group(version));
        gone(pair, version, &group(version));
        static_members(pair, version, &fixed(version));
    }
}

/// One request at one version, the same to both but for ids of topics.
fn say(
    pair: &mut Pair,
    version: i16,
    case: &str,
    build: impl Fn(&Side) -> ConsumerGroupHeartbeatRequest,
) {
    pair.each(case, version..=version, |_, side| build(side));
}

fn inspect(pair: &mut Pair, version: i16, case: &str, groups: &[&str]) {
    pair.each(case, version..=version, |_, _| {
        let ids = groups.iter().map(|id| GroupId(text(id))).collect();
        ConsumerGroupDescribeRequest::default()
            .with_group_ids(ids)
            .with_include_authorized_operations(true)
    });
}

fn wrong(pair: &mut Pair, version: i16) {
    let mut say = |case: &str, request: ConsumerGroupHeartbeatRequest| {
        say(pair, version, case, |_| request.clone());
    };
    let new = || enter("nobodys", "m");
    say("without a group", enter("", "m"));
    say("a blank group", enter(" ", "m"));
    say("a blank member", enter("nobodys", " "));
    say("a member without an id, later", beat("nobodys", "", 3));
    say("a member without an id leaves", beat("nobodys", "", -1));
    say("an empty instance", new().with_instance_id(Some(text(""))));
    say("an empty rack", new().with_rack_id(Some(text(""))));
    say("no rebalance time-out", new().with_rebalance_timeout_ms(-1));
    say("no partitions told", new().with_topic_partitions(None));
    say("no topics told", new().with_subscribed_topic_names(None));
    say("no such epoch", beat("nobodys", "m", -3));
    say("away without an instance", beat("nobodys", "m", -2));
    say("no such assignor", new().with_server_assignor(Some(text("best"))));
    say("no such group", beat("nobodys", "m", 1));
    say("leaves no such group", beat("nobodys", "m", -1));
    if version == 0 {
        return;
    }
    say("joins without an id", enter("nobodys", ""));
}

fn two_members(pair: &mut Pair, version: i16, group: &str) {
    inspect(pair, version, "nobody is there", &["", group]);
    say(pair, version, "the first joins", |_| enter(group, "a"));
    inspect(pair, version, "one is there", &[group]);
    say(pair, version, "the first stays", |_| beat(group, "a", 2));
    say(pair, version, "the second joins", |_| enter(group, "b"));
    say(pair, version, "the first must give up", |_| beat(group, "a", 2));
    inspect(pair, version, "something is given up", &[group]);
    say(pair, version, "the second waits", |_| beat(group, "b", 3));
    say(pair, version, "the first still owns", |side| {
        beat(group, "a", 2).with_topic_partitions(owned(side, &[0, 1, 2, 3]))
    });
    say(pair, version, "the first has given up", |side| {
        beat(group, "a", 2).with_topic_partitions(owned(side, &[0, 1]))
    });
    say(pair, version, "the second gets it", |_| beat(group, "b", 3));
    inspect(pair, version, "two are there", &[group]);
}

fn fenced(pair: &mut Pair, version: i16, group: &str) {
    say(pair, version, "a member nobody knows", |_| beat(group, "z", 3));
    say(pair, version, "leaves, unknown", |_| beat(group, "z", -1));
    say(pair, version, "an epoch to come", |_| beat(group, "a", 9));
    say(pair, version, "an epoch gone by", |_| beat(group, "a", 1));
    say(pair, version, "the epoch before", |_| beat(group, "a", 2));
    say(pair, version, "the epoch before, owning what it may", |side| {
        beat(group, "a", 2).with_topic_partitions(owned(side, &[0]))
    });
    say(pair, version, "the epoch before, owning more", |side| {
        beat(group, "a", 2).with_topic_partitions(owned(side, &[0, 3]))
    });
    say(pair, version, "all there is to say", |side| {
        enter(group, "a").with_member_epoch(3).with_topic_partitions(owned(side, &[0, 1]))
    });
    say(pair, version, "joins again", |_| enter(group, "a"));
}

fn gone(pair: &mut Pair, version: i16, group: &str) {
    say(pair, version, "subscribes to more", |_| {
        let names = [TOPIC, OTHER, "of-nobody"].map(|name| TopicName(text(name)));
        beat(group, "a", 3).with_subscribed_topic_names(Some(names.to_vec()))
    });
    say(pair, version, "subscribes to less", |_| {
        let names = [OTHER].map(|name| TopicName(text(name)));
        beat(group, "a", 4).with_subscribed_topic_names(Some(names.to_vec()))
    });
    inspect(pair, version, "subscriptions differ", &[group]);
    say(pair, version, "wants another assignor", |_| {
        beat(group, "b", 3).with_server_assignor(Some(text("range")))
    });
    inspect(pair, version, "another assignor", &[group]);
    say(pair, version, "the first leaves", |_| beat(group, "a", -1));
    say(pair, version, "the second leaves", |_| beat(group, "b", -1));
    inspect(pair, version, "all are gone", &[group]);
    say(pair, version, "comes again", |_| enter(group, "c"));
    inspect(pair, version, "one is there again", &[group]);
}

fn static_members(pair: &mut Pair, version: i16, group: &str) {
    let fixed = |it: ConsumerGroupHeartbeatRequest| it.with_instance_id(Some(text("i")));
    let other = |it: ConsumerGroupHeartbeatRequest| it.with_instance_id(Some(text("x")));
    say(pair, version, "a static member joins", |_| fixed(enter(group, "a")));
    say(pair, version, "another with its instance", |_| fixed(enter(group, "b")));
    say(pair, version, "goes on with its instance", |_| fixed(beat(group, "b", 2)));
    say(pair, version, "an instance nobody knows", |_| other(beat(group, "a", 2)));
    say(pair, version, "is away", |_| fixed(beat(group, "a", -2)));
    inspect(pair, version, "a static member is away", &[group]);
    say(pair, version, "comes while away", |_| fixed(beat(group, "a", 2)));
    say(pair, version, "takes its place", |_| fixed(enter(group, "b")));
    inspect(pair, version, "a place was taken", &[group]);
    say(pair, version, "came too late", |_| fixed(beat(group, "a", 2)));
    say(pair, version, "leaves too late", |_| fixed(beat(group, "a", -1)));
    say(pair, version, "a static member leaves", |_| fixed(beat(group, "b", -1)));
    inspect(pair, version, "a static member is gone", &[group]);
}
