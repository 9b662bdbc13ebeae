//! `kafka-topics --create`, `--alter` and `--delete`.

use super::choice::{matching, must_exist, told};
use crate::admin::text;
use crate::admin::topic_changes;
use crate::admin::topics::{self, name_of};
use crate::args::Args;
use crate::client::Client;
use crate::failure::Failure;
use crate::output::Output;
use protocol::error::ErrorCode;
use protocol::messages::BrokerId;
use protocol::messages::create_partitions_request::{
    CreatePartitionsAssignment, CreatePartitionsTopic,
};
use protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};

pub(super) async fn create(
    args: &Args,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let name = args.required("topic")?;
    let topic = new_topic(args, name)?;
    if name.contains(['.', '_']) {
        output.line(
            "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore \
             ('_') could collide. To avoid issues it is best to use either, but not both.",
        )?;
    }
    match topic_changes::create(client, topic).await {
        Ok(()) => output.line(format!("Created topic {name}.")),
        Err(refused)
            if refused.code == ErrorCode::TopicAlreadyExists && args.has("if-not-exists") =>
        {
            Ok(())
        }
        Err(refused) => Err(told(&refused, output)),
    }
}

fn new_topic(args: &Args, name: &str) -> Result<CreatableTopic, Failure> {
    let assignments = assignment(args)?;
    let by_cluster = -1;
    let topic = CreatableTopic::default().with_name(name_of(name)).with_configs(configs(args)?);
    let partitions: Option<i32> = args.number("partitions")?;
    let factor: Option<i32> = args.number("replication-factor")?;
    let factor = factor.map(|factor| i16::try_from(factor).unwrap_or(0));
    if factor.is_some_and(|factor| factor < 1) {
        return Err(Failure::told("The replication factor must be between 1 and 32767 inclusive"));
    }
    if partitions.is_some_and(|count| count < 1) {
        return Err(Failure::told("The partitions must be greater than 0"));
    }
    if assignments.is_empty() {
        return Ok(topic
            .with_num_partitions(partitions.unwrap_or(by_cluster))
            .with_replication_factor(factor.unwrap_or(-1)));
    }
    let assignments = assignments.into_iter().zip(0..).map(|(ids, index)| {
        CreatableReplicaAssignment::default().with_partition_index(index).with_broker_ids(ids)
    });
    Ok(topic
        .with_num_partitions(by_cluster)
        .with_replication_factor(-1)
        .with_assignments(assignments.collect()))
}

fn configs(args: &Args) -> Result<Vec<CreatableTopicConfig>, Failure> {
    let read = |text: &str| match text.split('=').collect::<Vec<_>>()[..] {
        [name, value] if !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(Failure::told(
            "requirement failed: Invalid topic config: all configs to be added must be in the \
             format \"key=val\".",
        )),
    };
    let given = args.all("config").into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    // The last one of a name counts.
    let given: std::collections::BTreeMap<_, _> = given.into_iter().collect();
    let configs = given.iter().map(|(name, value)| {
        CreatableTopicConfig::default().with_name(text(name)).with_value(Some(text(value)))
    });
    Ok(configs.collect())
}

/// `1:2,2:3`: the brokers of each partition.
fn assignment(args: &Args) -> Result<Vec<Vec<BrokerId>>, Failure> {
    let given = args.one("replica-assignment")?.filter(|given| !given.is_empty());
    let Some(given) = given else { return Ok(Vec::new()) };
    let mut found: Vec<Vec<BrokerId>> = Vec::new();
    for (partition, index) in given.split(',').zip(0..) {
        let id = |text: &str| {
            text.trim()
                .parse()
                .map(BrokerId)
                .map_err(|_| Failure::Told(format!("For input string: \"{}\"", text.trim())))
        };
        let ids = partition.split(':').map(id).collect::<Result<Vec<_>, _>>()?;
        let mut seen = std::collections::BTreeSet::new();
        let twice: Vec<i32> = ids.iter().map(|id| id.0).filter(|id| !seen.insert(*id)).collect();
        if !twice.is_empty() {
            return Err(Failure::Told(format!(
                "Partition replica lists may not contain duplicate entries: {}",
                crate::admin::joined(twice)
            )));
        }
        if found.first().is_some_and(|first| first.len() != ids.len()) {
            let ids: Vec<i32> = ids.iter().map(|id| id.0).collect();
            return Err(Failure::Told(format!(
                "Partition {index} has different replication factor: {ids:?}"
            )));
        }
        found.push(ids);
    }
    Ok(found)
}

pub(super) async fn alter(
    args: &Args,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let count: i32 = args.number("partitions")?.unwrap_or_default();
    let assignments = assignment(args)?;
    let names = matching(args, client, output).await?;
    must_exist(args, &names, output)?;
    if names.is_empty() {
        return Ok(());
    }
    let known = topics::describe(client, &names, 2000).await;
    let known = known.map_err(|refused| told(&refused, output))?;
    let wanted = known.iter().map(|topic| {
        let topic_of = CreatePartitionsTopic::default()
            .with_name(name_of(&topic.name))
            .with_count(count)
            .with_assignments(None);
        if assignments.is_empty() {
            return topic_of;
        }
        // The list is of all partitions; those that are there stay as they are.
        let new = assignments.iter().skip(topic.partitions.len());
        let new = new.map(|ids| CreatePartitionsAssignment::default().with_broker_ids(ids.clone()));
        topic_of.with_assignments(Some(new.collect()))
    });
    let done = topic_changes::grow(client, wanted.collect()).await;
    done.map_err(|refused| told(&refused, output))
}

pub(super) async fn delete(
    args: &Args,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let names = matching(args, client, output).await?;
    must_exist(args, &names, output)?;
    if names.is_empty() {
        return Ok(());
    }
    let done = topic_changes::delete(client, &names).await;
    done.map_err(|refused| told(&refused, output))
}
