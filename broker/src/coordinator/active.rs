//! Active: a machine at work, and the replies that wait until their records are committed.

use super::machine::{Effects, Machine, Moment, Refuse, Token};
use super::record::batch;
use super::refusal::code_of;
use super::scene::Scene;
use kraft::image::Image;
use protocol::error::ErrorCode;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use tokio::sync::oneshot;

/// Where a reply goes. Dropped, it says NOT_COORDINATOR.
pub(super) type Sender<M> = oneshot::Sender<Result<<M as Machine>::Reply, ErrorCode>>;

/// See the module.
#[derive(Debug)]
pub(super) struct Active<M: Machine> {
    machine: M,
    last_token: u64,
    /// Clients that have no reply yet.
    asking: BTreeMap<Token, Sender<M>>,
    /// In the order of their offsets.
    held: VecDeque<Held<M>>,
    /// The exclusive end of what the machine has seen.
    seen: i64,
    /// The last append was refused.
    takes_nothing: bool,
    /// When what was put off is tried again.
    again: Again,
}

/// What lies between two attempts to write what the machine decided by itself, and how far that
/// grows.
const PAUSE: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// All that is put off at one time is tried again at one time, and the next time later.
#[derive(Clone, Copy, Debug, Default)]
struct Again {
    at: Duration,
    pause: Duration,
}

impl Again {
    fn next(&mut self, now: Duration) -> Duration {
        if self.at <= now {
            self.pause = (self.pause * 2).clamp(PAUSE, PAUSE_MAX);
            self.at = now.saturating_add(self.pause);
        }
        self.at
    }
}

/// A reply that waits until the high watermark has reached `end`, but not for ever.
#[derive(Debug)]
struct Held<M: Machine> {
    end: i64,
    until: Duration,
    to: Sender<M>,
    reply: M::Reply,
}

/// What a shard must be woken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) time: Option<Duration>,
    pub(super) watermark: Option<i64>,
}

impl<M: Machine> Active<M> {
    /// One that has applied all records below `seen`.
    pub(super) fn new(machine: M, seen: i64) -> Active<M> {
        let (asking, held) = (BTreeMap::new(), VecDeque::new());
        let (takes_nothing, again) = (false, Again::default());
        Active { machine, last_token: 0, asking, held, seen, takes_nothing, again }
    }

    pub(super) fn begin(&mut self, scene: &Scene, moment: &Moment<'_>) {
        let decided = self.machine.loaded(moment);
        self.carry_out_own(scene, moment, decided);
    }

    /// Takes a request up. Whatever comes of it, also for others who wait, is sent or held.
    pub(super) fn ask(
        &mut self,
        scene: &Scene,
        moment: &Moment<'_>,
        request: M::Request,
        to: Sender<M>,
    ) {
        self.last_token += 1;
        let token = Token(self.last_token);
        self.asking.insert(token, to);
        let effects = self.machine.step(moment, token, request);
        // The clients were told, and nothing else depended on it.
        let _told = self.carry_out(scene, moment, effects);
    }

    /// Who asked last is told that there is a bug.
    pub(super) fn blame_last(&mut self) {
        if let Some(to) = self.asking.remove(&Token(self.last_token)) {
            send::<M>(to, Err(ErrorCode::UnknownServerError));
        }
    }

    pub(super) fn image_changed(&mut self, scene: &Scene, moment: &Moment<'_>, old: &Image) {
        let decided = self.machine.image_changed(moment, old);
        self.carry_out_own(scene, moment, decided);
    }

    /// Does what is due.
    pub(super) fn expire(&mut self, scene: &Scene, moment: &Moment<'_>) {
        while let Some(effects) = self.machine.expire(moment) {
            self.carry_out_own(scene, moment, vec![effects]);
        }
    }

    /// Does what no client asked for, so that none will ask again: what cannot be written is put
    /// off.
    fn carry_out_own(
        &mut self,
        scene: &Scene,
        moment: &Moment<'_>,
        decided: Vec<Effects<M::Record, M::Reply>>,
    ) {
        let mut is_put_off = false;
        for effects in decided {
            is_put_off |= self.carry_out(scene, moment, effects).is_err();
        }
        if is_put_off {
            self.machine.put_off(self.again.next(moment.now));
        }
    }

    /// Appends, applies, replies; or refuses all that would have been replied, and says why.
    fn carry_out(
        &mut self,
        scene: &Scene,
        moment: &Moment<'_>,
        Effects { records, replies }: Effects<M::Record, M::Reply>,
    ) -> Result<(), ErrorCode> {
        if let Err(code) = self.append(scene, moment, &records) {
            for (token, reply) in replies {
                if let Some(to) = self.asking.remove(&token) {
                    send::<M>(to, Ok(reply.refuse(code)));
                }
            }
            return Err(code);
        }
        for record in records {
            self.machine.apply(moment, record);
        }
        for (token, reply) in replies {
            if let Some(to) = self.asking.remove(&token) {
                self.reply(scene, moment, to, reply);
            }
        }
        Ok(())
    }

    fn append(
        &mut self,
        scene: &Scene,
        moment: &Moment<'_>,
        records: &[M::Record],
    ) -> Result<(), ErrorCode> {
        if records.is_empty() {
            return Ok(());
        }
        let tuning = M::tuning(moment.config);
        let batch = batch(records, tuning.codec, moment.wall_ms)?;
        let appended = scene.partition.append_own(batch, scene.epoch, moment.wall_ms);
        let appended = appended.map_err(|fault| {
            // Clients ask again and again: that it goes on is not said each time.
            if let (Some(why), false) = (&fault.message, self.takes_nothing) {
                tracing::warn!("{} takes no record: {why}", scene.partition.name());
            }
            self.takes_nothing = true;
            code_of(fault.code)
        })?;
        (self.takes_nothing, self.again) = (false, Again::default());
        self.seen = appended.last_offset + 1;
        Ok(())
    }

    fn reply(&mut self, scene: &Scene, moment: &Moment<'_>, to: Sender<M>, reply: M::Reply) {
        match scene.committed(self.seen) {
            Some(Ok(())) => send::<M>(to, Ok(reply)),
            Some(Err(code)) => send::<M>(to, Ok(reply.refuse(code_of(code)))),
            None => {
                let until = moment.now.saturating_add(M::tuning(moment.config).commit_timeout);
                self.held.push_back(Held { end: self.seen, until, to, reply });
            }
        }
    }

    /// Sends the replies whose records were committed meanwhile, and those that waited too long.
    pub(super) fn release(&mut self, scene: &Scene, now: Duration) {
        while let Some(first) = self.held.pop_front() {
            match scene.committed(first.end) {
                Some(Ok(())) => send::<M>(first.to, Ok(first.reply)),
                Some(Err(code)) => send::<M>(first.to, Ok(first.reply.refuse(code_of(code)))),
                None if first.until <= now => {
                    let code = code_of(ErrorCode::RequestTimedOut);
                    send::<M>(first.to, Ok(first.reply.refuse(code)));
                }
                None => return self.held.push_front(first),
            }
        }
    }

    /// Whoever still waits for others must look for another coordinator.
    pub(super) fn dismiss(&mut self) {
        self.asking.clear();
    }

    pub(super) fn wanted(&self) -> Wanted {
        let Wanted { time, watermark } = self.wanted_by_held();
        let times = [self.machine.next_deadline(), time];
        Wanted { time: times.into_iter().flatten().min(), watermark }
    }

    /// The same without the machine's timers.
    pub(super) fn wanted_by_held(&self) -> Wanted {
        let first = self.held.front();
        Wanted { time: first.map(|held| held.until), watermark: first.map(|held| held.end) }
    }
}

fn send<M: Machine>(to: Sender<M>, reply: Result<M::Reply, ErrorCode>) {
    // The client may have gone away meanwhile.
    let _gone = to.send(reply).is_err();
}
