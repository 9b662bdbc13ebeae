//! BrokerRegistration: a broker process came up and says who it is.

use super::decision::{Decide, Decision, Now};
use super::election;
use super::refusal::Refusal;
use super::state::State;
use crate::image::{Broker, Image};
use crate::record::{Endpoint, FeatureRange, Record};
use protocol::error::ErrorCode;
use protocol::features::{METADATA_VERSION, feature_named};
use protocol::ids::Uuid;
use protocol::messages::{BrokerRegistrationRequest, BrokerRegistrationResponse};

/// The level of `metadata.version` from which brokers have directory ids (KIP-858).
const DIRECTORIES_LEVEL: i16 = 17;

impl Decide for BrokerRegistrationRequest {
    fn decide(
        self,
        image: &Image,
        state: &mut State,
        now: &Now<'_>,
    ) -> Decision<BrokerRegistrationResponse> {
        let id = self.broker_id.0;
        let log_dirs: Vec<Uuid> = self.log_dirs.iter().map(|id| Uuid::from(*id)).collect();
        if let Err(refusal) = check(&self, &log_dirs, (image, state), now) {
            // The answer has no room for the reason.
            tracing::warn!("broker {id} may not register: {}", refusal.message);
            let response = BrokerRegistrationResponse::default().with_broker_epoch(-1);
            return Decision::answer(response.with_error_code(refusal.code.code()));
        }
        let previous = image.broker(id);
        let incarnation_id = Uuid::from(self.incarnation_id);
        let mut records = Vec::new();
        let mut broker = Broker {
            broker_id: id,
            incarnation_id,
            // The offset of the first record of this batch.
            broker_epoch: now.next_offset,
            end_points: self
                .listeners
                .iter()
                .map(|it| Endpoint {
                    name: it.name.to_string(),
                    host: it.host.to_string(),
                    port: it.port,
                    security_protocol: it.security_protocol,
                    ..Endpoint::default()
                })
                .collect(),
            features: self
                .features
                .iter()
                .map(|it| FeatureRange {
                    name: it.name.to_string(),
                    min_supported_version: it.min_supported_version,
                    max_supported_version: it.max_supported_version,
                    ..FeatureRange::default()
                })
                .collect(),
            rack: self.rack.as_ref().map(ToString::to_string),
            fenced: true,
            log_dirs,
            ..Broker::default()
        };
        match previous {
            Some(previous) if previous.incarnation_id == incarnation_id => {
                broker.broker_epoch = previous.broker_epoch;
                broker.fenced = previous.fenced;
                broker.in_controlled_shutdown = previous.in_controlled_shutdown;
                broker.cordoned_log_dirs.clone_from(&previous.cordoned_log_dirs);
            }
            Some(previous) => {
                let stopped_cleanly = self.previous_broker_epoch == previous.broker_epoch;
                let event = if stopped_cleanly {
                    election::Event::Left(id)
                } else {
                    election::Event::CrashedBefore(id)
                };
                records.extend(election::changes(image, state, event));
            }
            None => {}
        }
        let response = BrokerRegistrationResponse::default().with_broker_epoch(broker.broker_epoch);
        state.session_of(&broker, now.monotonic).last_contact = now.monotonic;
        records.push(Record::from(broker));
        Decision::append(records, response)
    }
}

fn check(
    request: &BrokerRegistrationRequest,
    log_dirs: &[Uuid],
    (image, state): (&Image, &State),
    now: &Now<'_>,
) -> Result<(), Refusal> {
    let id = request.broker_id.0;
    let cluster_id = request.cluster_id.as_str();
    if cluster_id != state.cluster_id {
        let why = format!("it belongs to cluster {cluster_id}, and this is {}", state.cluster_id);
        return Err(Refusal::new(ErrorCode::InconsistentClusterId, why));
    }
    if request.is_migrating_zk_broker {
        let why = "brokers that need ZooKeeper cannot join";
        return Err(Refusal::new(ErrorCode::BrokerIdNotRegistered, why));
    }
    check_previous(request, log_dirs, (image, state), now)?;
    check_directories(image, id, log_dirs)?;
    let offered = request.features.iter();
    let offered: Vec<_> = offered
        .map(|it| (it.name.as_str(), it.min_supported_version, it.max_supported_version))
        .collect();
    check_features(image, &offered)
}

/// A second process under the same id is refused while the first is alive. But directories are
/// locked, so whoever has one of the first one's directories is its successor, and that one is
/// dead: it need not wait for a session to run out.
fn check_previous(
    request: &BrokerRegistrationRequest,
    log_dirs: &[Uuid],
    (image, state): (&Image, &State),
    now: &Now<'_>,
) -> Result<(), Refusal> {
    let Some(previous) = image.broker(request.broker_id.0) else { return Ok(()) };
    let is_same = previous.incarnation_id == Uuid::from(request.incarnation_id);
    let is_successor = previous.log_dirs.iter().any(|directory| log_dirs.contains(directory));
    let is_alive = state.is_live(previous, now.monotonic) && !previous.in_controlled_shutdown;
    if is_same || is_successor || !is_alive {
        return Ok(());
    }
    let timeout_ms = state.session_timeout.as_millis();
    let why = format!(
        "another broker with that id, and with other log directories, was alive within the last \
         {timeout_ms} ms"
    );
    Err(Refusal::new(ErrorCode::DuplicateBrokerRegistration, why))
}

fn check_directories(image: &Image, id: i32, log_dirs: &[Uuid]) -> Result<(), Refusal> {
    if image.metadata_version() < DIRECTORIES_LEVEL {
        return Ok(());
    }
    let refuse = |why: String| Err(Refusal::new(ErrorCode::InvalidRequest, why));
    if log_dirs.is_empty() {
        return refuse("it names no log directory".to_owned());
    }
    for (at, directory) in log_dirs.iter().enumerate() {
        if *directory < Uuid::RESERVED_END {
            return refuse(format!("{directory} is no directory's id: it is reserved"));
        }
        if log_dirs.iter().take(at).any(|before| before == directory) {
            return refuse(format!("it names log directory {directory} twice"));
        }
        let others = image.brokers().values().filter(|other| other.broker_id != id);
        if let Some(other) = others.into_iter().find(|it| it.log_dirs.contains(directory)) {
            let other = other.broker_id;
            return refuse(format!("log directory {directory} belongs to broker {other}"));
        }
    }
    Ok(())
}

/// Whether a node can work at the levels that the cluster has agreed on. A feature that this
/// program does not know, from an adopted log, is nobody's to refuse.
pub(super) fn check_features(image: &Image, offered: &[(&str, i16, i16)]) -> Result<(), Refusal> {
    if !offered.iter().any(|(name, ..)| *name == METADATA_VERSION.name) {
        let why = format!("it does not say which levels of {} it knows", METADATA_VERSION.name);
        return Err(Refusal::new(ErrorCode::InvalidRegistration, why));
    }
    for (name, level) in image.features().iter() {
        let range = offered.iter().find(|(offered, ..)| *offered == &**name);
        let (min, max) = match range {
            Some((_, min, max)) => (*min, *max),
            None if feature_named(name).is_none() => continue,
            None => (0, 0),
        };
        if !(min..=max).contains(level) {
            let why = format!("{name} stands at level {level}, and it knows {min} to {max}");
            return Err(Refusal::new(ErrorCode::UnsupportedVersion, why));
        }
    }
    Ok(())
}
