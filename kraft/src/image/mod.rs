//! What the metadata log says at one offset: the cluster, as one immutable value.
//!
//! A clone shares all that neither side changes, so every reader may hold its own, and the next
//! image is made of a clone of this one.

mod apply;
mod compare;
mod config_resource;
mod delta;
mod map;
mod snapshot;
mod topic;

#[cfg(test)]
mod tests;

pub use config_resource::ConfigResource;
pub use delta::{Delta, PartitionDelta};
pub use map::{Change, Map};
pub use topic::{NO_LEADER, Partition, RECOVERED, RECOVERING, Topic};

use crate::record::{
    AccessControlEntryRecord, ClientQuotaRecord, DelegationTokenRecord, Record,
    RegisterBrokerRecord, RegisterControllerRecord, UserScramCredentialRecord,
};
use protocol::ids::{TopicName, Uuid};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A broker is what it registered, kept up to date.
pub type Broker = RegisterBrokerRecord;
/// A controller is what it registered.
pub type Controller = RegisterControllerRecord;

/// Overrides of one resource: key and text.
pub type Overrides = BTreeMap<String, String>;

/// A quota's entity (sorted pairs of type and name; no name is the default) and its key.
type QuotaKey = (Vec<(String, Option<String>)>, String);

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Of the last record applied; -1 before the first.
    pub offset: i64,
    /// Of the leader that appended it.
    pub epoch: i32,
    features: Map<Arc<str>, i16>,
    topics: Map<TopicName, Topic>,
    topic_names: Map<Uuid, TopicName>,
    brokers: Map<i32, Arc<Broker>>,
    controllers: Map<i32, Arc<Controller>>,
    configs: Map<ConfigResource, Arc<Overrides>>,
    /// None until the first block was given out.
    next_producer_id: Option<i64>,
    // What is kept for those who serve it, and for the next snapshot.
    quotas: Map<QuotaKey, Arc<ClientQuotaRecord>>,
    scram_credentials: Map<(String, i8), Arc<UserScramCredentialRecord>>,
    acls: Map<Uuid, Arc<AccessControlEntryRecord>>,
    delegation_tokens: Map<String, Arc<DelegationTokenRecord>>,
    /// Records since a begin of a transaction: invisible until its end.
    transaction: Option<Arc<Vec<Record>>>,
}

impl Default for Image {
    fn default() -> Image {
        Image {
            offset: -1,
            epoch: 0,
            features: Map::default(),
            topics: Map::default(),
            topic_names: Map::default(),
            brokers: Map::default(),
            controllers: Map::default(),
            configs: Map::default(),
            next_producer_id: None,
            quotas: Map::default(),
            scram_credentials: Map::default(),
            acls: Map::default(),
            delegation_tokens: Map::default(),
            transaction: None,
        }
    }
}

/// The feature that says which versions of records may be written.
pub const METADATA_VERSION: &str = "metadata.version";

impl Image {
    /// Finalised features by name, those that we do not know among them.
    pub fn features(&self) -> &Map<Arc<str>, i16> {
        &self.features
    }

    /// The finalised level of a feature; 0 where it is not finalised.
    pub fn feature(&self, name: &str) -> i16 {
        self.features.get(name).copied().unwrap_or(0)
    }

    /// The level of `metadata.version`: which versions of records may be written.
    pub fn metadata_version(&self) -> i16 {
        self.feature(METADATA_VERSION)
    }

    /// By name.
    pub fn topics(&self) -> &Map<TopicName, Topic> {
        &self.topics
    }

    pub fn topic(&self, name: &str) -> Option<&Topic> {
        self.topics.get(name)
    }

    pub fn topic_by_id(&self, id: Uuid) -> Option<&Topic> {
        self.topics.get(self.topic_names.get(&id)?)
    }

    pub fn topic_name(&self, id: Uuid) -> Option<&TopicName> {
        self.topic_names.get(&id)
    }

    pub fn partition(&self, topic: &str, partition: i32) -> Option<&Arc<Partition>> {
        self.topic(topic)?.partition(partition)
    }

    /// Every registered broker, fenced ones too.
    pub fn brokers(&self) -> &Map<i32, Arc<Broker>> {
        &self.brokers
    }

    pub fn broker(&self, id: i32) -> Option<&Arc<Broker>> {
        self.brokers.get(&id)
    }

    /// Whether a broker may lead: registered, not fenced, and not about to stop.
    pub fn is_active(&self, broker: i32) -> bool {
        self.broker(broker).is_some_and(|broker| !broker.fenced && !broker.in_controlled_shutdown)
    }

    pub fn controllers(&self) -> &Map<i32, Arc<Controller>> {
        &self.controllers
    }

    /// Every resource that has overrides.
    pub fn configs(&self) -> &Map<ConfigResource, Arc<Overrides>> {
        &self.configs
    }

    /// The overrides of a resource; None where it has none.
    pub fn config(&self, resource: &ConfigResource) -> Option<&Arc<Overrides>> {
        self.configs.get(resource)
    }

    /// One override of a resource.
    pub fn config_value(&self, resource: &ConfigResource, key: &str) -> Option<&str> {
        self.config(resource)?.get(key).map(String::as_str)
    }

    /// All producer ids below were given out.
    pub fn next_producer_id(&self) -> i64 {
        self.next_producer_id.unwrap_or(0)
    }

    pub fn quotas(&self) -> impl Iterator<Item = &ClientQuotaRecord> {
        self.quotas.values().map(AsRef::as_ref)
    }

    pub fn scram_credentials(&self) -> impl Iterator<Item = &UserScramCredentialRecord> {
        self.scram_credentials.values().map(AsRef::as_ref)
    }

    pub fn acls(&self) -> impl Iterator<Item = &AccessControlEntryRecord> {
        self.acls.values().map(AsRef::as_ref)
    }

    pub fn delegation_tokens(&self) -> impl Iterator<Item = &DelegationTokenRecord> {
        self.delegation_tokens.values().map(AsRef::as_ref)
    }

    /// Whether a transaction of records is open. Then no snapshot may be made, and a new leader
    /// must abort it before it appends anything else.
    pub fn in_transaction(&self) -> bool {
        self.transaction.is_some()
    }
}
