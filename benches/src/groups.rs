//! Members of groups, each on a connection of its own and in a group of its own: what they ask
//! again and again as long as nothing changes.

use crate::Outcome;
use crate::administration::until;
use crate::connection::{Connection, accepted};
use crate::machine::{Meter, Spent};
use crate::node::Node;
use crate::produce::died;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use protocol::messages::{
    ConsumerGroupHeartbeatRequest, FindCoordinatorRequest, GroupId, HeartbeatRequest,
    JoinGroupRequest, OffsetCommitRequest, StrBytes, SyncGroupRequest, TopicName,
};
use std::thread;
use std::time::Duration;

/// Until a group can be joined.
const LIMIT: Duration = Duration::from_secs(60);

/// What a step of members came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) requests: u64,
    pub(crate) spent: Spent,
}

/// What one member asks.
pub(crate) type Ask = Box<dyn FnMut(&mut Connection) -> Outcome<()> + Send>;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn group(name: &str) -> GroupId {
    GroupId(text(name))
}

/// Has each of so many members ask so often, one request after the other.
pub(crate) fn ask(
    node: &Node,
    members: u32,
    each: u64,
    member: fn(&mut Connection, &str, &str) -> Outcome<Ask>,
    (prefix, topic): (&str, &str),
) -> Outcome<Asked> {
    let mut work = Vec::new();
    for number in 0..members {
        let mut connection = Connection::open(node.port)?;
        let name = format!("{prefix}-{number}");
        found(&mut connection, &name)?;
        let ask = member(&mut connection, &name, topic)?;
        work.push((connection, ask));
    }
    let meter = Meter::start(node.pid())?;
    thread::scope(|scope| {
        let drive = |(mut connection, mut ask): (Connection, Ask)| {
            scope.spawn(move || (0..each).try_for_each(|_| ask(&mut connection)))
        };
        let threads: Vec<_> = work.into_iter().map(drive).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| died())?)
    })?;
    Ok(Asked { requests: each * u64::from(members), spent: meter.stop()? })
}

/// Waits until the group has a coordinator.
fn found(connection: &mut Connection, group: &str) -> Outcome<()> {
    let request = FindCoordinatorRequest::default().with_coordinator_keys(vec![text(group)]);
    until("the group has a coordinator", LIMIT, || {
        let answer = connection.ask(&request, 4)?;
        Ok(answer.coordinators.first().filter(|it| it.error_code == 0).map(|_| ()))
    })
}

/// Commits one partition's offset, and another one each time.
pub(crate) fn committer(_: &mut Connection, name: &str, topic: &str) -> Outcome<Ask> {
    let (name, topic) = (group(name), TopicName(text(topic)));
    let mut offset = 0;
    let mut commit = move |connection: &mut Connection| -> Outcome<i16> {
        offset += 1;
        let partition = OffsetCommitRequestPartition::default().with_committed_offset(offset);
        let topic = OffsetCommitRequestTopic::default()
            .with_name(topic.clone())
            .with_partitions(vec![partition]);
        let request = OffsetCommitRequest::default()
            .with_group_id(name.clone())
            .with_generation_id_or_member_epoch(-1)
            .with_topics(vec![topic]);
        let answer = connection.ask(&request, 8)?;
        let topic = answer.topics.first().ok_or("no answer for the topic")?;
        Ok(topic.partitions.first().ok_or("no answer for the partition")?.error_code)
    };
    let mut is_loaded = false;
    Ok(Box::new(move |connection| {
        if !is_loaded {
            until("a commit is taken", LIMIT, || Ok((commit(connection)? == 0).then_some(())))?;
            is_loaded = true;
        }
        accepted("commit", commit(connection)?)
    }))
}

/// The only member of a classic group.
pub(crate) fn classic(connection: &mut Connection, name: &str, _: &str) -> Outcome<Ask> {
    let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
    let mut join = JoinGroupRequest::default()
        .with_group_id(group(name))
        .with_session_timeout_ms(45_000)
        .with_rebalance_timeout_ms(60_000)
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol]);
    let generation = until("the group is joined", LIMIT, || {
        let answer = connection.ask(&join, 9)?;
        join.member_id = answer.member_id.clone();
        Ok((answer.error_code == 0).then_some(answer.generation_id))
    })?;
    let sync = SyncGroupRequest::default()
        .with_group_id(group(name))
        .with_generation_id(generation)
        .with_member_id(join.member_id.clone())
        .with_protocol_type(Some(text("consumer")))
        .with_protocol_name(Some(text("range")));
    accepted("sync", connection.ask(&sync, 5)?.error_code)?;
    let beat = HeartbeatRequest::default()
        .with_group_id(group(name))
        .with_generation_id(generation)
        .with_member_id(join.member_id);
    Ok(Box::new(move |connection| accepted("heartbeat", connection.ask(&beat, 4)?.error_code)))
}

/// The only member of a consumer group (KIP-848), which has all it is to have.
pub(crate) fn consumer(connection: &mut Connection, name: &str, topic: &str) -> Outcome<Ask> {
    let beat = ConsumerGroupHeartbeatRequest::default()
        .with_group_id(group(name))
        .with_member_id(text(&format!("{name}-member")))
        .with_subscribed_topic_names(None)
        .with_topic_partitions(None);
    let join = beat
        .clone()
        .with_rebalance_timeout_ms(60_000)
        .with_subscribed_topic_names(Some(vec![TopicName(text(topic))]))
        .with_topic_partitions(Some(Vec::new()));
    let joined = until("the group is joined", LIMIT, || {
        let answer = connection.ask(&join, 1)?;
        Ok((answer.error_code == 0).then_some(answer))
    })?;
    let beat = beat.with_member_epoch(joined.member_epoch).with_rebalance_timeout_ms(-1);
    Ok(Box::new(move |connection| accepted("heartbeat", connection.ask(&beat, 1)?.error_code)))
}
