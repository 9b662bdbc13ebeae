//! Changes of configs, before the controller sees them: this broker refuses what cannot be right, and
//! what it itself could not be told while it runs.

use super::context::{Ctx, ListenerKind, RequestContext};
use super::describe_configs::check_node;
use kraft::image::{ConfigResource, Image};
use protocol::config::alter::{Operation, Target, changed, check_broker};
use protocol::config::describe::Settings;
use protocol::error::ErrorCode;
use std::collections::{BTreeMap, BTreeSet};

/// A resource that a request changes.
#[derive(Debug)]
pub(super) struct Resource<'a> {
    pub(super) kind: i8,
    pub(super) name: &'a str,
    pub(super) edits: Vec<Edit<'a>>,
    /// Whether the edits are all that stays.
    pub(super) is_whole: bool,
}

/// What is done to one key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit<'a> {
    pub(super) name: &'a str,
    /// Kafka's number of an [`Operation`].
    pub(super) operation: i8,
    pub(super) value: Option<&'a str>,
}

/// A code, and why, for whoever asked.
pub(super) type Refusal = (ErrorCode, String);

/// What is wrong with each resource of a request; those without fault are the controller's.
pub(super) fn check(
    ctx: &Ctx,
    from: &RequestContext,
    resources: &[Resource<'_>],
) -> Vec<Result<(), Refusal>> {
    let mut counts = BTreeMap::<(i8, &str), usize>::new();
    for resource in resources {
        *counts.entry((resource.kind, resource.name)).or_default() += 1;
    }
    let image = ctx.image();
    let check = |resource: &Resource<'_>| {
        if counts.get(&(resource.kind, resource.name)).is_some_and(|count| 1 < *count) {
            return refuse("the resource is in the request more than once");
        }
        resource.check_form()?;
        resource.check_for(ctx, from, &image)
    };
    resources.iter().map(check).collect()
}

/// The answers in the order of the request: this broker's refusals, and what the controller said of
/// the others. `refuse` words a refusal of the resource at that place.
pub(super) fn joined<R>(
    checked: Vec<Result<(), Refusal>>,
    answered: Vec<R>,
    refuse: impl Fn(usize, Refusal) -> Option<R>,
) -> Vec<R> {
    let (mut answered, silence) = (answered.into_iter(), ErrorCode::UnknownServerError);
    let each = checked.into_iter().enumerate().filter_map(|(index, checked)| match checked {
        Err(refusal) => refuse(index, refusal),
        Ok(()) => answered.next().or_else(|| refuse(index, (silence, silence.message().into()))),
    });
    each.collect()
}

fn refuse<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err((ErrorCode::InvalidRequest, why.into()))
}

impl Resource<'_> {
    fn check_form(&self) -> Result<(), Refusal> {
        let mut names = BTreeSet::new();
        for edit in &self.edits {
            if !names.insert(edit.name) {
                return refuse(format!("{} is in the request more than once", edit.name));
            }
            let needs_value = edit.operation != Operation::Delete as i8;
            if needs_value && edit.value.is_none() {
                return refuse(format!("{} needs a value, and has null", edit.name));
            }
        }
        Ok(())
    }

    fn check_for(&self, ctx: &Ctx, from: &RequestContext, image: &Image) -> Result<(), Refusal> {
        match self.kind {
            ConfigResource::TOPIC | ConfigResource::GROUP => Ok(()),
            ConfigResource::BROKER if self.name.is_empty() => {
                self.check_broker(ctx, image, Target::AllBrokers)
            }
            ConfigResource::BROKER => match check_node(self.name, ctx.node_id) {
                Ok(()) => self.check_broker(ctx, image, Target::Broker),
                // A controller takes changes for every broker.
                Err(_) if from.listener_kind == ListenerKind::Controller => Ok(()),
                Err(why) => refuse(why),
            },
            ConfigResource::BROKER_LOGGER => {
                refuse("what is logged is chosen at the start, and cannot be changed here")
            }
            other => {
                let why = format!("nothing of resource type {other} is kept here");
                let is_known = other == ConfigResource::CLIENT_METRICS;
                match from.listener_kind {
                    // As a controller of Apache Kafka says it.
                    ListenerKind::Controller if !is_known => {
                        Err((ErrorCode::UnsupportedVersion, why))
                    }
                    ListenerKind::Controller | ListenerKind::Client => refuse(why),
                }
            }
        }
    }

    /// Whether this broker could go on with it. What its metadata holds and it could not take when
    /// it came (it said so in its log) does not stand against it.
    fn check_broker(&self, ctx: &Ctx, image: &Image, target: Target) -> Result<(), Refusal> {
        let resource = ConfigResource::new(ConfigResource::BROKER, self.name);
        let current = image.config(&resource).map(|it| Settings::clone(it)).unwrap_or_default();
        let mut new = if self.is_whole { Settings::new() } else { current.clone() };
        new.retain(|name, value| check_broker(target, name, value).is_ok());
        for edit in &self.edits {
            let Some(operation) = Operation::of(edit.operation) else {
                return refuse(format!("{}: {} is no operation", edit.name, edit.operation));
            };
            let now = current.get(edit.name).map(String::as_str);
            let value = changed(target, edit.name, now, operation, edit.value)
                .map_err(|invalid| (ErrorCode::InvalidConfig, invalid.to_string()))?;
            match value {
                Some(value) => drop(new.insert(edit.name.to_owned(), value)),
                None => drop(new.remove(edit.name)),
            }
        }
        let checked = ctx.config.load().check_dynamic(target, &new);
        checked.or_else(|invalid| refuse(invalid.to_string()))
    }
}
