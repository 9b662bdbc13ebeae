//! `kafka-configs --describe`.

use super::entity::Entity;
use super::refusal::refusal;
use crate::admin::configs::{self, Entry, Kind, Resource, source};
use crate::admin::{groups, topics};
use crate::client::{Client, Refused, To};
use crate::failure::Failure;
use crate::output::Output;
use protocol::error::ErrorCode;
use protocol::messages::{ListConfigResourcesRequest, ListConfigResourcesResponse};
use std::collections::BTreeSet;

pub(super) async fn describe(
    entity: &Entity,
    all: bool,
    client: &mut Client,
    output: &mut Output,
) -> Result<(), Failure> {
    let names = match &entity.name {
        // What is asked for whole need not have been set.
        Some(name) if all || name.is_empty() => vec![name.clone()],
        Some(name) if !known(entity.kind, client).await.map_err(refusal)?.contains(name) => {
            return output.line(format!(
                "The {} '{name}' doesn't exist and doesn't have dynamic config.",
                entity.singular()
            ));
        }
        Some(name) => vec![name.clone()],
        None => {
            let mut names = known(entity.kind, client).await.map_err(refusal)?;
            if entity.kind == Kind::Broker {
                names.push(String::new());
            }
            names
        }
    };
    for name in names {
        let resource = Resource { kind: entity.kind, name };
        if resource.name.is_empty() {
            output.line(format!("Default configs for {} in the cluster are:", entity.plural()))?;
        } else {
            let which = if all { "All" } else { "Dynamic" };
            let singular = entity.singular();
            output.line(format!("{which} configs for {singular} {} are:", resource.name))?;
        }
        let found = configs::describe(client, std::slice::from_ref(&resource), true).await;
        let found = found.map_err(refusal)?;
        let own = own_source(&resource);
        for entry in found.iter().flat_map(|(_, entries)| entries) {
            if all || own.is_none_or(|own| own == entry.source) {
                output.line(line(entry))?;
            }
        }
    }
    Ok(())
}

/// Where what was set for the entity itself comes from; None where all of it was.
fn own_source(resource: &Resource) -> Option<i8> {
    match resource.kind {
        Kind::Topic => Some(source::TOPIC),
        Kind::Broker if resource.name.is_empty() => Some(source::BROKER_DEFAULT),
        Kind::Broker => Some(source::BROKER),
        Kind::BrokerLogger => None,
        Kind::ClientMetrics => Some(source::CLIENT_METRICS),
        Kind::Group => Some(source::GROUP),
    }
}

/// Every entity of a kind that has, or could have, configs.
async fn known(kind: Kind, client: &mut Client) -> Result<Vec<String>, Refused> {
    match kind {
        Kind::Topic => Ok(topics::list(client).await?.into_iter().map(|it| it.name).collect()),
        Kind::Broker | Kind::BrokerLogger => {
            Ok(client.nodes().await?.into_iter().map(|node| node.id.to_string()).collect())
        }
        Kind::ClientMetrics => resources(kind, client).await,
        Kind::Group => {
            let listed = groups::list(client, &groups::Filter::default()).await?;
            let mut names: BTreeSet<String> = listed.into_iter().map(|group| group.id).collect();
            match resources(kind, client).await {
                Ok(more) => names.extend(more),
                // An older broker does not list them, or not to us.
                Err(refused)
                    if [ErrorCode::UnsupportedVersion, ErrorCode::ClusterAuthorizationFailed]
                        .contains(&refused.code) => {}
                Err(refused) => return Err(refused),
            }
            Ok(names.into_iter().collect())
        }
    }
}

/// What has configs of its own without being anything else.
async fn resources(kind: Kind, client: &mut Client) -> Result<Vec<String>, Refused> {
    // Version 0 has client metrics only, and no field for the kind.
    let kinds = if kind == Kind::ClientMetrics { Vec::new() } else { vec![kind.code()] };
    let request = ListConfigResourcesRequest::default().with_resource_types(kinds);
    let judge = |it: &ListConfigResourcesResponse| Refused::check(it.error_code, None);
    let answer = client.ask_until(To::Anyone, &request, judge).await?;
    let of_kind = answer.config_resources.into_iter().filter(|it| it.resource_type == kind.code());
    Ok(of_kind.map(|it| it.resource_name.to_string()).collect())
}

fn line(entry: &Entry) -> String {
    // Java prints what is not there so.
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "null".to_owned());
    let synonyms = entry
        .synonyms
        .iter()
        .map(|it| format!("{}:{}={}", source_name(it.source), it.name, text(&it.value)));
    format!(
        "  {}={} sensitive={} synonyms={{{}}}",
        entry.name,
        text(&entry.value),
        entry.is_sensitive,
        synonyms.collect::<Vec<_>>().join(", ")
    )
}

fn source_name(source: i8) -> &'static str {
    const NAMES: [&str; 8] = [
        "DYNAMIC_TOPIC_CONFIG",
        "DYNAMIC_BROKER_CONFIG",
        "DYNAMIC_DEFAULT_BROKER_CONFIG",
        "STATIC_BROKER_CONFIG",
        "DEFAULT_CONFIG",
        "DYNAMIC_BROKER_LOGGER_CONFIG",
        "DYNAMIC_CLIENT_METRICS_CONFIG",
        "DYNAMIC_GROUP_CONFIG",
    ];
    let at = usize::try_from(source).ok().and_then(|it| it.checked_sub(1));
    at.and_then(|at| NAMES.get(at)).copied().unwrap_or("UNKNOWN")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::configs::Synonym;

    #[test]
    fn an_entry_is_a_line_that_scripts_know() {
        let synonym = |name: &str, value: Option<&str>, source| Synonym {
            name: name.to_owned(),
            value: value.map(str::to_owned),
            source,
        };
        let entry = Entry {
            name: "retention.ms".to_owned(),
            value: Some("5".to_owned()),
            source: source::TOPIC,
            is_sensitive: false,
            synonyms: vec![
                synonym("retention.ms", Some("5"), 1),
                synonym("log.retention.ms", None, 5),
            ],
        };
        assert_eq!(
            line(&entry),
            "  retention.ms=5 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=5, \
             DEFAULT_CONFIG:log.retention.ms=null}"
        );
        assert_eq!(source_name(0), "UNKNOWN");
    }
}
