//! Changes of configs, before the controller sees them: this broker refuses what cannot be right, and
//! what it itself could not be told while it runs.
//!
//! Those of brokers take turns. What each may be told stands on what was decided before.

use super::context::{Ctx, ListenerKind, RequestContext};
use super::describe_configs::check_node;
use super::forward;
use super::handler::Handler;
use super::reply::{Close, Handled, Reply};
use crate::config::BrokerConfig;
use kraft::controller::Decide;
use kraft::image::{ConfigResource, Image};
use protocol::config::alter::{Operation, Target, changed, check_broker};
use protocol::config::describe::Settings;
use protocol::error::ErrorCode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A request that changes configs, by the one API or the other.
pub(super) trait Edits: Decide {
    /// What is answered of one resource.
    type Said: Send;

    fn resources(&self) -> Vec<Resource<'_>>;
    /// Leaves out the resources for which `keep` says no; it is asked once for each, in order.
    fn retain(&mut self, keep: impl FnMut() -> bool);
    /// The answer that the resource at that place is refused.
    fn refused(&self, index: usize, refusal: Refusal) -> Option<Self::Said>;
    fn response(said: Vec<Self::Said>) -> Self::Response;
    fn said(response: Self::Response) -> Vec<Self::Said>;
}

/// Has the controller decide on what this broker finds no fault with.
pub(super) fn edit<H: Handler<Request: Edits>>(
    ctx: &Ctx,
    from: &RequestContext,
    request: H::Request,
) -> Handled<H::Request> {
    let (ctx, from) = (ctx.clone(), from.clone());
    let is_brokers = |it: &Resource<'_>| it.kind == ConfigResource::BROKER;
    let takes_turns = request.resources().iter().any(is_brokers);
    Ok(Reply::later(async move {
        if !takes_turns {
            return Ok(judged(&ctx, &from, request).await.into());
        }
        let turn = Arc::clone(&ctx.config_edits).lock_owned().await;
        // A task of its own: whoever hangs up does not have the next one begin too early.
        let in_turn = tokio::spawn(async move {
            let _turn = turn;
            judged(&ctx, &from, request).await
        });
        match in_turn.await {
            Ok(response) => Ok(response.into()),
            Err(_) => Err(Close(ErrorCode::UnknownServerError)),
        }
    }))
}

async fn judged<Q: Edits>(ctx: &Ctx, from: &RequestContext, request: Q) -> Q::Response {
    let checked = check(ctx, from, &request.resources());
    let mut asked = request.clone();
    let mut faultless = checked.iter().map(Result::is_ok);
    asked.retain(|| faultless.next().unwrap_or(false));
    let answered = if checked.iter().any(Result::is_ok) {
        let answer = forward::ask(ctx, asked.clone()).await;
        Q::said(answer.unwrap_or_else(|code| refused(&asked, code)))
    } else {
        Vec::new()
    };
    Q::response(joined(&request, checked, answered))
}

/// The answer that all of a request is refused.
pub(super) fn refused<Q: Edits>(request: &Q, code: ErrorCode) -> Q::Response {
    let refusal = || (code, code.message().to_owned());
    let said = (0..request.resources().len()).filter_map(|at| request.refused(at, refusal()));
    Q::response(said.collect())
}

/// The answers in the order of the request: this broker's refusals, and what the controller said of
/// the others.
fn joined<Q: Edits>(
    request: &Q,
    checked: Vec<Result<(), Refusal>>,
    answered: Vec<Q::Said>,
) -> Vec<Q::Said> {
    let (mut answered, silence) = (answered.into_iter(), ErrorCode::UnknownServerError);
    let silent = || (silence, silence.message().to_owned());
    let each = checked.into_iter().enumerate().filter_map(|(index, checked)| match checked {
        Err(refusal) => request.refused(index, refusal),
        Ok(()) => answered.next().or_else(|| request.refused(index, silent())),
    });
    each.collect()
}

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
fn check(ctx: &Ctx, from: &RequestContext, resources: &[Resource<'_>]) -> Vec<Result<(), Refusal>> {
    let mut counts = BTreeMap::<(i8, &str), usize>::new();
    for resource in resources {
        *counts.entry((resource.kind, resource.name)).or_default() += 1;
    }
    let image = ctx.image();
    // With what the resources before say: together they must do.
    let mut config = ctx.config.load();
    let check = |resource: &Resource<'_>| {
        if counts.get(&(resource.kind, resource.name)).is_some_and(|count| 1 < *count) {
            return refuse("the resource is in the request more than once");
        }
        resource.check_form()?;
        resource.check_for((ctx, from, &image), &mut config)
    };
    resources.iter().map(check).collect()
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

    /// `config`: what this broker would be told before.
    fn check_for(
        &self,
        (ctx, from, image): (&Ctx, &RequestContext, &Image),
        config: &mut Arc<BrokerConfig>,
    ) -> Result<(), Refusal> {
        match self.kind {
            ConfigResource::TOPIC | ConfigResource::GROUP => Ok(()),
            ConfigResource::BROKER if self.name.is_empty() => {
                self.check_broker(image, Target::AllBrokers, config)
            }
            ConfigResource::BROKER => match check_node(self.name, ctx.node_id) {
                Ok(()) => self.check_broker(image, Target::Broker, config),
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
    fn check_broker(
        &self,
        image: &Image,
        target: Target,
        config: &mut Arc<BrokerConfig>,
    ) -> Result<(), Refusal> {
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
        match config.told(target, &new) {
            Ok(told) => *config = Arc::new(told),
            Err(invalid) => return refuse(invalid.to_string()),
        }
        Ok(())
    }
}
