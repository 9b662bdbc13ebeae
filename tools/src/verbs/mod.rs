//! Highwater's own commands for a cluster: `highwater topic`, `group`, `produce`, `consume`,
//! `config get` and `set`, `cluster`. They talk to any Kafka broker; where Kafka's tools print what
//! scripts parse, these print a table for people or, by `-o json`, JSON for programs.

mod cluster;
mod config;
mod consume;
mod group;
mod pair;
mod produce;
mod shown;
mod topic;

pub use cluster::Cluster;
pub use config::{Get, Set};
pub use consume::Consume;
pub use group::Group;
pub use produce::Produce;
pub use shown::Form;
pub use topic::Topic;

use crate::client::{Client, Entrance, block_on, with_port};
use crate::doctor;
use crate::failure::Failure;
use crate::output::{Output, complain};
use crate::properties::{self, Properties};
use clap::Args;
use kraft::env::Env;
use std::process::ExitCode;

/// Whom to ask, and how to print what they say.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Common {
    /// Brokers to begin with; one that answers is enough. Without a port it is 9092.
    #[arg(long, short, global = true, value_name = "HOST:PORT,..", alias = "bootstrap-server")]
    #[arg(default_value = "localhost:9092")]
    pub bootstrap: String,
    /// A file of client properties, as Kafka's tools take it.
    #[arg(long, global = true, value_name = "FILE")]
    pub command_config: Option<String>,
    /// How to print it.
    #[arg(long, short, global = true, value_enum, default_value_t = Form::Table)]
    pub output: Form,
}

/// One of the commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    Topic(Topic),
    Group(Group),
    Get(Get),
    Set(Set),
    Cluster(Cluster),
    Produce(Produce),
    Consume(Consume),
}

/// Does it, and says how it ended.
#[must_use]
pub fn run(verb: &Verb, common: &Common, env: &Env) -> ExitCode {
    let mut output = Output::stdout();
    let done = act(verb, common, env, &mut output);
    match output.end(done) {
        Ok(()) | Err(Failure::Help | Failure::Version | Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Exit(code)) => ExitCode::from(code),
        Err(Failure::Told(why) | Failure::Usage(why)) => {
            complain(&why);
            ExitCode::FAILURE
        }
    }
}

fn act(verb: &Verb, common: &Common, env: &Env, output: &mut Output) -> Result<(), Failure> {
    let mut properties = properties::read(env, common.command_config.as_deref(), &[])?;
    let (bootstrap, form) = (with_port(&common.bootstrap), common.output);
    let mut client = Client::new(env, Entrance::Brokers(&bootstrap), &properties)?;
    properties.insert("bootstrap.servers".to_owned(), bootstrap);
    let done = ask(verb, &mut client, properties, env, (form, output));
    done.map_err(|why| match client.mistaken_controller() {
        Some(address) => Failure::Told(doctor::controller(address)),
        None => why,
    })
}

fn ask(
    verb: &Verb,
    client: &mut Client,
    properties: Properties,
    env: &Env,
    (form, output): (Form, &mut Output),
) -> Result<(), Failure> {
    match verb {
        Verb::Topic(topic) => block_on(topic.run(client, form, output)),
        Verb::Group(group) => block_on(group.run(client, form, output)),
        Verb::Get(get) => block_on(get.run(client, form, output)),
        Verb::Set(set) => block_on(set.run(client, output)),
        Verb::Cluster(cluster) => block_on(cluster.run(client, form, output)),
        Verb::Produce(produce) => produce.run(client, properties, env, output),
        Verb::Consume(consume) => consume.run(client, properties, env, (form, output)),
    }
}
