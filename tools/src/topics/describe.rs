//! `kafka-topics --describe`.

use super::choice::{matching, must_exist, told};
use crate::admin::configs::{self, Entry, Kind, Resource, source};
use crate::admin::joined;
use crate::admin::topics::{self, Described, Partition, name_of};
use crate::args::Args;
use crate::client::{Client, Refused, To};
use crate::failure::Failure;
use crate::output::Output;
use protocol::error::ErrorCode;
use protocol::ids::Uuid;
use protocol::messages::list_partition_reassignments_request::ListPartitionReassignmentsTopics;
use protocol::messages::list_partition_reassignments_response::OngoingPartitionReassignment;
use protocol::messages::{ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse};
use std::collections::{BTreeMap, BTreeSet};

/// The flags that leave only some partitions.
pub(super) const REPORTS: [&str; 4] = [
    "under-replicated-partitions",
    "under-min-isr-partitions",
    "at-min-isr-partitions",
    "unavailable-partitions",
];

/// What is moved where, by topic and partition.
type Moves = BTreeMap<(String, i32), OngoingPartitionReassignment>;

pub(super) async fn describe(
    args: &Args,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let found = find(args, client, output).await?;
    let asked = ask(client, &found).await.map_err(|refused| told(&refused, output))?;
    for topic in &found {
        let entries = asked.configs.get(&topic.name).map_or([].as_slice(), Vec::as_slice);
        print(args, &asked, (topic, entries), output)?;
    }
    Ok(())
}

/// The topics that the arguments mean.
async fn find(
    args: &Args,
    client: &mut Client,
    output: &mut Output,
) -> Result<Vec<Described>, Failure> {
    if args.has("if-exists") && args.has("topic") && args.has("topic-id") {
        output.line(
            "Only topic id will be used when both --topic and --topic-id are specified and topicId \
             is not Uuid.ZERO_UUID",
        )?;
    }
    let id = args.one("topic-id")?.map(str::parse::<Uuid>).transpose().map_err(|_| {
        let why = "--topic-id must be an id as --describe prints it".to_owned();
        told(&Refused::of(ErrorCode::InvalidRequest, why), output)
    })?;
    let Some(id) = id.filter(|id| !id.is_zero()) else {
        let names = matching(args, client, output).await?;
        must_exist(args, &names, output)?;
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let limit = args.number("partition-size-limit-per-response")?.unwrap_or(2000);
        let described = topics::describe(client, &names, limit).await;
        return described.map_err(|refused| told(&refused, output));
    };
    let all = topics::list(client).await.map_err(|refused| told(&refused, output))?;
    if all.iter().any(|topic| topic.id == id) {
        return topics::describe_id(client, id).await.map_err(|refused| told(&refused, output));
    }
    if args.has("if-exists") {
        return Ok(Vec::new());
    }
    let text = "Error while executing topic command : TopicId";
    output.line(format!("{text} '{id}' does not exist as expected"))?;
    Err(Failure::Exit(1))
}

/// What else is to be known.
struct Asked {
    configs: BTreeMap<String, Vec<Entry>>,
    moves: Moves,
    live: BTreeSet<i32>,
}

async fn ask(client: &mut Client, found: &[Described]) -> Result<Asked, Refused> {
    let resources = found.iter().map(|it| Resource { kind: Kind::Topic, name: it.name.clone() });
    let resources: Vec<Resource> = resources.collect();
    Ok(Asked {
        configs: configs::describe(client, &resources, false).await?.into_iter().collect(),
        live: client.nodes().await?.into_iter().map(|node| node.id).collect(),
        moves: moves(client, found).await?,
    })
}

async fn moves(client: &mut Client, found: &[Described]) -> Result<Moves, Refused> {
    if found.is_empty() {
        return Ok(Moves::new());
    }
    let topics = found.iter().map(|topic| {
        ListPartitionReassignmentsTopics::default()
            .with_name(name_of(&topic.name))
            .with_partition_indexes(topic.partitions.iter().map(|it| it.index).collect())
    });
    let request = ListPartitionReassignmentsRequest::default()
        .with_topics(Some(topics.collect()))
        .with_timeout_ms(client.request_timeout_ms());
    let judge = |answer: &ListPartitionReassignmentsResponse| {
        Refused::check(answer.error_code, answer.error_message.as_deref())
    };
    let answer = match client.ask_until(To::Controller, &request, judge).await {
        // An old broker, or one that does not let us: the topics are told without it.
        Err(refused)
            if [ErrorCode::UnsupportedVersion, ErrorCode::ClusterAuthorizationFailed]
                .contains(&refused.code) =>
        {
            return Ok(Moves::new());
        }
        answer => answer?,
    };
    let moves = answer.topics.into_iter().flat_map(|topic| {
        let name = topic.name.to_string();
        topic.partitions.into_iter().map(move |it| ((name.clone(), it.partition_index), it))
    });
    Ok(moves.collect())
}

/// How many replicas a partition is to have: while it is moved, not those that come or go.
fn replication_factor(
    partition: &Partition,
    moved: Option<&OngoingPartitionReassignment>,
) -> usize {
    let Some(moved) = moved else { return partition.replicas.len() };
    let mut changing = moved.adding_replicas.iter().chain(&moved.removing_replicas);
    if changing.any(|id| partition.replicas.contains(&id.0)) {
        moved.replicas.len().saturating_sub(moved.adding_replicas.len())
    } else {
        partition.replicas.len()
    }
}

fn print(
    args: &Args,
    asked: &Asked,
    (topic, entries): (&Described, &[Entry]),
    output: &mut Output,
) -> Result<(), Failure> {
    let moved = |it: &Partition| asked.moves.get(&(topic.name.clone(), it.index));
    let own: Vec<&Entry> = entries.iter().filter(|it| it.source != source::DEFAULT).collect();
    let all = !REPORTS.iter().any(|report| args.has(report));
    if all && !(args.has("topics-with-overrides") && own.is_empty()) {
        let id =
            if topic.id.is_zero() { String::new() } else { format!("\tTopicId: {}", topic.id) };
        let first = topic.partitions.first();
        let factor = first.map_or(0, |it| replication_factor(it, moved(it)));
        let configs = own.iter().map(|it| format!("{}={}", it.name, value(it)));
        output.line(format!(
            "Topic: {}{id}\tPartitionCount: {}\tReplicationFactor: {factor}\tConfigs: {}",
            topic.name,
            topic.partitions.len(),
            joined(configs)
        ))?;
    }
    if args.has("topics-with-overrides") {
        return Ok(());
    }
    let min_isr = entries.iter().find(|it| it.name == "min.insync.replicas");
    let min_isr: usize = min_isr.and_then(|it| value(it).parse().ok()).unwrap_or(1);
    for it in &topic.partitions {
        let is_reported = |report: &str| match report {
            "under-replicated-partitions" => it.isr.len() < replication_factor(it, moved(it)),
            "under-min-isr-partitions" => it.leader.is_none() || it.isr.len() < min_isr,
            "at-min-isr-partitions" => it.isr.len() == min_isr,
            _ => it.leader.is_none_or(|leader| !asked.live.contains(&leader)),
        };
        if all || REPORTS.iter().any(|report| args.has(report) && is_reported(report)) {
            output.line(partition_line(&topic.name, it, moved(it)))?;
        }
    }
    Ok(())
}

fn value(entry: &Entry) -> &str {
    // Java prints what is not there so.
    entry.value.as_deref().unwrap_or("null")
}

fn partition_line(
    topic: &str,
    it: &Partition,
    moved: Option<&OngoingPartitionReassignment>,
) -> String {
    let leader = it.leader.map_or_else(|| "none".to_owned(), |leader| leader.to_string());
    let moved = moved.map_or_else(String::new, |moved| {
        format!(
            "\tAdding Replicas: {}\tRemoving Replicas: {}",
            joined(moved.adding_replicas.iter().map(|id| id.0)),
            joined(moved.removing_replicas.iter().map(|id| id.0))
        )
    });
    let list = |ids: &Option<Vec<i32>>| ids.as_ref().map_or_else(|| "N/A".to_owned(), joined);
    format!(
        "\tTopic: {topic}\tPartition: {}\tLeader: {leader}\tReplicas: {}\tIsr: {}{moved}\tElr: {}\
         \tLastKnownElr: {}",
        it.index,
        joined(&it.replicas),
        joined(&it.isr),
        list(&it.elr),
        list(&it.last_known_elr)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_a_line_that_scripts_know() {
        let partition = Partition {
            index: 0,
            leader: Some(1),
            replicas: vec![1, 2],
            isr: vec![1],
            elr: Some(vec![2]),
            last_known_elr: Some(Vec::new()),
        };
        assert_eq!(
            partition_line("one", &partition, None),
            "\tTopic: one\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\tElr: 2\tLastKnownElr: "
        );
        let moved = OngoingPartitionReassignment::default()
            .with_replicas([3, 1, 2].map(Into::into).to_vec())
            .with_adding_replicas(vec![3.into()])
            .with_removing_replicas(vec![1.into()]);
        let partition = Partition { leader: None, elr: None, ..partition };
        let line = partition_line("one", &partition, Some(&moved));
        assert!(line.contains("Leader: none") && line.contains("Elr: N/A"), "{line}");
        assert!(line.contains("\tAdding Replicas: 3\tRemoving Replicas: 1\t"), "{line}");
        assert_eq!(replication_factor(&partition, Some(&moved)), 2);
    }
}
