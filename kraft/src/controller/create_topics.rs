//! CreateTopics.

use super::configs;
use super::decision::{Decide, Decision, Now};
use super::placement::{self, Directories};
use super::refusal::{Refusal, text};
use super::state::State;
use super::topic_name::check;
use crate::image::{ConfigResource, Image};
use crate::record::{PartitionRecord, Record, TopicRecord};
use protocol::config::alter::{Operation, Target, changed, check_topic};
use protocol::config::describe::{self, Settings};
use protocol::error::ErrorCode;
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::create_topics_response::{CreatableTopicConfigs, CreatableTopicResult};
use protocol::messages::{CreateTopicsRequest, CreateTopicsResponse};
use std::collections::{BTreeMap, BTreeSet};

/// New partitions that one request may ask for.
pub const NEW_PARTITIONS_MAX: usize = 10_000;

impl Decide for CreateTopicsRequest {
    fn decide(
        self,
        image: &Image,
        state: &mut State,
        now: &Now<'_>,
    ) -> Decision<CreateTopicsResponse> {
        let mut seen = BTreeMap::<&str, usize>::new();
        for topic in &self.topics {
            *seen.entry(&topic.name).or_default() += 1;
        }
        let too_many = too_many_partitions(&self.topics, state);
        let mut creation = Creation { image, state, now, directories: Directories::of(image) };
        let (mut records, mut results) = (Vec::new(), Vec::new());
        let mut answered = BTreeSet::new();
        for topic in &self.topics {
            if !answered.insert(topic.name.as_str()) {
                continue;
            }
            let is_repeated = seen.get(topic.name.as_str()).is_some_and(|count| 1 < *count);
            let outcome = match &too_many {
                Some(refusal) => Err(refusal.clone()),
                None if is_repeated => {
                    let why = format!("topic {} is in the request more than once", &*topic.name);
                    Err(Refusal::new(ErrorCode::InvalidRequest, why))
                }
                None => creation.create(topic),
            };
            results.push(match outcome {
                Ok((result, of_topic)) => {
                    records.extend(of_topic);
                    result
                }
                Err(refusal) => refused(topic, &refusal),
            });
        }
        if self.validate_only {
            records.clear();
        }
        Decision::append(records, CreateTopicsResponse::default().with_topics(results))
    }
}

/// A request is read into memory and into one batch, so its size is bounded.
fn too_many_partitions(topics: &[CreatableTopic], state: &State) -> Option<Refusal> {
    let count = |topic: &CreatableTopic| match (topic.assignments.len(), topic.num_partitions) {
        (0, -1) => state.creation.num_partitions,
        (0, count) => count,
        (assigned, _) => i32::try_from(assigned).unwrap_or(i32::MAX),
    };
    let counts = topics.iter().map(|topic| usize::try_from(count(topic)).unwrap_or(0));
    let total = counts.fold(0usize, usize::saturating_add);
    check_new_partitions(total).err()
}

pub(super) fn check_new_partitions(total: usize) -> Result<(), Refusal> {
    if total <= NEW_PARTITIONS_MAX {
        return Ok(());
    }
    let why = format!(
        "the request asks for {total} new partitions, and one may ask for {NEW_PARTITIONS_MAX}"
    );
    Err(Refusal::new(ErrorCode::PolicyViolation, why))
}

fn refused(topic: &CreatableTopic, refusal: &Refusal) -> CreatableTopicResult {
    CreatableTopicResult::default()
        .with_name(topic.name.clone())
        .with_error_code(refusal.code.code())
        .with_error_message(Some(refusal.text()))
        .with_num_partitions(-1)
        .with_replication_factor(-1)
        .with_configs(Some(Vec::new()))
}

struct Creation<'a> {
    image: &'a Image,
    state: &'a State,
    now: &'a Now<'a>,
    directories: Directories<'a>,
}

impl Creation<'_> {
    fn create(
        &mut self,
        topic: &CreatableTopic,
    ) -> Result<(CreatableTopicResult, Vec<Record>), Refusal> {
        let name = topic.name.as_str();
        check(name, self.image)?;
        let overrides = self.overrides(topic)?;
        let topic_id = self.now.random_id();
        let partitions = self.partitions(topic, topic_id)?;

        let count = i32::try_from(partitions.len()).unwrap_or(i32::MAX);
        let replicas = partitions.first().map_or(0, |partition| partition.replicas.len());
        let result = CreatableTopicResult::default()
            .with_name(topic.name.clone())
            .with_topic_id(topic_id.into())
            .with_error_message(None)
            .with_num_partitions(count)
            .with_replication_factor(i16::try_from(replicas).unwrap_or(i16::MAX))
            .with_configs(Some(self.effective(&overrides)));
        let head = TopicRecord { name: name.to_owned(), topic_id, ..TopicRecord::default() };
        let resource = ConfigResource::topic(name);
        let configs =
            overrides.iter().map(|(key, value)| configs::record(&resource, key, Some(value)));
        let mut records = vec![Record::from(head)];
        records.extend(configs);
        records.extend(partitions.into_iter().map(Record::from));
        Ok((result, records))
    }

    fn overrides(&self, topic: &CreatableTopic) -> Result<Settings, Refusal> {
        let refuse = |why: String| Refusal::new(ErrorCode::InvalidConfig, why);
        let mut overrides = Settings::new();
        for config in &topic.configs {
            let (name, value) = (config.name.as_str(), config.value.as_deref());
            let value = changed(Target::Topic, name, None, Operation::Set, value)
                .map_err(|invalid| refuse(invalid.to_string()))?;
            let value = value.unwrap_or_default();
            configs::check_len(name, &value)?;
            overrides.insert(name.to_owned(), value);
        }
        let layers = self.state.layers(self.image);
        check_topic(&overrides, &|name| layers.get(name))
            .map_err(|invalid| refuse(invalid.to_string()))?;
        Ok(overrides)
    }

    /// What the response says of the new topic's configs.
    fn effective(&self, overrides: &Settings) -> Vec<CreatableTopicConfigs> {
        let entries = describe::topic(overrides, self.state.layers(self.image)).into_iter();
        let shown = entries.map(|entry| {
            CreatableTopicConfigs::default()
                .with_name(text(&entry.name))
                .with_value(entry.value.as_deref().map(text))
                .with_read_only(entry.read_only)
                .with_config_source(entry.source.code())
                .with_is_sensitive(entry.is_sensitive)
        });
        shown.collect()
    }

    fn partitions(
        &mut self,
        topic: &CreatableTopic,
        topic_id: protocol::ids::Uuid,
    ) -> Result<Vec<PartitionRecord>, Refusal> {
        let placed =
            if topic.assignments.is_empty() { self.place(topic)? } else { self.assigned(topic)? };
        let mut partitions = Vec::with_capacity(placed.len());
        for (number, replicas) in (0i32..).zip(placed) {
            let partition = self.directories.new_partition(topic_id, number, replicas);
            partitions.push(partition.ok_or_else(|| no_active(number))?);
        }
        Ok(partitions)
    }

    /// The controller chooses brokers.
    fn place(&self, topic: &CreatableTopic) -> Result<Vec<Vec<i32>>, Refusal> {
        let asked = i32::from(topic.replication_factor);
        let factor =
            if asked == -1 { self.state.creation.default_replication_factor } else { asked };
        let factor = usize::try_from(factor).ok().filter(|factor| 0 < *factor);
        let factor = factor.ok_or_else(|| {
            let why =
                format!("a replication factor is 1 or more, or -1 for the default; not {asked}");
            Refusal::new(ErrorCode::InvalidReplicationFactor, why)
        })?;
        let asked = topic.num_partitions;
        let count = if asked == -1 { self.state.creation.num_partitions } else { asked };
        let count = usize::try_from(count).ok().filter(|count| 0 < *count).ok_or_else(|| {
            let why =
                format!("a topic has 1 or more partitions, or -1 for the default; not {asked}");
            Refusal::new(ErrorCode::InvalidPartitions, why)
        })?;
        placement::place(self.image, self.now, count, factor)
    }

    /// The request chooses brokers.
    fn assigned(&self, topic: &CreatableTopic) -> Result<Vec<Vec<i32>>, Refusal> {
        if topic.replication_factor != -1 || topic.num_partitions != -1 {
            let why = "with an assignment, partitions and replication factor must both be -1";
            return Err(Refusal::new(ErrorCode::InvalidRequest, why));
        }
        let refuse = |why: String| Refusal::new(ErrorCode::InvalidReplicaAssignment, why);
        let mut assigned = BTreeMap::new();
        for assignment in &topic.assignments {
            let replicas: Vec<i32> = assignment.broker_ids.iter().map(|id| id.0).collect();
            if assigned.insert(assignment.partition_index, replicas).is_some() {
                let number = assignment.partition_index;
                return Err(refuse(format!("partition {number} is assigned more than once")));
            }
        }
        if !(0i32..).zip(assigned.keys()).all(|(number, key)| number == *key) {
            let why = "partitions must be numbered from 0 up, without a gap";
            return Err(refuse(why.to_owned()));
        }
        let factor = assigned.first_key_value().map_or(0, |(_, replicas)| replicas.len());
        for (number, replicas) in assigned.values().enumerate() {
            placement::check_manual(self.image, number, replicas, factor)?;
        }
        Ok(assigned.into_values().collect())
    }
}

/// None of a new partition's replicas could lead it.
pub(super) fn no_active(partition: i32) -> Refusal {
    let why =
        format!("every broker that partition {partition} is assigned to is fenced or stopping");
    Refusal::new(ErrorCode::InvalidReplicaAssignment, why)
}
