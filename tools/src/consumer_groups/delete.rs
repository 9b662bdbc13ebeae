//! `kafka-consumer-groups --delete` and `--delete-offsets`.

use super::group::At;
use super::list;
use super::trouble::{fatal, tell};
use crate::admin::text;
use crate::admin::topics::{self, name_of};
use crate::args::Args;
use crate::client::{Client, Refused};
use crate::failure::Failure;
use crate::output::Output;
use protocol::error::ErrorCode;
use protocol::messages::offset_delete_request::{
    OffsetDeleteRequestPartition, OffsetDeleteRequestTopic,
};
use protocol::messages::{
    DeleteGroupsRequest, DeleteGroupsResponse, GroupId, OffsetDeleteRequest, OffsetDeleteResponse,
};
use std::collections::BTreeMap;

pub(super) async fn groups(
    args: &Args,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let names = list::named(args, client).await.map_err(|why| fatal(&why, output))?;
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for name in names {
        match delete(client, &name).await {
            Ok(()) => done.push(format!("'{name}'")),
            Err(refused) => failed.push((name, refused)),
        }
    }
    let done = done.join(", ");
    if failed.is_empty() {
        return output
            .line(format!("Deletion of requested consumer groups ({done}) was successful."));
    }
    tell("Deletion of some consumer groups failed:", output)?;
    for (name, refused) in failed {
        let class = refused.exception();
        output.line(format!("* Group '{name}' could not be deleted due to: {class}: {refused}"))?;
    }
    if !done.is_empty() {
        output.line(format!("\nThese consumer groups were deleted successfully: {done}"))?;
    }
    Ok(())
}

pub(crate) async fn delete(client: &mut Client, name: &str) -> Result<(), Refused> {
    let to = client.coordinator(name).await?;
    let request = DeleteGroupsRequest::default().with_groups_names(vec![GroupId(text(name))]);
    let judge = |answer: &DeleteGroupsResponse| {
        answer.results.iter().try_for_each(|it| Refused::check(it.error_code, None))
    };
    client.ask_until(to, &request, judge).await.map(drop)
}

pub(super) async fn offsets(
    args: &Args,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let group = args.required("group")?;
    let mut told: BTreeMap<At, Option<Refused>> = BTreeMap::new();
    let mut wanted: BTreeMap<String, Vec<i32>> = BTreeMap::new();
    for named in args.all("topic") {
        if let Some((topic, partitions)) = named.split_once(':') {
            for partition in partitions.split(',') {
                let index = partition.trim().parse().map_err(|_| {
                    Failure::Usage(format!(
                        "Invalid partition '{partition}' specified in topic arg '{named}''"
                    ))
                })?;
                wanted.entry(topic.to_owned()).or_default().push(index);
            }
            continue;
        }
        match topics::describe(client, &[named.to_owned()], 2000).await {
            Ok(described) => {
                let partitions = described.iter().flat_map(|topic| &topic.partitions);
                wanted.entry(named.to_owned()).or_default().extend(partitions.map(|it| it.index));
            }
            Err(refused) => {
                told.insert((named.to_owned(), -1), Some(refused));
            }
        }
    }
    let whole = ask(client, group, &wanted, &mut told).await;
    match whole {
        Ok(()) => {
            output.line(format!("Request succeeded for deleting offsets from group {group}."))?
        }
        Err(refused) if is_of_partitions(refused.code) => {
            tell("Encountered some partition-level error, see the follow-up details.", output)?;
        }
        Err(refused) if is_of_group(refused.code) => tell(refused, output)?,
        Err(refused) => tell(format!("Encountered some unknown error: {refused}"), output)?,
    }
    print(&told, output)
}

fn is_of_group(code: ErrorCode) -> bool {
    [
        ErrorCode::InvalidGroupId,
        ErrorCode::GroupIdNotFound,
        ErrorCode::GroupAuthorizationFailed,
        ErrorCode::NonEmptyGroup,
    ]
    .contains(&code)
}

fn is_of_partitions(code: ErrorCode) -> bool {
    [
        ErrorCode::GroupSubscribedToTopic,
        ErrorCode::TopicAuthorizationFailed,
        ErrorCode::UnknownTopicOrPartition,
    ]
    .contains(&code)
}

/// Deletes, and notes of each partition how it went; fails with the first failure.
async fn ask(
    client: &mut Client,
    group: &str,
    wanted: &BTreeMap<String, Vec<i32>>,
    told: &mut BTreeMap<At, Option<Refused>>,
) -> Result<(), Refused> {
    let topics = wanted.iter().map(|(name, partitions)| {
        let partitions = partitions
            .iter()
            .map(|it| OffsetDeleteRequestPartition::default().with_partition_index(*it));
        OffsetDeleteRequestTopic::default()
            .with_name(name_of(name))
            .with_partitions(partitions.collect())
    });
    let request = OffsetDeleteRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_topics(topics.collect());
    let judge = |answer: &OffsetDeleteResponse| Refused::check(answer.error_code, None);
    let answer = match client.coordinator(group).await {
        Ok(to) => client.ask_until(to, &request, judge).await,
        Err(refused) => Err(refused),
    };
    let answer = match answer {
        Ok(answer) => answer,
        Err(refused) => {
            let all = wanted
                .iter()
                .flat_map(|(name, partitions)| partitions.iter().map(|it| (name.clone(), *it)));
            told.extend(all.map(|at| (at, Some(refused.clone()))));
            return Err(refused);
        }
    };
    let mut first = None;
    for topic in answer.topics {
        for it in topic.partitions {
            let refused = Refused::check(it.error_code, None).err();
            first = first.or_else(|| refused.clone());
            told.insert((topic.name.to_string(), it.partition_index), refused);
        }
    }
    first.map_or(Ok(()), Err)
}

fn print(told: &BTreeMap<At, Option<Refused>>, output: &mut Output) -> Result<(), Failure> {
    let width = told.keys().map(|(topic, _)| topic.chars().count()).max().unwrap_or(0).max(15);
    output.line(format!("\n{:<width$} {:<10} {:<15}", "TOPIC", "PARTITION", "STATUS"))?;
    for ((topic, partition), refused) in told {
        let partition = if *partition < 0 { "-".to_owned() } else { partition.to_string() };
        let status = refused.as_ref().map_or_else(
            || "Successful".to_owned(),
            |refused| format!("Error: {}: {refused}", refused.exception()),
        );
        output.line(format!("{topic:<width$} {partition:<10} {status:<15}"))?;
    }
    Ok(())
}
