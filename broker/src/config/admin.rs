//! Where the admin port is, who may call it, and what it shows.

use super::listeners::Endpoint;
use super::snapshot::BrokerConfig;
use protocol::config::own::OwnConfig;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminConfig {
    /// None: there is none.
    pub listener: Option<Endpoint>,
    /// The operator names the address, and so a broker that cannot have it does not start.
    pub is_asked_for: bool,
    /// In small letters: names under which it may be called, besides those that nobody can make
    /// point here from outside.
    pub hosts: BTreeSet<String>,
    /// `*` is among those.
    pub any_host: bool,
    pub reads_messages: bool,
}

impl AdminConfig {
    pub fn of(config: &BrokerConfig) -> AdminConfig {
        let own = &config.values.own;
        let listener = Endpoint::parse(own.admin_listener.trim());
        let is_loopback = listener.as_ref().is_some_and(|at| is_loopback(&at.host));
        let listeners = config.listeners.all.iter();
        let ours = listeners.flat_map(|it| [Some(&it.bind), it.advertised.as_ref()]).flatten();
        let names = own.admin_hosts.iter().chain(ours.map(|at| &at.host));
        AdminConfig {
            is_asked_for: config.layers().fixed.contains_key(OwnConfig::admin_listener().name),
            hosts: names.map(|name| name.to_ascii_lowercase()).collect(),
            any_host: own.admin_hosts.iter().any(|name| name == "*"),
            reads_messages: own.admin_read_messages.unwrap_or(is_loopback),
            listener,
        }
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Given;

    fn admin(overrides: &[&str]) -> AdminConfig {
        let mut given = Given::standalone();
        for text in overrides {
            given = given.with_override(text).unwrap();
        }
        AdminConfig::of(&BrokerConfig::of(given, "machine").unwrap())
    }

    #[test]
    fn nobody_asks_for_the_default_and_it_reads_messages() {
        let admin = admin(&[]);
        assert_eq!(admin.listener.map(|at| at.to_string()).as_deref(), Some("localhost:9644"));
        assert!(!admin.is_asked_for && admin.reads_messages && !admin.any_host);
    }

    #[test]
    fn an_empty_one_is_none() {
        assert_eq!(admin(&["highwater.admin.listener="]).listener, None);
    }

    #[test]
    fn messages_are_read_beyond_loopback_only_when_that_is_said() {
        let everywhere = "highwater.admin.listener=:9644";
        assert!(admin(&[everywhere]).is_asked_for);
        for (also, reads) in [(None, false), (Some("true"), true)] {
            let also = also.map(|said| format!("highwater.admin.read.messages={said}"));
            let all: Vec<_> = [everywhere].into_iter().chain(also.as_deref()).collect();
            assert_eq!(admin(&all).reads_messages, reads);
        }
        let loopback =
            ["highwater.admin.listener=127.0.0.1:1", "highwater.admin.read.messages=false"];
        assert!(!admin(&loopback).reads_messages);
        assert!(admin(&loopback[..1]).reads_messages);
    }

    #[test]
    fn what_clients_are_told_is_a_name_of_it() {
        let admin = admin(&[
            "advertised.listeners=PLAINTEXT://Kafka.example:1",
            "highwater.admin.hosts=a,b",
        ]);
        assert!(["kafka.example", "a", "b"].iter().all(|name| admin.hosts.contains(*name)));
    }
}
