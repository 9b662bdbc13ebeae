//! What one group is told: its own overrides over the broker's.

use crate::coordinator::Moment;
use kraft::image::ConfigResource;
use protocol::config::group::ConsumerGroupConfig;

/// The values in force for a consumer group, as `kafka-configs --entity-type groups` sets them.
pub(super) fn group_config(moment: &Moment<'_>, group: &str) -> ConsumerGroupConfig {
    let overrides = moment.image.config(&ConfigResource::group(group));
    moment.config.consumer_group(overrides.map_or(&Default::default(), |it| it))
}
