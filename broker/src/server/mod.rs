//! A broker from its start to its stop.

mod control;
mod directories;
mod error;
mod hosts;
mod limited;
mod limits;
mod listeners;
pub mod log_levels;
pub mod log_lines;
mod notify;
pub mod offline;
mod registration;
mod reload;
mod run;
mod scarce_memory;

pub use error::StartError;
pub use notify::Notify;
pub use run::{block_on, listen_for_hangups, listen_for_signals};

use crate::admin::Admin;
use crate::api::{Ctx, FetchSessions, ProducerIds, SERVED, make_wanted_topics};
use crate::config::{AdminConfig, BrokerConfig, DynamicConfig, Given, Refused};
use crate::coordinator::{Coordinator, World};
use crate::metrics::{Metrics, State};
use crate::net::Roster;
use crate::partition::Dir;
use crate::partition::upkeep::{Chores, Upkeep};
use crate::reconcile::{Parts, Reconciler};
use control::Control;
use directories::Directories;
use kraft::env::Env;
use kraft::node::{Elected, Node, NodeConfig, SyncOn};
use limited::Limited;
use listeners::Ports;
use registration::{Candidate, Registration, register, register_controller};
use reload::Reload;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use storage::log_dir::LogDir;
use tokio::task::{JoinHandle, JoinSet, spawn_blocking};
use tokio::time::timeout;
use tracing::{error, info, warn};

/// How long a stop waits for answers in flight, and for the controller. What remains of the ten
/// seconds that `docker stop` gives is for the disks.
const ANSWERS_PATIENCE: Duration = Duration::from_secs(4);
const CONTROLLER_PATIENCE: Duration = Duration::from_secs(2);

/// A broker that serves.
#[expect(missing_debug_implementations, reason = "a doorway has nothing of its own to show")]
pub struct Broker {
    pub ctx: Ctx,
    /// Each listener's name and bound address.
    pub addresses: Vec<(String, SocketAddr)>,
    /// Health, metrics and the page for people.
    pub admin: Admin,
    node: Node,
    control: Control,
    registration: Registration,
    heartbeats: JoinHandle<()>,
    roster: Arc<Roster>,
    accepting: JoinSet<()>,
    reload: Reload,
    /// Brings the groups behind the metadata.
    grouping: JoinHandle<()>,
    upkeep: Upkeep,
    /// Holds the directory of the metadata log, which may be none of `log.dirs`.
    metadata_dir: Arc<LogDir>,
}

impl Broker {
    /// Starts, and comes back when clients are served.
    pub async fn start(config: BrokerConfig, env: Env) -> Result<Broker, StartError> {
        let node_id = config.membership.node_id;
        let ports = Ports::take(&env, &config).await?;
        scarce_memory::warn_of_refusals(&*env.disk);
        let metrics: Arc<Metrics> = Arc::default();
        let admin = Admin::start(&env, AdminConfig::of(&config), Arc::clone(&metrics)).await;
        let mut admin = admin.map_err(|(at, error)| StartError::AdminListen(at, error))?;
        let held = directories::hold(&env, &config)?;
        let control = Control::start()?;
        let node = start_node(&config, &env, &held, &control).await?;
        node.tell_elections(Arc::clone(&metrics) as Arc<dyn Elected>);
        metrics.state.set(State::Recovery);
        let (parts, previous_epoch) = parts(&config, &env, &held);
        let chores = chores(&parts);
        let reconciler = {
            let (parts, image, chores) = (parts.clone(), node.image(), Arc::clone(&chores));
            let start = move || {
                let reconciler = Reconciler::start(parts, image);
                // Before anybody is served, or told that the broker is ready.
                chores.logs_are_open();
                reconciler
            };
            blocking(start).await?
        };
        register_controller(&node, &env, node_id, ports.advertised(true)).await?;
        let candidate = Candidate {
            node_id,
            rack: config.values.node.broker_rack.clone(),
            listeners: ports.advertised(false),
            log_dirs: parts.dirs.iter().filter_map(|dir| dir.log_dir()?.id()).collect(),
            previous_epoch,
        };
        let registration = register(&node, &env, candidate, Arc::clone(&parts.dirs)).await?;
        let beating = registration.clone().keep(heartbeat_interval(&config));
        let (addresses, doors) = (ports.addresses(), ports.open(&metrics)?);
        let heartbeats = control.handle().spawn(beating);
        let upkeep = Upkeep::start(Arc::clone(&chores))
            .map_err(|error| StartError::System("thread", error))?;
        let ctx = ctx(&config, &parts, &node, chores, &metrics);
        // As the metadata has it, which the reconciler has read.
        let limited = Limited::start(&env, parts.config.load(), doors.names()).await;
        let roster = Arc::clone(limited.roster());
        let accepting = doors.accept(&config, &ctx, &limited);
        let following = (Arc::clone(&parts.table), parts.config);
        let reload = Reload::start(reconciler, node.subscribe(), following, limited);
        let grouping = follow_groups(&ctx);
        // What the registration changed is in force before the start is told.
        parts.table.when_applied(node.image().offset).await;
        make_wanted_topics(&ctx).await;
        admin.show(ctx.clone());
        metrics.state.set(State::Running);
        say_started(&config);
        Ok(Broker {
            ctx,
            addresses,
            admin,
            node,
            control,
            registration,
            heartbeats,
            roster,
            accepting,
            reload,
            grouping,
            upkeep,
            metadata_dir: held.metadata,
        })
    }

    /// Comes back when the broker is of no use any more, and says why: the process must end.
    pub async fn failed(&self) -> String {
        tokio::select! {
            biased;
            stopped = self.node.stopped() => format!("The metadata log is lost: {stopped}"),
            () = self.reload.failed() => "A bug has left the partitions half-way".to_owned(),
            () = self.ctx.upkeep.all_failed() => {
                "Every log directory has failed".to_owned()
            }
        }
    }

    /// Takes over what may change of a file that was read anew, and says in the log what became
    /// of the rest, and what a start with it on this machine, `hostname`, would say.
    pub fn reread(&self, given: &Given, hostname: &str) {
        let reread = self.ctx.config.reread(given);
        self.node.tell_properties(reread.config.layers().fixed.clone());
        given.warnings().iter().for_each(|warning| warn!("{warning}"));
        given.alarm().iter().for_each(|alarm| error!("{alarm}"));
        for invalid in &reread.refused {
            error!("The old value stays: {}", given.refuse(invalid.clone()));
        }
        match BrokerConfig::of(given.clone(), hostname) {
            Err(Refused::Value { invalid, .. }) if reread.refuses(&invalid.key) => {}
            Err(refused) => error!("A restart would be refused: {refused}"),
            Ok(_) => {}
        }
        if !reread.waiting.is_empty() {
            warn!("These keys change with a restart: {}", reread.waiting.join(", "));
        }
        match reread.changed.is_empty() {
            true => info!("The configuration was read anew, and changes nothing now"),
            false => {
                info!("The configuration was read anew: {} changed", reread.changed.join(", "))
            }
        }
        self.reload.again();
    }

    /// Answers what was asked, gives up the broker's place, and writes all down.
    pub async fn stop(mut self) {
        info!("[KafkaRaftServer nodeId={}] shutting down", self.ctx.node_id);
        self.ctx.metrics.state.set(State::PendingControlledShutdown);
        self.roster.stop();
        self.ctx.partitions.close();
        self.grouping.abort();
        // However it has ended, nothing starts a shard any more.
        drop((&mut self.grouping).await);
        self.ctx.groups.close();
        while self.accepting.join_next().await.is_some() {}
        if timeout(ANSWERS_PATIENCE, self.roster.emptied()).await.is_err() {
            warn!("{} connections are cut: they wait for an answer", self.roster.len());
        }
        self.heartbeats.abort();
        self.registration.give_up(CONTROLLER_PATIENCE).await;
        self.ctx.metrics.state.set(State::ShuttingDown);
        self.admin.stop().await;
        self.ctx.groups.stop().await;
        self.reload.stop().await;
        let (upkeep, epoch) = (self.upkeep, self.registration.epoch);
        let marked = spawn_blocking(move || {
            for dir in upkeep.stop() {
                mark_clean(&dir, epoch);
            }
        });
        if let Err(panic) = marked.await {
            error!("The logs could not be closed: {panic}");
        }
        // The directories wait for news of their partitions, and those keep their directories open.
        let topics: Vec<_> = self.ctx.partitions.topics().iter().map(|topic| topic.id).collect();
        self.ctx.partitions.change(Vec::new(), &topics);
        self.node.shutdown().await;
        drop(spawn_blocking(move || drop(self.control)).await);
        drop(self.metadata_dir);
        info!("[KafkaRaftServer nodeId={}] shut down completed", self.ctx.node_id);
    }
}

async fn start_node(
    config: &BrokerConfig,
    env: &Env,
    held: &Directories,
    control: &Control,
) -> Result<Node, StartError> {
    let dir = config.metadata_log_dir.clone();
    let node_config = NodeConfig {
        cluster_id: held.cluster_id.clone(),
        node_id: config.membership.node_id,
        metadata_log_dir: dir.clone(),
        directory_id: held.metadata.id().unwrap_or_default(),
        controller_listeners: directories::controller_listeners(config),
        static_voters: config.membership.voters.iter().map(|voter| voter.id).collect(),
        metadata_log: config.values.metadata_log.clone(),
        properties: config.layers().fixed.clone(),
        sync_on: SyncOn::Thread,
    };
    let started = control.handle().spawn(Node::start(node_config, env.clone())).await;
    match started {
        Ok(started) => started.map_err(|error| StartError::Metadata(dir, error)),
        Err(panic) => {
            let error = kraft::node::StartError::Refused(panic.to_string());
            Err(StartError::Metadata(dir, error))
        }
    }
}

/// The directories of logs, and the epoch in which all of them were stopped cleanly, else -1.
fn open_dirs(config: &BrokerConfig, env: &Env, held: &Directories) -> (Arc<[Arc<Dir>]>, i64) {
    let reserve = u64::try_from(config.values.own.log_dir_reserve_bytes).unwrap_or(0);
    let mut epochs = Vec::new();
    let mut open = |dir: &Arc<LogDir>| match dir.take_last_stop() {
        Ok((last_stop, epoch)) => {
            epochs.push(epoch);
            Dir::new(Arc::clone(dir), last_stop, reserve)
        }
        Err(error) => {
            error!("Log directory {} is offline: {error}", dir.path().display());
            Dir::lost(Arc::clone(&env.disk), dir.path(), &error.to_string())
        }
    };
    let dirs = held.logs.iter().map(|dir| {
        Arc::new(match dir {
            Ok(dir) => open(dir),
            Err((path, why)) => Dir::lost(Arc::clone(&env.disk), path, why),
        })
    });
    let dirs: Arc<[Arc<Dir>]> = dirs.collect();
    let first = epochs.first().copied().flatten();
    let is_same = epochs.len() == dirs.len() && epochs.iter().all(|epoch| *epoch == first);
    (dirs, first.filter(|_| is_same).unwrap_or(-1))
}

/// What the partitions are made of, and the epoch of a clean stop, else -1.
fn parts(config: &BrokerConfig, env: &Env, held: &Directories) -> (Parts, i64) {
    let (dirs, previous_epoch) = open_dirs(config, env, held);
    let parts = Parts {
        node_id: config.membership.node_id,
        env: env.clone(),
        table: Arc::default(),
        dirs,
        doomed: Arc::default(),
        config: DynamicConfig::new(config.clone()),
    };
    (parts, previous_epoch)
}

fn chores(parts: &Parts) -> Arc<Chores> {
    let (table, doomed) = (Arc::clone(&parts.table), Arc::clone(&parts.doomed));
    Chores::new(&parts.env, table, &parts.dirs, doomed, parts.config.clone())
}

fn ctx(
    config: &BrokerConfig,
    parts: &Parts,
    node: &Node,
    chores: Arc<Chores>,
    metrics: &Arc<Metrics>,
) -> Ctx {
    let fetch_sessions = usize::try_from(config.values.fetch.session_cache_slots).unwrap_or(0);
    Ctx {
        env: parts.env.clone(),
        metrics: Arc::clone(metrics),
        served: &SERVED,
        enabled: Arc::new(|_| true),
        config: parts.config.clone(),
        node_id: parts.node_id,
        cluster_id: node.cluster_id().into(),
        controller: Some(node.clone()),
        images: node.subscribe(),
        partitions: Arc::clone(&parts.table),
        dirs: Arc::clone(&parts.dirs),
        upkeep: chores,
        fetch_sessions: Arc::new(FetchSessions::new(fetch_sessions)),
        config_edits: Arc::default(),
        producer_ids: Arc::new(ProducerIds::of_node(node.clone(), parts.node_id)),
        groups: Coordinator::new(World {
            env: parts.env.clone(),
            config: parts.config.clone(),
            table: Arc::clone(&parts.table),
        }),
    }
}

fn follow_groups(ctx: &Ctx) -> JoinHandle<()> {
    let (groups, images) = (Arc::clone(&ctx.groups), ctx.images.clone());
    tokio::spawn(async move { groups.follow(images).await })
}

fn heartbeat_interval(config: &BrokerConfig) -> Duration {
    let ms = u64::try_from(config.values.registration.heartbeat_interval_ms).unwrap_or(0);
    Duration::from_millis(ms.max(1))
}

/// What other programs wait for, before they connect at once.
fn say_started(config: &BrokerConfig) {
    let node_id = config.membership.node_id;
    info!(
        target: "kafka.server.BrokerLifecycleManager",
        "[BrokerLifecycleManager id={node_id}] The broker has been unfenced. Transitioning from \
         RECOVERY to RUNNING."
    );
    info!(
        target: "kafka.server.KafkaRaftServer",
        "[KafkaRaftServer nodeId={node_id}] Kafka Server started"
    );
    if config.is_for_zookeeper() {
        // Where a ZooKeeper was expected, this line is.
        info!(target: "kafka.server.KafkaServer", "[KafkaServer id={node_id}] started");
    }
}

fn mark_clean(dir: &Dir, epoch: i64) {
    let Some(log_dir) = dir.log_dir() else { return };
    if let Err(error) = log_dir.mark_clean_shutdown(epoch) {
        error!("{} could not be marked as stopped cleanly: {error}", log_dir.path().display());
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StartError> {
    let done = spawn_blocking(work).await;
    done.map_err(|panic| StartError::System("thread", std::io::Error::other(panic)))
}
