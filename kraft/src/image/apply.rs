//! What each metadata record does to the image.

use super::{ConfigResource, Image, METADATA_VERSION, Partition, QuotaKey, Topic, map::Map};
use crate::error::Error;
use crate::record::{
    BrokerRegistrationChangeRecord, ClearElrRecord, ClientQuotaRecord, ConfigRecord,
    FeatureLevelRecord, PartitionChangeRecord, PartitionRecord, Record, TopicRecord,
};
use protocol::ids::{TopicName, Uuid};
use std::sync::Arc;

/// Why a record contradicts the image.
type Outcome = Result<(), String>;

impl Image {
    /// Takes one committed record in. `offset` is its own, and of a snapshot's records the last
    /// offset that the snapshot covers.
    pub fn apply(&mut self, record: &Record, offset: i64) -> Result<(), Error> {
        let outcome = self.take(record);
        self.offset = offset;
        outcome.map_err(|why| Error::Contradiction { offset, record: record.kind(), why })
    }

    /// Records between begin and end wait; the others act.
    fn take(&mut self, record: &Record) -> Outcome {
        if let Record::BeginTransaction(_) = record {
            if self.transaction.is_some() {
                return Err("a transaction is open already".to_owned());
            }
            self.transaction = Some(Arc::default());
        } else if let Record::EndTransaction(_) = record {
            let waiting = self.transaction.take().ok_or("no transaction is open")?;
            waiting.iter().try_for_each(|record| self.act(record))?;
        } else if let Record::AbortTransaction(_) = record {
            self.transaction.take().ok_or("no transaction is open")?;
        } else if let Some(waiting) = &mut self.transaction {
            Arc::make_mut(waiting).push(record.clone());
        } else {
            self.act(record)?;
        }
        Ok(())
    }

    fn act(&mut self, record: &Record) -> Outcome {
        match record {
            Record::RegisterBroker(broker) => {
                self.brokers.insert(broker.broker_id, Arc::new(broker.clone()));
            }
            Record::UnregisterBroker(gone) => {
                self.brokers.remove(&gone.broker_id).ok_or("no such broker is registered")?;
            }
            Record::BrokerRegistrationChange(change) => self.change_broker(change)?,
            Record::FenceBroker(fence) => self.set_fenced(fence.id, fence.epoch, true)?,
            Record::UnfenceBroker(unfence) => self.set_fenced(unfence.id, unfence.epoch, false)?,
            Record::RegisterController(controller) => {
                self.controllers.insert(controller.controller_id, Arc::new(controller.clone()));
            }
            Record::UnregisterController(gone) => {
                self.controllers.remove(&gone.controller_id);
            }
            Record::Topic(topic) => self.create_topic(topic)?,
            Record::RemoveTopic(gone) => self.remove_topic(gone.topic_id)?,
            Record::Partition(partition) => self.state_partition(partition)?,
            Record::PartitionChange(change) => self.change_partition(change)?,
            Record::ClearElr(clear) => self.clear_elr(clear)?,
            Record::Config(config) => self.set_config(config),
            Record::FeatureLevel(feature) => self.set_feature(feature)?,
            Record::ProducerIds(ids) => self.give_out_producer_ids(ids.next_producer_id)?,
            Record::ClientQuota(quota) => self.set_quota(quota),
            Record::UserScramCredential(user) => {
                let key = (user.name.clone(), user.mechanism);
                self.scram_credentials.insert(key, Arc::new(user.clone()));
            }
            Record::RemoveUserScramCredential(gone) => {
                self.scram_credentials.remove(&(gone.name.clone(), gone.mechanism));
            }
            Record::AccessControlEntry(acl) => {
                self.acls.insert(acl.id, Arc::new(acl.clone()));
            }
            Record::RemoveAccessControlEntry(gone) => {
                self.acls.remove(&gone.id).ok_or("no such access rule stands")?;
            }
            Record::DelegationToken(token) => {
                self.delegation_tokens.insert(token.token_id.clone(), Arc::new(token.clone()));
            }
            Record::RemoveDelegationToken(gone) => {
                self.delegation_tokens.remove(&gone.token_id);
            }
            // Transactions do not nest, which `take` has seen to; a migration from ZooKeeper is
            // over in every log that Apache Kafka 4 can read.
            Record::NoOp(_)
            | Record::ZkMigrationState(_)
            | Record::BeginTransaction(_)
            | Record::EndTransaction(_)
            | Record::AbortTransaction(_) => {}
        }
        Ok(())
    }

    fn change_broker(&mut self, change: &BrokerRegistrationChangeRecord) -> Outcome {
        let broker = self.registered(change.broker_id, change.broker_epoch)?;
        let changed = |state, change| match change {
            0 => Ok(state),
            1 => Ok(true),
            -1 => Ok(false),
            other => Err(format!("{other} is no change of a state")),
        };
        broker.fenced = changed(broker.fenced, change.fenced)?;
        broker.in_controlled_shutdown =
            changed(broker.in_controlled_shutdown, change.in_controlled_shutdown)?;
        if !change.log_dirs.is_empty() {
            broker.log_dirs.clone_from(&change.log_dirs);
        }
        if change.cordoned_log_dirs.is_some() {
            broker.cordoned_log_dirs.clone_from(&change.cordoned_log_dirs);
        }
        Ok(())
    }

    fn set_fenced(&mut self, id: i32, epoch: i64, fenced: bool) -> Outcome {
        self.registered(id, epoch)?.fenced = fenced;
        Ok(())
    }

    fn registered(&mut self, id: i32, epoch: i64) -> Result<&mut super::Broker, String> {
        let broker = self.brokers.get_mut(&id);
        let broker = broker.ok_or_else(|| format!("broker {id} is not registered"))?;
        if broker.broker_epoch != epoch {
            let stands = broker.broker_epoch;
            return Err(format!("broker {id} is at epoch {stands}, not {epoch}"));
        }
        Ok(Arc::make_mut(broker))
    }

    fn create_topic(&mut self, record: &TopicRecord) -> Outcome {
        if self.topics.contains_key(record.name.as_str()) {
            return Err(format!("topic {} exists already", record.name));
        }
        if self.topic_names.contains_key(&record.topic_id) {
            return Err(format!("topic id {} is taken", record.topic_id));
        }
        let name = TopicName::from(record.name.as_str());
        self.topic_names.insert(record.topic_id, name.clone());
        let topic = Topic { name: name.clone(), id: record.topic_id, partitions: Map::default() };
        self.topics.insert(name, topic);
        Ok(())
    }

    fn remove_topic(&mut self, id: Uuid) -> Outcome {
        let name = self.topic_names.remove(&id).ok_or_else(|| no_topic(id))?;
        self.topics.remove(&name);
        self.configs.remove(&ConfigResource::topic(name.as_str()));
        Ok(())
    }

    fn topic_mut(&mut self, id: Uuid) -> Result<&mut Topic, String> {
        let name = self.topic_names.get(&id).ok_or_else(|| no_topic(id))?;
        self.topics.get_mut(name).ok_or_else(|| no_topic(id))
    }

    fn state_partition(&mut self, record: &PartitionRecord) -> Outcome {
        let topic = self.topic_mut(record.topic_id)?;
        topic.partitions.insert(record.partition_id, Arc::new(Partition::from(record)));
        Ok(())
    }

    fn change_partition(&mut self, change: &PartitionChangeRecord) -> Outcome {
        let topic = self.topic_mut(change.topic_id)?;
        let name = &topic.name;
        let partition = topic.partitions.get_mut(&change.partition_id);
        let partition =
            partition.ok_or_else(|| format!("{name} has no partition {}", change.partition_id))?;
        Arc::make_mut(partition).merge(change);
        Ok(())
    }

    fn clear_elr(&mut self, record: &ClearElrRecord) -> Outcome {
        let mut names: Vec<TopicName> = Vec::new();
        if record.topic_name.is_empty() {
            names.extend(self.topics.keys().cloned());
        } else {
            let topic = self.topic(&record.topic_name);
            let topic = topic.ok_or_else(|| format!("topic {} is not there", record.topic_name))?;
            names.push(topic.name.clone());
        }
        for name in names {
            let Some(topic) = self.topics.get(&name) else { continue };
            let has_some = |partition: &Partition| {
                !partition.eligible_leader_replicas.is_empty()
                    || !partition.last_known_elr.is_empty()
            };
            let due = topic.partitions.iter().filter(|(_, partition)| has_some(partition));
            let due: Vec<_> = due.map(|(number, _)| (topic.id, *number)).collect();
            for (topic_id, partition_id) in due {
                self.change_partition(&PartitionChangeRecord {
                    partition_id,
                    topic_id,
                    eligible_leader_replicas: Some(Vec::new()),
                    last_known_elr: Some(Vec::new()),
                    ..PartitionChangeRecord::default()
                })?;
            }
        }
        Ok(())
    }

    fn set_config(&mut self, record: &ConfigRecord) {
        let resource = ConfigResource::new(record.resource_type, &record.resource_name);
        if let Some(value) = &record.value {
            if !self.configs.contains_key(&resource) {
                self.configs.insert(resource.clone(), Arc::default());
            }
            if let Some(overrides) = self.configs.get_mut(&resource) {
                Arc::make_mut(overrides).insert(record.name.clone(), value.clone());
            }
        } else if let Some(overrides) = self.configs.get_mut(&resource) {
            let overrides = Arc::make_mut(overrides);
            overrides.remove(&record.name);
            if overrides.is_empty() {
                self.configs.remove(&resource);
            }
        }
    }

    fn set_feature(&mut self, record: &FeatureLevelRecord) -> Outcome {
        if record.feature_level != 0 {
            self.features.insert(record.name.as_str().into(), record.feature_level);
        } else if record.name == METADATA_VERSION {
            return Err(format!("{METADATA_VERSION} cannot be taken away"));
        } else {
            self.features.remove(record.name.as_str());
        }
        Ok(())
    }

    /// An id that two producers have lets one write in the other's name.
    fn give_out_producer_ids(&mut self, next: i64) -> Outcome {
        if let Some(given) = self.next_producer_id.filter(|given| next <= *given) {
            return Err(format!("producer ids were given out up to {given}, and not up to {next}"));
        }
        self.next_producer_id = Some(next);
        Ok(())
    }

    fn set_quota(&mut self, record: &ClientQuotaRecord) {
        let of = |part: &crate::record::QuotaEntity| {
            (part.entity_type.clone(), part.entity_name.clone())
        };
        let mut entity: Vec<_> = record.entity.iter().map(of).collect();
        entity.sort();
        let key: QuotaKey = (entity, record.key.clone());
        if record.remove {
            self.quotas.remove(&key);
        } else {
            self.quotas.insert(key, Arc::new(record.clone()));
        }
    }
}

fn no_topic(id: Uuid) -> String {
    format!("there is no topic with id {id}")
}
