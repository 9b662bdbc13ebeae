//! The broker's place in the cluster: registered at the start, kept by heartbeats, given up at
//! the stop.

use super::error::StartError;
use crate::partition::Dir;
use kraft::env::Env;
use kraft::node::Node;
use protocol::error::ErrorCode;
use protocol::features::FEATURES;
use protocol::ids::Uuid;
use protocol::messages::broker_registration_request::{Feature, Listener};
use protocol::messages::{
    BrokerHeartbeatRequest, BrokerHeartbeatResponse, BrokerId, BrokerRegistrationRequest,
    ControllerRegistrationRequest, StrBytes,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{interval, sleep};
use tracing::{error, info, warn};

/// Between two heartbeats of a broker that waits to be let in, or out.
const IMPATIENCE: Duration = Duration::from_millis(5);

/// Kafka's number of the one security protocol that is served.
const PLAINTEXT: i16 = 0;

/// Who registers.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) node_id: i32,
    pub(super) rack: Option<String>,
    /// Name, host and port, as clients are told them.
    pub(super) listeners: Vec<(String, String, u16)>,
    pub(super) log_dirs: Vec<Uuid>,
    /// Of the process that stopped cleanly before, else -1.
    pub(super) previous_epoch: i64,
}

/// A registered broker.
#[derive(Clone, Debug)]
pub(super) struct Registration {
    node: Node,
    node_id: i32,
    pub(super) epoch: i64,
    dirs: Arc<[Arc<Dir>]>,
}

/// Registers, and comes back when the controller has let the broker in.
pub(super) async fn register(
    node: &Node,
    env: &Env,
    candidate: Candidate,
    dirs: Arc<[Arc<Dir>]>,
) -> Result<Registration, StartError> {
    let node_id = candidate.node_id;
    let request = request(node, env, candidate);
    let response = node.ask(request).await.map_err(|error| refused(&error))?;
    if response.error_code != 0 {
        return Err(refused(&format!("{:?}", ErrorCode::from_code(response.error_code))));
    }
    let epoch = response.broker_epoch;
    info!(
        target: "kafka.server.BrokerLifecycleManager",
        "[BrokerLifecycleManager id={node_id}] Successfully registered broker {node_id} with \
         broker epoch {epoch}"
    );
    let registration = Registration { node: node.clone(), node_id, epoch, dirs };
    loop {
        let beat = registration.beat(false).await.map_err(|error| refused(&error))?;
        if !beat.is_fenced {
            break;
        }
        sleep(IMPATIENCE).await;
    }
    Ok(registration)
}

/// Says where this controller is spoken to, if it has listeners of its own.
pub(super) async fn register_controller(
    node: &Node,
    env: &Env,
    node_id: i32,
    listeners: Vec<(String, String, u16)>,
) -> Result<(), StartError> {
    use protocol::messages::controller_registration_request::{Feature, Listener};
    if listeners.is_empty() {
        return Ok(());
    }
    let listener = |(name, host, port): (String, String, u16)| {
        Listener::default()
            .with_name(StrBytes::from(name))
            .with_host(StrBytes::from(host))
            .with_port(port)
            .with_security_protocol(PLAINTEXT)
    };
    let feature = |feature: &protocol::features::Feature| {
        Feature::default()
            .with_name(StrBytes::from_static_str(feature.name))
            .with_min_supported_version(feature.min)
            .with_max_supported_version(feature.max)
    };
    let request = ControllerRegistrationRequest::default()
        .with_controller_id(node_id)
        .with_incarnation_id(Uuid(env.rng.next_uuid_bytes()).into())
        .with_listeners(listeners.into_iter().map(listener).collect())
        .with_features(FEATURES.iter().map(feature).collect());
    let response = node.ask(request).await.map_err(|error| refused(&error))?;
    match ErrorCode::from_code(response.error_code) {
        // The metadata of an older cluster has no place for it.
        Some(ErrorCode::None | ErrorCode::UnsupportedVersion) => Ok(()),
        code => Err(refused(&format!("{code:?}"))),
    }
}

fn refused(why: &impl ToString) -> StartError {
    StartError::Registration(why.to_string())
}

fn request(node: &Node, env: &Env, candidate: Candidate) -> BrokerRegistrationRequest {
    let Candidate { node_id, rack, listeners, log_dirs, previous_epoch } = candidate;
    let listener = |(name, host, port): (String, String, u16)| {
        Listener::default()
            .with_name(StrBytes::from(name))
            .with_host(StrBytes::from(host))
            .with_port(port)
            .with_security_protocol(PLAINTEXT)
    };
    let feature = |feature: &protocol::features::Feature| {
        Feature::default()
            .with_name(StrBytes::from_static_str(feature.name))
            .with_min_supported_version(feature.min)
            .with_max_supported_version(feature.max)
    };
    BrokerRegistrationRequest::default()
        .with_broker_id(BrokerId(node_id))
        .with_cluster_id(StrBytes::from(node.cluster_id().to_owned()))
        .with_incarnation_id(Uuid(env.rng.next_uuid_bytes()).into())
        .with_listeners(listeners.into_iter().map(listener).collect())
        .with_features(FEATURES.iter().map(feature).collect())
        .with_rack(rack.map(StrBytes::from))
        .with_log_dirs(log_dirs.into_iter().map(Into::into).collect())
        .with_previous_broker_epoch(previous_epoch)
}

impl Registration {
    async fn beat(&self, want_shut_down: bool) -> Result<BrokerHeartbeatResponse, String> {
        let failed = self.dirs.iter().filter(|dir| dir.failure().is_some());
        // One that never was opened has no id, and is none of those that were registered.
        let ids = failed.map(|dir| dir.id).filter(|id| *id != Uuid::ZERO);
        let request = BrokerHeartbeatRequest::default()
            .with_broker_id(BrokerId(self.node_id))
            .with_broker_epoch(self.epoch)
            .with_current_metadata_offset(self.node.image().offset)
            .with_want_shut_down(want_shut_down)
            .with_offline_log_dirs(ids.map(Into::into).collect());
        let response = self.node.ask(request).await.map_err(|error| error.to_string())?;
        match response.error_code {
            0 => Ok(response),
            code => Err(format!("{:?}", ErrorCode::from_code(code))),
        }
    }

    /// Keeps the place for as long as it is polled.
    pub(super) async fn keep(self, every: Duration) {
        let mut ticks = interval(every);
        loop {
            ticks.tick().await;
            match self.beat(false).await {
                Ok(beat) if beat.is_fenced => warn!("The controller has fenced this broker"),
                Ok(_) => {}
                Err(error) => error!("A heartbeat is refused: {error}"),
            }
        }
    }

    /// Gives the place up, so that nobody waits for this broker. Comes back when the controller
    /// has moved away what it led, or the time is over.
    pub(super) async fn give_up(&self, patience: Duration) {
        let leave = async {
            loop {
                match self.beat(true).await {
                    Ok(beat) if beat.should_shut_down => return Ok(()),
                    Ok(_) => sleep(IMPATIENCE).await,
                    Err(error) => return Err(error),
                }
            }
        };
        match tokio::time::timeout(patience, leave).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!("The controlled shutdown is refused: {error}"),
            Err(_) => warn!("The controlled shutdown took too long"),
        }
    }
}
