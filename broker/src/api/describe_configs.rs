//! DescribeConfigs (key 32): what topics, groups and this broker are told, and by whom.

use super::context::{Ctx, RequestContext};
use super::handler::Handler;
use super::reply::{Handled, Reply};
use crate::config::BrokerConfig;
use kraft::controller::check_topic_name;
use kraft::image::{ConfigResource, Image, Overrides};
use protocol::config::describe::{Entry, Synonym};
use protocol::error::ErrorCode;
use protocol::messages::describe_configs_request::DescribeConfigsResource;
use protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use protocol::messages::{DescribeConfigsRequest, DescribeConfigsResponse, StrBytes, Versions};
use std::sync::Arc;
use tracing::level_filters::LevelFilter;

/// Where a logger's level comes from, in Kafka's number.
const BROKER_LOGGER_SOURCE: i8 = 6;

pub(super) struct DescribeConfigs;

impl Handler for DescribeConfigs {
    type Request = DescribeConfigsRequest;
    const VERSIONS: Versions = Versions { min: 1, max: 4 };

    fn handle(
        ctx: &Ctx,
        _from: &RequestContext,
        request: DescribeConfigsRequest,
        _version: i16,
    ) -> Handled<DescribeConfigsRequest> {
        let (image, config) = (ctx.image(), ctx.config.load());
        let describing = Describing {
            image: &image,
            config: &config,
            node_id: ctx.node_id,
            with_synonyms: request.include_synonyms,
            with_docs: request.include_documentation,
        };
        let results = request.resources.iter().map(|resource| describing.resource(resource));
        Ok(Reply::Now(DescribeConfigsResponse::default().with_results(results.collect()).into()))
    }

    fn refuse(request: &DescribeConfigsRequest, code: ErrorCode) -> DescribeConfigsResponse {
        let results = request.resources.iter();
        let results = results.map(|it| result(it).with_error_code(code.code()));
        DescribeConfigsResponse::default().with_results(results.collect())
    }
}

fn result(resource: &DescribeConfigsResource) -> DescribeConfigsResult {
    DescribeConfigsResult::default()
        .with_resource_type(resource.resource_type)
        .with_resource_name(resource.resource_name.clone())
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// What a request wants to know, and from where.
struct Describing<'a> {
    image: &'a Image,
    config: &'a BrokerConfig,
    node_id: i32,
    with_synonyms: bool,
    with_docs: bool,
}

impl Describing<'_> {
    fn resource(&self, resource: &DescribeConfigsResource) -> DescribeConfigsResult {
        let result = result(resource);
        match self.lines(resource) {
            Ok(mut lines) => {
                let keys = resource.configuration_keys.as_ref().filter(|keys| !keys.is_empty());
                lines.retain(|line| keys.is_none_or(|keys| keys.contains(&line.name)));
                result.with_configs(lines)
            }
            // As in Apache Kafka, this one has no text.
            Err((code @ ErrorCode::UnknownTopicOrPartition, _)) => {
                result.with_error_code(code.code())
            }
            Err((code, why)) => {
                result.with_error_code(code.code()).with_error_message(Some(text(&why)))
            }
        }
    }

    fn lines(
        &self,
        resource: &DescribeConfigsResource,
    ) -> Result<Vec<DescribeConfigsResourceResult>, (ErrorCode, String)> {
        let name = resource.resource_name.as_str();
        let refusal = |why: String| (ErrorCode::InvalidRequest, why);
        let entries = match resource.resource_type {
            ConfigResource::TOPIC => {
                check_topic_name(name).map_err(|why| (ErrorCode::InvalidTopicException, why))?;
                if self.image.topic(name).is_none() {
                    return Err((ErrorCode::UnknownTopicOrPartition, String::new()));
                }
                self.config.describe_topic(&self.overrides(ConfigResource::topic(name)))
            }
            ConfigResource::BROKER if name.is_empty() => self.config.describe_default(),
            ConfigResource::BROKER => {
                check_node(name, self.node_id).map_err(refusal)?;
                self.config.describe()
            }
            ConfigResource::BROKER_LOGGER if name.is_empty() => {
                return Err(refusal("a logger belongs to a broker: name one".to_owned()));
            }
            ConfigResource::BROKER_LOGGER => {
                check_node(name, self.node_id).map_err(refusal)?;
                return Ok(vec![root_logger()]);
            }
            ConfigResource::GROUP if name.is_empty() => {
                return Err(refusal("groups have no common overrides: name one".to_owned()));
            }
            ConfigResource::GROUP => {
                self.config.describe_group(&self.overrides(ConfigResource::group(name)))
            }
            other => {
                return Err(refusal(format!("nothing of resource type {other} is kept here")));
            }
        };
        Ok(entries.iter().map(|entry| self.line(entry)).collect())
    }

    fn overrides(&self, resource: ConfigResource) -> Arc<Overrides> {
        self.image.config(&resource).cloned().unwrap_or_default()
    }

    fn line(&self, entry: &Entry) -> DescribeConfigsResourceResult {
        let synonym = |synonym: &Synonym| {
            DescribeConfigsSynonym::default()
                .with_name(text(&synonym.name))
                .with_value(synonym.value.as_deref().map(text))
                .with_source(synonym.source.code())
        };
        let synonyms = entry.synonyms.iter().filter(|_| self.with_synonyms).map(synonym);
        let doc = self.with_docs.then_some(entry.doc).filter(|_| entry.kind.is_some());
        DescribeConfigsResourceResult::default()
            .with_name(text(&entry.name))
            .with_value(entry.value.as_deref().map(text))
            .with_read_only(entry.read_only)
            .with_config_source(entry.source.code())
            .with_is_sensitive(entry.is_sensitive)
            .with_synonyms(synonyms.collect())
            .with_config_type(entry.kind.map_or(0, |kind| kind as i8))
            .with_documentation(doc.map(StrBytes::from_static_str))
    }
}

/// Whether a resource's name is the id of this node.
pub(super) fn check_node(name: &str, node_id: i32) -> Result<(), String> {
    match name.parse::<i32>() {
        Ok(id) if id == node_id => Ok(()),
        Ok(id) => Err(format!("this is broker {node_id}, and only broker {id} itself can say")),
        Err(_) => Err(format!("{name:?} is no broker's id")),
    }
}

/// The one logger there is, with the level that is written.
fn root_logger() -> DescribeConfigsResourceResult {
    let level = LevelFilter::current().into_level();
    DescribeConfigsResourceResult::default()
        .with_name(StrBytes::from_static_str("root"))
        .with_value(Some(level.map_or("OFF", |level| level.as_str()).into()))
        .with_config_source(BROKER_LOGGER_SOURCE)
        .with_read_only(true)
}
