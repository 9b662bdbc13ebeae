//! Groups that are larger than anybody's: what they ask is answered, and no decision that is made
//! for them is larger than a segment.

#![expect(clippy::indexing_slicing, reason = "who asks of one topic is answered of one")]
#![expect(clippy::wildcard_enum_match_arm, reason = "any other event or reply is no business here")]

use crate::story::world::{Event, World};
use broker::group::{Client, Reply, Request};
use bytes::Bytes;
use protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::{
    ConsumerGroupHeartbeatRequest, GroupId, JoinGroupRequest, JoinGroupResponse,
    OffsetCommitRequest, OffsetFetchRequest, StrBytes, SyncGroupRequest, TopicName,
};

const PARTITIONS: i32 = 100_000;
const MEMBERS: usize = 5000;
/// Records of a decision that nobody asked for.
const RECORDS_MAX: usize = 1100;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn group() -> GroupId {
    GroupId(text("g"))
}

fn client(version: i16) -> Client {
    Client { id: "c".into(), host: "/127.0.0.1".into(), version }
}

fn replies(events: Vec<Event>) -> impl Iterator<Item = (String, Reply)> {
    events.into_iter().filter_map(|event| match event {
        Event::Reply(caller, reply) => Some((caller, reply)),
        _ => None,
    })
}

fn commit(world: &mut World) {
    let partition = |number| {
        OffsetCommitRequestPartition::default()
            .with_partition_index(number)
            .with_committed_offset(i64::from(number))
    };
    let topic = OffsetCommitRequestTopic::default()
        .with_name(TopicName(text("t")))
        .with_partitions((0..PARTITIONS).map(partition).collect());
    let request = OffsetCommitRequest::default()
        .with_group_id(group())
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic]);
    let (_, reply) =
        replies(world.ask("c", Request::OffsetCommit(client(9), request))).next().unwrap();
    let Reply::OffsetCommit(reply) = reply else { panic!("{reply:?}") };
    assert!(reply.topics[0].partitions.iter().all(|it| it.error_code == 0));
}

/// How many of the partitions have an offset.
fn committed(world: &mut World) -> usize {
    let topic = OffsetFetchRequestTopics::default()
        .with_name(TopicName(text("t")))
        .with_partition_indexes((0..PARTITIONS).collect());
    let asked =
        OffsetFetchRequestGroup::default().with_group_id(group()).with_topics(Some(vec![topic]));
    let request = OffsetFetchRequest::default().with_groups(vec![asked]).with_require_stable(true);
    let (_, reply) =
        replies(world.ask("c", Request::OffsetFetch(client(9), request))).next().unwrap();
    let Reply::OffsetFetch(reply) = reply else { panic!("{reply:?}") };
    let partitions = &reply.groups[0].topics[0].partitions;
    partitions.iter().filter(|it| it.committed_offset == i64::from(it.partition_index)).count()
}

/// Records, decision by decision.
fn decisions(events: &[Event]) -> Vec<usize> {
    let mut counts = vec![0];
    for event in events {
        match event {
            Event::At(_) => counts.push(0),
            Event::Record(_) => *counts.last_mut().unwrap() += 1,
            _ => {}
        }
    }
    counts
}

#[test]
fn offsets_of_a_hundred_thousand_partitions_are_kept_and_grow_old_in_parts() {
    let mut world = World::default();
    world.set([("offsets.retention.minutes", "1")].into_iter());
    world.topic("t", PARTITIONS);
    assert!(world.restart().is_empty());
    commit(&mut world);
    assert_eq!(committed(&mut world), usize::try_from(PARTITIONS).unwrap());
    let decided = decisions(&world.wait(1_200_000));
    assert!(decided.iter().all(|it| *it <= RECORDS_MAX), "{decided:?}");
    // And the group.
    assert_eq!(decided.iter().sum::<usize>(), usize::try_from(PARTITIONS).unwrap() + 1);
    assert_eq!(committed(&mut world), 0);
}

fn join(world: &mut World, number: usize, id: &StrBytes) -> Vec<Event> {
    let protocol = JoinGroupRequestProtocol::default()
        .with_name(text("range"))
        .with_metadata(Bytes::from(vec![7; 500]));
    let request = JoinGroupRequest::default()
        .with_group_id(group())
        .with_session_timeout_ms(30_000)
        .with_rebalance_timeout_ms(60_000)
        .with_member_id(id.clone())
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol]);
    world.ask(&number.to_string(), Request::Join(client(9), request))
}

fn joined(events: Vec<Event>) -> Vec<(String, JoinGroupResponse)> {
    let joined = |(caller, reply)| match reply {
        Reply::Join(reply) => (caller, reply),
        other => panic!("{other:?}"),
    };
    replies(events).map(joined).collect()
}

#[test]
fn five_thousand_classic_members_are_in_one_generation() {
    let mut world = World::default();
    let ids: Vec<StrBytes> = (0..MEMBERS)
        .map(|number| joined(join(&mut world, number, &text(""))).remove(0).1.member_id)
        .collect();
    for (number, id) in ids.iter().enumerate() {
        assert!(joined(join(&mut world, number, id)).is_empty());
    }
    let told = joined(world.wait(10_000));
    assert_eq!(told.len(), MEMBERS);
    assert!(told.iter().all(|(_, it)| (it.error_code, it.generation_id) == (0, 1)));
    let (_, leader) = told.iter().find(|(_, it)| !it.members.is_empty()).unwrap();
    assert_eq!(leader.members.len(), MEMBERS);
    let given = |id: &StrBytes| {
        SyncGroupRequestAssignment::default()
            .with_member_id(id.clone())
            .with_assignment(id.to_string().into())
    };
    let mut synced = Vec::new();
    for (caller, it) in told.iter().rev() {
        let is_leader = !it.members.is_empty();
        let given = is_leader.then(|| it.members.iter().map(|it| given(&it.member_id)).collect());
        let request = SyncGroupRequest::default()
            .with_group_id(group())
            .with_generation_id(1)
            .with_member_id(it.member_id.clone())
            .with_assignments(given.unwrap_or_default());
        synced.extend(replies(world.ask(caller, Request::Sync(client(5), request))));
    }
    let is_given = |(_, reply): &(String, Reply)| match reply {
        Reply::Sync(it) => it.error_code == 0 && !it.assignment.is_empty(),
        _ => false,
    };
    assert!(synced.len() == MEMBERS && synced.iter().all(is_given));
}

#[test]
fn five_thousand_members_share_what_there_is() {
    let mut world = World::default();
    world.wait(10_000);
    world.topic("t", i32::try_from(MEMBERS).unwrap());
    let mut epochs = vec![0; MEMBERS];
    let mut owned = vec![Vec::<TopicPartitions>::new(); MEMBERS];
    let count =
        |owned: &[TopicPartitions]| owned.iter().map(|it| it.partitions.len()).sum::<usize>();
    // They enter, and then are heard of until each has its one partition.
    let mut rounds = 0..1000; // Far more than it takes.
    while owned.iter().any(|it| count(it) != 1) {
        assert!(rounds.next().is_some(), "they never settle");
        for number in 0..MEMBERS {
            let is_first = epochs[number] == 0;
            let mut request = ConsumerGroupHeartbeatRequest::default()
                .with_group_id(group())
                .with_member_id(text(&format!("m{number}")))
                .with_member_epoch(epochs[number])
                .with_topic_partitions(Some(owned[number].clone()));
            if is_first {
                let topics = Some(vec![TopicName(text("t"))]);
                request =
                    request.with_rebalance_timeout_ms(60_000).with_subscribed_topic_names(topics);
            }
            let asked = Request::ConsumerHeartbeat(client(1), request);
            let (_, reply) = replies(world.ask("c", asked)).next().unwrap();
            let Reply::ConsumerHeartbeat(reply) = reply else { panic!("{reply:?}") };
            assert_eq!(reply.error_code, 0);
            epochs[number] = reply.member_epoch;
            if let Some(assignment) = reply.assignment {
                let owns = assignment.topic_partitions.into_iter().map(|it| {
                    TopicPartitions::default()
                        .with_topic_id(it.topic_id)
                        .with_partitions(it.partitions)
                });
                owned[number] = owns.collect();
            }
        }
        assert!(owned.iter().map(|it| count(it)).sum::<usize>() <= MEMBERS, "two have the same");
        world.wait(1000);
    }
}
