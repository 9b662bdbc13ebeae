//! The node: the controller of this process. Requests come in, are decided on one after the other,
//! stand in the metadata log, and then are answered.

mod batches;
mod commits;
mod error;
mod in_flight;
mod task;

pub use commits::{Commits, Elected};
pub use error::AskError;

pub use crate::raft::open::StartError;
pub use crate::raft::quorum::{QuorumInfo, Stopped, VoterInfo};
pub use crate::raft::shared::SyncOn;
pub use crate::raft::types::{Endpoint, ReplicaKey, VoterNode};

use crate::controller::{Decide, State};
use crate::env::Env;
use crate::format::voter_node;
use crate::image::Image;
use crate::raft::log::RollAt;
use crate::raft::open::Settings;
use crate::raft::quorum::{Quorum, Started};
use commits::CommitCounter;
use protocol::config::node::MetadataLogConfig;
use protocol::ids::Uuid;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use storage::log_dir::METADATA_DIR;
use task::{Asked, Command, Task};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// Requests that wait to be decided on. Beyond it, who asks waits to ask.
const QUEUE_LEN: usize = 1024;

/// Who this node is, and what it was told at its start.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    pub cluster_id: String,
    pub node_id: i32,
    /// The log directory that holds the metadata log, and its `directory.id`.
    pub metadata_log_dir: PathBuf,
    pub directory_id: Uuid,
    /// Where controllers are spoken to; empty without such a listener.
    pub controller_listeners: Vec<Endpoint>,
    /// The node ids in `controller.quorum.voters`; empty where it is not set.
    pub static_voters: Vec<i32>,
    pub metadata_log: MetadataLogConfig,
    /// All properties, for what a topic or broker is told where nobody configured it. See
    /// [`Node::tell_properties`].
    pub properties: BTreeMap<String, String>,
    pub sync_on: SyncOn,
}

impl NodeConfig {
    fn settings(&self) -> Settings {
        let log = &self.metadata_log;
        let segment_bytes = log.internal_segment_bytes.unwrap_or(log.segment_bytes);
        let mut node = voter_node(&self.controller_listeners);
        if self.controller_listeners.is_empty() {
            // Whatever address stands in the log stays.
            node.endpoints.clear();
        }
        Settings {
            dir: self.metadata_log_dir.join(METADATA_DIR),
            me: ReplicaKey { id: self.node_id, directory: self.directory_id },
            node,
            static_voters: self.static_voters.clone(),
            roll_at: RollAt {
                segment_bytes: u64::try_from(segment_bytes).unwrap_or(0),
                segment_ms: log.segment_ms,
            },
            sync_on: self.sync_on,
        }
    }
}

/// The way to the controller. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Node {
    commands: mpsc::Sender<Command>,
    image: watch::Receiver<Arc<Image>>,
    /// Why it stopped, once it did.
    stopped: watch::Receiver<Option<Stopped>>,
    quorum: Quorum,
    commits: Arc<CommitCounter>,
    properties: Arc<watch::Sender<BTreeMap<String, String>>>,
    cluster_id: Arc<str>,
}

impl Node {
    /// Opens the metadata log, and comes back when this node leads and its image is up to date.
    /// All its tasks live on the runtime that polls this.
    pub async fn start(config: NodeConfig, env: Env) -> Result<Node, StartError> {
        let (id, cluster_id) = (config.node_id, config.cluster_id.as_str());
        let state = State::new(id, cluster_id, config.properties.clone())
            .map_err(|invalid| StartError::Refused(invalid.to_string()))?;
        let Started { quorum, bootstrap } = Quorum::start(&env, &config.settings()).await?;
        let (commands, queue) = mpsc::channel(QUEUE_LEN);
        let (ended, stopped) = watch::channel(None);
        let image = quorum.image();
        let (properties, told) = watch::channel(config.properties);
        let mut task = Task::new(quorum.clone(), state, env, (config.metadata_log, told));
        let commits = task.commits();
        let began = task.begin(bootstrap).await;
        began.map_err(|error| StartError::Refused(error.to_string()))?;
        tokio::spawn(async move {
            let why = task.run(queue).await;
            ended.send_replace(Some(why));
        });
        let properties = Arc::new(properties);
        let cluster_id = config.cluster_id.into();
        Ok(Node { commands, image, stopped, quorum, commits, properties, cluster_id })
    }

    /// Asks the controller. The answer comes when all that it says is committed, and in the image
    /// of [`Node::image`].
    pub async fn ask<Q: Decide>(&self, request: Q) -> Result<Q::Response, AskError> {
        self.send(request, None).await
    }

    /// The same, but what is not decided on by `deadline` changes nothing any more, as in Kafka's
    /// `QuorumController`; so a deadline that is over refuses. What was decided on is answered,
    /// however long it takes.
    pub async fn ask_by<Q: Decide>(
        &self,
        request: Q,
        deadline: Instant,
    ) -> Result<Q::Response, AskError> {
        if deadline <= Instant::now() {
            return Err(AskError::Late);
        }
        self.send(request, Some(deadline)).await
    }

    async fn send<Q: Decide>(
        &self,
        request: Q,
        deadline: Option<Instant>,
    ) -> Result<Q::Response, AskError> {
        let (answer, answered) = oneshot::channel();
        let asked = Command::Decide(Box::new(Asked { request, deadline, answer }));
        if self.commands.send(asked).await.is_err() {
            return Err(self.why().into());
        }
        answered.await.unwrap_or_else(|_| Err(self.why().into()))
    }

    /// From now on whoever asks is answered by these properties instead of those of the start. They
    /// must be valid, and what needs a restart the same as before.
    pub fn tell_properties(&self, properties: BTreeMap<String, String>) {
        self.properties.send_replace(properties);
    }

    pub fn cluster_id(&self) -> &str {
        &self.cluster_id
    }

    fn why(&self) -> Stopped {
        let why = self.stopped.borrow().clone();
        why.unwrap_or_else(|| Stopped("the controller has stopped".to_owned()))
    }

    /// The latest image.
    pub fn image(&self) -> Arc<Image> {
        self.image.borrow().clone()
    }

    /// Every image, or the latest for those who are slow.
    pub fn subscribe(&self) -> watch::Receiver<Arc<Image>> {
        self.image.clone()
    }

    /// What this node has committed since its start.
    pub fn commits(&self) -> Commits {
        self.commits.get()
    }

    /// Has `told` called at every election of a partition's leader from now on. Once.
    pub fn tell_elections(&self, told: Arc<dyn Elected>) {
        self.commits.tell_elections(told);
    }

    /// Who leads and votes, for DescribeQuorum.
    pub fn quorum(&self) -> QuorumInfo {
        self.quorum.info()
    }

    /// Waits until the controller is of no use any more, and says why. The process must end then:
    /// after a failed sync nobody knows what is on disk.
    pub async fn stopped(&self) -> Stopped {
        let mut stopped = self.stopped.clone();
        match stopped.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_else(|| self.why()),
            Err(_) => self.why(),
        }
    }

    /// Stops: what was decided is answered, what waits is refused, and all is on disk that there
    /// was room for.
    pub async fn shutdown(&self) {
        // The task may be at a point where it takes no command before there is room.
        self.quorum.stop_waiting();
        // An error says that it has stopped already.
        drop(self.commands.send(Command::Stop).await);
        self.stopped().await;
    }
}

#[cfg(test)]
mod tests;
