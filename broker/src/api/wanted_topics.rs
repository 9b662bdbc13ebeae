//! Making the topics that the configuration names, at the start.

use super::context::Ctx;
use super::internal_topics::{create, text};
use protocol::config::start::TopicWanted;
use protocol::config::topic::TopicConfig;
use protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use tracing::info;

/// Has those made that are missing. What cannot be beside the topics that there are is logged, and
/// the broker goes on.
pub async fn make_wanted_topics(ctx: &Ctx) {
    let config = ctx.config.load();
    let wanted = config.values.start.create_topics.iter().filter_map(|it| TopicWanted::parse(it));
    let image = ctx.image();
    let missing: Vec<TopicWanted> =
        wanted.filter(|topic| image.topic(&topic.name).is_none()).collect();
    // One by one: a bad one takes none of the others with it.
    for topic in missing {
        if create(ctx, vec![creatable(&topic)]).await {
            info!("Topic {} is there, as highwater.create.topics wants it", topic.name);
        }
    }
}

/// With one replica for each broker at most: here that is one.
fn creatable(topic: &TopicWanted) -> CreatableTopic {
    let policy = topic.cleanup_policy.as_deref().map(|policy| {
        CreatableTopicConfig::default()
            .with_name(text(TopicConfig::cleanup_policy().name))
            .with_value(Some(text(policy)))
    });
    CreatableTopic::default()
        .with_name(text(&topic.name).into())
        .with_num_partitions(topic.partitions)
        .with_replication_factor(1)
        .with_configs(policy.into_iter().collect())
}
