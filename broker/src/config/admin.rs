//! Where the admin port is, who may call it, and what it shows.

use super::admin_port::{having_port_of, wanted};
use super::listeners::Endpoint;
use super::snapshot::BrokerConfig;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminConfig {
    /// None: there is none.
    pub listener: Option<Endpoint>,
    /// A broker that cannot have it does not start.
    pub is_required: bool,
    /// The listener that has its port; then there is no admin port.
    pub gives_way_to: Option<String>,
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
        let (listener, is_required) = wanted(own);
        let clash = listener.as_ref().and_then(|at| having_port_of(at, &config.listeners.all));
        let is_loopback = listener.as_ref().is_some_and(|at| is_loopback(&at.host));
        let listeners = config.listeners.all.iter();
        let ours = listeners.flat_map(|it| [Some(&it.bind), it.advertised.as_ref()]).flatten();
        let names = own.admin_hosts.iter().chain(ours.map(|at| &at.host));
        AdminConfig {
            is_required,
            gives_way_to: clash.map(|it| it.name.clone()),
            hosts: names.map(|name| name.to_ascii_lowercase()).collect(),
            any_host: own.admin_hosts.iter().any(|name| name == "*"),
            reads_messages: own.admin_read_messages.unwrap_or(is_loopback),
            listener: listener.filter(|_| clash.is_none()),
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
        assert!(!admin.is_required && admin.reads_messages && !admin.any_host);
    }

    #[test]
    fn only_an_address_without_a_question_mark_is_required() {
        assert!(admin(&["highwater.admin.listener=localhost:9644"]).is_required);
        let perhaps = admin(&["highwater.admin.listener=:9644?"]);
        assert_eq!(perhaps.listener.map(|at| at.to_string()).as_deref(), Some(":9644"));
        assert!(!perhaps.is_required);
    }

    #[test]
    fn a_listener_on_its_port_goes_first() {
        let admin = admin(&["listeners=PLAINTEXT://:9644"]);
        assert_eq!((admin.listener, admin.gives_way_to.as_deref()), (None, Some("PLAINTEXT")));
        let refused = |listener: &str| {
            let given = Given::standalone().with_override("listeners=PLAINTEXT://:9644").unwrap();
            let given = given.with_override(&format!("highwater.admin.listener={listener}"));
            BrokerConfig::of(given.unwrap(), "machine").unwrap_err().to_string()
        };
        assert_eq!(
            refused("127.0.0.1:9644"),
            "--override: highwater.admin.listener=127.0.0.1:9644: PLAINTEXT://:9644 of listeners \
             has this port: change one"
        );
        let line = refused("a b:1");
        assert!(line.ends_with("must name a host and a port that can be"), "{line}");
    }

    #[test]
    fn an_empty_one_is_none() {
        assert_eq!(admin(&["highwater.admin.listener="]).listener, None);
    }

    #[test]
    fn messages_are_read_beyond_loopback_only_when_that_is_said() {
        let everywhere = "highwater.admin.listener=:9644";
        assert!(admin(&[everywhere]).is_required);
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
