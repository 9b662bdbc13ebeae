//! The one task that decides. It does not wait for the disk between decisions: each sees what was
//! decided before it, and is answered when all of that is committed.

use super::batches::{self, Batch};
use super::commits::{CommitCounter, unclean_elections};
use super::error::AskError;
use super::in_flight::{Commit, InFlight, Pending, Reply};
use crate::controller::{Decide, Decision, Now, State, bootstrap_records};
use crate::env::Env;
use crate::image::Image;
use crate::raft::quorum::{Proposed, Quorum, Stopped};
use crate::record::{AbortTransactionRecord, Record};
use protocol::config::describe::Settings;
use protocol::config::node::MetadataLogConfig;
use std::fmt;
use std::future::{pending, ready};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Decisions that are proposed and not yet committed.
const IN_FLIGHT_MAX: usize = 256;

/// The log stands still when nothing comes through for this part of a session. A broker speaks
/// twice in a session at least, so what is shorter ends none.
const STANDSTILL_SHARE: u32 = 4;

/// How long the task sleeps where nothing is due.
const NOTHING_DUE: Duration = Duration::from_secs(3600);

/// What the task is told.
pub(super) enum Command {
    Decide(Box<dyn Request>),
    Stop,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Command::Decide(_) => "Decide",
            Command::Stop => "Stop",
        })
    }
}

/// A request of whatever kind.
pub(super) trait Request: Send {
    /// Whether nobody waits for it any more.
    fn is_late(&self) -> bool;

    /// Answers that it was not decided on.
    fn give_up(self: Box<Self>);

    fn decide(self: Box<Self>, image: &Image, state: &mut State, now: &Now<'_>)
    -> (Records, Reply);
}

/// The records of a decision, and whether they count together.
pub(super) struct Records(Vec<Record>, bool);

/// A request and where its answer goes.
pub(super) struct Asked<Q: Decide> {
    pub(super) request: Q,
    /// When it must have been decided on.
    pub(super) deadline: Option<Instant>,
    pub(super) answer: oneshot::Sender<Result<Q::Response, AskError>>,
}

impl<Q: Decide> Request for Asked<Q> {
    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }

    fn give_up(self: Box<Self>) {
        drop(self.answer.send(Err(AskError::Late)));
    }

    fn decide(
        self: Box<Self>,
        image: &Image,
        state: &mut State,
        now: &Now<'_>,
    ) -> (Records, Reply) {
        let Asked { request, answer, .. } = *self;
        let Decision { records, response, atomic } = request.decide(image, state, now);
        let reply = move |result: Result<(), AskError>| {
            // Whoever asked may have gone.
            drop(answer.send(result.map(|()| response)));
        };
        (Records(records, atomic), Box::new(reply))
    }
}

pub(super) struct Task {
    quorum: Quorum,
    state: State,
    env: Env,
    config: MetadataLogConfig,
    /// What this node is told, as it is now.
    properties: watch::Receiver<Settings>,
    /// With all that is decided, committed or not.
    image: Image,
    next_offset: i64,
    in_flight: InFlight,
    snapshot: Option<JoinHandle<Result<(), Stopped>>>,
    /// Bytes of batches since the last snapshot.
    new_bytes: u64,
    snapshot_timestamp_ms: i64,
    commits: Arc<CommitCounter>,
}

impl Task {
    pub(super) fn new(
        quorum: Quorum,
        state: State,
        env: Env,
        (config, properties): (MetadataLogConfig, watch::Receiver<Settings>),
    ) -> Task {
        let image = Image::clone(&quorum.image().borrow());
        let next_offset = quorum.next_offset();
        let sizes = quorum.sizes();
        Task {
            quorum,
            state,
            env,
            config,
            properties,
            image,
            next_offset,
            in_flight: InFlight::default(),
            snapshot: None,
            new_bytes: sizes.new_bytes,
            snapshot_timestamp_ms: sizes.snapshot_timestamp_ms,
            commits: Arc::default(),
        }
    }

    /// Where what is committed is counted.
    pub(super) fn commits(&self) -> Arc<CommitCounter> {
        Arc::clone(&self.commits)
    }

    /// The first acts of a leader: end what the one before it left open, begin what is new, and
    /// give every broker a session.
    pub(super) async fn begin(&mut self, bootstrap: Option<Image>) -> Result<(), AskError> {
        if self.image.in_transaction() {
            let abort = AbortTransactionRecord::default().into();
            self.append_alone(vec![abort]).await?;
        }
        if let Some(started) = bootstrap {
            let records = bootstrap_records(&started, &self.state);
            self.append_alone(records).await?;
        }
        self.state.begin_term(&self.image, self.env.clock.monotonic());
        Ok(())
    }

    /// Appends when nobody else does, and waits until it is committed.
    async fn append_alone(&mut self, records: Vec<Record>) -> Result<(), AskError> {
        match self.append(Records(records, false)).await? {
            Some(commit) => Ok(commit.await?),
            None => Ok(()),
        }
    }

    /// Decides until it is told to stop, or cannot go on; says which.
    pub(super) async fn run(mut self, mut queue: mpsc::Receiver<Command>) -> Stopped {
        let served = self.serve(&mut queue).await;
        queue.close();
        self.quorum.stop_waiting();
        // What was proposed is answered as it ends, though nobody decides any more.
        if served.is_ok() && self.answer_all().await.is_ok() {
            self.end_snapshot().await;
        }
        self.quorum.shutdown().await;
        // What was lost with its term ends with raft, at the latest.
        while self.answer_all().await.is_err() {}
        self.end_snapshot().await;
        served.err().unwrap_or_else(|| Stopped("the node was shut down".to_owned()))
    }

    /// Waits for all that was decided, up to the first that is lost.
    async fn answer_all(&mut self) -> Result<(), Stopped> {
        let clock = Arc::clone(&self.env.clock);
        while let Some(result) = self.in_flight.next(|| clock.monotonic()).await {
            result?;
        }
        Ok(())
    }

    /// Waits for the snapshot that is being written, whose end, good or bad, changes nothing any
    /// more.
    async fn end_snapshot(&mut self) {
        if let Some(snapshot) = self.snapshot.take() {
            drop(snapshot.await);
        }
    }

    /// Ok: it was told to stop.
    async fn serve(&mut self, queue: &mut mpsc::Receiver<Command>) -> Result<(), Stopped> {
        let quorum = self.quorum.clone();
        let ended = quorum.ended();
        tokio::pin!(ended);
        let clock = Arc::clone(&self.env.clock);
        loop {
            self.spare_sessions();
            self.snapshot_if_due().await?;
            let due = tokio::time::sleep(self.due_in());
            // A snapshot needs a moment in which nothing is open, and so makes others wait.
            let may_decide = self.in_flight.len() < IN_FLIGHT_MAX && !self.is_snapshot_due();
            tokio::select! {
                biased;
                why = &mut ended => return Err(why),
                Some(result) = self.in_flight.next(|| clock.monotonic()) => result?,
                result = snapshot_ended(&mut self.snapshot) => result?,
                command = queue.recv(), if may_decide => match command {
                    Some(Command::Decide(request)) => self.decide(request).await?,
                    Some(Command::Stop) | None => return Ok(()),
                },
                () = due => self.fence_expired().await?,
            }
        }
    }

    async fn decide(&mut self, request: Box<dyn Request>) -> Result<(), Stopped> {
        if request.is_late() {
            request.give_up();
            return Ok(());
        }
        self.spare_sessions();
        self.take_properties();
        let rng = self.env.rng.clone();
        let now = Now {
            monotonic: self.env.clock.monotonic(),
            next_offset: self.next_offset,
            rng: &*rng,
        };
        let (records, reply) = request.decide(&self.image, &mut self.state, &now);
        let pending = match self.append(records).await {
            Ok(commit) => Pending { commit, reply: Some(reply) },
            Err(AskError::Stopped(why)) => {
                let lost = Some(Box::pin(ready(Err(why))) as Commit);
                Pending { commit: lost, reply: Some(reply) }
            }
            Err(error @ (AskError::Contradiction(_) | AskError::Late)) => {
                tracing::error!("Nothing was written: {error}");
                let reply: Reply = Box::new(|result| reply(result.and(Err(error))));
                Pending { commit: None, reply: Some(reply) }
            }
        };
        self.in_flight.push(pending, self.env.clock.monotonic());
        Ok(())
    }

    /// Whoever asks after this node was told anew is answered by that.
    fn take_properties(&mut self) {
        if !self.properties.has_changed().unwrap_or(false) {
            return;
        }
        let properties = self.properties.borrow_and_update().clone();
        if let Err(invalid) = self.state.tell_properties(properties) {
            tracing::error!("The controller goes on with the old properties: {invalid}");
        }
    }

    /// Proposes records, if there are any, and gives what ends when they are committed and applied.
    async fn append(
        &mut self,
        Records(records, is_atomic): Records,
    ) -> Result<Option<Commit>, AskError> {
        if records.is_empty() {
            return Ok(None);
        }
        let now_ms = self.env.clock.wall_ms();
        let (count, began) = (records.len() as u64, self.env.clock.monotonic());
        let unclean = unclean_elections(&records);
        let batches = batches::of(records, is_atomic, &self.image, now_ms);
        let batches = batches.map_err(AskError::Contradiction)?;
        // Before anything is written: the log must never hold what cannot be applied.
        let (mut image, mut offset) = (self.image.clone(), self.next_offset);
        for record in batches.iter().flat_map(|batch| &batch.records) {
            let applied = image.apply(record, offset);
            applied.map_err(|error| AskError::Contradiction(error.to_string()))?;
            offset += 1;
        }
        let mut proposed = Vec::new();
        for Batch { bytes, records } in batches {
            self.new_bytes += bytes.len() as u64;
            proposed.push((self.next_offset, self.quorum.propose(bytes).await?));
            self.next_offset += i64::try_from(records.len()).unwrap_or(i64::MAX);
        }
        self.image = image;
        let committed = committed(self.quorum.clone(), proposed);
        let (commits, clock) = (Arc::clone(&self.commits), Arc::clone(&self.env.clock));
        Ok(Some(Box::pin(async move {
            committed.await?;
            commits.count(count, unclean, clock.monotonic().saturating_sub(began));
            Ok(())
        })))
    }

    fn due_in(&self) -> Duration {
        let expiry = self.state.next_expiry(&self.image);
        let wait = expiry.map(|at| at.saturating_sub(self.env.clock.monotonic()));
        // A moment more, so that what is due is due when the timer, which rounds, has run.
        let expiry = wait.map_or(NOTHING_DUE, |wait| wait + Duration::from_millis(1));
        // One that is due or being written waits for what is in flight or for its end.
        let is_begun = self.snapshot.is_some() || self.is_snapshot_due();
        let interval_ms = self.config.max_snapshot_interval_ms;
        if interval_ms <= 0 || self.new_bytes == 0 || is_begun {
            return expiry;
        }
        let left_ms = u64::try_from(interval_ms.saturating_sub(self.snapshot_age_ms()));
        expiry.min(Duration::from_millis(left_ms.unwrap_or(0).saturating_add(1)))
    }

    fn snapshot_age_ms(&self) -> i64 {
        self.env.clock.wall_ms().saturating_sub(self.snapshot_timestamp_ms)
    }

    /// While the log stands still, answers wait for it, and who waits for one is silent. So that is
    /// nobody's fault, and when it goes on every session begins anew.
    fn spare_sessions(&mut self) {
        let now = self.env.clock.monotonic();
        if self.state.session_timeout() / STANDSTILL_SHARE <= self.in_flight.take_stood(now) {
            self.state.renew_sessions(now);
        }
    }

    async fn fence_expired(&mut self) -> Result<(), Stopped> {
        self.spare_sessions();
        let now = self.env.clock.monotonic();
        let records = self.state.fence_expired(&self.image, now);
        if records.is_empty() {
            return Ok(());
        }
        match self.append(Records(records, true)).await {
            Ok(commit) => {
                let pending = Pending { commit, reply: None };
                self.in_flight.push(pending, self.env.clock.monotonic());
                Ok(())
            }
            Err(AskError::Stopped(why)) => Err(why),
            Err(error @ (AskError::Contradiction(_) | AskError::Late)) => {
                tracing::error!("A broker was not fenced: {error}");
                Ok(())
            }
        }
    }

    /// By bytes or by time, and no other is being written.
    fn is_snapshot_due(&self) -> bool {
        let MetadataLogConfig { record_bytes_between_snapshots, max_snapshot_interval_ms, .. } =
            self.config;
        let bytes_max = u64::try_from(record_bytes_between_snapshots).unwrap_or(u64::MAX);
        let is_old =
            0 < max_snapshot_interval_ms && max_snapshot_interval_ms <= self.snapshot_age_ms();
        let is_due = bytes_max <= self.new_bytes || (is_old && 0 < self.new_bytes);
        is_due && self.snapshot.is_none()
    }

    /// Begins a snapshot by bytes or by time, where none is being written and nothing is open.
    async fn snapshot_if_due(&mut self) -> Result<(), Stopped> {
        if !self.is_snapshot_due() || !self.in_flight.is_empty() || self.image.in_transaction() {
            return Ok(());
        }
        let now_ms = self.env.clock.wall_ms();
        let last = self.quorum.begin_snapshot().await?;
        self.new_bytes = 0;
        self.snapshot_timestamp_ms = now_ms;
        let retention_bytes = u64::try_from(self.config.retention_bytes).unwrap_or(u64::MAX);
        let before_ms = match self.config.retention_ms {
            0.. => now_ms.saturating_sub(self.config.retention_ms),
            _ => i64::MIN,
        };
        let quorum = self.quorum.clone();
        self.snapshot = Some(tokio::spawn(async move {
            quorum.snapshot_stands(last).await?;
            quorum.clean(retention_bytes, before_ms).await
        }));
        Ok(())
    }
}

/// Waits for the snapshot that is being written, forever where none is.
async fn snapshot_ended(
    snapshot: &mut Option<JoinHandle<Result<(), Stopped>>>,
) -> Result<(), Stopped> {
    let Some(writing) = snapshot else { return pending().await };
    let ended = writing.await;
    *snapshot = None;
    // One that panicked has said so.
    ended.unwrap_or(Ok(()))
}

/// Waits for the batches of one decision, which stand where it was decided that they would.
async fn committed(quorum: Quorum, proposed: Vec<(i64, Proposed)>) -> Result<(), Stopped> {
    for (predicted, proposed) in proposed {
        let base = quorum.applied(proposed).await?;
        if base != predicted {
            let why = format!("a batch decided on for offset {predicted} came to stand at {base}");
            return Err(Stopped(why));
        }
    }
    Ok(())
}
