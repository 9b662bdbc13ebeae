//! All that a page of metrics is made from, at one moment.

use super::super::census::{self, Group, Listed};
use super::super::desk::Desk;
use super::super::readings::Means;
use super::lags::Lags;
use super::samples::{Labels, Samples};
use super::spot::Spot;
use crate::api::Ctx;
use crate::metrics::requests::Seen;
use crate::metrics::{State, Traffic};
use kraft::image::Image;
use kraft::node::QuorumInfo;
use protocol::messages::ApiKey;
use std::collections::BTreeMap;
use std::fmt::Display;
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
    pub(super) spots: Vec<Spot>,
    /// Of each topic, and first, without a label, of all together.
    pub(super) traffic: Vec<(Labels, Traffic)>,
    pub(super) quorum: Option<QuorumInfo>,
    pub(super) requests: BTreeMap<ApiKey, Seen>,
    /// Those of the last minute.
    pub(super) means: Means,
    /// None while a coordinator is loading.
    pub(super) groups: Option<Vec<(Listed, Group)>>,
    pub(super) lags: Lags,
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
        let image = ctx.image();
        Shot {
            spots: Spot::all(&ctx, &image),
            image,
            traffic: traffic(&ctx),
            quorum: ctx.controller.as_ref().map(|node| node.quorum()),
            requests: ctx.metrics.requests.seen(),
            means: desk.readings.means(now, &ctx),
            lags: Lags::of(&ctx, groups.as_deref().unwrap_or_default()),
            groups,
            ctx,
        }
    }

    /// How many partitions of the cluster are so.
    pub(super) fn count(&self, judge: impl Fn(&Spot) -> bool) -> usize {
        self.spots.iter().filter(|spot| judge(spot)).count()
    }

    /// A value of each partition that has one.
    pub(super) fn each<T: Display>(&self, samples: &mut Samples, of: fn(&Spot) -> Option<T>) {
        for spot in &self.spots {
            if let Some(value) = of(spot) {
                samples.put(&spot.labels, value);
            }
        }
    }
}

fn traffic(ctx: &Ctx) -> Vec<(Labels, Traffic)> {
    let topics = ctx.partitions.topics();
    let topics = topics.iter().map(|it| (Labels::of("topic", &[&it.name]), census::traffic(it)));
    std::iter::once((Labels::NONE, census::total_traffic(ctx))).chain(topics).collect()
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
