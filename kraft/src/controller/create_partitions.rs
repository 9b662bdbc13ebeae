//! CreatePartitions: a topic gets more of them.

use super::create_topics::{check_new_partitions, no_active};
use super::decision::{Decide, Decision, Now};
use super::placement::{self, Directories};
use super::refusal::Refusal;
use super::state::State;
use crate::image::Image;
use crate::record::Record;
use protocol::error::ErrorCode;
use protocol::messages::create_partitions_request::CreatePartitionsTopic;
use protocol::messages::create_partitions_response::CreatePartitionsTopicResult;
use protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse};
use std::collections::{BTreeMap, BTreeSet};

impl Decide for CreatePartitionsRequest {
    fn decide(
        self,
        image: &Image,
        _: &mut State,
        now: &Now<'_>,
    ) -> Decision<CreatePartitionsResponse> {
        let mut seen = BTreeMap::<&str, usize>::new();
        for topic in &self.topics {
            *seen.entry(&topic.name).or_default() += 1;
        }
        let grown = self.topics.iter().map(|topic| growth(image, topic).unwrap_or(0));
        let too_many = check_new_partitions(grown.fold(0, usize::saturating_add)).err();
        let mut directories = Directories::of(image);
        let (mut records, mut results, mut answered) = (Vec::new(), Vec::new(), BTreeSet::new());
        for topic in &self.topics {
            let name = topic.name.as_str();
            if !answered.insert(name) {
                continue;
            }
            let outcome = match &too_many {
                Some(refusal) => Err(refusal.clone()),
                None if seen.get(name).is_some_and(|count| 1 < *count) => {
                    let why = format!("topic {name} is in the request more than once");
                    Err(Refusal::new(ErrorCode::InvalidRequest, why))
                }
                None => grow(image, now, &mut directories, topic),
            };
            let result = CreatePartitionsTopicResult::default().with_name(topic.name.clone());
            results.push(match outcome {
                Ok(of_topic) => {
                    records.extend(of_topic);
                    result.with_error_message(None)
                }
                // Of an unknown topic Kafka gives the code alone.
                Err(Refusal { code: code @ ErrorCode::UnknownTopicOrPartition, .. }) => {
                    result.with_error_code(code.code()).with_error_message(None)
                }
                Err(refusal) => result
                    .with_error_code(refusal.code.code())
                    .with_error_message(Some(refusal.text())),
            });
        }
        if self.validate_only {
            records.clear();
        }
        Decision::append(records, CreatePartitionsResponse::default().with_results(results))
    }
}

/// How many partitions a topic gets; None where the request is wrong.
fn growth(image: &Image, topic: &CreatePartitionsTopic) -> Option<usize> {
    let count = usize::try_from(topic.count).ok()?;
    count.checked_sub(image.topic(&topic.name)?.partitions.len())
}

fn grow(
    image: &Image,
    now: &Now<'_>,
    directories: &mut Directories<'_>,
    asked: &CreatePartitionsTopic,
) -> Result<Vec<Record>, Refusal> {
    let name = asked.name.as_str();
    let topic = image.topic(name).ok_or_else(|| {
        Refusal::new(ErrorCode::UnknownTopicOrPartition, format!("there is no topic {name}"))
    })?;
    let existing = topic.partitions.len();
    let more = growth(image, asked).filter(|more| 0 < *more).ok_or_else(|| {
        let why = format!(
            "topic {name} has {existing} partition(s) already, and cannot be made to have {}",
            asked.count
        );
        Refusal::new(ErrorCode::InvalidPartitions, why)
    })?;
    let factor = topic.partitions.values().next().map_or(1, |partition| partition.replicas.len());
    let placed = match &asked.assignments {
        None => placement::place(image, now, more, factor)?,
        Some(assignments) if assignments.len() != more => {
            let why = format!(
                "{more} partition(s) are to be added, and {} are assigned",
                assignments.len()
            );
            return Err(Refusal::new(ErrorCode::InvalidReplicaAssignment, why));
        }
        Some(assignments) => {
            let ids = assignments.iter().map(|it| it.broker_ids.iter().map(|id| id.0).collect());
            let placed: Vec<Vec<i32>> = ids.collect();
            for (at, replicas) in placed.iter().enumerate() {
                placement::check_manual(image, existing + at, replicas, factor)?;
            }
            placed
        }
    };
    let first = i32::try_from(existing).unwrap_or(i32::MAX);
    let mut records = Vec::with_capacity(more);
    for (number, replicas) in (first..).zip(placed) {
        let partition = directories.new_partition(topic.id, number, replicas);
        records.push(Record::from(partition.ok_or_else(|| no_active(number))?));
    }
    Ok(records)
}
