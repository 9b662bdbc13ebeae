//! `kafka-configs`: the configs of topics, brokers, their loggers, groups and client metrics; quotas
//! of users, clients and addresses; passwords of users.

mod change;
mod described;
mod entity;
mod party;
mod quotas;
mod refusal;
mod scram;

use crate::admin::configs::{self, Kind, Resource};
use crate::args::{Command, switch, value};
use crate::client::{Client, block_on};
use crate::entrance::{self, COMMAND_CONFIG, CONTROLLER, SERVER, ZOOKEEPER};
use crate::failure::Failure;
use crate::frame;
use crate::output::Output;
use change::{Change, tell_done};
use entity::{Asked, Entity};
use kraft::env::Env;
use refusal::refusal;
use std::ffi::OsString;
use std::process::ExitCode;

const COMMAND: Command = Command {
    name: "kafka-configs",
    purpose: "Describes and alters configs of topics, brokers, broker-loggers, groups and \
              client-metrics, quotas of users, clients and ips, and passwords of users.",
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
        let of_alter = ["add-config", "delete-config"].into_iter().find(|flag| args.has(flag));
        if let (true, Some(flag)) = (args.has("describe"), of_alter) {
            return Err(Failure::usage(format_args!(
                "Option \"[describe]\" can't be used with option \"[{flag}]\""
            )));
        }
        let asked = entity::of(args)?;
        let mut client = entrance::to_either(args, env)?;
        let change = if args.has("alter") { Some(Change::read(args, env)?) } else { None };
        block_on(async {
            let client = &mut client;
            match (asked, change) {
                (Asked::Configs(entity), Some(change)) => {
                    alter(&entity, change, client, output).await
                }
                (Asked::Configs(entity), None) => {
                    described::describe(&entity, args.has("all"), client, output).await
                }
                (Asked::Quotas(parties), Some(change)) => {
                    quotas::alter(&parties, &change, client, env, output).await
                }
                (Asked::Quotas(parties), None) => {
                    quotas::describe(&parties, client, env, output).await
                }
            }
        })
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
        let named = change.names();
        let strange: Vec<&str> = named.filter(|it| !known.iter().any(|name| name == it)).collect();
        if !strange.is_empty() {
            return Err(Failure::Told(format!("Invalid broker logger(s): {}", strange.join(","))));
        }
    }
    configs::alter(client, &resource, &change.set, &change.unset).await.map_err(refusal)?;
    tell_done(entity.singular(), &name, output)
}
