//! AlterConfigs and IncrementalAlterConfigs: the overrides of topics, brokers and groups.

use super::decision::{Decide, Decision, Now};
use super::refusal::Refusal;
use super::state::State;
use crate::image::{ConfigResource, Image};
use crate::record::{ClearElrRecord, ConfigRecord, Record};
use protocol::config::alter::{Operation, Target, changed, check_broker, check_group, check_topic};
use protocol::config::describe::Settings;
use protocol::error::ErrorCode;
use protocol::features::ELIGIBLE_LEADER_REPLICAS_VERSION;
use protocol::messages::alter_configs_response::AlterConfigsResourceResponse as Altered;
use protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse as IncrementallyAltered;
use protocol::messages::{
    AlterConfigsRequest, AlterConfigsResponse, IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse, StrBytes,
};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a string in a metadata record, at most: Apache Kafka reads no longer one.
const TEXT_LEN_MAX: usize = 32_767;

const MIN_INSYNC_REPLICAS: &str = "min.insync.replicas";

/// What a request does to one key.
struct Edit<'a> {
    name: &'a str,
    /// Kafka's number; see [`Operation`].
    operation: i8,
    value: Option<&'a str>,
}

impl Decide for IncrementalAlterConfigsRequest {
    fn decide(
        self,
        image: &Image,
        state: &mut State,
        _: &Now<'_>,
    ) -> Decision<IncrementalAlterConfigsResponse> {
        let repeated =
            repeated(self.resources.iter().map(|it| (it.resource_type, &*it.resource_name)));
        let (mut records, mut responses) = (Vec::new(), Vec::new());
        for it in &self.resources {
            let (kind, name) = (it.resource_type, it.resource_name.as_str());
            let edits: Vec<_> = it
                .configs
                .iter()
                .map(|config| Edit {
                    name: &config.name,
                    operation: config.config_operation,
                    value: config.value.as_deref(),
                })
                .collect();
            let outcome = once(&repeated, kind, name)
                .and_then(|()| Alteration::of(image, state, kind, name)?.incremental(&edits));
            let response = IncrementallyAltered::default()
                .with_resource_type(kind)
                .with_resource_name(it.resource_name.clone());
            let (code, message) = joined(outcome, &mut records);
            responses.push(response.with_error_code(code).with_error_message(message));
        }
        if self.validate_only {
            records.clear();
        }
        Decision::append(
            records,
            IncrementalAlterConfigsResponse::default().with_responses(responses),
        )
    }
}

impl Decide for AlterConfigsRequest {
    fn decide(
        self,
        image: &Image,
        state: &mut State,
        _: &Now<'_>,
    ) -> Decision<AlterConfigsResponse> {
        let repeated =
            repeated(self.resources.iter().map(|it| (it.resource_type, &*it.resource_name)));
        let (mut records, mut responses) = (Vec::new(), Vec::new());
        for it in &self.resources {
            let (kind, name) = (it.resource_type, it.resource_name.as_str());
            let edits: Vec<_> = it
                .configs
                .iter()
                .map(|config| Edit {
                    name: &config.name,
                    operation: Operation::Set as i8,
                    value: config.value.as_deref(),
                })
                .collect();
            let outcome = once(&repeated, kind, name)
                .and_then(|()| Alteration::of(image, state, kind, name)?.whole(&edits));
            let response = Altered::default()
                .with_resource_type(kind)
                .with_resource_name(it.resource_name.clone());
            let (code, message) = joined(outcome, &mut records);
            responses.push(response.with_error_code(code).with_error_message(message));
        }
        if self.validate_only {
            records.clear();
        }
        Decision::append(records, AlterConfigsResponse::default().with_responses(responses))
    }
}

/// Adds the records of one resource to those of the others; its code and text in the answer.
fn joined(
    outcome: Result<Vec<Record>, Refusal>,
    records: &mut Vec<Record>,
) -> (i16, Option<StrBytes>) {
    match outcome {
        Ok(of_resource) => {
            records.extend(of_resource);
            (0, None)
        }
        Err(refusal) => (refusal.code.code(), Some(refusal.text())),
    }
}

/// The resources that are in a request more than once.
fn repeated<'a>(resources: impl Iterator<Item = (i8, &'a str)>) -> BTreeSet<(i8, String)> {
    let mut counts = BTreeMap::<(i8, String), usize>::new();
    for (kind, name) in resources {
        *counts.entry((kind, name.to_owned())).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| 1 < *count).map(|(resource, _)| resource).collect()
}

fn once(repeated: &BTreeSet<(i8, String)>, kind: i8, name: &str) -> Result<(), Refusal> {
    if repeated.contains(&(kind, name.to_owned())) {
        return Err(invalid_request("the resource is in the request more than once"));
    }
    Ok(())
}

fn invalid_request(why: impl Into<String>) -> Refusal {
    Refusal::new(ErrorCode::InvalidRequest, why)
}

fn invalid_config(why: impl Into<String>) -> Refusal {
    Refusal::new(ErrorCode::InvalidConfig, why)
}

/// One resource whose overrides are to change.
struct Alteration<'a> {
    image: &'a Image,
    state: &'a State,
    target: Target,
    resource: ConfigResource,
    current: Settings,
}

impl<'a> Alteration<'a> {
    /// The resource must be of a kind that is served, and must exist where that can be known.
    fn of(
        image: &'a Image,
        state: &'a State,
        kind: i8,
        name: &str,
    ) -> Result<Alteration<'a>, Refusal> {
        let target = match kind {
            ConfigResource::TOPIC if name.is_empty() => {
                return Err(invalid_request("topics have no common overrides: name one"));
            }
            ConfigResource::TOPIC if image.topic(name).is_none() => {
                let why = format!("there is no topic {name}");
                return Err(Refusal::new(ErrorCode::UnknownTopicOrPartition, why));
            }
            ConfigResource::TOPIC => Target::Topic,
            ConfigResource::BROKER if name.is_empty() => Target::AllBrokers,
            ConfigResource::BROKER => {
                let id = name.parse::<i32>().ok().filter(|id| 0 <= *id);
                let id =
                    id.ok_or_else(|| invalid_request(format!("{name:?} is no broker's id")))?;
                if image.broker(id).is_none() {
                    let why = format!("broker {id} is not registered");
                    return Err(Refusal::new(ErrorCode::BrokerIdNotRegistered, why));
                }
                Target::Broker
            }
            ConfigResource::GROUP if name.is_empty() => {
                return Err(invalid_request("groups have no common overrides: name one"));
            }
            ConfigResource::GROUP if TEXT_LEN_MAX < name.len() => {
                let len = name.len();
                let why = format!("a group's name has at most {TEXT_LEN_MAX} bytes, not {len}");
                return Err(invalid_request(why));
            }
            ConfigResource::GROUP => Target::Group,
            other => {
                let why = format!("the configs of resource type {other} cannot be changed here");
                return Err(invalid_request(why));
            }
        };
        let resource = ConfigResource::new(kind, name);
        let current = image.config(&resource).map(|it| (**it).clone()).unwrap_or_default();
        Ok(Alteration { image, state, target, resource, current })
    }

    /// Each edit acts on what its key is now.
    fn incremental(&self, edits: &[Edit<'_>]) -> Result<Vec<Record>, Refusal> {
        let mut new = self.current.clone();
        self.edit(&mut new, edits)?;
        self.records(&new, edits)
    }

    /// The edits are all that stays.
    fn whole(&self, edits: &[Edit<'_>]) -> Result<Vec<Record>, Refusal> {
        let mut new = Settings::new();
        self.edit(&mut new, edits)?;
        self.records(&new, edits)
    }

    fn edit(&self, new: &mut Settings, edits: &[Edit<'_>]) -> Result<(), Refusal> {
        let mut names = BTreeSet::new();
        for Edit { name, operation, value } in edits {
            if !names.insert(*name) {
                return Err(invalid_request(format!("{name} is in the request more than once")));
            }
            let Some(operation) = Operation::of(*operation) else {
                return Err(invalid_request(format!("{name}: {operation} is no operation")));
            };
            if operation != Operation::Delete && value.is_none() {
                return Err(invalid_request(format!("{name} needs a value, and has null")));
            }
            let now = self.current.get(*name).map(String::as_str);
            let value = changed(self.target, name, now, operation, *value)
                .map_err(|invalid| invalid_config(invalid.to_string()))?;
            match value {
                Some(value) => {
                    check_len(name, &value)?;
                    new.insert((*name).to_owned(), value);
                }
                None => {
                    new.remove(*name);
                }
            }
        }
        Ok(())
    }

    /// The overrides as a whole must be valid. Every key that changes is a record; a broker's
    /// that is named is one even if it stays, because that makes the broker read files anew.
    fn records(&self, new: &Settings, edits: &[Edit<'_>]) -> Result<Vec<Record>, Refusal> {
        self.check(new, edits)?;
        let is_broker = matches!(self.target, Target::Broker | Target::AllBrokers);
        let named: BTreeSet<&str> = edits.iter().map(|edit| edit.name).collect();
        let current = self.current.keys().map(String::as_str);
        let names: BTreeSet<&str> = named.iter().copied().chain(current).collect();
        let mut records = Vec::new();
        for name in names {
            let (old, new) = (self.current.get(name), new.get(name));
            if old != new || (is_broker && named.contains(name) && new.is_some()) {
                records.push(record(&self.resource, name, new));
                records.extend(self.clear_elr(name));
            }
        }
        Ok(records)
    }

    fn check(&self, new: &Settings, edits: &[Edit<'_>]) -> Result<(), Refusal> {
        match self.target {
            Target::Topic => {
                let layers = self.state.layers(self.image);
                check_topic(new, &|name| layers.get(name))
                    .map_err(|invalid| invalid_config(invalid.to_string()))?;
            }
            Target::Group => {
                let layers = self.state.layers(self.image);
                check_group(new, &|name| layers.get(name))
                    .map_err(|invalid| invalid_config(invalid.to_string()))?;
            }
            Target::Broker | Target::AllBrokers => {
                for (name, value) in edits.iter().filter_map(|it| new.get_key_value(it.name)) {
                    check_broker(self.target, name, value)
                        .map_err(|invalid| invalid_request(invalid.to_string()))?;
                }
                self.check_min_insync_replicas(new)?;
            }
        }
        Ok(())
    }

    fn has_eligible_replicas(&self) -> bool {
        0 < self.image.feature(ELIGIBLE_LEADER_REPLICAS_VERSION.name)
    }

    /// With eligible leader replicas (KIP-966) the whole cluster must agree on this one.
    fn check_min_insync_replicas(&self, new: &Settings) -> Result<(), Refusal> {
        let (old, new) = (self.current.get(MIN_INSYNC_REPLICAS), new.get(MIN_INSYNC_REPLICAS));
        if !self.has_eligible_replicas() || old == new {
            return Ok(());
        }
        if self.target == Target::Broker {
            return Err(invalid_config(format!(
                "{MIN_INSYNC_REPLICAS} cannot differ between brokers while the cluster keeps \
                 eligible leader replicas"
            )));
        }
        if new.is_none() {
            return Err(invalid_config(format!(
                "{MIN_INSYNC_REPLICAS} of all brokers can be changed, and not be taken away, while \
                 the cluster keeps eligible leader replicas"
            )));
        }
        Ok(())
    }

    /// Who is eligible was judged by the old minimum.
    fn clear_elr(&self, name: &str) -> Option<Record> {
        if name != MIN_INSYNC_REPLICAS || !self.has_eligible_replicas() {
            return None;
        }
        let topic_name = match self.target {
            Target::Topic => self.resource.name.to_string(),
            Target::Broker | Target::AllBrokers | Target::Group => String::new(),
        };
        Some(ClearElrRecord { topic_name, ..ClearElrRecord::default() }.into())
    }
}

/// Name and value must fit the record that carries them.
pub(super) fn check_len(name: &str, value: &str) -> Result<(), Refusal> {
    let refuse = |what: &str, len: usize| {
        Err(invalid_config(format!("{what} has at most {TEXT_LEN_MAX} bytes, not {len}")))
    };
    if TEXT_LEN_MAX < name.len() {
        return refuse("a key", name.len());
    }
    if TEXT_LEN_MAX < value.len() {
        return refuse(&format!("{name}: a value"), value.len());
    }
    Ok(())
}

/// The record that sets one key, or takes it away.
pub(super) fn record(resource: &ConfigResource, name: &str, value: Option<&String>) -> Record {
    Record::from(ConfigRecord {
        resource_type: resource.kind,
        resource_name: resource.name.to_string(),
        name: name.to_owned(),
        value: value.cloned(),
        ..ConfigRecord::default()
    })
}
