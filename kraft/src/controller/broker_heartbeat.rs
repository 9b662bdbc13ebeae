//! BrokerHeartbeat: a broker is alive, and wants to serve, to be fenced, or to stop.

use super::decision::{Decide, Decision, Now};
use super::draft::Draft;
use super::election;
use super::refusal::Refusal;
use super::state::State;
use crate::image::{Broker, Image};
use crate::record::{BrokerRegistrationChangeRecord, Record};
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::{BrokerHeartbeatRequest, BrokerHeartbeatResponse};
use std::sync::Arc;

/// What a broker may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Fenced,
    Unfenced,
    ControlledShutdown,
    ShutdownNow,
}

impl Decide for BrokerHeartbeatRequest {
    fn decide(
        self,
        image: &Image,
        state: &mut State,
        now: &Now<'_>,
    ) -> Decision<BrokerHeartbeatResponse> {
        let broker = match registered(image, self.broker_id.0, self.broker_epoch) {
            Ok(broker) => Arc::clone(broker),
            Err(refusal) => {
                let code = refusal.code.code();
                return Decision::answer(BrokerHeartbeatResponse::default().with_error_code(code));
            }
        };
        let session = state.session_of(&broker, now.monotonic);
        session.last_contact = now.monotonic;
        session.metadata_offset = self.current_metadata_offset;
        // The epoch is the offset of the batch that registered the broker.
        let is_caught_up = broker.broker_epoch <= self.current_metadata_offset;

        let mut draft = Draft::of(image);
        let lost =
            |directory: &Uuid| self.offline_log_dirs.iter().any(|id| Uuid::from(*id) == *directory);
        let lost: Vec<Uuid> = broker.log_dirs.iter().copied().filter(lost).collect();
        if !lost.is_empty() {
            draft.append(lose_directories(image, state, &broker, &lost));
        }
        let current = standing(&broker);
        let has_none_left = !lost.is_empty() && lost.len() == broker.log_dirs.len();
        let wants_fence = self.want_fence || has_none_left;
        let next = next_standing(
            (wants_fence, self.want_shut_down),
            (&draft, state),
            &broker,
            is_caught_up,
        );
        if current != next {
            draft.append(match next {
                Standing::Unfenced => election::unfence(draft.image(), state, &broker),
                Standing::ControlledShutdown => {
                    election::begin_shutdown(draft.image(), state, &broker)
                }
                Standing::Fenced | Standing::ShutdownNow if broker.fenced => Vec::new(),
                Standing::Fenced | Standing::ShutdownNow => {
                    election::fence(draft.image(), state, &broker)
                }
            });
        }
        let records = draft.into_records();
        let session = state.session_of(&broker, now.monotonic);
        if next == Standing::ControlledShutdown && session.shutdown_offset.is_none() {
            let count = i64::try_from(records.len()).unwrap_or(i64::MAX);
            session.shutdown_offset = Some(now.next_offset.saturating_add(count).saturating_sub(1));
        }
        let response = BrokerHeartbeatResponse::default()
            .with_is_caught_up(is_caught_up)
            .with_is_fenced(matches!(next, Standing::Fenced | Standing::ShutdownNow))
            .with_should_shut_down(next == Standing::ShutdownNow);
        // Each change stands for itself, and there may be more than a batch takes.
        Decision { records, response, atomic: false }
    }
}

/// The registration that a broker's request speaks for.
pub(super) fn registered(image: &Image, id: i32, epoch: i64) -> Result<&Arc<Broker>, Refusal> {
    let broker = image.broker(id).ok_or_else(|| {
        Refusal::new(ErrorCode::BrokerIdNotRegistered, format!("broker {id} is not registered"))
    })?;
    if broker.broker_epoch == epoch {
        return Ok(broker);
    }
    let stands = broker.broker_epoch;
    let why = format!("broker {id} is registered at epoch {stands}, not {epoch}");
    Err(Refusal::new(ErrorCode::StaleBrokerEpoch, why))
}

fn standing(broker: &Broker) -> Standing {
    match (broker.fenced, broker.in_controlled_shutdown) {
        (true, _) => Standing::Fenced,
        (false, true) => Standing::ControlledShutdown,
        (false, false) => Standing::Unfenced,
    }
}

fn next_standing(
    (wants_fence, wants_shutdown): (bool, bool),
    (draft, state): (&Draft, &State),
    broker: &Broker,
    is_caught_up: bool,
) -> Standing {
    let id = broker.broker_id;
    let leads = || {
        let mut topics = draft.image().topics().values();
        topics.any(|topic| topic.partitions.values().any(|partition| partition.leader == id))
    };
    match standing(broker) {
        Standing::Fenced if wants_shutdown => Standing::ShutdownNow,
        Standing::Fenced if !wants_fence && is_caught_up => Standing::Unfenced,
        Standing::Fenced => Standing::Fenced,
        Standing::Unfenced if wants_fence && wants_shutdown => Standing::ShutdownNow,
        Standing::Unfenced if wants_fence => Standing::Fenced,
        Standing::Unfenced if wants_shutdown && leads() => Standing::ControlledShutdown,
        Standing::Unfenced if wants_shutdown => Standing::ShutdownNow,
        Standing::Unfenced => Standing::Unfenced,
        // The others must have seen that it leads no more before it goes.
        Standing::ControlledShutdown | Standing::ShutdownNow => {
            let seen_by_all = state.lowest_active_offset(draft.image(), id);
            let left_at = state.session(id).and_then(|session| session.shutdown_offset);
            let is_seen = match (seen_by_all, left_at) {
                (None, _) => true,
                (Some(seen), Some(left)) => left <= seen,
                (Some(_), None) => false,
            };
            if is_seen && !leads() { Standing::ShutdownNow } else { Standing::ControlledShutdown }
        }
    }
}

/// Directories failed: what they held is in sync no more, and the others serve on. (Of a broker
/// that has none left nothing is said here: it is fenced.)
fn lose_directories(image: &Image, state: &State, broker: &Broker, lost: &[Uuid]) -> Vec<Record> {
    let mut left = broker.log_dirs.clone();
    left.retain(|directory| !lost.contains(directory));
    if left.is_empty() {
        return Vec::new();
    }
    let mut records = vec![Record::from(BrokerRegistrationChangeRecord {
        broker_id: broker.broker_id,
        broker_epoch: broker.broker_epoch,
        log_dirs: left,
        ..BrokerRegistrationChangeRecord::default()
    })];
    let event = election::Event::LostDirectories(broker.broker_id, lost);
    records.extend(election::changes(image, state, event));
    records
}
