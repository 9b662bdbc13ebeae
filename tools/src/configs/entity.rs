//! Whose configs `kafka-configs` is asked for.

use super::party::{Limited, Party};
use crate::admin::configs::Kind;
use crate::args::Args;
use crate::failure::Failure;

/// What an entity of a kind has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Has {
    Configs(Kind),
    Quotas(Limited),
}

/// The kinds of Apache Kafka, in the order in which its tool tells them.
const KINDS: [(&str, Has); 8] = [
    ("broker-loggers", Has::Configs(Kind::BrokerLogger)),
    ("topics", Has::Configs(Kind::Topic)),
    ("clients", Has::Quotas(Limited::Client)),
    ("users", Has::Quotas(Limited::User)),
    ("brokers", Has::Configs(Kind::Broker)),
    ("ips", Has::Quotas(Limited::Ip)),
    ("client-metrics", Has::Configs(Kind::ClientMetrics)),
    ("groups", Has::Configs(Kind::Group)),
];

/// Flags that name kind and entity at once.
const NAMED: [(&str, &str); 8] = [
    ("topic", "topics"),
    ("client", "clients"),
    ("user", "users"),
    ("broker", "brokers"),
    ("broker-logger", "broker-loggers"),
    ("ip", "ips"),
    ("client-metrics", "client-metrics"),
    ("group", "groups"),
];

const DEFAULTS: [(&str, &str); 4] = [
    ("client-defaults", "clients"),
    ("user-defaults", "users"),
    ("broker-defaults", "brokers"),
    ("ip-defaults", "ips"),
];

/// Whose configs or quotas are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Configs(Entity),
    /// One party, or a user with a client.
    Quotas(Vec<Party>),
}

/// An entity, all of a kind, or (with an empty name) what counts for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entity {
    pub(super) kind: Kind,
    pub(super) name: Option<String>,
}

impl Entity {
    pub(super) fn plural(&self) -> &'static str {
        let is_this = |has: &Has| *has == Has::Configs(self.kind);
        KINDS.iter().find(|(_, has)| is_this(has)).map_or("", |(name, _)| name)
    }

    /// As Kafka's tool makes it: without the last letter.
    pub(super) fn singular(&self) -> &'static str {
        let plural = self.plural();
        plural.strip_suffix('s').unwrap_or(plural)
    }
}

/// Reads what the arguments name.
///
/// # Errors
/// It is nothing that has configs, or named in two ways.
pub(super) fn of(args: &Args) -> Result<Asked, Failure> {
    let by_flag = NAMED.iter().chain(&DEFAULTS).filter(|(flag, _)| args.has(flag));
    let mut kinds = args.all("entity-type");
    kinds.extend(by_flag.clone().map(|(_, kind)| *kind));
    check_kinds(&kinds)?;
    let old = ["entity-type", "entity-name", "entity-default"].iter().any(|it| args.has(it));
    if old && by_flag.clone().next().is_some() {
        return Err(Failure::told(
            "--entity-{type,name,default} should not be used in conjunction with specific entity \
             flags",
        ));
    }
    let names = names(args)?;
    let name = names.first().cloned();
    let kind = kinds.first().copied().unwrap_or_default();
    let named = name.as_deref().filter(|name| !name.is_empty());
    if let ("brokers" | "broker-loggers", Some(id)) = (kind, named)
        && id.parse::<i32>().is_err()
    {
        return Err(Failure::Told(format!(
            "The entity name for {kind} must be a valid integer broker id, but it is: {id}"
        )));
    }
    let may_be_default = matches!(kind, "brokers" | "users" | "clients" | "ips");
    if args.has("describe") {
        if !may_be_default && args.has("entity-default") {
            return Err(Failure::Told(format!(
                "--entity-default must not be specified with --describe of {kind}"
            )));
        }
        if kind == "broker-loggers" && named.is_none() {
            return Err(Failure::Told(format!(
                "An entity name must be specified with --describe of {kind}"
            )));
        }
    } else if may_be_default && name.is_none() {
        return Err(Failure::told(
            "An entity-name or default entity must be specified with --alter of users, clients, \
             brokers or ips",
        ));
    } else if !may_be_default && named.is_none() {
        return Err(Failure::Told(format!(
            "An entity name must be specified with --alter of {kind}"
        )));
    }
    check_count(args, &kinds, &names)?;
    let has = |kind: &str| KINDS.iter().find(|(it, _)| *it == kind).map(|(_, has)| *has);
    if let Some(Has::Configs(kind)) = has(kind) {
        return Ok(Asked::Configs(Entity { kind, name }));
    }
    let parties = kinds.iter().enumerate().filter_map(|(at, kind)| match has(kind)? {
        Has::Quotas(kind) => Some(Party { kind, name: names.get(at).cloned() }),
        Has::Configs(_) => None,
    });
    Ok(Asked::Quotas(parties.collect()))
}

/// Names as they stand, one for each kind; an empty one for what counts for all.
fn names(args: &Args) -> Result<Vec<String>, Failure> {
    let named = args.in_order(&["entity-name", "entity-default"]);
    let mut names: Vec<String> =
        named.into_iter().map(|name| name.unwrap_or_default().to_owned()).collect();
    for (flag, _) in NAMED {
        names.extend(args.one(flag)?.map(str::to_owned));
    }
    names.extend(DEFAULTS.iter().filter(|(flag, _)| args.has(flag)).map(|_| String::new()));
    Ok(names)
}

/// Nobody knows which of several names is meant.
fn check_count(args: &Args, kinds: &[&str], names: &[String]) -> Result<(), Failure> {
    if names.len() <= kinds.len() {
        return Ok(());
    }
    let has_quotas = kinds.iter().any(|kind| matches!(*kind, "users" | "clients" | "ips"));
    Err(Failure::told(match (args.has("alter"), has_quotas) {
        (true, true) => "Exactly one entity name must be specified for every entity type",
        (true, false) => "An entity name must be specified for every entity type",
        (false, true) => "More entity names specified than entity types",
        (false, false) => return Ok(()),
    }))
}

fn check_kinds(kinds: &[&str]) -> Result<(), Failure> {
    let twice =
        (1..kinds.len()).find(|at| kinds.iter().take(*at).any(|it| Some(it) == kinds.get(*at)));
    if let Some(twice) = twice.and_then(|at| kinds.get(at)) {
        return Err(Failure::Told(format!("Duplicate entity type(s) specified: {twice}")));
    }
    if let Some(kind) = kinds.iter().find(|kind| KINDS.iter().all(|(it, _)| it != *kind)) {
        let known = KINDS.map(|(name, _)| name).join(", ");
        return Err(Failure::Told(format!(
            "Invalid entity type {kind}, the entity type must be one of {known} with a \
             --bootstrap-server or --bootstrap-controller argument"
        )));
    }
    match kinds {
        [] => Err(Failure::told("At least one entity type must be specified")),
        [_] | ["users", "clients"] | ["clients", "users"] => Ok(()),
        _ => {
            Err(Failure::told("Only 'users' and 'clients' entity types may be specified together"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn read(args: &[&str]) -> Result<Asked, Failure> {
        let args = args.iter().map(OsString::from).collect();
        super::super::COMMAND.parse(args).and_then(|args| of(&args))
    }

    fn configs(kind: Kind, name: Option<&str>) -> Result<Asked, Failure> {
        Ok(Asked::Configs(Entity { kind, name: name.map(str::to_owned) }))
    }

    #[test]
    fn an_entity_is_named_in_either_way() {
        let topic = configs(Kind::Topic, Some("one"));
        assert_eq!(read(&["--describe", "--topic", "one"]), topic);
        let long = ["--describe", "--entity-type", "topics", "--entity-name", "one"];
        assert_eq!(read(&long), topic);
        let defaults = configs(Kind::Broker, Some(""));
        assert_eq!(read(&["--alter", "--broker-defaults"]), defaults);
        assert_eq!(read(&["--alter", "--entity-type", "brokers", "--entity-default"]), defaults);
        let all = read(&["--describe", "--entity-type", "groups"]);
        assert_eq!(all, configs(Kind::Group, None));
        let Ok(Asked::Configs(all)) = all else { panic!("no configs") };
        assert_eq!((all.plural(), all.singular()), ("groups", "group"));
    }

    #[test]
    fn a_user_may_stand_with_a_client() {
        let party = |kind, name: Option<&str>| Party { kind, name: name.map(str::to_owned) };
        let check = |args: &[&str], want: &[Party]| {
            assert_eq!(read(args), Ok(Asked::Quotas(want.to_vec())), "{args:?}");
        };
        check(&["--describe", "--user", "u"], &[party(Limited::User, Some("u"))]);
        let both = [party(Limited::Client, Some("c")), party(Limited::User, Some("u"))];
        check(&["--describe", "--user", "u", "--client", "c"], &both);
        let users = ["--describe", "--entity-type", "users"];
        check(&users, &[party(Limited::User, None)]);
        let clients = ["--entity-type", "clients", "--entity-default", "--entity-name", "c"];
        let both = [party(Limited::User, Some("")), party(Limited::Client, Some("c"))];
        check(&[&users[..], &clients].concat(), &both);
    }

    #[test]
    fn what_is_nobody_is_told() {
        for (args, want) in [
            (["--describe"].as_slice(), "At least one entity type"),
            (&["--describe", "--entity-type", "nope"], "Invalid entity type nope"),
            (&["--describe", "--topic", "a", "--entity-type", "topics"], "Duplicate entity type"),
            (&["--describe", "--topic", "a", "--entity-name", "b"], "should not be used"),
            (&["--describe", "--topic", "a", "--group", "b"], "may be specified together"),
            (&["--describe", "--broker", "x"], "must be a valid integer broker id"),
            (&["--describe", "--entity-type", "broker-loggers"], "An entity name must be"),
            (&["--describe", "--entity-type", "topics", "--entity-default"], "must not be"),
            (&["--alter", "--entity-type", "topics"], "An entity name must be"),
            (&["--alter", "--entity-type", "brokers"], "An entity-name or default entity"),
            (&["--alter", "--entity-type", "users"], "An entity-name or default entity"),
        ] {
            let Err(Failure::Told(said)) = read(args) else { panic!("{args:?} is taken") };
            assert!(said.contains(want), "{args:?}: {said}");
        }
    }
}
