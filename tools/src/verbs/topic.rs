//! `highwater topic`.

use super::pair::pair;
use super::shown::{Form, Rows, print_one};
use crate::admin::configs::{self, Kind, Resource, source};
use crate::admin::offsets::{self, EARLIEST, LATEST};
use crate::admin::topics::{self, Described, name_of};
use crate::admin::{text, topic_changes};
use crate::client::{Client, Refused};
use crate::failure::Failure;
use crate::output::Output;
use clap::{Args, Subcommand};
use protocol::error::ErrorCode;
use protocol::messages::create_partitions_request::CreatePartitionsTopic;
use protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use serde_json::json;
use std::collections::BTreeMap;

/// Partitions that are asked for at a time.
pub(super) const PARTITIONS: i32 = 2000;

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Topic {
    /// List the topics with their partitions and messages.
    #[command(visible_alias = "ls")]
    List {
        /// Those that the brokers keep for themselves, too.
        #[arg(long)]
        all: bool,
    },
    /// Tell all about a topic: partitions, offsets, and the configs that are its own.
    #[command(visible_alias = "show")]
    Describe { name: String },
    /// Make a topic.
    Create(Create),
    /// Add partitions to a topic.
    Grow {
        name: String,
        /// How many it has then.
        #[arg(long, short, allow_negative_numbers = true)]
        partitions: i32,
    },
    /// Delete topics with all that is in them.
    #[command(visible_alias = "rm")]
    Delete {
        #[arg(required = true)]
        names: Vec<String>,
        /// A topic that is not there is no error.
        #[arg(long)]
        if_exists: bool,
    },
}

#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Create {
    name: String,
    /// How many partitions; without it or for -1, num.partitions of the brokers.
    #[arg(long, short, default_value_t = -1, hide_default_value = true, allow_negative_numbers = true)]
    partitions: i32,
    /// How many replicas each has; without it or for -1, default.replication.factor of the brokers.
    #[arg(long, short, default_value_t = -1, hide_default_value = true, allow_negative_numbers = true)]
    replication_factor: i16,
    /// A config of the topic; may be repeated.
    #[arg(long, short, value_name = "KEY=VALUE", value_parser = pair)]
    config: Vec<(String, String)>,
    /// A topic that is there already is no error, and stays as it is.
    #[arg(long)]
    if_not_exists: bool,
}

impl Topic {
    pub(super) async fn run(
        &self,
        client: &mut Client,
        form: Form,
        output: &mut Output,
    ) -> Result<(), Failure> {
        match self {
            Topic::List { all } => list(client, *all, form, output).await,
            Topic::Describe { name } => describe(client, name, form, output).await,
            Topic::Create(create) => create.run(client, output).await,
            Topic::Grow { name, partitions } => grow(client, name, *partitions, output).await,
            Topic::Delete { names, if_exists } => {
                for name in names {
                    delete(client, name, *if_exists, output).await?;
                }
                Ok(())
            }
        }
    }
}

/// A topic that must be there, whose records are asked for.
pub(super) async fn find(client: &mut Client, name: &str) -> Result<Described, Failure> {
    let described = topics::describe(client, &[name.to_owned()], PARTITIONS).await;
    let found = described.map_err(|refused| about(name, &refused))?.into_iter().next();
    found.ok_or_else(|| Failure::Told(format!("topic {name}: the brokers do not tell of it")))
}

/// Why, about what, and what to do next.
pub(super) fn about(name: &str, refused: &Refused) -> Failure {
    let hint = if refused.code == ErrorCode::UnknownTopicOrPartition {
        ". See `highwater topic list`."
    } else if refused.code == ErrorCode::TopicAlreadyExists {
        ". With --if-not-exists that is no error."
    } else if refused.code == ErrorCode::TopicDeletionDisabled {
        ". Set delete.topic.enable=true on the brokers."
    } else {
        ""
    };
    Failure::Told(format!("topic {name}: {}{hint}", refused.text.trim_end_matches('.')))
}

async fn list(
    client: &mut Client,
    all: bool,
    form: Form,
    output: &mut Output,
) -> Result<(), Failure> {
    let listed = topics::list(client).await?;
    let names: Vec<String> =
        listed.into_iter().filter(|it| all || !it.is_internal).map(|it| it.name).collect();
    let described = if names.is_empty() {
        Vec::new()
    } else {
        topics::describe(client, &names, PARTITIONS).await?
    };
    let ends = Ends::of(client, &described).await?;
    let mut rows = Rows::new(&["name", "partitions", "replicationFactor", "messages"]);
    for topic in &described {
        let factor = topic.partitions.first().map_or(0, |it| it.replicas.len());
        // Unknown where one partition is.
        let messages: Option<i64> =
            topic.partitions.iter().map(|it| ends.messages(&topic.name, it.index)).sum();
        rows.push(vec![
            json!(topic.name),
            json!(topic.partitions.len()),
            json!(factor),
            json!(messages),
        ]);
    }
    rows.print(form, output)
}

/// The first and the next offset of partitions.
pub(super) struct Ends {
    starts: BTreeMap<offsets::At, Result<i64, Refused>>,
    ends: BTreeMap<offsets::At, Result<i64, Refused>>,
}

impl Ends {
    pub(super) async fn of(client: &mut Client, topics: &[Described]) -> Result<Ends, Refused> {
        let all = |time| {
            let of = |topic: &Described| {
                let name = topic.name.clone();
                let numbers = topic.partitions.iter().map(|it| it.index).collect::<Vec<_>>();
                numbers.into_iter().map(move |index| ((name.clone(), index), time))
            };
            topics.iter().flat_map(of).collect::<BTreeMap<_, _>>()
        };
        let starts = offsets::list(client, topics, &all(EARLIEST)).await?;
        let ends = offsets::list(client, topics, &all(LATEST)).await?;
        Ok(Ends { starts, ends })
    }

    pub(super) fn start(&self, topic: &str, index: i32) -> Option<i64> {
        self.starts.get(&(topic.to_owned(), index))?.as_ref().ok().copied()
    }

    pub(super) fn end(&self, topic: &str, index: i32) -> Option<i64> {
        self.ends.get(&(topic.to_owned(), index))?.as_ref().ok().copied()
    }

    fn messages(&self, topic: &str, index: i32) -> Option<i64> {
        Some(self.end(topic, index)? - self.start(topic, index)?)
    }
}

async fn describe(
    client: &mut Client,
    name: &str,
    form: Form,
    output: &mut Output,
) -> Result<(), Failure> {
    let topic = find(client, name).await?;
    let ends = Ends::of(client, std::slice::from_ref(&topic)).await?;
    let resource = Resource { kind: Kind::Topic, name: name.to_owned() };
    let entries = configs::describe(client, &[resource], false).await?;
    let columns =
        &["partition", "leader", "replicas", "isr", "startOffset", "endOffset", "messages"];
    let mut partitions = Rows::new(columns);
    for it in &topic.partitions {
        partitions.push(vec![
            json!(it.index),
            json!(it.leader),
            json!(it.replicas),
            json!(it.isr),
            json!(ends.start(name, it.index)),
            json!(ends.end(name, it.index)),
            json!(ends.messages(name, it.index)),
        ]);
    }
    let mut own = Rows::new(&["config", "value"]);
    for entry in entries.iter().flat_map(|(_, entries)| entries) {
        if entry.source == source::TOPIC {
            own.push(vec![json!(entry.name), json!(entry.value)]);
        }
    }
    let facts = [("name", json!(name)), ("id", json!(topic.id.to_string()))];
    print_one(&facts, &[("partitions", partitions), ("configs", own)], form, output)
}

impl Create {
    async fn run(&self, client: &mut Client, output: &mut Output) -> Result<(), Failure> {
        let configs = self.config.iter().map(|(key, value)| {
            CreatableTopicConfig::default().with_name(text(key)).with_value(Some(text(value)))
        });
        let topic = CreatableTopic::default()
            .with_name(name_of(&self.name))
            .with_num_partitions(self.partitions)
            .with_replication_factor(self.replication_factor)
            .with_configs(configs.collect());
        match topic_changes::create(client, topic).await {
            Ok(()) => output.line(format!("created topic {}", self.name)),
            Err(why) if self.if_not_exists && why.code == ErrorCode::TopicAlreadyExists => {
                output.line(format!("topic {} is there already", self.name))
            }
            Err(why) => Err(about(&self.name, &why)),
        }
    }
}

async fn grow(
    client: &mut Client,
    name: &str,
    partitions: i32,
    output: &mut Output,
) -> Result<(), Failure> {
    let topic = CreatePartitionsTopic::default().with_name(name_of(name)).with_count(partitions);
    let done = topic_changes::grow(client, vec![topic.with_assignments(None)]).await;
    done.map_err(|refused| about(name, &refused))?;
    output.line(format!("topic {name} has {partitions} partitions"))
}

async fn delete(
    client: &mut Client,
    name: &str,
    if_exists: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    match topic_changes::delete(client, &[name.to_owned()]).await {
        Ok(()) => output.line(format!("deleted topic {name}")),
        Err(why) if if_exists && why.code == ErrorCode::UnknownTopicOrPartition => {
            output.line(format!("there is no topic {name}"))
        }
        Err(why) => Err(about(name, &why)),
    }
}
