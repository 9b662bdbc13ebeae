//! All that a page of metrics is made from, at one moment.

use super::super::census::{self, Group, Listed};
use super::super::desk::Desk;
use super::super::readings::Means;
use crate::api::Ctx;
use crate::metrics::requests::Seen;
use crate::metrics::{State, Traffic};
use crate::partition::{Partition, Topic};
use kraft::image::{ConfigResource, Image, Partition as Placed};
use kraft::node::QuorumInfo;
use protocol::ids::TopicName;
use protocol::messages::ApiKey;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use storage::disk::Disk;
use tokio::task::yield_now;

/// See the module.
pub(super) struct Scene {
    pub(super) state: State,
    pub(super) started_ms: i64,
    pub(super) disk: Arc<dyn Disk>,
    /// None while the broker starts or stops.
    pub(super) broker: Option<Shot>,
}

/// The broker.
pub(super) struct Shot {
    pub(super) ctx: Arc<Ctx>,
    pub(super) image: Arc<Image>,
    pub(super) hosted: Vec<Arc<Topic>>,
    pub(super) quorum: Option<QuorumInfo>,
    pub(super) requests: BTreeMap<ApiKey, Seen>,
    /// Those of the last minute.
    pub(super) means: Means,
    /// None while a coordinator is loading.
    pub(super) groups: Option<Vec<(Listed, Group)>>,
    /// Where each topic that a group reads ends.
    pub(super) ends: BTreeMap<String, BTreeMap<i32, i64>>,
}

/// A partition as the metadata and this broker have it.
pub(super) struct Spot<'a> {
    pub(super) topic: &'a TopicName,
    pub(super) number: i32,
    pub(super) placed: &'a Placed,
    pub(super) min_isr: usize,
    pub(super) open: Option<&'a Arc<Partition>>,
}

impl Scene {
    pub(super) async fn of(desk: &Arc<Desk>) -> Scene {
        let broker = match desk.broker() {
            Some(ctx) => Some(Shot::of(desk, ctx).await),
            None => None,
        };
        Scene {
            state: desk.metrics.state.get(),
            started_ms: desk.started_ms,
            disk: Arc::clone(&desk.env.disk),
            broker,
        }
    }

    /// A page of the kernel's about this process.
    pub(super) fn of_kernel(&self, path: &str) -> Option<String> {
        // It does not say how long it is.
        let (file, mut page) = (self.disk.open(Path::new(path)).ok()?, vec![0; 16 << 10]);
        let read = file.read_at(0, &mut page).ok()?;
        page.truncate(read);
        String::from_utf8(page).ok()
    }
}

impl Shot {
    async fn of(desk: &Desk, ctx: Arc<Ctx>) -> Shot {
        let now = ctx.env.clock.monotonic();
        let groups = groups(&ctx).await;
        let read = groups.iter().flatten().flat_map(|(_, group)| group.committed.keys());
        let ends = read.map(|topic| (topic.clone(), census::ends(&ctx, topic))).collect();
        Shot {
            image: ctx.image(),
            hosted: ctx.partitions.topics(),
            quorum: ctx.controller.as_ref().map(|node| node.quorum()),
            requests: ctx.metrics.requests.seen(now),
            means: desk.readings.means(now, &ctx),
            groups,
            ends,
            ctx,
        }
    }

    /// Of all topics, those that have gone too.
    pub(super) fn total(&self) -> Traffic {
        self.ctx.dirs.iter().map(|dir| dir.traffic.get()).sum()
    }

    /// What every partition of the cluster says.
    pub(super) fn spots(&self, mut see: impl FnMut(Spot<'_>)) {
        let config = self.ctx.config.load();
        let least = |isr: i32| usize::try_from(isr).unwrap_or(1);
        for topic in self.image.topics().values() {
            let overrides = self.image.config(&ConfigResource::topic(topic.name.as_str()));
            let min_isr = match overrides {
                None => least(config.values.topic.min_insync_replicas),
                Some(overrides) => least(config.topic(overrides).min_insync_replicas),
            };
            let hosted = self.ctx.partitions.topic(topic.name.as_str());
            for (number, placed) in topic.partitions.iter() {
                let place = hosted.as_ref().and_then(|topic| topic.partition(*number));
                let open = place.and_then(|place| place.open());
                let (topic, number) = (&topic.name, *number);
                see(Spot { topic, number, placed, min_isr, open });
            }
        }
    }

    pub(super) fn spots_that(&self, judge: impl Fn(&Spot<'_>) -> bool) -> usize {
        let mut count = 0;
        self.spots(|spot| count += usize::from(judge(&spot)));
        count
    }
}

impl Spot<'_> {
    pub(super) fn is_under_replicated(&self) -> bool {
        self.placed.isr.len() < self.placed.replicas.len()
    }

    /// A topic of fewer replicas than the configuration asks for has all that it can have.
    fn least(&self) -> usize {
        self.min_isr.min(self.placed.replicas.len())
    }

    pub(super) fn is_under_min_isr(&self) -> bool {
        self.placed.isr.len() < self.least()
    }

    pub(super) fn is_at_min_isr(&self) -> bool {
        self.placed.isr.len() == self.least()
    }

    pub(super) fn leader_is_preferred(&self) -> bool {
        self.placed.replicas.first() == Some(&self.placed.leader)
    }
}

async fn groups(ctx: &Ctx) -> Option<Vec<(Listed, Group)>> {
    let mut groups = Vec::new();
    for listed in census::list(ctx).await.ok()? {
        // One whose coordinator goes meanwhile is asked for elsewhere.
        let Ok(group) = census::details(ctx, &listed).await else { continue };
        groups.push((listed, group));
        yield_now().await; // There may be many, and clients share this thread.
    }
    Some(groups)
}
