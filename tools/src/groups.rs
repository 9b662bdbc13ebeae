//! `kafka-groups`: groups of every kind, listed.

use crate::admin::groups::{self, Filter, Listed};
use crate::args::{Args, Command, switch, value};
use crate::client::block_on;
use crate::entrance::{self, COMMAND_CONFIG, SERVER};
use crate::failure::Failure;
use crate::frame;
use crate::output::Output;
use kraft::env::Env;
use std::ffi::OsString;
use std::process::ExitCode;

const COMMAND: Command = Command {
    name: "kafka-groups",
    purpose: "Lists groups of every kind.",
    flags: &[
        SERVER,
        COMMAND_CONFIG,
        switch("list", "List the groups."),
        value("group-type", "type", "Only those: classic, consumer, share or streams."),
        value("protocol", "protocol", "Only those of this type of protocol."),
        switch("consumer", "Only groups of consumers, and those that only have offsets."),
        switch("share", "Only share groups."),
        switch("streams", "Only streams groups."),
    ],
};

/// As Kafka's tool prints them.
const KINDS: [&str; 4] = ["Classic", "Consumer", "Share", "Streams"];

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, output| {
        if args.is_empty() {
            return Err(Failure::usage(COMMAND.purpose));
        }
        if !args.has("list") {
            return Err(Failure::usage("Command must include exactly one action: --list."));
        }
        let kind = check(args)?;
        let missing = Failure::usage("Missing required option(s) [bootstrap-server]");
        let mut client = entrance::to_brokers_or(args, env, missing)?;
        let listed = block_on(async { Ok(groups::list(&mut client, &Filter::default()).await?) });
        match listed {
            Ok(listed) => print(&listed, args, kind, output),
            // Kafka's tool tells of it on stdout.
            Err(Failure::Told(why)) => {
                output.line(format!("Error while executing groups command : {why}"))?;
                Err(Failure::Exit(1))
            }
            Err(other) => Err(other),
        }
    })
}

fn check(args: &Args) -> Result<Option<&'static str>, Failure> {
    let only = ["consumer", "share", "streams"];
    for flag in only.iter().filter(|flag| args.has(flag)) {
        let mut others = only.iter().chain(&["group-type", "protocol"]);
        if let Some(other) = others.find(|it| it != &flag && args.has(it)) {
            return Err(Failure::Usage(format!(
                "Option \"[{flag}]\" can't be used with option \"[{other}]\""
            )));
        }
    }
    let kind = args
        .one("group-type")?
        .map(|text| KINDS.into_iter().find(|kind| kind.eq_ignore_ascii_case(text.trim())));
    match kind {
        Some(None) => Err(Failure::told("--group-type must be a valid group type.")),
        kind => Ok(kind.flatten()),
    }
}

fn print(
    listed: &[Listed],
    args: &Args,
    kind: Option<&str>,
    output: &mut Output,
) -> Result<(), Failure> {
    let protocol = args.one("protocol")?;
    let is_meant = |it: &&Listed| {
        let is = |kind: &str| it.kind.eq_ignore_ascii_case(kind);
        kind.is_none_or(is)
            && protocol.is_none_or(|protocol| it.protocol == protocol)
            && (!args.has("consumer")
                || it.protocol == "consumer"
                || it.protocol.is_empty()
                || is("consumer"))
            && (!args.has("share") || is("share"))
            && (!args.has("streams") || is("streams"))
    };
    let rows: Vec<[&str; 3]> = (listed.iter().filter(is_meant))
        .map(|it| {
            let spelt = KINDS.into_iter().find(|kind| it.kind.eq_ignore_ascii_case(kind));
            [it.id.as_str(), spelt.unwrap_or(""), it.protocol.as_str()]
        })
        .collect();
    let longest = rows.iter().flatten().map(|cell| cell.chars().count()).max().unwrap_or(0);
    let width = longest.max(20);
    output.line(format!("{:width$} {:width$} {:width$}", "GROUP", "TYPE", "PROTOCOL"))?;
    for [id, kind, protocol] in rows {
        output.line(format!("{id:width$} {kind:width$} {protocol:width$} "))?;
    }
    Ok(())
}
