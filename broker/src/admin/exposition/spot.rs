//! A partition as the metadata and this broker have it.

use super::samples::Labels;
use crate::api::Ctx;
use crate::partition::Partition;
use kraft::image::{ConfigResource, Image, NO_LEADER, Partition as Placed};
use std::sync::Arc;

/// See the module.
pub(super) struct Spot {
    /// `topic` and `partition`
    pub(super) labels: Labels,
    placed: Arc<Placed>,
    min_isr: usize,
    /// Where it is here, and can be used.
    pub(super) open: Option<Arc<Partition>>,
    /// One of its replicas is this broker's.
    pub(super) is_here: bool,
    /// This broker leads it.
    pub(super) leads: bool,
}

impl Spot {
    /// Every partition of the cluster.
    pub(super) fn all(ctx: &Ctx, image: &Image) -> Vec<Spot> {
        let config = ctx.config.load();
        let least = |isr: i32| usize::try_from(isr).unwrap_or(1);
        let mut all = Vec::new();
        for topic in image.topics().values() {
            let name = topic.name.as_str();
            let min_isr = match image.config(&ConfigResource::topic(name)) {
                None => least(config.values.topic.min_insync_replicas),
                Some(overrides) => least(config.topic(overrides).min_insync_replicas),
            };
            let hosted = ctx.partitions.topic(name);
            all.extend(topic.partitions.iter().map(|(number, placed)| {
                Spot {
                    labels: Labels::of("topic partition", &[&name, number]),
                    placed: Arc::clone(placed),
                    min_isr,
                    open: hosted
                        .as_ref()
                        .and_then(|topic| topic.partition(*number)?.open().cloned())
                        .filter(|partition| partition.dir.failure().is_none()),
                    is_here: placed.has_replica(ctx.node_id),
                    leads: placed.leader == ctx.node_id,
                }
            }));
        }
        all
    }

    pub(super) fn leader(&self) -> Option<i32> {
        Some(self.placed.leader).filter(|leader| *leader != NO_LEADER)
    }

    pub(super) fn replicas(&self) -> usize {
        self.placed.replicas.len()
    }

    pub(super) fn in_sync(&self) -> usize {
        self.placed.isr.len()
    }

    pub(super) fn is_under_replicated(&self) -> bool {
        self.in_sync() < self.replicas()
    }

    /// A topic of fewer replicas than the configuration asks for has all that it can have.
    fn least(&self) -> usize {
        self.min_isr.min(self.replicas())
    }

    pub(super) fn is_under_min_isr(&self) -> bool {
        self.in_sync() < self.least()
    }

    pub(super) fn is_at_min_isr(&self) -> bool {
        self.in_sync() == self.least()
    }

    pub(super) fn leader_is_preferred(&self) -> bool {
        self.placed.replicas.first() == Some(&self.placed.leader)
    }

    /// Its replicas are being moved.
    pub(super) fn moves(&self) -> bool {
        !self.placed.adding_replicas.is_empty() || !self.placed.removing_replicas.is_empty()
    }
}
