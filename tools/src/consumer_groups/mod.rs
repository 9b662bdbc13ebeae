//! `kafka-consumer-groups`: groups of consumers listed and described, their offsets reset, and both
//! deleted.

mod committed;
mod delete;
mod describe;
mod group;
mod list;
mod plan;
mod reset;
mod times;
mod trouble;

pub(crate) use delete::delete;
pub(crate) use describe::rows as rows_of;
pub(crate) use group::describe as describe_group;

use crate::args::{Args, Command, Flag, Takes, switch, value};
use crate::client::{Client, block_on};
use crate::entrance::{self, COMMAND_CONFIG, SERVER, ZOOKEEPER};
use crate::failure::Failure;
use crate::frame;
use crate::output::{Output, complain};
use kraft::env::Env;
use regex::Regex;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

const COMMAND: Command = Command {
    name: "kafka-consumer-groups",
    purpose: "Lists, describes and deletes groups of consumers, and resets their offsets.",
    flags: &[
        SERVER,
        COMMAND_CONFIG,
        switch("list", "List the groups."),
        switch("describe", "Describe groups: their offsets and lag, members or state."),
        switch("delete", "Delete groups without members."),
        switch("reset-offsets", "Move the offsets of groups without members."),
        switch("delete-offsets", "Forget offsets of topics that the group does not read."),
        value("validate-regex", "regex", "Tell whether a pattern of topics is one."),
        value("group", "group", "A group; may be repeated."),
        switch("all-groups", "Every group."),
        value("topic", "topic[:0,1]", "A topic, or some of its partitions; may be repeated."),
        switch("all-topics", "Every topic that the group has offsets of."),
        switch("offsets", "With --describe: offsets and lag, as without it."),
        switch("members", "With --describe: the members."),
        Flag {
            name: "state",
            takes: Takes::Perhaps("state,..."),
            help: "With --describe: the state. With --list: a column of it, and only those.",
        },
        Flag {
            name: "type",
            takes: Takes::Perhaps("type,..."),
            help: "With --list: a column of the type, and only those: classic, consumer.",
        },
        switch("verbose", "With --describe: more columns."),
        switch("dry-run", "With --reset-offsets: only tell."),
        switch("execute", "With --reset-offsets: do it."),
        switch("export", "With --reset-offsets: tell as CSV."),
        value("to-offset", "offset", "Reset to this offset."),
        value("to-datetime", "YYYY-MM-DDThh:mm:ss.sss", "Reset to the offsets of this time."),
        value("by-duration", "PnDTnHnMnS", "Reset to the offsets of so long ago."),
        switch("to-earliest", "Reset to the beginnings."),
        switch("to-latest", "Reset to the ends."),
        switch("to-current", "Reset to where the group is, and to the ends where it is nowhere."),
        value("shift-by", "count", "Reset by so many, forward or (below 0) back."),
        value("from-file", "FILE", "Reset as this CSV says."),
        value("timeout", "ms", "How long a question may take (5000)."),
        ZOOKEEPER,
    ],
};

const ACTIONS: [&str; 6] =
    ["list", "describe", "delete", "reset-offsets", "delete-offsets", "validate-regex"];

/// How long a question may take, unless `--timeout` says otherwise.
const TIMEOUT_MS: u64 = 5000;

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, output| {
        check(args)?;
        if let Some(pattern) = args.one("validate-regex")? {
            return validate(pattern, output);
        }
        let mut client = entrance::to_brokers(args, env)?;
        let limit_ms = match args.number("timeout") {
            Err(Failure::Usage(why)) => return Err(trouble::failed(why, output)),
            read => read?.unwrap_or(TIMEOUT_MS),
        };
        client.set_timeout(Duration::from_millis(limit_ms));
        block_on(act(args, env, &mut client, output))
    })
}

async fn act(
    args: &Args,
    env: &Env,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    if args.has("list") {
        list::print(args, client, output).await
    } else if args.has("describe") {
        describe::describe(args, client, output).await
    } else if args.has("delete") {
        delete::groups(args, client, output).await
    } else if args.has("delete-offsets") {
        delete::offsets(args, client, output).await
    } else {
        reset::reset(args, env, client, output).await
    }
}

fn validate(pattern: &str, output: &mut Output) -> Result<(), Failure> {
    match Regex::new(pattern) {
        Ok(_) => output.line(format!("The regular expression `{pattern}` is valid.")),
        Err(why) => {
            let why = why.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
            output.line(format!("The regular expression `{pattern}` is invalid: {why}."))
        }
    }
}

/// Which flags go together.
fn check(args: &Args) -> Result<(), Failure> {
    if args.is_empty() {
        return Err(Failure::usage(COMMAND.purpose));
    }
    if ACTIONS.iter().filter(|action| args.has(action)).count() != 1 {
        return Err(Failure::usage(
            "Command must include exactly one action: --list, --describe, --delete, \
             --reset-offsets, --delete-offsets, --validate-regex",
        ));
    }
    let of_describe = ["members", "verbose", "offsets"].iter().find(|it| args.has(it));
    if let (Some(flag), false) = (of_describe, args.has("describe")) {
        return Err(Failure::Usage(format!("Option {flag} is only available with --describe")));
    }
    if args.has("describe") {
        let kinds = ["members", "offsets", "state"].iter().filter(|it| args.has(it)).count();
        if 1 < kinds {
            return Err(Failure::usage(
                "Option [describe] takes at most one of these options: [members], [offsets], \
                 [state]",
            ));
        }
        if args.one("state")?.is_some() {
            return Err(Failure::usage("Option [describe] does not take a value for [state]"));
        }
    }
    let action = ACTIONS.iter().find(|action| args.has(action)).copied().unwrap_or_default();
    for (flag, of) in [("state", ["describe", "list"].as_slice()), ("type", &["list"])] {
        if args.has(flag) && !of.contains(&action) {
            return Err(Failure::Usage(format!(
                "Option(s) [{flag}] are unavailable given other options on the command line"
            )));
        }
    }
    let is_named = args.has("group") || args.has("all-groups");
    if matches!(action, "describe" | "delete" | "reset-offsets") && !is_named {
        return Err(Failure::Usage(format!(
            "Option [{action}] takes one of these options: [all-groups], [group]"
        )));
    }
    if action == "delete" && args.has("topic") {
        return Err(Failure::usage(
            "The consumer does not support topic-specific offset deletion from a consumer group.",
        ));
    }
    if action == "delete-offsets" && !(args.has("group") && args.has("topic")) {
        return Err(Failure::usage(
            "Option [delete-offsets] takes the following options: [topic], [group]",
        ));
    }
    if args.has("group") && args.has("all-groups") {
        return Err(Failure::usage(
            "Option \"[group]\" can't be used with option \"[all-groups]\"",
        ));
    }
    if let (Some(flag), "list") = (["group", "topic"].iter().find(|it| args.has(it)), action) {
        return Err(Failure::Usage(format!(
            "Option \"[{flag}]\" can't be used with option \"[list]\""
        )));
    }
    if args.has("topic") && action == "describe" {
        return Err(Failure::usage("Option \"[topic]\" can't be used with option \"[describe]\""));
    }
    if action == "reset-offsets" { check_reset(args) } else { Ok(()) }
}

fn check_reset(args: &Args) -> Result<(), Failure> {
    if args.has("dry-run") && args.has("execute") {
        return Err(Failure::usage(
            "Option [reset-offsets] only accepts one of [execute] and [dry-run]",
        ));
    }
    if !args.has("dry-run") && !args.has("execute") {
        complain(
            "WARN: Nothing is changed, because --execute is missing; say --dry-run to mean it.",
        );
    }
    let mut forms = reset::FORMS.iter().filter(|form| args.has(form));
    match (forms.next(), forms.next()) {
        (Some(one), Some(other)) => Err(Failure::Usage(format!(
            "Option \"[{one}]\" can't be used with option \"[{other}]\""
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_contradict_each_other_are_refused() {
        for (args, want) in [
            (["--list", "--describe"].as_slice(), "exactly one action"),
            (&["--describe"], "takes one of these options"),
            (&["--describe", "--group", "a", "--members", "--state"], "at most one"),
            (&["--describe", "--group", "a", "--state", "Stable"], "does not take a value"),
            (&["--list", "--group", "a"], "can't be used with option \"[list]\""),
            (&["--list", "--members"], "only available with --describe"),
            (&["--describe", "--group", "a", "--type"], "[type] are unavailable"),
            (&["--delete", "--group", "a", "--state"], "[state] are unavailable"),
            (&["--delete", "--group", "a", "--topic", "b"], "topic-specific"),
            (&["--delete-offsets", "--group", "a"], "takes the following options"),
            (&["--delete", "--group", "a", "--all-groups"], "can't be used"),
            (
                &["--reset-offsets", "--group", "a", "--dry-run", "--to-latest", "--to-earliest"],
                "can't be used with",
            ),
            (&["--reset-offsets", "--group", "a", "--dry-run", "--execute"], "only accepts one"),
        ] {
            let args_of = args.iter().map(OsString::from).collect();
            let said = COMMAND.parse(args_of).and_then(|args| check(&args));
            let Err(Failure::Usage(said)) = said else { panic!("{args:?} is taken") };
            assert!(said.contains(want), "{args:?}: {said}");
        }
    }
}
