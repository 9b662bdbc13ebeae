//! `kafka-delete-records`: partitions cut at the front.

use crate::admin::topics::{self, name_of};
use crate::args::{Command, value};
use crate::client::{Client, Refused, To, block_on};
use crate::entrance::{self, COMMAND_CONFIG, SERVER};
use crate::failure::Failure;
use crate::frame;
use crate::output::Output;
use kraft::env::Env;
use protocol::error::ErrorCode;
use protocol::messages::DeleteRecordsRequest;
use protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use storage::disk::read_whole;

const COMMAND: Command = Command {
    name: "kafka-delete-records",
    purpose: "Deletes the records of partitions before an offset.",
    flags: &[
        SERVER,
        COMMAND_CONFIG,
        value(
            "offset-json-file",
            "FILE",
            r#"{"partitions":[{"topic":"one","partition":0,"offset":7}],"version":1}; -1 is the end."#,
        ),
    ],
};

/// Bytes of a file of offsets that are read.
const FILE_BYTES_MAX: usize = 64 << 20;

/// A topic and the number of a partition.
type At = (String, i32);

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, output| {
        if args.is_empty() {
            return Err(Failure::usage(COMMAND.purpose));
        }
        let mut client = entrance::to_brokers(args, env)?;
        let file = args.required("offset-json-file")?;
        let unreadable = |_| Failure::Told(format!("Unable to read file {file}"));
        let open = env.disk.open_input(Path::new(file)).map_err(unreadable)?;
        let wanted = read(&read_whole(&*open, FILE_BYTES_MAX).map_err(unreadable)?)?;
        block_on(delete(&wanted, &mut client, output))
    })
}

/// Reads `{"partitions": [{"topic", "partition", "offset"}...], "version": 1}`.
fn read(json: &[u8]) -> Result<BTreeMap<At, i64>, Failure> {
    let whole: Value = serde_json::from_slice(json)
        .map_err(|_| Failure::told("The input string is not a valid JSON"))?;
    match whole.get("version") {
        None => {}
        Some(version) if version.as_i64() == Some(1) => {}
        Some(version) => {
            return Err(Failure::Told(format!("Not supported version field value {version}")));
        }
    }
    let partitions = whole.get("partitions").and_then(Value::as_array);
    let partitions = partitions.ok_or_else(|| Failure::told("Missing partitions field"))?;
    let mut found = BTreeMap::new();
    let mut twice = Vec::new();
    for entry in partitions {
        let read = || {
            let partition = entry.get("partition")?.as_i64()?.try_into().ok()?;
            let topic = entry.get("topic")?.as_str()?.to_owned();
            Some(((topic, partition), entry.get("offset")?.as_i64()?))
        };
        let (at, offset) = read().ok_or_else(|| {
            Failure::Told(format!("{entry} must have a topic, a partition and an offset"))
        })?;
        if found.insert(at.clone(), offset).is_some() {
            twice.push(format!("{}-{}", at.0, at.1));
        }
    }
    if twice.is_empty() {
        return Ok(found);
    }
    Err(Failure::Told(format!(
        "Offset json file contains duplicate topic partitions: {}",
        twice.join(",")
    )))
}

async fn delete(
    wanted: &BTreeMap<At, i64>,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    output.line("Executing records delete operation")?;
    let done = ask(wanted, client).await?;
    output.line("Records delete operation completed:")?;
    for ((topic, partition), low) in done {
        output.line(match low {
            Ok(low) => format!("partition: {topic}-{partition}\tlow_watermark: {low}"),
            Err(refused) => {
                format!("partition: {topic}-{partition}\terror: {}: {refused}", refused.exception())
            }
        })?;
    }
    Ok(())
}

async fn ask(
    wanted: &BTreeMap<At, i64>,
    client: &mut Client,
) -> Result<BTreeMap<At, Result<i64, Refused>>, Refused> {
    let known = topics::list(client).await?;
    let mut names: Vec<String> = wanted.keys().map(|(topic, _)| topic.clone()).collect();
    names.dedup();
    names.retain(|name| known.iter().any(|topic| topic.name == *name));
    let described =
        if names.is_empty() { Vec::new() } else { topics::describe(client, &names, 2000).await? };
    let mut done = BTreeMap::new();
    let mut by_leader: BTreeMap<i32, Vec<(&At, i64)>> = BTreeMap::new();
    for (at, offset) in wanted {
        let topic = described.iter().find(|topic| topic.name == at.0);
        let partition = topic.and_then(|topic| topic.partitions.iter().find(|it| it.index == at.1));
        let refused = match partition.map(|it| it.leader) {
            Some(Some(leader)) => {
                by_leader.entry(leader).or_default().push((at, *offset));
                continue;
            }
            Some(None) => ErrorCode::LeaderNotAvailable,
            None => ErrorCode::UnknownTopicOrPartition,
        };
        done.insert(at.clone(), Err(Refused::of(refused, refused.message().to_owned())));
    }
    for (leader, asked) in by_leader {
        let mut topics: BTreeMap<&str, Vec<DeleteRecordsPartition>> = BTreeMap::new();
        for ((topic, partition), offset) in &asked {
            let partition = DeleteRecordsPartition::default().with_partition_index(*partition);
            topics.entry(topic).or_default().push(partition.with_offset(*offset));
        }
        let topics = topics.into_iter().map(|(name, partitions)| {
            DeleteRecordsTopic::default().with_name(name_of(name)).with_partitions(partitions)
        });
        let request = DeleteRecordsRequest::default()
            .with_topics(topics.collect())
            .with_timeout_ms(client.request_timeout_ms());
        let answer = client.ask(To::Node(leader), &request).await?;
        for topic in answer.topics {
            for it in topic.partitions {
                let low = Refused::check(it.error_code, None).map(|()| it.low_watermark);
                done.insert((topic.name.to_string(), it.partition_index), low);
            }
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_each_partition_once() {
        let one = r#"{"partitions":[{"topic":"one","partition":0,"offset":7}],"version":1}"#;
        assert_eq!(read(one.as_bytes()), Ok(BTreeMap::from([(("one".to_owned(), 0), 7)])));
        assert_eq!(read(br#"{"partitions":[]}"#), Ok(BTreeMap::new()));
        for (json, want) in [
            ("{", "not a valid JSON"),
            ("{}", "Missing partitions field"),
            (r#"{"version":2}"#, "Not supported version field value 2"),
            (r#"{"partitions":[{"topic":"one"}]}"#, "must have a topic"),
            (
                r#"{"partitions":[{"topic":"a","partition":0,"offset":1},
                                  {"topic":"a","partition":0,"offset":1}]}"#,
                "duplicate topic partitions: a-0",
            ),
        ] {
            let Err(Failure::Told(said)) = read(json.as_bytes()) else { panic!("{json} is taken") };
            assert!(said.contains(want), "{json}: {said}");
        }
    }
}
