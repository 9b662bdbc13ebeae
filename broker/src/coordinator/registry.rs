//! Coordinator: the shards of one internal topic that are here, found by what they keep.

use super::asked::Asked;
use super::machine::Machine;
use super::placement::partition_of;
use super::scene::Scene;
use super::shard::Shard;
use crate::config::DynamicConfig;
use crate::partition::{Partition, Table};
use arc_swap::ArcSwap;
use kraft::env::Env;
use kraft::image::Image;
use parking_lot::Mutex;
use protocol::error::ErrorCode;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinSet;

/// Shards that load at a time: they share the disks, and the blocking pool, with clients.
const LOADS_MAX: usize = 2;

/// All that a coordinator needs, and does not own.
#[derive(Clone, Debug)]
pub struct World {
    pub env: Env,
    pub config: DynamicConfig,
    pub table: Arc<Table>,
}

/// See the module.
#[derive(Debug)]
pub struct Coordinator<M: Machine> {
    world: World,
    shards: ArcSwap<Shards<M>>,
    loads: Arc<Semaphore>,
    tasks: Mutex<JoinSet<()>>,
    /// Of the metadata image that the shards follow.
    followed: watch::Sender<i64>,
    is_closed: AtomicBool,
}

/// Readers take those of the moment; the task that follows the metadata makes new ones.
#[derive(Debug)]
struct Shards<M: Machine> {
    /// Of the topic, wherever they are led; 0: there is no topic.
    partitions: i32,
    here: BTreeMap<i32, Arc<Shard<M>>>,
    /// Shards that were ended and may not know it yet: the next of the same partition waits for
    /// them.
    leaving: BTreeMap<i32, Weak<Shard<M>>>,
}

impl<M: Machine> Default for Shards<M> {
    fn default() -> Shards<M> {
        Shards { partitions: 0, here: BTreeMap::new(), leaving: BTreeMap::new() }
    }
}

impl<M: Machine> Coordinator<M> {
    pub fn new(world: World) -> Arc<Coordinator<M>> {
        Arc::new(Coordinator {
            world,
            shards: ArcSwap::default(),
            loads: Arc::new(Semaphore::new(LOADS_MAX)),
            tasks: Mutex::default(),
            followed: watch::Sender::new(-1),
            is_closed: AtomicBool::new(false),
        })
    }

    /// Asks the shard that keeps `id`. Among the errors are NOT_COORDINATOR,
    /// COORDINATOR_LOAD_IN_PROGRESS, and COORDINATOR_NOT_AVAILABLE where the topic is not there or
    /// the broker stops.
    pub fn ask(&self, id: &str, request: M::Request) -> Asked<M::Reply> {
        let shards = self.shards.load();
        let Some(number) = partition_of(id, shards.partitions).filter(|_| !self.is_closed()) else {
            return Asked::Now(Err(ErrorCode::CoordinatorNotAvailable));
        };
        match shards.here.get(&number) {
            Some(shard) => ask(shard, request),
            None => Asked::Now(Err(ErrorCode::NotCoordinator)),
        }
    }

    /// Asks every shard that is here, and waits for all. One that goes meanwhile, or could not be
    /// loaded, keeps nothing here and is passed over, as in Kafka (`GroupCoordinatorService.listGroups`).
    pub async fn ask_all(
        &self,
        request: impl Fn() -> M::Request,
    ) -> Result<Vec<M::Reply>, ErrorCode> {
        if self.is_closed() {
            return Err(ErrorCode::CoordinatorNotAvailable);
        }
        let asked: Vec<_> =
            self.shards.load().here.values().map(|shard| ask(shard, request())).collect();
        let mut replies = Vec::with_capacity(asked.len());
        for asked in asked {
            match asked.reply().await {
                Err(ErrorCode::NotCoordinator) => {}
                said => replies.push(said?),
            }
        }
        Ok(replies)
    }

    /// Follows the metadata, always behind the partitions, until `images` ends.
    pub async fn follow(&self, mut images: watch::Receiver<Arc<Image>>) {
        let mut returned = self.world.table.returned();
        loop {
            let image = Arc::clone(&images.borrow_and_update());
            self.world.table.when_applied(image.offset).await;
            self.apply(&image);
            let changed = tokio::select! {
                biased;
                changed = images.changed() => changed,
                changed = returned.changed() => changed,
            };
            if changed.is_err() {
                return;
            }
        }
    }

    /// Waits until the shards have followed the metadata up to `offset`: whoever created the topic
    /// then finds them here.
    pub async fn when_followed(&self, offset: i64) {
        let mut followed = self.followed.subscribe();
        // The sender is ours, so it cannot be gone.
        let _at = followed.wait_for(|at| offset <= *at).await.is_ok();
    }

    /// Starts and ends shards as partitions come and go, and tells the others what has changed.
    /// Only one task may call it.
    pub fn apply(&self, image: &Arc<Image>) {
        if self.is_closed() {
            return;
        }
        let led = self.led();
        let old = self.shards.load_full();
        let mut leaving = old.leaving.clone();
        leaving.retain(|_, shard| 0 < shard.strong_count());
        let mut here = BTreeMap::new();
        for (number, (partition, epoch)) in led {
            let there = old.here.get(&number);
            let shard = match there.filter(|shard| shard.is_of(&partition, epoch)) {
                Some(shard) => Arc::clone(shard),
                None => {
                    let leaving = || leaving.get(&number).and_then(Weak::upgrade);
                    let before = there.map(Arc::clone).or_else(leaving);
                    self.start(partition, epoch, image, before)
                }
            };
            here.insert(number, shard);
        }
        let is_here = |(number, shard): &(&i32, &Arc<Shard<M>>)| {
            here.get(*number).is_some_and(|it| Arc::ptr_eq(it, shard))
        };
        let ended = old.here.iter().filter(|it| !is_here(it));
        leaving.extend(ended.map(|(number, shard)| (*number, Arc::downgrade(shard))));
        let topic = image.topic(M::TOPIC).map_or(0, |topic| topic.partitions.len());
        let partitions = i32::try_from(topic).unwrap_or(0);
        let new = Arc::new(Shards { partitions, here, leaving });
        self.shards.store(Arc::clone(&new));
        for (number, shard) in &old.here {
            match new.here.get(number).is_some_and(|it| Arc::ptr_eq(it, shard)) {
                true => shard.image(image),
                false => shard.end(),
            }
        }
        while self.tasks.lock().try_join_next().is_some() {}
        self.followed.send_replace(image.offset);
    }

    /// The partitions that this broker leads, and in which epoch.
    fn led(&self) -> BTreeMap<i32, (Arc<Partition>, i32)> {
        let topic = self.world.table.topic(M::TOPIC);
        let places = topic.iter().flat_map(|topic| topic.partitions());
        let led = places.filter_map(|(number, place)| {
            let partition = place.open()?;
            let epoch = partition.leader_epoch(-1).ok()?;
            Some((number, (Arc::clone(partition), epoch)))
        });
        led.collect()
    }

    fn start(
        &self,
        partition: Arc<Partition>,
        epoch: i32,
        image: &Arc<Image>,
        before: Option<Arc<Shard<M>>>,
    ) -> Arc<Shard<M>> {
        let World { env, config, .. } = self.world.clone();
        let shard = Shard::new(Scene { env, config, partition, epoch }, Arc::clone(image));
        if before.is_none() {
            shard.load_if_empty();
        }
        self.tasks.lock().spawn(Arc::clone(&shard).live(before, Arc::clone(&self.loads)));
        shard
    }

    /// Takes nothing on any more, and sends away who waits for others; what only waits for its
    /// records to be committed still comes.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.shards.load().here.values().for_each(|shard| shard.close());
    }

    /// Comes back when nothing of it lives any more.
    pub async fn stop(&self) {
        self.close();
        let old = self.shards.swap(Arc::default());
        old.here.values().for_each(|shard| shard.end());
        let mut tasks = std::mem::take(&mut *self.tasks.lock());
        while tasks.join_next().await.is_some() {}
    }

    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }
}

fn ask<M: Machine>(shard: &Shard<M>, request: M::Request) -> Asked<M::Reply> {
    let (to, reply) = oneshot::channel();
    shard.ask(request, to);
    Asked::new(reply)
}
