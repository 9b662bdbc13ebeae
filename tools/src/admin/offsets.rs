//! Offsets of partitions by time, asked of their leaders.

use super::topics::{Described, name_of};
use crate::client::{Client, Refused, To};
use protocol::error::ErrorCode;
use protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use protocol::messages::{BrokerId, ListOffsetsRequest};
use std::collections::BTreeMap;

/// Kafka's numbers for what is no time.
pub(crate) const LATEST: i64 = -1;
pub(crate) const EARLIEST: i64 = -2;

/// A topic and the number of a partition.
pub(crate) type At = (String, i32);

/// Of each partition in `wanted` the first offset that is not before the time, or what else the
/// number asks for; -1 where there is none.
pub(crate) async fn list(
    client: &mut Client,
    topics: &[Described],
    wanted: &BTreeMap<At, i64>,
) -> Result<BTreeMap<At, Result<i64, Refused>>, Refused> {
    let mut found = BTreeMap::new();
    let mut by_leader: BTreeMap<i32, Vec<(&At, i64)>> = BTreeMap::new();
    for (at, time) in wanted {
        let topic = topics.iter().find(|topic| topic.name == at.0);
        let partition = topic.and_then(|topic| topic.partitions.iter().find(|it| it.index == at.1));
        match partition.map(|partition| partition.leader) {
            Some(Some(leader)) => by_leader.entry(leader).or_default().push((at, *time)),
            Some(None) => {
                found.insert(at.clone(), refused(ErrorCode::LeaderNotAvailable));
            }
            None => {
                found.insert(at.clone(), refused(ErrorCode::UnknownTopicOrPartition));
            }
        }
    }
    for (leader, asked) in by_leader {
        match ask(client, leader, &asked).await {
            Ok(offsets) => found.extend(offsets),
            Err(why) => {
                found.extend(asked.into_iter().map(|(at, _)| (at.clone(), Err(why.clone()))));
            }
        }
    }
    Ok(found)
}

fn refused(code: ErrorCode) -> Result<i64, Refused> {
    Refused::check(code.code(), None).map(|()| -1)
}

async fn ask(
    client: &mut Client,
    leader: i32,
    asked: &[(&At, i64)],
) -> Result<Vec<(At, Result<i64, Refused>)>, Refused> {
    let mut topics: BTreeMap<&str, Vec<ListOffsetsPartition>> = BTreeMap::new();
    for ((topic, partition), time) in asked {
        topics.entry(topic).or_default().push(
            ListOffsetsPartition::default()
                .with_partition_index(*partition)
                .with_current_leader_epoch(-1)
                .with_timestamp(*time),
        );
    }
    let topics = topics.into_iter().map(|(name, partitions)| {
        ListOffsetsTopic::default().with_name(name_of(name)).with_partitions(partitions)
    });
    let request = ListOffsetsRequest::default()
        .with_replica_id(BrokerId(-1))
        .with_topics(topics.collect())
        .with_timeout_ms(client.request_timeout_ms());
    // The highest time, the earliest offset kept here, and the last one copied away came with
    // versions 7, 8 and 9; an older broker would take the number for a time.
    let lowest = asked.iter().map(|(_, time)| *time).min().unwrap_or_default();
    let needed = match lowest {
        0.. | LATEST | EARLIEST => 1,
        -3 => 7,
        -4 => 8,
        -5 => 9,
        _ => 11,
    };
    let answer = client.ask_from(To::Node(leader), &request, needed).await;
    // A broker that is too old for the time-out has no field for it.
    let answer = match answer {
        Err(refused) if refused.code == ErrorCode::UnsupportedVersion && needed == 1 => {
            client.ask(To::Node(leader), &request.with_timeout_ms(0)).await?
        }
        answer => answer?,
    };
    let offsets = answer.topics.into_iter().flat_map(|topic| {
        let name = topic.name.to_string();
        topic.partitions.into_iter().map(move |it| {
            let offset = Refused::check(it.error_code, None).map(|()| it.offset);
            ((name.clone(), it.partition_index), offset)
        })
    });
    Ok(offsets.collect())
}
