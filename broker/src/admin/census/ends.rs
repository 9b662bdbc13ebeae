//! Where the partitions of a topic end, as a consumer sees it.

use crate::api::Ctx;
use std::collections::BTreeMap;

/// The high watermark of each partition of `topic` that is open here, which is what
/// `kafka-consumer-groups` calls its log end.
pub(in crate::admin) fn ends(ctx: &Ctx, topic: &str) -> BTreeMap<i32, i64> {
    let topic = ctx.partitions.topic(topic);
    let places = topic.iter().flat_map(|topic| topic.partitions());
    let open = places.filter_map(|(number, place)| Some((number, place.open()?)));
    open.map(|(number, partition)| (number, partition.log().high_watermark())).collect()
}
