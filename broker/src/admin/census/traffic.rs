//! What goes through topics.

use crate::api::Ctx;
use crate::metrics::Traffic;
use crate::partition::Topic;

/// Of the partitions of `topic` that are open here.
pub(in crate::admin) fn traffic(topic: &Topic) -> Traffic {
    let open = topic.partitions().filter_map(|(_, place)| place.open());
    open.map(|partition| partition.traffic.get()).sum()
}

/// Of all topics, those that have gone too: it never falls.
pub(in crate::admin) fn total_traffic(ctx: &Ctx) -> Traffic {
    ctx.dirs.iter().map(|dir| dir.traffic.get()).sum()
}
