//! Topics, listed and described.

use crate::client::{Client, Refused, To};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::describe_topic_partitions_request::{Cursor, TopicRequest};
use protocol::messages::metadata_request::MetadataRequestTopic;
use protocol::messages::{
    BrokerId, DescribeTopicPartitionsRequest, MetadataRequest, MetadataResponse, TopicName,
};
use std::collections::BTreeMap;

/// A topic as a list has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) id: Uuid,
    pub(crate) is_internal: bool,
}

/// A topic and its partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Described {
    pub(crate) name: String,
    /// Zero where the broker is too old to know.
    pub(crate) id: Uuid,
    /// In the order of their numbers.
    pub(crate) partitions: Vec<Partition>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) index: i32,
    /// None without one.
    pub(crate) leader: Option<i32>,
    pub(crate) replicas: Vec<i32>,
    pub(crate) isr: Vec<i32>,
    /// None where the broker was asked in a way that does not tell.
    pub(crate) elr: Option<Vec<i32>>,
    pub(crate) last_known_elr: Option<Vec<i32>>,
}

pub(crate) fn name_of(name: &str) -> TopicName {
    TopicName(super::text(name))
}

/// Every topic, in the order of the names.
pub(crate) async fn list(client: &mut Client) -> Result<Vec<Listed>, Refused> {
    let answer = client.ask(To::Anyone, &all_topics()).await?;
    let mut found: Vec<Listed> = (answer.topics.into_iter())
        .filter_map(|topic| {
            let name = topic.name?.to_string();
            Some(Listed { name, id: topic.topic_id.into(), is_internal: topic.is_internal })
        })
        .collect();
    found.sort_by(|low, high| low.name.cmp(&high.name));
    Ok(found)
}

fn all_topics() -> MetadataRequest {
    // Version 0 has it otherwise, but no broker of the last ten years needs that.
    MetadataRequest::default().with_topics(None).with_allow_auto_topic_creation(true)
}

/// Topics by their names, in the order of the names, asked for at most `limit` partitions at a
/// time.
pub(crate) async fn describe(
    client: &mut Client,
    names: &[String],
    limit: i32,
) -> Result<Vec<Described>, Refused> {
    let mut sorted = names.to_vec();
    sorted.sort();
    match describe_in_pages(client, &sorted, limit).await {
        Err(refused) if refused.code == ErrorCode::UnsupportedVersion => {
            let topics =
                sorted.iter().map(|name| by_name(name)).collect::<Vec<MetadataRequestTopic>>();
            describe_by(client, topics).await
        }
        described => described,
    }
}

async fn describe_in_pages(
    client: &mut Client,
    names: &[String],
    limit: i32,
) -> Result<Vec<Described>, Refused> {
    let topics: Vec<TopicRequest> =
        names.iter().map(|name| TopicRequest::default().with_name(name_of(name))).collect();
    let mut found: BTreeMap<String, Described> = BTreeMap::new();
    let mut cursor = None;
    loop {
        let request = DescribeTopicPartitionsRequest::default()
            .with_topics(topics.clone())
            .with_response_partition_limit(limit)
            .with_cursor(cursor);
        let answer = client.ask(To::Anyone, &request).await?;
        for topic in answer.topics {
            Refused::check(topic.error_code, None)?;
            let name = topic.name.map(|name| name.to_string()).unwrap_or_default();
            let into = found.entry(name.clone()).or_insert_with(|| Described {
                name,
                id: topic.topic_id.into(),
                partitions: Vec::new(),
            });
            into.partitions.extend(topic.partitions.into_iter().map(|it| Partition {
                index: it.partition_index,
                leader: leader(it.leader_id),
                replicas: ids(&it.replica_nodes),
                isr: ids(&it.isr_nodes),
                elr: Some(ids(&it.eligible_leader_replicas.unwrap_or_default())),
                last_known_elr: Some(ids(&it.last_known_elr.unwrap_or_default())),
            }));
        }
        cursor = match answer.next_cursor {
            None => break,
            Some(next) => Some(
                Cursor::default()
                    .with_topic_name(next.topic_name)
                    .with_partition_index(next.partition_index),
            ),
        };
    }
    Ok(in_order(found.into_values().collect()))
}

fn by_name(name: &str) -> MetadataRequestTopic {
    MetadataRequestTopic::default().with_name(Some(name_of(name)))
}

/// A topic by its id.
pub(crate) async fn describe_id(client: &mut Client, id: Uuid) -> Result<Vec<Described>, Refused> {
    let topic = MetadataRequestTopic::default().with_name(None).with_topic_id(id.into());
    describe_by(client, vec![topic]).await
}

async fn describe_by(
    client: &mut Client,
    topics: Vec<MetadataRequestTopic>,
) -> Result<Vec<Described>, Refused> {
    let request = MetadataRequest::default().with_topics(Some(topics));
    let judge = |answer: &MetadataResponse| {
        answer.topics.iter().try_for_each(|topic| Refused::check(topic.error_code, None))
    };
    let answer = client.ask_until(To::Anyone, &request, judge).await?;
    let described = answer.topics.into_iter().map(|topic| Described {
        name: topic.name.map(|name| name.to_string()).unwrap_or_default(),
        id: topic.topic_id.into(),
        partitions: (topic.partitions.into_iter())
            .map(|it| Partition {
                index: it.partition_index,
                leader: leader(it.leader_id),
                replicas: ids(&it.replica_nodes),
                isr: ids(&it.isr_nodes),
                elr: None,
                last_known_elr: None,
            })
            .collect(),
    });
    Ok(in_order(described.collect()))
}

fn in_order(mut topics: Vec<Described>) -> Vec<Described> {
    topics.sort_by(|low, high| low.name.cmp(&high.name));
    for topic in &mut topics {
        topic.partitions.sort_by_key(|partition| partition.index);
    }
    topics
}

fn leader(id: BrokerId) -> Option<i32> {
    Some(id.0).filter(|id| 0 <= *id)
}

fn ids(ids: &[BrokerId]) -> Vec<i32> {
    ids.iter().map(|id| id.0).collect()
}
