//! `kafka-topics`: topics listed, described, created, altered and deleted.

mod change;
mod choice;
mod describe;

use crate::args::{Args, Command, switch, value};
use crate::client::{Client, block_on};
use crate::entrance::{self, COMMAND_CONFIG, SERVER, ZOOKEEPER};
use crate::failure::Failure;
use crate::frame;
use crate::output::{Output, complain};
use kraft::env::Env;
use std::ffi::OsString;
use std::process::ExitCode;

const COMMAND: Command = Command {
    name: "kafka-topics",
    purpose: "Creates, deletes, describes and changes topics.",
    flags: &[
        SERVER,
        COMMAND_CONFIG,
        switch("list", "List the topics."),
        switch("describe", "Describe topics and their partitions."),
        switch("create", "Create a topic."),
        switch("alter", "Give a topic more partitions. (Configs are changed by kafka-configs.)"),
        switch("delete", "Delete topics."),
        value("topic", "topic", "The topic; a regular expression, but for --create."),
        value("topic-id", "id", "The id of the topic to describe."),
        value(
            "partitions",
            "count",
            "Partitions of the topic created, or to be reached by --alter.",
        ),
        value("replication-factor", "count", "Replicas of each partition of a new topic."),
        value(
            "replica-assignment",
            "1:2,2:3,...",
            "Brokers of each partition, in the place of counts.",
        ),
        value("config", "name=value", "A config of the new topic; may be repeated."),
        value("delete-config", "name", ""),
        switch("if-exists", "Do nothing, and fail not, where the topic does not exist."),
        switch("if-not-exists", "Do not fail where the topic to create exists."),
        switch("exclude-internal", "Leave the brokers' own topics out."),
        switch("under-replicated-partitions", "Describe only partitions with replicas that lag."),
        switch("unavailable-partitions", "Describe only partitions without a live leader."),
        switch("under-min-isr-partitions", "Describe only those below min.insync.replicas."),
        switch("at-min-isr-partitions", "Describe only those exactly at min.insync.replicas."),
        switch("topics-with-overrides", "Describe only topics with configs of their own."),
        value(
            "partition-size-limit-per-response",
            "count",
            "Partitions that one answer may describe.",
        ),
        ZOOKEEPER,
    ],
};

const ACTIONS: [&str; 5] = ["alter", "create", "describe", "list", "delete"];

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, output| {
        check(args)?;
        let missing = Failure::told("--bootstrap-server must be specified");
        let mut client = entrance::to_brokers_or(args, env, missing)?;
        let done = block_on(act(args, &mut client, output));
        done.map_err(|why| choice::in_line(why, output))
    })
}

async fn act(args: &Args, client: &mut Client, output: &mut Output) -> Result<(), Failure> {
    if args.has("create") {
        change::create(args, client, output).await
    } else if args.has("alter") {
        change::alter(args, client, output).await
    } else if args.has("delete") {
        change::delete(args, client, output).await
    } else if args.has("list") {
        // Without any topic that is an empty line, as with Kafka's tool.
        let names = choice::matching(args, client, output).await?;
        output.line(names.join("\n"))
    } else {
        describe::describe(args, client, output).await
    }
}

/// Which flags go together.
fn check(args: &Args) -> Result<(), Failure> {
    if args.is_empty() {
        return Err(Failure::usage("Create, delete, describe, or change a topic."));
    }
    if ACTIONS.iter().filter(|action| args.has(action)).count() != 1 {
        return Err(Failure::usage(
            "Command must include exactly one action: --list, --describe, --create, --alter or \
             --delete",
        ));
    }
    if args.has("delete-config") {
        complain("WARN --delete-config is passed over: kafka-configs --delete-config does that.");
    }
    if args.has("describe") && args.has("if-exists") && !args.has("topic") && !args.has("topic-id")
    {
        return Err(Failure::usage("--topic or --topic-id is required to describe a topic"));
    }
    if !args.has("list") && !args.has("describe") {
        args.must_have("topic")?;
    }
    if args.has("alter") {
        if args.has("config") {
            return Err(clash("alter", "config"));
        }
        args.must_have("partitions")?;
    }
    for (flag, goes_with) in [
        ("config", ["alter", "create"].as_slice()),
        ("partitions", &["alter", "create"]),
        ("replication-factor", &["create"]),
        ("replica-assignment", &["alter", "create"]),
        ("under-replicated-partitions", &["describe"]),
        ("under-min-isr-partitions", &["describe"]),
        ("at-min-isr-partitions", &["describe"]),
        ("unavailable-partitions", &["describe"]),
        ("topics-with-overrides", &["describe"]),
        ("if-exists", &["alter", "delete", "describe"]),
        ("if-not-exists", &["create"]),
        ("exclude-internal", &["list", "describe"]),
    ] {
        let other = ACTIONS.iter().find(|it| args.has(it) && !goes_with.contains(it));
        if let (true, Some(other)) = (args.has(flag), other) {
            return Err(clash(flag, other));
        }
    }
    if args.has("create") && args.has("replica-assignment") {
        for other in ["partitions", "replication-factor"] {
            if args.has(other) {
                return Err(clash("replica-assignment", other));
            }
        }
    }
    let reports = describe::REPORTS.iter().find(|it| args.has(it));
    match reports {
        Some(report) if args.has("topics-with-overrides") => {
            Err(clash(report, "topics-with-overrides"))
        }
        _ => Ok(()),
    }
}

fn clash(flag: &str, other: &str) -> Failure {
    Failure::Usage(format!("Option \"[{flag}]\" can't be used with option \"[{other}]\""))
}

#[cfg(test)]
mod tests;
