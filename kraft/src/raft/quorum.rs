//! The quorum as the node sees it: propose a batch, hear where it came to stand. Everything of
//! openraft stays behind it.

use super::machine::Machine;
use super::network::NoPeers;
use super::open::{Opened, Settings, StartError, open};
use super::retention::{Kept, oldest_kept};
use super::shared::Shared;
use super::store::LogStore;
use super::types::{LogId, Payload, Proposal, ReplicaKey, TypeConfig, VoterNode};
use crate::env::Env;
use crate::image::Image;
use bytes::Bytes;
use openraft::async_runtime::WatchReceiver;
use openraft::impls::ProgressResponder;
use openraft::{ChangeMembers, Config, Raft, RaftMetrics, ServerState, SnapshotPolicy};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Heartbeat and election time-outs of a sole voter, in milliseconds: nobody listens, and each
/// tick wakes the process.
const HEARTBEAT_MS: u64 = 1_000;
const ELECTION_MS: (u64, u64) = (3_000, 6_000);

/// The quorum is of no use any more, and why; the process must end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped(pub String);

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Stopped {}

/// A voter that is up.
#[derive(Clone, Debug)]
pub struct Quorum {
    raft: Raft<TypeConfig, Machine>,
    pub(super) shared: Arc<Shared>,
    image: watch::Receiver<Arc<Image>>,
    flusher: Arc<Mutex<Option<JoinHandle<()>>>>,
    me: ReplicaKey,
}

/// What stands on disk once raft has started and this voter leads.
#[derive(Debug)]
pub struct Started {
    pub quorum: Quorum,
    /// The log has no metadata: what must be appended before anything else.
    pub bootstrap: Option<Image>,
}

/// Where a proposal will be answered.
#[derive(Debug)]
pub struct Proposed {
    receiver: Box<Answer>,
}

type Metrics = RaftMetrics<TypeConfig>;
type Answer = openraft::type_config::alias::OneshotReceiverOf<
    TypeConfig,
    openraft::raft::ClientWriteResult<TypeConfig>,
>;

/// The quorum, for those who describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuorumInfo {
    /// -1: nobody leads.
    pub leader_id: i32,
    pub leader_epoch: i32,
    pub high_watermark: i64,
    pub voters: Vec<VoterInfo>,
    pub observers: Vec<VoterInfo>,
    /// Where each voter is reached.
    pub nodes: BTreeMap<i32, VoterNode>,
}

/// How far one has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoterInfo {
    pub replica: ReplicaKey,
    pub log_end_offset: i64,
    /// Milliseconds since 1970; of the leader, now.
    pub last_fetch_timestamp_ms: i64,
    pub last_caught_up_timestamp_ms: i64,
}

/// How much the metadata takes on disk, and what may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The first offset behind the last snapshot.
    pub snapshot_end: i64,
    /// When the last snapshot was due: the time of the last batch in it.
    pub snapshot_timestamp_ms: i64,
    pub log_bytes: u64,
    /// Of it, behind the last snapshot.
    pub new_bytes: u64,
    pub log_end: i64,
}

fn config() -> Config {
    Config {
        cluster_name: "metadata".to_owned(),
        heartbeat_interval: HEARTBEAT_MS,
        election_timeout_min: ELECTION_MS.0,
        election_timeout_max: ELECTION_MS.1,
        // The node says when, by bytes and time, and what goes.
        snapshot_policy: SnapshotPolicy::Never,
        max_in_snapshot_log_to_keep: u64::MAX,
        enable_pre_vote: Some(true),
        // A restarted leader must not go on in its old term: its peers may have batches that its
        // own disk has lost, and others would get their offsets.
        enable_leader_restore: Some(false),
        allow_log_reversion: Some(false),
        ..Config::default()
    }
}

impl Quorum {
    /// Opens the log, and comes back when this voter leads and has applied all that is committed.
    pub async fn start(env: &Env, settings: &Settings) -> Result<Started, StartError> {
        let Opened { shared, machine, image, is_static, bootstrap } = open(env, settings)?;
        let refused = |error: &dyn fmt::Display| StartError::Refused(error.to_string());
        let config = Arc::new(config().validate().map_err(|error| refused(&error))?);
        let (store, flusher) = LogStore::new(shared.clone());
        let raft = Raft::new(settings.me, config, NoPeers, store, machine).await;
        let raft = raft.map_err(|error| refused(&error))?;
        shared.is_started();
        let flusher = Arc::new(Mutex::new(Some(flusher)));
        let me = settings.me;
        let quorum = Quorum { raft, shared, image, flusher, me };
        quorum.lead(settings, is_static).await.map_err(|Stopped(why)| StartError::Refused(why))?;
        Ok(Started { quorum, bootstrap })
    }

    /// Does not wait for an election time-out: the only voter can ask itself.
    async fn lead(&self, settings: &Settings, is_static: bool) -> Result<(), Stopped> {
        self.raft.trigger().elect(false).await.map_err(|error| self.stopped(&error))?;
        let leads = |it: &Metrics| {
            let in_own_term = |id: LogId| id.leader_id.term == it.current_term;
            it.state == ServerState::Leader && it.last_applied.is_some_and(in_own_term)
        };
        let stored = self.until(leads).await?.membership_config;
        if is_static {
            // The log names its voters from here on (kraft.version 1).
            let written =
                self.raft.append_membership(stored.membership().clone(), Payload::default(), []);
            written.await.map_err(|error| self.stopped(&error))?;
        }
        let known = stored.membership().get_node(&self.me);
        if known.is_some_and(|known| *known != settings.node) && !settings.node.endpoints.is_empty()
        {
            let nodes = BTreeMap::from([(self.me, settings.node.clone())]);
            let change = ChangeMembers::SetNodes(nodes);
            let written = self.raft.change_membership(change, true);
            written.await.map_err(|error| self.stopped(&error))?;
        }
        Ok(())
    }

    /// The reason to stop: the disk's where it failed, else raft's.
    fn stopped(&self, error: &dyn fmt::Display) -> Stopped {
        Stopped(self.shared.failure().unwrap_or_else(|| error.to_string()))
    }

    /// The latest image of what is committed.
    pub fn image(&self) -> watch::Receiver<Arc<Image>> {
        self.image.clone()
    }

    /// The offset that the next batch will have, if nobody else proposes.
    pub fn next_offset(&self) -> i64 {
        self.shared.log.lock().end()
    }

    /// Appends a batch, behind all that were proposed before.
    pub async fn propose(&self, batch: Bytes) -> Result<Proposed, Stopped> {
        let (responder, receiver) = ProgressResponder::complete_only();
        let sent = self.raft.client_write_ff(Proposal(batch), Some(responder)).await;
        sent.map_err(|error| self.stopped(&error))?;
        Ok(Proposed { receiver: Box::new(receiver) })
    }

    /// Waits until a batch is committed and applied, and gives its base offset.
    pub async fn applied(&self, proposed: Proposed) -> Result<i64, Stopped> {
        let answer = (*proposed.receiver).await.map_err(|error| self.stopped(&error))?;
        let written = answer.map_err(|error| self.stopped(&error))?;
        Ok(written.response().base_offset)
    }

    /// Waits for a state of raft.
    async fn until(&self, is_so: impl Fn(&Metrics) -> bool) -> Result<Metrics, Stopped> {
        let mut receiver = self.raft.metrics();
        loop {
            // In its own statement: raft stands still for as long as the borrow is held.
            let now = receiver.borrow_watched().clone();
            if is_so(&now) {
                return Ok(now);
            }
            now.running_state.map_err(|error| self.stopped(&error))?;
            receiver.changed().await.map_err(|error| self.stopped(&error))?;
        }
    }

    /// Waits until the quorum is of no use any more. A clean shutdown ends it too.
    pub async fn ended(&self) -> Stopped {
        let ended = self.until(|_| false).await;
        ended.map_or_else(|stopped| stopped, |_| self.stopped(&"raft has ended"))
    }

    /// The sizes that decide about the next snapshot.
    pub fn sizes(&self) -> Sizes {
        let log = self.shared.log.lock();
        let snapshots = self.shared.snapshots.lock();
        let last = snapshots.last().map(|(_, file)| (file.end, file.timestamp_ms));
        let (snapshot_end, snapshot_timestamp_ms) = last.unwrap_or_default();
        let (log_bytes, log_end) = (log.size_bytes(), log.end());
        let new_bytes = log.bytes_from(snapshot_end);
        Sizes { snapshot_end, snapshot_timestamp_ms, log_bytes, new_bytes, log_end }
    }

    /// Lets a snapshot be written of what is applied, which is all of the log, and no open
    /// transaction. Gives the index of the last entry in it.
    pub async fn begin_snapshot(&self) -> Result<u64, Stopped> {
        let index = self.shared.log.lock().last().id.index;
        self.raft.trigger().snapshot().await.map_err(|error| self.stopped(&error))?;
        Ok(index)
    }

    /// Waits until a snapshot stands that ends at an entry or behind it. Raft must know of it: before
    /// that it purges nothing by it, and leaves out the next one that it is asked for.
    pub async fn snapshot_stands(&self, index: u64) -> Result<(), Stopped> {
        let stands = |it: &Metrics| it.snapshot.is_some_and(|last| index <= last.index);
        self.until(stands).await.map(drop)
    }

    /// Drops the oldest snapshots, and the segments that lie before what remains, while all take
    /// more than `bytes_max` or the oldest is of before `before_ms`. The last snapshot stays.
    pub async fn clean(&self, bytes_max: u64, before_ms: i64) -> Result<(), Stopped> {
        let upto = {
            let log = self.shared.log.lock();
            let snapshots = self.shared.snapshots.lock();
            let kept = snapshots.iter().map(|(index, file)| Kept {
                index: *index,
                size_bytes: file.size_bytes,
                log_bytes_before: log.bytes_before(file.end),
                timestamp_ms: file.timestamp_ms,
            });
            let kept: Vec<_> = kept.collect();
            oldest_kept(&kept, log.size_bytes(), (bytes_max, before_ms))
        };
        let Some(index) = upto else { return Ok(()) };
        self.raft.trigger().purge_log(index).await.map_err(|error| self.stopped(&error))?;
        let shared = self.shared.clone();
        let removed = self.shared.sync_on.run(move || {
            let mut snapshots = shared.snapshots.lock();
            while snapshots.first().is_some_and(|(at, _)| *at < index) {
                let (_, file) = snapshots.remove(0);
                shared.disk.remove(&file.path)?;
            }
            Ok(())
        });
        let removed = self.shared.fail_on("dropping an old snapshot", removed.await);
        removed.map_err(|error| self.stopped(&error))
    }

    /// Who leads and votes, and how far they are.
    pub fn info(&self) -> QuorumInfo {
        let metrics = self.raft.metrics().borrow_watched().clone();
        let (end, now_ms) = (self.next_offset(), self.shared.clock.wall_ms());
        let image = self.image.borrow().clone();
        let voter = |replica: ReplicaKey| VoterInfo {
            replica,
            log_end_offset: if replica == self.me { end } else { -1 },
            last_fetch_timestamp_ms: now_ms,
            last_caught_up_timestamp_ms: now_ms,
        };
        let membership = metrics.membership_config.membership();
        QuorumInfo {
            leader_id: metrics.current_leader.map_or(-1, |leader| leader.id),
            leader_epoch: i32::try_from(metrics.current_term).unwrap_or(i32::MAX),
            high_watermark: image.offset + 1,
            voters: membership.voter_ids().map(voter).collect(),
            observers: Vec::new(),
            nodes: membership.nodes().map(|(key, node)| (key.id, node.clone())).collect(),
        }
    }

    /// From now on what waits for room is given up, so that a stop need not wait for it.
    pub fn stop_waiting(&self) {
        self.shared.stop_waiting();
    }

    /// Stops: what was proposed before is on disk, the vote too, if there was room for it.
    pub async fn shutdown(&self) {
        self.stop_waiting();
        if let Err(error) = self.raft.shutdown().await {
            tracing::warn!("The quorum's task ended badly: {error}");
        }
        let flusher = self.flusher.lock().take();
        if let Some(flusher) = flusher {
            // The store goes with raft's core, and the flusher with the store.
            if let Err(error) = flusher.await {
                tracing::warn!("The task that syncs the metadata log ended badly: {error}");
            }
        }
    }
}
