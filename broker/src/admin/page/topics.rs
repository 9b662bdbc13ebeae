//! `/api/topics`: every topic, and one with its partitions and configs.

use crate::api::Ctx;
use crate::metadata::is_internal;
use crate::partition::{Partition, Topic as Hosted};
use kraft::image::{ConfigResource, Image, NO_LEADER, Partition as Placed, Topic};
use protocol::config::describe::{Entry, Source};
use protocol::config::{TOPIC, find};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(super) fn all(ctx: &Ctx) -> Value {
    let image = ctx.image();
    let topics = image.topics().values().map(|topic| Value::Object(summary(ctx, topic)));
    json!({ "topics": topics.collect::<Vec<_>>() })
}

/// None: there is no such topic.
pub(super) fn one(ctx: &Ctx, name: &str) -> Option<Value> {
    let image = ctx.image();
    let topic = image.topic(name)?;
    let mut page = summary(ctx, topic);
    let hosted = ctx.partitions.topic(name);
    let partitions = topic.partitions.iter().map(|(number, placed)| {
        let open = hosted.as_ref().and_then(|it| it.partition(*number)?.open());
        partition(*number, placed, open)
    });
    page.insert("partitions".to_owned(), partitions.collect());
    page.insert("configs".to_owned(), configs(ctx, &image, name));
    Some(Value::Object(page))
}

fn summary(ctx: &Ctx, topic: &Topic) -> Map<String, Value> {
    let hosted = ctx.partitions.topic(topic.name.as_str());
    let open = hosted.iter().flat_map(|topic: &Arc<Hosted>| topic.partitions());
    let (mut bytes, mut messages) = (0_u64, 0_i64);
    for partition in open.filter_map(|(_, place)| place.open()) {
        let log = partition.log();
        bytes = bytes.saturating_add(log.size_bytes());
        messages = messages.saturating_add(log.high_watermark() - log.log_start());
    }
    let count = |judge: fn(&Placed) -> bool| {
        topic.partitions.values().filter(|placed| judge(placed)).count()
    };
    let first = topic.partitions.values().next();
    let page = json!({
        "name": topic.name.as_str(),
        "id": topic.id.to_string(),
        "internal": is_internal(topic.name.as_str()),
        "partitions": topic.partitions.len(),
        "replicationFactor": first.map_or(0, |placed| placed.replicas.len()),
        "bytes": bytes,
        "messages": messages,
        "underReplicated": count(|placed| placed.isr.len() < placed.replicas.len()),
        "offline": count(|placed| placed.leader == NO_LEADER),
    });
    if let Value::Object(page) = page { page } else { Map::new() }
}

fn partition(number: i32, placed: &Placed, open: Option<&Arc<Partition>>) -> Value {
    let log = open.map(|partition| partition.log());
    json!({
        "partition": number,
        "leader": (placed.leader != NO_LEADER).then_some(placed.leader),
        "leaderEpoch": placed.leader_epoch,
        "replicas": placed.replicas,
        "isr": placed.isr,
        "offline": placed.leader == NO_LEADER,
        "startOffset": log.map(|log| log.log_start()),
        "endOffset": log.map(|log| log.high_watermark()),
        "bytes": log.map(|log| log.size_bytes()),
        "segments": log.map(|log| log.segment_count()),
        "logDir": open.map(|partition| partition.dir.path.display().to_string()),
    })
}

/// What somebody said for the topic, and what was said for all of them and is not the default.
fn configs(ctx: &Ctx, image: &Image, name: &str) -> Value {
    let overrides = image.config(&ConfigResource::topic(name)).cloned().unwrap_or_default();
    let entries = ctx.config.load().describe_topic(&overrides);
    let differs = |entry: &Entry| {
        let default = find(TOPIC, &entry.name).and_then(|key| key.default);
        entry.source == Source::Topic || !entry.is_default() && entry.value.as_deref() != default
    };
    let said = entries.into_iter().filter(differs).map(|entry| {
        let source = match entry.source {
            Source::Topic => "topic",
            Source::Group => "group",
            Source::DynamicBroker => "broker",
            Source::DynamicDefaultBroker => "all brokers",
            Source::StaticBroker => "file",
            Source::Default => "default",
        };
        json!({ "name": entry.name, "value": entry.value, "source": source })
    });
    said.collect()
}
