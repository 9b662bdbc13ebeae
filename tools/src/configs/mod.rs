//! `kafka-configs`: the configs of topics, brokers, their loggers, groups and client metrics.

mod described;
mod entity;
mod refusal;

use crate::admin::configs::{self, Kind, Resource};
use crate::args::{Args, Command, switch, value};
use crate::client::{Client, block_on};
use crate::entrance::{self, COMMAND_CONFIG, CONTROLLER, SERVER, ZOOKEEPER};
use crate::failure::Failure;
use crate::frame;
use crate::output::Output;
use crate::properties;
use entity::Entity;
use kraft::env::Env;
use refusal::refusal;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;

const COMMAND: Command = Command {
    name: "kafka-configs",
    purpose: "Describes and alters configs of topics, brokers, broker-loggers, groups and client-metrics.",
    flags: &[
        SERVER,
        CONTROLLER,
        COMMAND_CONFIG,
        switch("describe", "List the configs that were set for the entity."),
        switch("alter", "Change configs of the entity."),
        switch("all", "With --describe: also those that were not set."),
        value(
            "entity-type",
            "type",
            "topics, brokers, broker-loggers, groups, client-metrics, users, clients or ips.",
        ),
        value("entity-name", "name", "The entity's name."),
        switch(
            "entity-default",
            "What counts for every entity of the type that says nothing else.",
        ),
        value("topic", "topic", "A topic."),
        value("broker", "id", "A broker."),
        switch("broker-defaults", "What counts for all brokers."),
        value("broker-logger", "id", "The loggers of a broker."),
        value("group", "group", "A group."),
        value("client-metrics", "name", "A subscription to metrics of clients."),
        value("user", "user", "A user."),
        switch("user-defaults", "What counts for all users."),
        value("client", "id", "A client id."),
        switch("client-defaults", "What counts for all clients."),
        value("ip", "address", "An address."),
        switch("ip-defaults", "What counts for all addresses."),
        value(
            "add-config",
            "k1=v1,k2=[v1,v2]",
            "Configs to set; brackets hold values with commas.",
        ),
        value("add-config-file", "FILE", "A file of configs to set."),
        value("delete-config", "k1,k2", "Configs to take back."),
        ZOOKEEPER,
    ],
};

pub(crate) fn run(args: Vec<OsString>, env: &Env) -> ExitCode {
    frame::run(&COMMAND, args, |args, output| {
        if args.is_empty() {
            return Err(Failure::usage(COMMAND.purpose));
        }
        if args.has("alter") == args.has("describe") {
            return Err(Failure::usage(
                "Command must include exactly one action: --describe, --alter",
            ));
        }
        let entity = entity::of(args)?;
        let mut client = entrance::to_either(args, env)?;
        let change = if args.has("alter") { Some(change(args, env)?) } else { None };
        block_on(async {
            match change {
                Some(change) => alter(&entity, change, &mut client, output).await,
                None => described::describe(&entity, args.has("all"), &mut client, output).await,
            }
        })
    })
}

/// What to set and what to take back.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    set: Vec<(String, String)>,
    unset: Vec<String>,
}

fn change(args: &Args, env: &Env) -> Result<Change, Failure> {
    let file = args.one("add-config-file")?;
    let (given, gone) = (args.one("add-config")?, args.all("delete-config"));
    if file.is_some() && given.is_some() {
        return Err(Failure::told(
            "Only one of --add-config or --add-config-file must be specified",
        ));
    }
    if file.is_none() && given.is_none() && gone.is_empty() {
        return Err(Failure::told(
            "At least one of --add-config, --add-config-file, or --delete-config must be specified \
             with --alter",
        ));
    }
    let mut set = match file {
        Some(file) => properties::read_file(env, file)?,
        None => BTreeMap::new(),
    };
    set.extend(pairs(given.unwrap_or_default())?);
    let is_name = |it: char| it.is_ascii_alphanumeric() || "$._-".contains(it);
    if let Some(name) = set.keys().find(|name| !name.chars().all(is_name)) {
        return Err(Failure::Told(format!("Invalid character found for config key: {name}")));
    }
    let unset = gone.iter().flat_map(|it| it.split(',')).map(|it| it.trim().to_owned());
    Ok(Change { set: set.into_iter().collect(), unset: unset.collect() })
}

/// `k1=v1,k2=[v1,v2]`: a comma within brackets is part of a value.
fn pairs(text: &str) -> Result<Vec<(String, String)>, Failure> {
    let (mut parts, mut depth) = (vec![String::new()], 0_u32);
    for letter in text.chars() {
        match letter {
            '[' => depth = depth.saturating_add(1),
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    // As Java splits: what is empty at the end is nothing.
    while parts.last().is_some_and(String::is_empty) {
        parts.pop();
    }
    let pair = |part: &String| {
        // An equals sign in brackets belongs to the value.
        let (name, value) = part.split_once('=')?;
        let is_one = value.starts_with('[') || !value.contains('=');
        let bare = value.replace(['[', ']'], "");
        is_one.then(|| (name.trim().to_owned(), bare.trim().to_owned()))
    };
    parts.iter().map(pair).collect::<Option<Vec<_>>>().ok_or_else(|| {
        Failure::told(
            "Invalid entity config: all configs to be added must be in the format \"key=val\" or  \
             \"key=[val1,val2]\" to group values which contain commas.",
        )
    })
}

async fn alter(
    entity: &Entity,
    change: Change,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let name = entity.name.clone().unwrap_or_default();
    let resource = Resource { kind: entity.kind, name: name.clone() };
    if entity.kind == Kind::BrokerLogger {
        let known = configs::describe(client, std::slice::from_ref(&resource), false).await?;
        let known: Vec<String> =
            known.into_iter().flat_map(|(_, it)| it).map(|entry| entry.name).collect();
        let named = change.unset.iter().chain(change.set.iter().map(|(name, _)| name));
        let strange: Vec<&str> =
            named.filter(|it| !known.contains(it)).map(String::as_str).collect();
        if !strange.is_empty() {
            return Err(Failure::Told(format!("Invalid broker logger(s): {}", strange.join(","))));
        }
    }
    configs::alter(client, &resource, &change.set, &change.unset).await.map_err(refusal)?;
    if name.is_empty() {
        let kind = entity.plural();
        return output
            .line(format!("Completed updating default config for {kind} in the cluster."));
    }
    output.line(format!("Completed updating config for {} {name}.", entity.singular()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<(String, String)>> {
        pairs(text).ok()
    }

    #[test]
    fn brackets_hold_values_with_commas() {
        let want = |pairs: &[(&str, &str)]| {
            Some(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect())
        };
        assert_eq!(read("a=1"), want(&[("a", "1")]));
        assert_eq!(read("a=1,b=2"), want(&[("a", "1"), ("b", "2")]));
        assert_eq!(read("a=[1,2],b = x "), want(&[("a", "1,2"), ("b", "x")]));
        assert_eq!(read("a=[x=1,y=2]"), want(&[("a", "x=1,y=2")]));
        assert_eq!(read("a=,b=1,"), want(&[("a", ""), ("b", "1")]));
        for wrong in ["a", "a=1,b", "a=1=2", "=,x"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
