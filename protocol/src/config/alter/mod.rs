//! What AlterConfigs and IncrementalAlterConfigs may change, and into what.

use super::describe::Settings;
use super::group_bounds::check_bounds;
use super::key::{Invalid, Key, Lookup, Scope};
use super::nearest::nearest;
use super::net::NetConfig;
use super::tls::TLS;
use super::topic::TopicConfig;
use super::typed::{Kind, items};
use super::{BROKER, GROUP, TOPIC, find};

/// What is done to one key, as IncrementalAlterConfigs numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Set = 0,
    Delete = 1,
    Append = 2,
    Subtract = 3,
}

impl Operation {
    /// None for a number that means nothing.
    pub const fn of(code: i8) -> Option<Operation> {
        match code {
            0 => Some(Operation::Set),
            1 => Some(Operation::Delete),
            2 => Some(Operation::Append),
            3 => Some(Operation::Subtract),
            _ => None,
        }
    }
}

/// Whose configs are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Topic,
    Group,
    Broker,
    /// The brokers' common settings, which have no name.
    AllBrokers,
}

impl Target {
    fn tables(self) -> &'static [&'static [Key]] {
        match self {
            Target::Topic => TOPIC,
            Target::Group => GROUP,
            Target::Broker | Target::AllBrokers => BROKER,
        }
    }
}

/// What `name` becomes, given what it is now; none where it is unset. Whether the outcome is valid
/// is for the checks below.
pub fn changed(
    target: Target,
    name: &str,
    now: Option<&str>,
    operation: Operation,
    value: Option<&str>,
) -> Result<Option<String>, Invalid> {
    let key = find(target.tables(), name);
    let refuse = |why: &str| {
        let value = value.filter(|_| key.is_some_and(|key| !key.is_sensitive()));
        Err(invalid(name, value.unwrap_or("[hidden]"), why))
    };
    let edits_list = match operation {
        Operation::Delete => return Ok(None),
        Operation::Set => false,
        Operation::Append | Operation::Subtract => true,
    };
    let Some(value) = value else { return refuse("needs a value, which must not be null") };
    if !edits_list {
        return Ok(Some(value.to_owned()));
    }
    let Some(key) = key.filter(|key| key.kind == Kind::List) else {
        return refuse(
            "is not a list: it can be set or deleted, not appended to or subtracted from",
        );
    };
    let mut list: Vec<&str> = items(now.or(key.default).unwrap_or("")).collect();
    for item in items(value) {
        if operation == Operation::Subtract {
            list.retain(|it| *it != item);
        } else if !list.contains(&item) {
            list.push(item);
        }
    }
    Ok(Some(list.join(",")))
}

/// Whether a topic may have these overrides on a broker with that configuration.
pub fn check_topic(overrides: &Settings, broker: Lookup<'_, '_>) -> Result<TopicConfig, Invalid> {
    check_each(Target::Topic, overrides)?;
    let own = |name: &str| overrides.get(name).map(String::as_str);
    let config = TopicConfig::of(&own, broker)?;
    config.check()?;
    Ok(config)
}

/// Whether a group may have these overrides on a broker with that configuration.
pub fn check_group(overrides: &Settings, broker: Lookup<'_, '_>) -> Result<(), Invalid> {
    check_each(Target::Group, overrides)?;
    check_bounds(overrides, broker)
}

fn check_each(target: Target, overrides: &Settings) -> Result<(), Invalid> {
    for (name, value) in overrides {
        let Some(key) = find(target.tables(), name) else {
            let meant = meant(target, name).map(|it| format!(" ({it}?)")).unwrap_or_default();
            return Err(invalid(name, value, &format!("no such key{meant}")));
        };
        key.check(value)?;
    }
    Ok(())
}

/// The key that was probably meant: what a broker's key is called here, or the nearest.
fn meant(target: Target, name: &str) -> Option<&'static str> {
    let keys = || target.tables().iter().copied().flatten().filter(|key| !key.internal);
    let is_broker_s = |key: &&Key| key.synonyms.iter().any(|(broker_s, _)| *broker_s == name);
    let of_broker = keys().find(is_broker_s).map(|key| key.name);
    of_broker.or_else(|| nearest(name, keys().map(|key| key.name)))
}

/// Whether a running broker, or all of them, may be told this. A name that no table has is kept
/// for whoever reads it. Kafka answers a refusal with INVALID_REQUEST, and that of a topic or group
/// with INVALID_CONFIG.
pub fn check_broker(target: Target, name: &str, value: &str) -> Result<(), Invalid> {
    let Some(key) = find(BROKER, name) else { return Ok(()) };
    let stands_in = |table: &[Key]| table.iter().any(|it| it.name == name);
    match key.scope {
        Scope::ReadOnly => Err(key.invalid(value, "cannot change while the broker runs")),
        Scope::PerBroker if target == Target::AllBrokers => {
            Err(key.invalid(value, "can be set for one broker, not for all of them"))
        }
        Scope::PerBroker if stands_in(&TLS) => {
            Err(key
                .invalid(value, "changes by listener: put `listener.name.<listener>.` before it"))
        }
        Scope::PerBroker if is_bound_at_start(name) => {
            Err(key.invalid(value, "cannot change while the broker runs; set it in its file"))
        }
        Scope::PerBroker | Scope::ClusterWide | Scope::DynamicOnly => key.check(value),
    }
}

/// Whether a running broker would have to open and close doors for it.
fn is_bound_at_start(name: &str) -> bool {
    let keys = [NetConfig::listeners(), NetConfig::listener_security_protocol_map()];
    keys.iter().any(|key| key.name == name)
}

fn invalid(name: &str, value: &str, why: &str) -> Invalid {
    Invalid { key: name.to_owned(), value: value.to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests;
