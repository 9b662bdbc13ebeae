//! What the active controller knows beside the log: its node's settings, and when it last heard
//! from which broker.

use crate::image::{Broker, ConfigResource, Image};
use protocol::config::describe::{Layers, Settings};
use protocol::config::key::Invalid;
use protocol::config::node::{CreationConfig, RegistrationConfig};
use std::collections::BTreeMap;
use std::time::Duration;

/// See the module. Belongs to one term as leader: [`State::begin_term`].
#[derive(Clone, Debug)]
pub struct State {
    pub(super) node_id: i32,
    pub(super) cluster_id: String,
    /// What this node was told at its start, or since.
    properties: Settings,
    pub(super) creation: CreationConfig,
    pub(super) session_timeout: Duration,
    pub(super) sessions: BTreeMap<i32, Session>,
}

/// What is known of one incarnation of a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    pub broker_epoch: i64,
    /// Of this node's monotonic clock.
    pub last_contact: Duration,
    /// The last offset that the broker has applied; -1 before it said so.
    pub metadata_offset: i64,
    /// The broker, in controlled shutdown, may stop once the others have applied this offset.
    pub(super) shutdown_offset: Option<i64>,
}

impl Session {
    fn begun(broker_epoch: i64, now: Duration) -> Session {
        Session { broker_epoch, last_contact: now, metadata_offset: -1, shutdown_offset: None }
    }
}

static NOTHING: Settings = Settings::new();

impl State {
    /// `properties` are those of this node's file, and what else it was told at its start.
    pub fn new(node_id: i32, cluster_id: &str, properties: Settings) -> Result<State, Invalid> {
        let lookup = |name: &str| properties.get(name).map(String::as_str);
        let creation = CreationConfig::resolve(&lookup)?;
        let timeout_ms = RegistrationConfig::resolve(&lookup)?.session_timeout_ms;
        Ok(State {
            node_id,
            cluster_id: cluster_id.to_owned(),
            creation,
            session_timeout: Duration::from_millis(u64::try_from(timeout_ms).unwrap_or(0)),
            sessions: BTreeMap::new(),
            properties,
        })
    }

    /// This node is told other properties while it runs. Sessions stay as long as they are: that
    /// needs a restart.
    pub fn tell_properties(&mut self, properties: Settings) -> Result<(), Invalid> {
        let lookup = |name: &str| properties.get(name).map(String::as_str);
        self.creation = CreationConfig::resolve(&lookup)?;
        self.properties = properties;
        Ok(())
    }

    /// This node became the leader: what it knew of sessions as leader before is void, and every
    /// broker that is not fenced gets a whole session from now on.
    pub fn begin_term(&mut self, image: &Image, now: Duration) {
        self.sessions.clear();
        for broker in image.brokers().values() {
            if !broker.fenced {
                self.begin_session(broker.broker_id, broker.broker_epoch, now);
            }
        }
    }

    /// Nobody could be heard until now: every session begins anew.
    pub fn renew_sessions(&mut self, now: Duration) {
        self.sessions.values_mut().for_each(|session| session.last_contact = now);
    }

    /// How long a broker may be silent.
    pub fn session_timeout(&self) -> Duration {
        self.session_timeout
    }

    pub(super) fn begin_session(&mut self, broker: i32, broker_epoch: i64, now: Duration) {
        self.sessions.insert(broker, Session::begun(broker_epoch, now));
    }

    /// The session of this incarnation, which begins now where there is none yet.
    pub(super) fn session_of(&mut self, broker: &Broker, now: Duration) -> &mut Session {
        let (id, broker_epoch) = (broker.broker_id, broker.broker_epoch);
        let session = self.sessions.entry(id).or_insert(Session::begun(broker_epoch, now));
        if session.broker_epoch != broker_epoch {
            *session = Session::begun(broker_epoch, now);
        }
        session
    }

    /// The session of a broker, if it was heard of in this term.
    pub fn session(&self, broker: i32) -> Option<&Session> {
        self.sessions.get(&broker)
    }

    /// Whether an incarnation was heard of within the session timeout.
    pub(super) fn is_live(&self, broker: &Broker, now: Duration) -> bool {
        self.session(broker.broker_id).is_some_and(|session| {
            session.broker_epoch == broker.broker_epoch
                && now < session.last_contact.saturating_add(self.session_timeout)
        })
    }

    /// The offset that every active broker but `except` has applied; None where there is none.
    pub(super) fn lowest_active_offset(&self, image: &Image, except: i32) -> Option<i64> {
        let active = image.brokers().keys().filter(|id| **id != except && image.is_active(**id));
        active.map(|id| self.session(*id).map_or(-1, |session| session.metadata_offset)).min()
    }

    /// What this node, as a broker, is told: what a topic's silence stands for.
    pub(super) fn layers<'a>(&'a self, image: &'a Image) -> Layers<'a> {
        let of = |resource| image.config(&resource).map_or(&NOTHING, AsRef::as_ref);
        Layers {
            dynamic_broker: of(ConfigResource::broker(self.node_id)),
            dynamic_default: of(ConfigResource::broker_default()),
            fixed: &self.properties,
        }
    }
}
