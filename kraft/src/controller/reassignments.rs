//! ListPartitionReassignments: which partitions are on their way to other brokers.

use super::decision::{Decide, Decision, Now};
use super::state::State;
use crate::image::{Image, Partition, Topic};
use protocol::messages::list_partition_reassignments_response::{
    OngoingPartitionReassignment, OngoingTopicReassignment,
};
use protocol::messages::{
    BrokerId, ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse,
};

impl Decide for ListPartitionReassignmentsRequest {
    fn decide(
        self,
        image: &Image,
        _: &mut State,
        _: &Now<'_>,
    ) -> Decision<ListPartitionReassignmentsResponse> {
        let topics: Vec<OngoingTopicReassignment> = match &self.topics {
            None => image.topics().values().filter_map(|topic| ongoing(topic, None)).collect(),
            Some(asked) => {
                let known = asked.iter().filter_map(|it| Some((image.topic(&it.name)?, it)));
                known
                    .filter_map(|(topic, it)| ongoing(topic, Some(&it.partition_indexes)))
                    .collect()
            }
        };
        Decision::answer(
            ListPartitionReassignmentsResponse::default()
                .with_error_message(None)
                .with_topics(topics),
        )
    }
}

/// What is under way in a topic, or in some of its partitions; None where nothing is.
fn ongoing(topic: &Topic, asked: Option<&[i32]>) -> Option<OngoingTopicReassignment> {
    let ids = |list: &[i32]| list.iter().copied().map(BrokerId).collect();
    let moves = |partition: &Partition| {
        !partition.adding_replicas.is_empty() || !partition.removing_replicas.is_empty()
    };
    let partitions = topic.partitions.iter().filter(|(number, partition)| {
        moves(partition) && asked.is_none_or(|asked| asked.contains(number))
    });
    let partitions: Vec<_> = partitions
        .map(|(number, partition)| {
            OngoingPartitionReassignment::default()
                .with_partition_index(*number)
                .with_replicas(ids(&partition.replicas))
                .with_adding_replicas(ids(&partition.adding_replicas))
                .with_removing_replicas(ids(&partition.removing_replicas))
        })
        .collect();
    let name = topic.name.to_message();
    (!partitions.is_empty())
        .then(|| OngoingTopicReassignment::default().with_name(name).with_partitions(partitions))
}
