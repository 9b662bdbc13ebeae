//! Configs, described and altered.

use super::{joined, text};
use crate::client::{Client, Refused, To};
use protocol::error::ErrorCode;
use protocol::messages::describe_configs_request::DescribeConfigsResource;
use protocol::messages::incremental_alter_configs_request::{
    AlterConfigsResource, AlterableConfig,
};
use protocol::messages::{
    DescribeConfigsRequest, DescribeConfigsResponse, IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
};

/// What has configs, by Kafka's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub(crate) enum Kind {
    Topic = 2,
    Broker = 4,
    BrokerLogger = 8,
    ClientMetrics = 16,
    Group = 32,
}

impl Kind {
    pub(crate) const fn code(self) -> i8 {
        self as i8
    }
}

/// One of them by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) kind: Kind,
    pub(crate) name: String,
}

/// Where a value comes from, by Kafka's number.
pub(crate) mod source {
    pub(crate) const TOPIC: i8 = 1;
    pub(crate) const BROKER: i8 = 2;
    pub(crate) const BROKER_DEFAULT: i8 = 3;
    pub(crate) const DEFAULT: i8 = 5;
    pub(crate) const CLIENT_METRICS: i8 = 7;
    pub(crate) const GROUP: i8 = 8;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// None where it is secret, or not set.
    pub(crate) value: Option<String>,
    pub(crate) source: i8,
    pub(crate) is_sensitive: bool,
    pub(crate) synonyms: Vec<Synonym>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Synonym {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    pub(crate) source: i8,
}

/// Whom to ask: what is a broker's own, that broker, which must be there now.
async fn whom(client: &mut Client, resource: &Resource) -> Result<To, Refused> {
    let id = match (resource.kind, resource.name.parse()) {
        (Kind::Broker | Kind::BrokerLogger, Ok(id)) => id,
        _ => return Ok(client.fit(To::Anyone)),
    };
    let nodes = client.nodes().await?;
    if client.is_controllers() || nodes.iter().any(|node| node.id == id) {
        return Ok(client.fit(To::Node(id)));
    }
    let ids = joined(nodes.iter().map(|node| node.id));
    Err(Refused::of(
        ErrorCode::BrokerNotAvailable,
        format!("there is no broker {id} in the cluster now: its brokers are {ids}"),
    ))
}

/// The configs of each of `resources`, which are asked of one broker: all of one that has them to
/// itself, or none such. The entries are in the order of the names.
pub(crate) async fn describe(
    client: &mut Client,
    resources: &[Resource],
    synonyms: bool,
) -> Result<Vec<(String, Vec<Entry>)>, Refused> {
    let Some(first) = resources.first() else { return Ok(Vec::new()) };
    let wanted = resources.iter().map(|it| {
        DescribeConfigsResource::default()
            .with_resource_type(it.kind.code())
            .with_resource_name(text(&it.name))
            .with_configuration_keys(None)
    });
    let request = DescribeConfigsRequest::default()
        .with_resources(wanted.collect())
        .with_include_synonyms(synonyms);
    let judge = |answer: &DescribeConfigsResponse| {
        let mut results = answer.results.iter();
        results.try_for_each(|it| Refused::check(it.error_code, it.error_message.as_deref()))
    };
    let to = whom(client, first).await?;
    let answer = client.ask_until(to, &request, judge).await?;
    let read = |result: protocol::messages::describe_configs_response::DescribeConfigsResult| {
        let mut entries: Vec<Entry> = (result.configs.into_iter())
            .map(|it| Entry {
                name: it.name.to_string(),
                value: it.value.map(|value| value.to_string()),
                source: it.config_source,
                is_sensitive: it.is_sensitive,
                synonyms: (it.synonyms.into_iter())
                    .map(|it| Synonym {
                        name: it.name.to_string(),
                        value: it.value.map(|value| value.to_string()),
                        source: it.source,
                    })
                    .collect(),
            })
            .collect();
        entries.sort_by(|low, high| low.name.cmp(&high.name));
        (result.resource_name.to_string(), entries)
    };
    Ok(answer.results.into_iter().map(read).collect())
}

/// Sets each of `set`, and takes each of `unset` back.
pub(crate) async fn alter(
    client: &mut Client,
    resource: &Resource,
    set: &[(String, String)],
    unset: &[String],
) -> Result<(), Refused> {
    // Kafka's numbers: 0 sets, 1 deletes.
    let op = |name: &str, operation, value: Option<&str>| {
        AlterableConfig::default()
            .with_name(text(name))
            .with_config_operation(operation)
            .with_value(value.map(text))
    };
    let unset = unset.iter().map(|name| op(name, 1, Some("")));
    let set = set.iter().map(|(name, value)| op(name, 0, Some(value)));
    let wanted = AlterConfigsResource::default()
        .with_resource_type(resource.kind.code())
        .with_resource_name(text(&resource.name))
        .with_configs(unset.chain(set).collect());
    let request = IncrementalAlterConfigsRequest::default().with_resources(vec![wanted]);
    let judge = |answer: &IncrementalAlterConfigsResponse| {
        let mut results = answer.responses.iter();
        results.try_for_each(|it| Refused::check(it.error_code, it.error_message.as_deref()))
    };
    let to = whom(client, resource).await?;
    client.ask_until(to, &request, judge).await.map(drop)
}
