//! What a change of the metadata means to consumer groups: their next heartbeat looks at their
//! topics again, and raises the epoch if these are other ones now.

use crate::coordinator::Moment;
use crate::group::state::{Group, State};
use kraft::image::Image;
use protocol::ids::TopicName;
use std::collections::BTreeSet;

impl State {
    pub(in crate::group) fn consumer_image_changed(&mut self, moment: &Moment<'_>, old: &Image) {
        let changed = changed_topics(old, moment.image);
        if changed.is_empty() {
            return;
        }
        let changed = changed.iter().map(|name| &**name).collect();
        for group in self.groups.values_mut() {
            let Group::Consumer(group) = group else { continue };
            if group.is_subscribed_to_any(&changed) {
                group.look_again();
            }
        }
    }
}

/// Topics that came, went, or have other partitions or replicas.
fn changed_topics(old: &Image, new: &Image) -> BTreeSet<TopicName> {
    let delta = old.delta_to(new);
    let whole = delta.topics_created.into_iter().chain(delta.topics_deleted);
    let parts = delta.partitions.into_iter().map(|it| it.topic);
    whole.map(|(name, _)| name).chain(parts).collect()
}
