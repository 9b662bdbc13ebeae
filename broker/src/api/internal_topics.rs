//! Making the topics that the brokers keep for themselves, when somebody first needs them.

use super::context::Ctx;
use super::forward;
use crate::coordinator::Machine;
use crate::group::GroupMachine;
use kraft::image::Image;
use protocol::config::offsets_topic::OffsetsTopicConfig;
use protocol::config::topic::TopicConfig;
use protocol::error::ErrorCode;
use protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use protocol::messages::{CreateTopicsRequest, StrBytes, TopicName};

/// The topic of groups and their offsets.
pub(super) const OFFSETS: &str = GroupMachine::TOPIC;

/// A topic to be made because a client asked for it: an internal one as its coordinator needs it
/// (`CoordinatorService.groupMetadataTopicConfigs` and its like in Kafka), others by the broker's
/// defaults.
pub(super) fn on_demand(ctx: &Ctx, name: TopicName) -> CreatableTopic {
    match name.as_str() {
        OFFSETS => offsets(&ctx.config.load().values.offsets_topic, &ctx.image()),
        _ => CreatableTopic::default()
            .with_name(name)
            .with_num_partitions(-1)
            .with_replication_factor(-1),
    }
}

fn offsets(config: &OffsetsTopicConfig, image: &Image) -> CreatableTopic {
    let set = |key: &str, value: &str| {
        CreatableTopicConfig::default().with_name(text(key)).with_value(Some(text(value)))
    };
    CreatableTopic::default()
        .with_name(text(OFFSETS).into())
        .with_num_partitions(config.num_partitions)
        .with_replication_factor(replicas(config.replication_factor, image))
        .with_configs(vec![
            set(TopicConfig::cleanup_policy().name, "compact"),
            set(TopicConfig::compression_type().name, "producer"),
            set(TopicConfig::segment_bytes().name, &config.segment_bytes.to_string()),
        ])
}

/// As many as are wanted, or as there are brokers: a cluster of one would have no groups else.
fn replicas(wanted: i16, image: &Image) -> i16 {
    let live = image.brokers().values().filter(|broker| !broker.fenced).count();
    i16::try_from(live).map_or(wanted, |live| wanted.min(live.max(1)))
}

pub(super) fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// Has the controller make `topics`; whether all are there now, or will be in a moment because
/// another client was faster. What is not made is logged.
pub(super) async fn create(ctx: &Ctx, topics: Vec<CreatableTopic>) -> bool {
    let request = CreateTopicsRequest::default().with_topics(topics);
    let Ok(response) = forward::ask(ctx, request).await else { return false };
    let harmless = [ErrorCode::None.code(), ErrorCode::TopicAlreadyExists.code()];
    let mut all = true;
    for topic in response.topics.iter().filter(|topic| !harmless.contains(&topic.error_code)) {
        let why = topic.error_message.as_deref().unwrap_or_default();
        tracing::warn!("Topic {} was not created: {why}", topic.name.as_str());
        all = false;
    }
    all
}
