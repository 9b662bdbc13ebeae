//! Shard: one partition of a coordinator's topic, while this broker leads it in one epoch.
//!
//! A shard does one thing at a time, and whoever brings something does it, in its own thread: what
//! comes meanwhile is left in the inbox for the one who is at it. So a heartbeat costs no wake-up,
//! as no Produce does. The shard's own task loads the machine, and acts when time has passed or
//! records were committed.

use super::active::{Active, Sender, Wanted};
use super::alarm::Alarm;
use super::load::{Failure, load};
use super::machine::Machine;
use super::scene::Scene;
use crate::partition::Partition;
use kraft::image::Image;
use parking_lot::Mutex;
use protocol::error::ErrorCode;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

/// Requests that may wait while the shard is busy with another. A client asks again.
const INBOX_MAX: usize = 10_000;
/// What lies between a failure and the next attempt to load, and how far that grows.
const RELOAD_PAUSE: Duration = Duration::from_millis(500);
const RELOAD_PAUSE_MAX: Duration = Duration::from_secs(30);

/// See the module.
#[derive(Debug)]
pub(super) struct Shard<M: Machine> {
    scene: Scene,
    inbox: Mutex<VecDeque<Event<M>>>,
    turn: Mutex<Turn<M>>,
    alarm: Alarm,
    has_ended: AtomicBool,
    /// Whether it may still append.
    is_alive: watch::Sender<bool>,
}

/// What can happen to a shard.
#[derive(Debug)]
enum Event<M: Machine> {
    Asked(M::Request, Sender<M>),
    Image(Arc<Image>),
    /// The machine, where its log ends, and the image that it was loaded under.
    Loaded(Box<M>, i64, Arc<Image>),
    Failed,
    /// Time has passed, or the high watermark has.
    Woken,
    /// The broker stops: nothing is appended any more.
    Closed,
    /// Another epoch has begun, or the partition went.
    Ended,
}

/// What one thread at a time has in its hands.
#[derive(Debug)]
struct Turn<M: Machine> {
    image: Arc<Image>,
    phase: Phase<M>,
}

#[derive(Debug)]
enum Phase<M: Machine> {
    Loading,
    /// It could not be loaded. As in Kafka its clients are sent to look for another coordinator; it
    /// is loaded again all the same.
    Failed,
    Active(Box<Active<M>>),
    /// Only what is held still comes out.
    Closing(Box<Active<M>>),
    Ended,
}

impl<M: Machine> Shard<M> {
    pub(super) fn new(scene: Scene, image: Arc<Image>) -> Arc<Shard<M>> {
        Arc::new(Shard {
            scene,
            inbox: Mutex::default(),
            turn: Mutex::new(Turn { image, phase: Phase::Loading }),
            alarm: Alarm::default(),
            has_ended: AtomicBool::new(false),
            is_alive: watch::Sender::new(true),
        })
    }

    /// Waits until it cannot append any more.
    async fn when_gone(&self) {
        let mut is_alive = self.is_alive.subscribe();
        // The sender is ours, so it cannot be gone.
        let _at = is_alive.wait_for(|is_alive| !is_alive).await.is_ok();
    }

    pub(super) fn is_of(&self, partition: &Arc<Partition>, epoch: i32) -> bool {
        Arc::ptr_eq(&self.scene.partition, partition) && self.scene.epoch == epoch
    }

    pub(super) fn ask(&self, request: M::Request, to: Sender<M>) {
        // Mostly nobody is at it and nothing waits: then it need not go through the inbox.
        if let Some(mut turn) = self.turn.try_lock()
            && self.inbox.lock().is_empty()
        {
            self.take(&mut turn, Event::Asked(request, to));
            drop(turn);
            return self.work_if_any();
        }
        let mut inbox = self.inbox.lock();
        if INBOX_MAX <= inbox.len() {
            drop(inbox);
            let _gone = to.send(Err(ErrorCode::CoordinatorLoadInProgress)).is_err();
            return;
        }
        inbox.push_back(Event::Asked(request, to));
        drop(inbox);
        self.work();
    }

    pub(super) fn image(&self, image: &Arc<Image>) {
        self.put(Event::Image(Arc::clone(image)));
    }

    pub(super) fn close(&self) {
        self.put(Event::Closed);
    }

    /// Drops all that is volatile; its clients are told to look elsewhere.
    pub(super) fn end(&self) {
        self.has_ended.store(true, Ordering::Release);
        self.put(Event::Ended);
        self.alarm.ring();
    }

    fn put(&self, event: Event<M>) {
        self.inbox.lock().push_back(event);
        self.work();
    }

    fn work_if_any(&self) {
        if !self.inbox.lock().is_empty() {
            self.work();
        }
    }

    /// Does what is in the inbox, unless somebody is at it: that one looks again when it has let go.
    fn work(&self) {
        while let Some(mut turn) = self.turn.try_lock() {
            loop {
                // A statement of its own, so that the inbox is free meanwhile.
                let next = self.inbox.lock().pop_front();
                let Some(event) = next else { break };
                self.take(&mut turn, event);
            }
            drop(turn);
            if self.inbox.lock().is_empty() {
                return;
            }
        }
    }

    /// Waits for the turn. Whoever came meanwhile has left its request and is gone.
    fn in_turn<R>(&self, act: impl FnOnce(&mut Turn<M>) -> R) -> R {
        let acted = act(&mut self.turn.lock());
        self.work_if_any();
        acted
    }

    /// A panic is a bug of a machine. Its state is not to be trusted then; the log is.
    fn take(&self, turn: &mut Turn<M>, event: Event<M>) {
        let is_asked = matches!(event, Event::Asked(..));
        let done = catch_unwind(AssertUnwindSafe(|| turn.take(&self.scene, event)));
        match done {
            Ok(()) => self.alarm.set(turn.wanted()),
            Err(_) => {
                let name = self.scene.partition.name();
                tracing::error!("{name} is loaded again after a bug");
                if let (true, Phase::Active(active)) = (is_asked, &mut turn.phase) {
                    active.blame_last();
                }
                self.reload(turn);
            }
        }
    }

    fn reload(&self, turn: &mut Turn<M>) {
        turn.phase = if self.has_ended() { Phase::Ended } else { Phase::Loading };
        self.alarm.ring();
    }

    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// The shard's own task, which begins when the shard `before` is no more. It comes back when
    /// the shard has ended.
    pub(super) async fn live(
        self: Arc<Shard<M>>,
        before: Option<Arc<Shard<M>>>,
        loads: Arc<Semaphore>,
    ) {
        if let Some(before) = before {
            before.when_gone().await;
        }
        self.load_and_act(&loads).await;
        // Whoever is at it has its hands in the log until then.
        self.in_turn(|turn| turn.phase = Phase::Ended);
        self.is_alive.send_replace(false);
    }

    async fn load_and_act(self: &Arc<Shard<M>>, loads: &Semaphore) {
        let mut pause = RELOAD_PAUSE;
        while !self.has_ended() {
            let is_loaded =
                self.in_turn(|turn| !matches!(turn.phase, Phase::Loading | Phase::Failed));
            let loaded = if is_loaded { Ok(()) } else { self.load(loads).await };
            match loaded {
                Ok(()) => {
                    let begin = Instant::now();
                    self.keep_time().await;
                    let is_lasting = RELOAD_PAUSE_MAX < begin.elapsed();
                    pause = if is_lasting { RELOAD_PAUSE } else { longer(pause) };
                }
                Err(Failure::Unwanted) => {}
                Err(Failure::Over(code)) => {
                    let name = self.scene.partition.name();
                    tracing::warn!("{name} cannot be loaded any more, {code:?}");
                    self.put(Event::Failed);
                    self.alarm.rest(None, &self.has_ended).await;
                }
                Err(Failure::Unreadable(why)) => {
                    let name = self.scene.partition.name();
                    tracing::error!(
                        "{name} cannot be loaded, its groups have no coordinator: {why}"
                    );
                    self.put(Event::Failed);
                    pause = longer(pause);
                }
            }
            self.alarm.rest(Some(pause), &self.has_ended).await;
        }
    }

    /// A new partition has nothing to wait for.
    pub(super) fn load_if_empty(&self) {
        let log = self.scene.partition.log();
        if log.log_start() == log.log_end() {
            let image = self.in_turn(|turn| Arc::clone(&turn.image));
            self.put(Event::Loaded(Box::default(), log.log_end(), image));
        }
    }

    async fn load(self: &Arc<Shard<M>>, loads: &Semaphore) -> Result<(), Failure> {
        // It is never closed.
        let _one_of_few = loads.acquire().await;
        let image = self.in_turn(|turn| Arc::clone(&turn.image));
        let (shard, under) = (Arc::clone(self), Arc::clone(&image));
        let loaded = spawn_blocking(move || load::<M>(&shard.scene, &under, || !shard.has_ended()));
        let loaded = loaded.await.map_err(|panic| Failure::Unreadable(panic.to_string()))?;
        let (machine, end) = loaded?;
        self.put(Event::Loaded(Box::new(machine), end, image));
        Ok(())
    }

    /// Acts when it is time, until the machine must be loaded again or the shard has ended.
    async fn keep_time(&self) {
        while !self.alarm.is_rung() {
            let is_due = self.alarm.wait(&self.scene).await;
            if is_due {
                self.put(Event::Woken);
            }
        }
    }
}

fn longer(pause: Duration) -> Duration {
    RELOAD_PAUSE_MAX.min(pause * 2)
}

impl<M: Machine> Turn<M> {
    fn take(&mut self, scene: &Scene, event: Event<M>) {
        match event {
            Event::Asked(request, to) => self.asked(scene, request, to),
            Event::Image(image) => self.image(scene, image),
            Event::Loaded(machine, end, under) => self.loaded(scene, *machine, end, &under),
            Event::Failed if matches!(self.phase, Phase::Loading) => self.phase = Phase::Failed,
            Event::Failed => {}
            Event::Woken => self.woken(scene),
            Event::Closed => self.close(),
            Event::Ended => self.phase = Phase::Ended,
        }
    }

    fn asked(&mut self, scene: &Scene, request: M::Request, to: Sender<M>) {
        let code = match &mut self.phase {
            Phase::Active(active) => {
                let config = scene.config.load();
                return active.ask(scene, &scene.moment(&self.image, &config), request, to);
            }
            Phase::Loading => ErrorCode::CoordinatorLoadInProgress,
            Phase::Closing(_) => ErrorCode::CoordinatorNotAvailable,
            Phase::Failed | Phase::Ended => ErrorCode::NotCoordinator,
        };
        let _gone = to.send(Err(code)).is_err();
    }

    fn image(&mut self, scene: &Scene, image: Arc<Image>) {
        let old = std::mem::replace(&mut self.image, image);
        let Phase::Active(active) = &mut self.phase else { return };
        let config = scene.config.load();
        active.image_changed(scene, &scene.moment(&self.image, &config), &old);
    }

    fn loaded(&mut self, scene: &Scene, machine: M, end: i64, under: &Image) {
        let (Phase::Loading | Phase::Failed) = self.phase else { return };
        let mut active = Box::new(Active::new(machine, end));
        let config = scene.config.load();
        let moment = scene.moment(&self.image, &config);
        active.begin(scene, &moment);
        active.image_changed(scene, &moment, under);
        self.phase = Phase::Active(active);
    }

    fn woken(&mut self, scene: &Scene) {
        let now = scene.env.clock.monotonic();
        match &mut self.phase {
            Phase::Active(active) => {
                active.release(scene, now);
                let config = scene.config.load();
                active.expire(scene, &scene.moment(&self.image, &config));
            }
            Phase::Closing(active) => active.release(scene, now),
            Phase::Loading | Phase::Failed | Phase::Ended => {}
        }
    }

    fn close(&mut self) {
        let phase = std::mem::replace(&mut self.phase, Phase::Ended);
        if let Phase::Active(mut active) = phase {
            active.dismiss();
            self.phase = Phase::Closing(active);
        }
    }

    fn wanted(&self) -> Wanted {
        match &self.phase {
            Phase::Active(active) => active.wanted(),
            Phase::Closing(active) => active.wanted_by_held(),
            Phase::Loading | Phase::Failed | Phase::Ended => Wanted::default(),
        }
    }
}
