//! Topics: made before a step, and counted after it.

use crate::Outcome;
use crate::connection::{Connection, accepted};
use protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use protocol::messages::metadata_request::MetadataRequestTopic;
use protocol::messages::{
    BrokerId, CreateTopicsRequest, ListOffsetsRequest, MetadataRequest, StrBytes, TopicName,
};
use std::thread;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(120);
const LATEST: i64 = -1;

fn name(topic: &str) -> TopicName {
    TopicName(StrBytes::from_string(topic.to_owned()))
}

/// Asks every few milliseconds until there is an answer. A connection that fails is an answer to
/// come: the broker may be starting.
pub(crate) fn until<T>(
    what: &str,
    limit: Duration,
    mut ask: impl FnMut() -> Outcome<Option<T>>,
) -> Outcome<T> {
    let end = Instant::now() + limit;
    loop {
        let last = ask();
        match last {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) if end <= Instant::now() => {
                return Err(format!("{what}: not within {limit:?}").into());
            }
            Err(error) if end <= Instant::now() => {
                return Err(format!("{what}: not within {limit:?}: {error}").into());
            }
            Ok(None) | Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Creates a topic of one replica, and waits until each partition answers.
pub(crate) fn create(
    port: u16,
    topic: &str,
    partitions: i32,
    configs: &[(&str, &str)],
) -> Outcome<()> {
    let text = |text: &str| StrBytes::from_string(text.to_owned());
    let config = |&(key, value): &(&str, &str)| {
        CreatableTopicConfig::default().with_name(text(key)).with_value(Some(text(value)))
    };
    let wanted = CreatableTopic::default()
        .with_name(name(topic))
        .with_num_partitions(partitions)
        .with_replication_factor(1)
        .with_configs(configs.iter().map(config).collect());
    let request = CreateTopicsRequest::default().with_topics(vec![wanted]).with_timeout_ms(120_000);
    let response = Connection::open(port)?.ask(&request, 5)?;
    let created = response.topics.first().ok_or("no answer for the topic")?;
    accepted(&format!("create {topic}"), created.error_code)?;
    until(
        "each partition has a leader",
        LIMIT,
        || Ok(led(port, topic, partitions)?.then_some(())),
    )?;
    count(port, topic, partitions).map(|_| ())
}

fn led(port: u16, topic: &str, partitions: i32) -> Outcome<bool> {
    let wanted = MetadataRequestTopic::default().with_name(Some(name(topic)));
    let request = MetadataRequest::default().with_topics(Some(vec![wanted]));
    let response = Connection::open(port)?.ask(&request, 9)?;
    let found = response.topics.first().ok_or("no answer for the topic")?;
    let led = found.partitions.iter().filter(|it| it.error_code == 0 && 0 <= it.leader_id.0);
    Ok(i32::try_from(led.count())? == partitions)
}

/// How many records the partitions hold by their offsets; none while a partition gives no answer.
fn held(port: u16, topic: &str, partitions: i32) -> Outcome<Option<i64>> {
    let partition =
        |index| ListOffsetsPartition::default().with_partition_index(index).with_timestamp(LATEST);
    let wanted = ListOffsetsTopic::default()
        .with_name(name(topic))
        .with_partitions((0..partitions).map(partition).collect());
    let request =
        ListOffsetsRequest::default().with_replica_id(BrokerId(-1)).with_topics(vec![wanted]);
    let response = Connection::open(port)?.ask(&request, 5)?;
    let found = response.topics.first().ok_or("no answer for the topic")?;
    let bad = found.partitions.iter().any(|it| it.error_code != 0);
    let complete = i32::try_from(found.partitions.len())? == partitions;
    Ok((complete && !bad).then(|| found.partitions.iter().map(|it| it.offset).sum()))
}

/// Waits until each partition says where it ends; how many records that makes.
pub(crate) fn count(port: u16, topic: &str, partitions: i32) -> Outcome<i64> {
    until("each partition answers", LIMIT, || held(port, topic, partitions))
}

/// Waits until the partitions hold `records` records.
pub(crate) fn await_records(port: u16, topic: &str, partitions: i32, records: i64) -> Outcome<()> {
    let mut seen = None;
    let found = until("every record is there", LIMIT, || {
        seen = held(port, topic, partitions)?;
        Ok(seen.filter(|&seen| records <= seen))
    });
    match found {
        Ok(found) if found == records => Ok(()),
        Ok(found) => Err(format!("{topic} holds {found} records of {records}").into()),
        Err(error) => Err(format!("{topic}: {seen:?} of {records} records: {error}").into()),
    }
}

/// Whether a broker says that it serves.
pub(crate) fn serves(port: u16) -> Outcome<Option<()>> {
    let request = MetadataRequest::default().with_topics(Some(Vec::new()));
    let response = Connection::open(port)?.ask(&request, 9)?;
    Ok((!response.brokers.is_empty()).then_some(()))
}
