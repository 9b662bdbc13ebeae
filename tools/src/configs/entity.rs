//! Whose configs `kafka-configs` is asked for.

use crate::admin::configs::Kind;
use crate::args::Args;
use crate::failure::Failure;

/// The kinds of Apache Kafka, in the order in which its tool tells them; those without a `Kind`
/// have quotas and passwords, which have requests of their own.
const KINDS: [(&str, Option<Kind>); 8] = [
    ("broker-loggers", Some(Kind::BrokerLogger)),
    ("topics", Some(Kind::Topic)),
    ("clients", None),
    ("users", None),
    ("brokers", Some(Kind::Broker)),
    ("ips", None),
    ("client-metrics", Some(Kind::ClientMetrics)),
    ("groups", Some(Kind::Group)),
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

/// An entity, all of a kind, or (with an empty name) what counts for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entity {
    pub(super) kind: Kind,
    pub(super) name: Option<String>,
}

impl Entity {
    pub(super) fn plural(&self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == Some(self.kind)).map_or("", |(name, _)| name)
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
pub(super) fn of(args: &Args) -> Result<Entity, Failure> {
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
    let name = name(args)?;
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
    match KINDS.iter().find(|(it, _)| *it == kind) {
        Some((_, Some(kind))) => Ok(Entity { kind: *kind, name }),
        _ => Err(Failure::Told(format!(
            "{kind}: quotas and SCRAM credentials are nothing that this tool describes or alters \
             yet; Apache Kafka's own does, on a broker that keeps them"
        ))),
    }
}

fn name(args: &Args) -> Result<Option<String>, Failure> {
    for (flag, _) in NAMED {
        if let Some(name) = args.one(flag)? {
            return Ok(Some(name.to_owned()));
        }
    }
    let is_default = args.has("entity-default") || DEFAULTS.iter().any(|(it, _)| args.has(it));
    match args.all("entity-name").first() {
        Some(name) => Ok(Some((*name).to_owned())),
        None if is_default => Ok(Some(String::new())),
        None => Ok(None),
    }
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

    fn read(args: &[&str]) -> Result<Entity, Failure> {
        let args = args.iter().map(OsString::from).collect();
        super::super::COMMAND.parse(args).and_then(|args| of(&args))
    }

    #[test]
    fn an_entity_is_named_in_either_way() {
        let topic = Entity { kind: Kind::Topic, name: Some("one".to_owned()) };
        assert_eq!(read(&["--describe", "--topic", "one"]), Ok(topic.clone()));
        let long = ["--describe", "--entity-type", "topics", "--entity-name", "one"];
        assert_eq!(read(&long), Ok(topic));
        let defaults = Entity { kind: Kind::Broker, name: Some(String::new()) };
        assert_eq!(read(&["--alter", "--broker-defaults"]), Ok(defaults.clone()));
        assert_eq!(
            read(&["--alter", "--entity-type", "brokers", "--entity-default"]),
            Ok(defaults)
        );
        let all = Entity { kind: Kind::Group, name: None };
        assert_eq!(read(&["--describe", "--entity-type", "groups"]), Ok(all.clone()));
        assert_eq!((all.plural(), all.singular()), ("groups", "group"));
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
            (&["--describe", "--user", "u"], "quotas and SCRAM"),
        ] {
            let Err(Failure::Told(said)) = read(args) else { panic!("{args:?} is taken") };
            assert!(said.contains(want), "{args:?}: {said}");
        }
    }
}
