//! How a tool finds its cluster: `--bootstrap-server`, `--bootstrap-controller`, and what stood in
//! their place in the days of ZooKeeper.

use crate::args::{Args, Flag, value};
use crate::client::{Client, Entrance};
use crate::failure::Failure;
use crate::output::complain;
use crate::properties::{self, Properties};
use kraft::env::Env;

pub const SERVER: Flag = value(
    "bootstrap-server",
    "host:port,...",
    "Brokers to connect to; one that answers is enough.",
);
pub const CONTROLLER: Flag = value(
    "bootstrap-controller",
    "host:port,...",
    "Controllers to connect to, in the place of brokers.",
);
pub const COMMAND_CONFIG: Flag =
    value("command-config", "FILE", "A file of properties for the client.");
/// Dead since Apache Kafka 4.0, but scripts and health checks still have it.
pub const ZOOKEEPER: Flag = value("zookeeper", "hosts", "");
/// What `--bootstrap-server` was called before.
pub const BROKER_LIST: Flag = value("broker-list", "host:port,...", "");

/// Flags that change what is there, or take it away: not of a cluster that nobody named.
const CHANGES: [&str; 5] = ["delete", "alter", "reset-offsets", "delete-offsets", "execute"];

/// Where brokers are by habit, if nobody says.
const LOCAL: &str = "localhost:9092";

/// The brokers that the arguments name; None where they name none.
///
/// # Errors
/// A flag stands twice, or something is to be changed behind a ZooKeeper.
pub fn servers(args: &Args) -> Result<Option<String>, Failure> {
    if let Some(given) = args.one(SERVER.name)? {
        return Ok(Some(given.to_owned()));
    }
    if let Some(given) = args.one(BROKER_LIST.name)? {
        return Ok(Some(given.to_owned()));
    }
    let Some(zookeeper) = args.one(ZOOKEEPER.name)? else { return Ok(None) };
    if let Some(change) = CHANGES.into_iter().find(|name| args.has(name)) {
        return Err(Failure::told(format_args!(
            "--zookeeper {zookeeper} names no broker, and --{change} is not done to whatever \
             cluster is at {LOCAL}. Say which one in its place: --bootstrap-server HOST:PORT"
        )));
    }
    complain(&format!(
        "WARN --zookeeper {zookeeper} is passed over, because there is no ZooKeeper any more; \
         asking the broker at {LOCAL}. Say --bootstrap-server HOST:PORT instead."
    ));
    Ok(Some(LOCAL.to_owned()))
}

/// The brokers, of a tool that has no ZooKeeper to excuse.
///
/// # Errors
/// The arguments name none, or a flag stands twice.
pub(crate) fn required(args: &Args) -> Result<&str, Failure> {
    match args.one(SERVER.name)? {
        Some(given) => Ok(given),
        None => args.one(BROKER_LIST.name)?.map_or_else(|| args.required(SERVER.name), Ok),
    }
}

/// A client for a tool that talks to brokers only.
///
/// # Errors
/// The arguments name no brokers, or make no sense.
pub fn to_brokers(args: &Args, env: &Env) -> Result<Client, Failure> {
    to_brokers_or(args, env, Failure::usage("Missing required argument \"[bootstrap-server]\""))
}

/// The same, where `missing` is told if none are named.
///
/// # Errors
/// As of [`to_brokers`].
pub fn to_brokers_or(args: &Args, env: &Env, missing: Failure) -> Result<Client, Failure> {
    let properties = properties(args, env)?;
    let servers = servers(args)?.ok_or(missing)?;
    Client::new(env, Entrance::Brokers(&servers), &properties)
}

/// A client for a tool that also talks to controllers.
///
/// # Errors
/// The arguments name neither brokers nor controllers, or both, or make no sense.
pub fn to_either(args: &Args, env: &Env) -> Result<Client, Failure> {
    let properties = properties(args, env)?;
    match (servers(args)?, args.one(CONTROLLER.name)?) {
        (Some(_), Some(_)) => Err(Failure::usage(
            "You cannot specify both --bootstrap-controller and --bootstrap-server.",
        )),
        (Some(servers), None) => Client::new(env, Entrance::Brokers(&servers), &properties),
        (None, Some(controllers)) => {
            Client::new(env, Entrance::Controllers(controllers), &properties)
        }
        (None, None) => Err(Failure::usage(
            "You must specify either --bootstrap-controller or --bootstrap-server.",
        )),
    }
}

fn properties(args: &Args, env: &Env) -> Result<Properties, Failure> {
    properties::read(env, args.one(COMMAND_CONFIG.name)?, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, switch};
    use std::ffi::OsString;

    #[track_caller]
    fn read(flags: &str) -> Result<Option<String>, Failure> {
        let switches = ["list", "create", "delete", "alter"].map(|name| switch(name, "x"));
        let flags_known: Vec<Flag> = switches.into_iter().chain([SERVER, ZOOKEEPER]).collect();
        let command = Command { name: "x", purpose: "x", flags: flags_known.leak() };
        servers(&command.parse(flags.split(' ').map(OsString::from).collect())?)
    }

    #[test]
    fn behind_a_zookeeper_nothing_is_changed() {
        for harmless in ["--list --zookeeper z:2181", "--create --zookeeper z:2181"] {
            assert_eq!(read(harmless), Ok(Some(LOCAL.to_owned())));
        }
        for change in ["--delete", "--alter"] {
            let Err(Failure::Told(why)) = read(&format!("{change} --zookeeper z:2181")) else {
                panic!("{change} is done");
            };
            assert!(why.contains(change) && why.contains("--bootstrap-server HOST:PORT"), "{why}");
            let both = read(&format!("{change} --zookeeper z:2181 --bootstrap-server h:1"));
            assert_eq!(both, Ok(Some("h:1".to_owned())));
        }
    }
}
