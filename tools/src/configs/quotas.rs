//! Quotas of users, clients and addresses, which have requests of their own.

use super::change::{Change, tell_done};
use super::party::{ALL, Limited, Party};
use super::refusal::refusal;
use super::scram;
use crate::admin::text;
use crate::client::{Client, Refused, To};
use crate::failure::Failure;
use crate::json::java_double;
use crate::output::Output;
use kraft::env::Env;
use protocol::messages::alter_client_quotas_request::{EntityData, EntryData, OpData};
use protocol::messages::describe_client_quotas_request::ComponentData;
use protocol::messages::describe_client_quotas_response as told;
use protocol::messages::{
    AlterClientQuotasRequest, AlterClientQuotasResponse, DescribeClientQuotasRequest,
    DescribeClientQuotasResponse, StrBytes,
};
use std::net::IpAddr;

/// Kafka's numbers for which entities are meant.
const EXACT: i8 = 0;
const DEFAULT: i8 = 1;
const ANY: i8 = 2;

pub(super) async fn describe(
    parties: &[Party],
    client: &mut Client,
    env: &Env,
    output: &mut Output,
) -> Result<(), Failure> {
    check_addresses(parties, env).await?;
    let mut lines: Vec<String> =
        list(parties, client).await.map_err(refusal)?.iter().map(line).collect();
    lines.sort();
    lines.iter().try_for_each(|line| output.line(line))?;
    match parties {
        // Who counts for all cannot log in.
        [Party { kind: Limited::User, name }] if name.as_deref() != Some("") => {
            scram::describe(name.as_deref(), client, output).await
        }
        _ => Ok(()),
    }
}

pub(super) async fn alter(
    parties: &[Party],
    change: &Change,
    client: &mut Client,
    env: &Env,
    output: &mut Output,
) -> Result<(), Failure> {
    let Some(first) = parties.first() else { return Ok(()) };
    if parties.iter().any(|party| party.name.is_none()) {
        return Err(Failure::told(
            "Exactly one entity name must be specified for every entity type",
        ));
    }
    check_addresses(parties, env).await?;
    check_names(parties, change)?;
    let user = first.name.clone().unwrap_or_default();
    if change.names().any(scram::is_mechanism) {
        scram::alter(&user, change, client, env).await?;
    } else {
        alter_quotas(parties, change, client).await?;
    }
    tell_done(first.kind.singular(), &user, output)
}

/// An address must be one, or a name of one.
async fn check_addresses(parties: &[Party], env: &Env) -> Result<(), Failure> {
    let ips = parties.iter().filter(|party| party.kind == Limited::Ip);
    for name in ips.filter_map(|party| party.name.as_deref()).filter(|name| !name.is_empty()) {
        if name.parse::<IpAddr>().is_err() && env.net.resolve(name).await.is_err() {
            return Err(Failure::told(format_args!(
                "The entity name for ips must be a valid IP or resolvable host, but it is: {name}"
            )));
        }
    }
    Ok(())
}

/// What is no quota of theirs; a user alone may also have passwords, but not in the same call.
fn check_names(parties: &[Party], change: &Change) -> Result<(), Failure> {
    let (kind, what) = match parties {
        [Party { kind: Limited::User, .. }] => (Limited::User, "quota and SCRAM credential"),
        [Party { kind: Limited::Ip, .. }] => (Limited::Ip, "connection quota"),
        _ => (Limited::Client, "quota"),
    };
    let has_passwords = kind == Limited::User;
    let is_known =
        |name: &str| kind.quotas().contains(&name) || has_passwords && scram::is_mechanism(name);
    let set = change.set.iter().map(|(name, _)| name.as_str());
    let unset = change.unset.iter().map(String::as_str);
    for (done, names) in
        [("added", set.collect::<Vec<_>>()), ("deleted", unset.collect::<Vec<_>>())]
    {
        let strange: Vec<&str> = names.into_iter().filter(|name| !is_known(name)).collect();
        if !strange.is_empty() {
            return Err(Failure::told(format_args!(
                "Only {what} configs can be {done} for '{}s' using --bootstrap-server. Unexpected \
                 config names: {}",
                kind.singular(),
                strange.join(",")
            )));
        }
    }
    if change.names().any(scram::is_mechanism) {
        if !change.names().all(scram::is_mechanism) {
            return Err(Failure::told(
                "Cannot alter both quota and SCRAM credential configs simultaneously for 'users' \
                 using --bootstrap-server.",
            ));
        }
        if parties.iter().any(|party| party.name.as_deref() == Some("")) {
            return Err(Failure::told(
                "The use of --entity-default or --user-defaults is not allowed with User SCRAM \
                 Credentials using --bootstrap-server.",
            ));
        }
    }
    Ok(())
}

/// The quotas of just these parties.
async fn list(parties: &[Party], client: &mut Client) -> Result<Vec<told::EntryData>, Refused> {
    let components = parties.iter().map(|party| {
        let (kind, name) = match party.name.as_deref() {
            None => (ANY, None),
            Some("") => (DEFAULT, None),
            Some(name) => (EXACT, Some(text(name))),
        };
        let component = ComponentData::default().with_entity_type(text(party.kind.wire()));
        component.with_match_type(kind).with_match(name)
    });
    let request = DescribeClientQuotasRequest::default()
        .with_components(components.collect())
        .with_strict(true);
    let judge = |answer: &DescribeClientQuotasResponse| {
        Refused::check(answer.error_code, answer.error_message.as_deref())
    };
    let to = client.fit(To::Anyone);
    Ok(client.ask_until(to, &request, judge).await?.entries.unwrap_or_default())
}

fn line(entry: &told::EntryData) -> String {
    let whom = ALL.iter().filter_map(|kind| {
        let entity = entry.entity.iter().find(|it| it.entity_type.as_str() == kind.wire())?;
        Some(match &entity.entity_name {
            None => format!("the default {}", kind.title()),
            Some(name) => format!("{} '{}'", kind.title(), name.as_str()),
        })
    });
    let whom = whom.collect::<Vec<_>>().join(", ");
    let mut quotas: Vec<String> = (entry.values.iter())
        .map(|it| format!("{}={}", it.key.as_str(), java_double(it.value)))
        .collect();
    quotas.sort();
    format!("Quota configs for {whom} are {}", quotas.join(", "))
}

async fn alter_quotas(
    parties: &[Party],
    change: &Change,
    client: &mut Client,
) -> Result<(), Failure> {
    let known = list(parties, client).await.map_err(refusal)?;
    let has =
        |name: &String| known.iter().flat_map(|it| &it.values).any(|it| it.key.as_str() == name);
    let absent: Vec<&str> =
        change.unset.iter().filter(|name| !has(name)).map(String::as_str).collect();
    if !absent.is_empty() {
        return Err(Failure::told(format_args!("Invalid config(s): {}", absent.join(","))));
    }
    let mut ops = Vec::new();
    for (name, value) in &change.set {
        let number: f64 = value.parse().map_err(|_| {
            Failure::told(format_args!(
                "Cannot parse quota configuration value for {name}: {value}"
            ))
        })?;
        ops.push(OpData::default().with_key(text(name)).with_value(number));
    }
    let unset = change.unset.iter();
    ops.extend(unset.map(|name| OpData::default().with_key(text(name)).with_remove(true)));
    let entity = parties.iter().map(|party| {
        let name: Option<StrBytes> =
            party.name.as_deref().filter(|name| !name.is_empty()).map(text);
        EntityData::default().with_entity_type(text(party.kind.wire())).with_entity_name(name)
    });
    let entry = EntryData::default().with_entity(entity.collect()).with_ops(ops);
    let request = AlterClientQuotasRequest::default().with_entries(vec![entry]);
    let judge = |answer: &AlterClientQuotasResponse| {
        let mut entries = answer.entries.iter();
        entries.try_for_each(|it| Refused::check(it.error_code, it.error_message.as_deref()))
    };
    let to = client.fit(To::Anyone);
    client.ask_until(to, &request, judge).await.map(drop).map_err(refusal)
}
