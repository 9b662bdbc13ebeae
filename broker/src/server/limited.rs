//! Whom a configuration limits: the connections of the broker and of each listener. What changes
//! is in force at once, also for those that wait; a host's limit as soon as its address is known.

use super::hosts::{self, Learns};
use super::limits;
use crate::config::BrokerConfig;
use crate::net::{Limits, Roster};
use arc_swap::ArcSwap;
use kraft::env::Env;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tracing::warn;

/// So long a start waits for the addresses of hosts, before it lets anybody in.
const START_PATIENCE: Duration = Duration::from_secs(1);

/// Who follows the names ends when this is dropped.
#[derive(Debug)]
pub(super) struct Limited {
    in_force: Arc<InForce>,
    /// Hosts that have a limit of their own.
    names: watch::Sender<BTreeSet<String>>,
}

#[derive(Debug)]
struct InForce {
    roster: Arc<Roster>,
    /// Each listener's limits, by its name.
    listeners: BTreeMap<String, Arc<ArcSwap<Limits>>>,
    said: Mutex<Said>,
    /// All names were looked up.
    looked_up: Notify,
}

#[derive(Debug)]
struct Said {
    config: Arc<BrokerConfig>,
    /// The last known addresses of the hosts that it names.
    addresses: BTreeMap<String, Vec<IpAddr>>,
}

impl Limited {
    /// Comes back when `config` is in force.
    pub(super) async fn start(
        env: &Env,
        config: Arc<BrokerConfig>,
        listeners: impl IntoIterator<Item = String>,
    ) -> Limited {
        let listeners = listeners.into_iter().map(|name| (name, Arc::default())).collect();
        let (names, told) = watch::channel(names(&config));
        let in_force = Arc::new(InForce {
            roster: Roster::new(limits::connections(&config)),
            listeners,
            said: Mutex::new(Said { config, addresses: BTreeMap::new() }),
            looked_up: Notify::new(),
        });
        in_force.apply(&in_force.said.lock());
        tokio::spawn(hosts::follow(env.clone(), told, Arc::clone(&in_force)));
        if timeout(START_PATIENCE, in_force.looked_up.notified()).await.is_err() {
            warn!(
                "max.connections.per.ip.overrides: the name server is slow, and the limits of \
                 hosts count when their addresses are known"
            );
        }
        Limited { in_force, names }
    }

    pub(super) fn roster(&self) -> &Arc<Roster> {
        &self.in_force.roster
    }

    /// The limits of a listener, now and later.
    pub(super) fn of_listener(&self, name: &str) -> Arc<ArcSwap<Limits>> {
        self.in_force.listeners.get(name).cloned().unwrap_or_default()
    }

    /// Takes over what `config` says, if that is another than before.
    pub(super) fn put_in_force(&self, config: Arc<BrokerConfig>) {
        let mut said = self.in_force.said.lock();
        if Arc::ptr_eq(&said.config, &config) {
            return;
        }
        said.config = config;
        let names = names(&said.config);
        said.addresses.retain(|host, _| names.contains(host));
        self.in_force.apply(&said);
        drop(said);
        self.names.send_replace(names);
    }
}

impl InForce {
    fn apply(&self, said: &Said) {
        let Said { config, addresses } = said;
        for (name, limits) in &self.listeners {
            limits.store(Arc::new(limits::of_listener(config, name, addresses)));
        }
        self.roster.set_connections_per_second_max(limits::connections_per_second(config));
        // Last, for it wakes those that wait for any of these.
        self.roster.set_connections_max(limits::connections(config));
    }
}

impl Learns for Arc<InForce> {
    fn learn(&self, host: &str, addresses: Vec<IpAddr>) {
        let mut said = self.said.lock();
        if said.config.connections_by_host.contains_key(host)
            && said.addresses.get(host) != Some(&addresses)
        {
            said.addresses.insert(host.to_owned(), addresses);
            self.apply(&said);
        }
    }

    fn looked_up(&self) {
        self.looked_up.notify_one();
    }
}

/// The hosts whose addresses the configuration does not say itself.
fn names(config: &BrokerConfig) -> BTreeSet<String> {
    let hosts = config.connections_by_host.keys();
    hosts.filter(|host| host.parse::<IpAddr>().is_err()).cloned().collect()
}
