//! The records that state an image, for a snapshot.

use super::{Image, METADATA_VERSION};
use crate::record::{
    ConfigRecord, FeatureLevelRecord, ProducerIdsRecord, Record, TopicRecord, Unknown,
};

impl Image {
    /// Applied to an empty image in this order, these records give an equal one. The level of
    /// `metadata.version` is first, as Apache Kafka has it. An open transaction is not among them.
    pub fn to_records(&self) -> impl Iterator<Item = Record> + '_ {
        let rank = |name: &str| name != METADATA_VERSION;
        let mut features: Vec<_> = self.features.iter().collect();
        features.sort_by_key(|(name, _)| (rank(name), (*name).clone()));
        let features = features.into_iter().map(|(name, level)| {
            let unknown = Unknown::default();
            FeatureLevelRecord { name: name.to_string(), feature_level: *level, unknown }.into()
        });
        let brokers = self.brokers.values().map(|broker| (**broker).clone().into());
        let controllers = self.controllers.values().map(|controller| (**controller).clone().into());
        let producer_ids = self.next_producer_id.map(|next_producer_id| {
            ProducerIdsRecord { broker_id: -1, next_producer_id, ..ProducerIdsRecord::default() }
                .into()
        });
        let quotas = self.quotas().cloned().map(Record::from);
        let acls = self.acls().cloned().map(Record::from);
        let scram_credentials = self.scram_credentials().cloned().map(Record::from);
        let tokens = self.delegation_tokens().cloned().map(Record::from);
        (features.chain(brokers).chain(controllers))
            .chain(self.topic_records())
            .chain(self.config_records())
            .chain(quotas)
            .chain(producer_ids)
            .chain(acls)
            .chain(scram_credentials)
            .chain(tokens)
    }

    fn topic_records(&self) -> impl Iterator<Item = Record> + '_ {
        self.topics.values().flat_map(|topic| {
            let (name, topic_id) = (topic.name.to_string(), topic.id);
            let partitions = topic.partitions.iter();
            let partitions =
                partitions.map(move |(number, is)| is.to_record(topic_id, *number).into());
            let head = TopicRecord { name, topic_id, unknown: Unknown::default() };
            std::iter::once(head.into()).chain(partitions)
        })
    }

    fn config_records(&self) -> impl Iterator<Item = Record> + '_ {
        self.configs.iter().flat_map(|(resource, overrides)| {
            overrides.iter().map(|(name, value)| {
                Record::from(ConfigRecord {
                    resource_type: resource.kind,
                    resource_name: resource.name.to_string(),
                    name: name.clone(),
                    value: Some(value.clone()),
                    unknown: Unknown::default(),
                })
            })
        })
    }
}
