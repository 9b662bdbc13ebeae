//! What one group is told: its own overrides over the broker's.

use crate::coordinator::Moment;
use kraft::image::ConfigResource;
use protocol::config::group::ConsumerGroupConfig;

/// The values in force for a consumer group, as `kafka-configs --entity-type groups` sets them.
pub(super) fn group_config(moment: &Moment<'_>, group: &str) -> ConsumerGroupConfig {
    if let Some(overrides) = moment.image.config(&ConfigResource::group(group)) {
        return moment.config.consumer_group(overrides);
    }
    // Nothing to parse: this is asked with every heartbeat.
    let coordinator = &moment.config.values.coordinator;
    ConsumerGroupConfig {
        assignment_interval_ms: coordinator.consumer_assignment_interval_ms,
        heartbeat_interval_ms: coordinator.consumer_heartbeat_interval_ms,
        session_timeout_ms: coordinator.consumer_session_timeout_ms,
    }
}
