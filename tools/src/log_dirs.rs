//! `kafka-log-dirs`: what lies in the log directories of brokers, as JSON.

use crate::admin::joined;
use crate::args::{Command, switch, value};
use crate::client::{Client, Refused, To, block_on};
use crate::entrance::{self, COMMAND_CONFIG, SERVER, ZOOKEEPER};
use crate::failure::Failure;
use crate::frame;
use crate::output::Output;
use kraft::env::Env;
use protocol::messages::describe_log_dirs_response::DescribeLogDirsResult;
use protocol::messages::{DescribeLogDirsRequest, DescribeLogDirsResponse};
use serde_json::Value;
use std::ffi::OsString;
use std::process::ExitCode;

const COMMAND: Command = Command {
    name: "kafka-log-dirs",
    purpose: "Tells what lies in the log directories of brokers.",
    flags: &[
        SERVER,
        COMMAND_CONFIG,
        switch("describe", "Describe the directories."),
        value("topic-list", "topic,...", "Topics; all without it."),
        value("broker-list", "id,...", "Brokers; all without it."),
        ZOOKEEPER,
    ],
};

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, output| {
        if args.is_empty() {
            return Err(Failure::usage(COMMAND.purpose));
        }
        let list = |flag| {
            let texts = args.one(flag)?.unwrap_or_default().split(',');
            Ok::<_, Failure>(texts.filter(|it| !it.is_empty()).collect::<Vec<_>>())
        };
        let topics = list("topic-list")?;
        let brokers = list("broker-list")?
            .into_iter()
            .map(|id| id.parse().map_err(|_| Failure::Told(format!("For input string: \"{id}\""))));
        let brokers = brokers.collect::<Result<Vec<i32>, _>>()?;
        // Here `--broker-list` has ids, and no addresses.
        let addresses = args.without("broker-list");
        let mut client = entrance::to_brokers(&addresses, env)?;
        if !args.has("describe") {
            return Err(Failure::usage("Missing required argument \"[describe]\""));
        }
        block_on(describe(&topics, &brokers, &mut client, output))
    })
}

async fn describe(
    topics: &[&str],
    brokers: &[i32],
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let live: Vec<i32> = client.nodes().await?.into_iter().map(|node| node.id).collect();
    let strange: Vec<i32> = brokers.iter().copied().filter(|id| !live.contains(id)).collect();
    if !strange.is_empty() {
        return Err(Failure::Told(format!(
            "ERROR: The given brokers do not exist from --broker-list: {}. Current existent \
             brokers: {}",
            joined(strange),
            joined(live)
        )));
    }
    let mut asked = if brokers.is_empty() { live } else { brokers.to_vec() };
    asked.sort_unstable();
    asked.dedup();
    output.line("Querying brokers for log directories information")?;
    output.flush()?;
    let mut found = Vec::new();
    for id in &asked {
        let request = DescribeLogDirsRequest::default().with_topics(None);
        let judge = |answer: &DescribeLogDirsResponse| Refused::check(answer.error_code, None);
        let answer = client.ask_until(To::Node(*id), &request, judge).await?;
        let dirs = answer.results.iter().map(|dir| dir_text(dir, topics));
        found.push(format!(
            "{{\"broker\":{id},\"logDirs\":[{}]}}",
            dirs.collect::<Vec<_>>().join(",")
        ));
    }
    output.line(format!("Received log directory information from brokers {}", joined(asked)))?;
    output.line(format!("{{\"brokers\":[{}],\"version\":1}}", found.join(",")))
}

/// A directory in the order of fields that Kafka's tool has.
fn dir_text(dir: &DescribeLogDirsResult, topics: &[&str]) -> String {
    let wanted =
        dir.topics.iter().filter(|it| topics.is_empty() || topics.contains(&it.name.as_str()));
    let mut partitions: Vec<String> = Vec::new();
    for topic in wanted {
        let name = topic.name.as_str();
        partitions.extend(topic.partitions.iter().map(|it| {
            let partition = Value::from(format!("{name}-{}", it.partition_index));
            format!(
                "{{\"partition\":{partition},\"size\":{},\"offsetLag\":{},\"isFuture\":{}}}",
                it.partition_size, it.offset_lag, it.is_future_key
            )
        }));
    }
    partitions.sort();
    let error = match Refused::check(dir.error_code, None) {
        Ok(()) => Value::Null,
        Err(refused) => Value::from(refused.exception()),
    };
    let path = Value::from(dir.log_dir.as_str());
    format!("{{\"partitions\":[{}],\"error\":{error},\"logDir\":{path}}}", partitions.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::text;
    use crate::admin::topics::name_of;
    use protocol::messages::describe_log_dirs_response::{
        DescribeLogDirsPartition, DescribeLogDirsTopic,
    };

    #[test]
    fn a_directory_is_json_that_scripts_know() {
        let partition = DescribeLogDirsPartition::default().with_partition_size(7);
        let topic = |name: &str| {
            DescribeLogDirsTopic::default()
                .with_name(name_of(name))
                .with_partitions(vec![partition.clone()])
        };
        let dir = DescribeLogDirsResult::default()
            .with_log_dir(text("/a\"b"))
            .with_topics(vec![topic("two"), topic("one")]);
        assert_eq!(
            dir_text(&dir, &["one"]),
            "{\"partitions\":[{\"partition\":\"one-0\",\"size\":7,\"offsetLag\":0,\
             \"isFuture\":false}],\"error\":null,\"logDir\":\"/a\\\"b\"}"
        );
        let whole = dir_text(&dir.with_error_code(56), &[]);
        assert!(whole.contains("errors.KafkaStorageException\""), "{whole}");
        assert!(whole.find("one-0") < whole.find("two-0"), "{whole}");
    }
}
