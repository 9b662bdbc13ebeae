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

/// Where brokers are by habit, if nobody says.
const LOCAL: &str = "localhost:9092";

/// The brokers that the arguments name; None where they name none.
///
/// # Errors
/// A flag stands twice.
pub fn servers(args: &Args) -> Result<Option<String>, Failure> {
    if let Some(given) = args.one(SERVER.name)? {
        return Ok(Some(given.to_owned()));
    }
    if let Some(given) = args.one(BROKER_LIST.name)? {
        return Ok(Some(given.to_owned()));
    }
    let Some(zookeeper) = args.one(ZOOKEEPER.name)? else { return Ok(None) };
    complain(&format!(
        "WARN --zookeeper {zookeeper} is passed over, because there is no ZooKeeper any more; \
         asking the broker at {LOCAL}. Say --bootstrap-server HOST:PORT instead."
    ));
    Ok(Some(LOCAL.to_owned()))
}

/// A client for a tool that talks to brokers only; `missing` is told where none are named.
///
/// # Errors
/// The arguments name no brokers, or make no sense.
pub fn to_brokers(args: &Args, env: &Env, missing: Failure) -> Result<Client, Failure> {
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
