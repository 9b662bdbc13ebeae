//! `highwater config get` and `set`: what a topic, a broker or a group is told, while they run.

use super::pair::pair;
use super::shown::{Form, Rows};
use super::topic;
use crate::admin::configs::{self, Entry, Kind, Resource, source};
use crate::client::{Client, Refused};
use crate::failure::Failure;
use crate::output::Output;
use clap::{Args, ValueEnum};
use serde_json::json;

/// What has configs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Of {
    Topic,
    Broker,
    Group,
}

/// Whose configs.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
struct Whose {
    /// What has them.
    #[arg(value_enum)]
    of: Of,
    /// Its name; of a broker its id, or `all` for what every broker is told.
    name: String,
}

impl Whose {
    fn resource(&self) -> Result<Resource, Failure> {
        let (kind, name) = match self.of {
            Of::Topic => (Kind::Topic, self.name.clone()),
            Of::Group => (Kind::Group, self.name.clone()),
            Of::Broker if self.name == "all" => (Kind::Broker, String::new()),
            Of::Broker if self.name.parse::<i32>().is_ok() => (Kind::Broker, self.name.clone()),
            Of::Broker => {
                let why = format!("broker {}: say its id, or `all` for every broker", self.name);
                return Err(Failure::Told(why));
            }
        };
        Ok(Resource { kind, name })
    }

    /// Why, about whom, and what to do next.
    fn about(&self, refused: Refused) -> Failure {
        match self.of {
            Of::Topic => topic::about(&self.name, &refused),
            Of::Broker | Of::Group => refused.into(),
        }
    }
}

#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Get {
    #[command(flatten)]
    whose: Whose,
    /// Only these keys; without any, those that somebody set.
    keys: Vec<String>,
    /// All keys, those that nobody set too.
    #[arg(long)]
    all: bool,
}

#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Set {
    #[command(flatten)]
    whose: Whose,
    /// The new values.
    #[arg(value_name = "KEY=VALUE", value_parser = pair)]
    pairs: Vec<(String, String)>,
    /// Takes a key back, so that the default holds again; may be repeated.
    #[arg(long, value_name = "KEY")]
    unset: Vec<String>,
}

impl Get {
    fn is_wanted(&self, entry: &Entry) -> bool {
        if self.keys.is_empty() {
            self.all || entry.source != source::DEFAULT
        } else {
            self.keys.contains(&entry.name)
        }
    }

    pub(super) async fn run(
        &self,
        client: &mut Client,
        form: Form,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let described = configs::describe(client, &[self.whose.resource()?], false).await;
        let described = described.map_err(|refused| self.whose.about(refused))?;
        let entries: Vec<&Entry> = described.iter().flat_map(|(_, entries)| entries).collect();
        if let Some(key) = self.keys.iter().find(|key| !entries.iter().any(|it| it.name == **key)) {
            return Err(Failure::Told(format!(
                "{} {} has no config {key}. See `highwater config get --all`.",
                spelt(self.whose.of),
                self.whose.name
            )));
        }
        let mut rows = Rows::new(&["config", "value", "from"]);
        for entry in entries.into_iter().filter(|it| self.is_wanted(it)) {
            rows.push(vec![json!(entry.name), json!(entry.value), json!(origin(entry.source))]);
        }
        rows.print(form, output)
    }
}

impl Set {
    pub(super) async fn run(
        &self,
        client: &mut Client,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if self.pairs.is_empty() && self.unset.is_empty() {
            return Err(Failure::Told("say what to set: KEY=VALUE, or --unset KEY".to_owned()));
        }
        let resource = self.whose.resource()?;
        let done = configs::alter(client, &resource, &self.pairs, &self.unset).await;
        done.map_err(|refused| self.whose.about(refused))?;
        let set = self.pairs.iter().map(|(key, value)| format!("{key}={value}"));
        let unset = self.unset.iter().map(|key| format!("{key} (unset)"));
        let all: Vec<String> = set.chain(unset).collect();
        output.line(format!("{} {}: {}", spelt(self.whose.of), self.whose.name, all.join(", ")))
    }
}

fn spelt(of: Of) -> &'static str {
    match of {
        Of::Topic => "topic",
        Of::Broker => "broker",
        Of::Group => "group",
    }
}

/// Where a value comes from, in words.
fn origin(number: i8) -> &'static str {
    match number {
        source::TOPIC => "topic",
        source::GROUP => "group",
        source::BROKER => "broker",
        source::BROKER_DEFAULT => "all brokers",
        source::DEFAULT => "default",
        source::CLIENT_METRICS => "client metrics",
        _ => "file",
    }
}
