//! The broker's listeners: their ports are taken before anything is written, and opened when it serves.

use super::error::StartError;
use super::limited::Limited;
use crate::api::{Ctx, ListenerKind};
use crate::config::{BrokerConfig, Listener};
use crate::metrics::Metrics;
use crate::net::{Accepting, Budget, Closed, Gateways, Opened, Telling, bind};
use kraft::env::{Endpoint, Env};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::task::JoinSet;
use tracing::info;

/// Ports that are held. Whoever connects is refused, as by Apache Kafka while it recovers.
#[derive(Debug)]
pub(super) struct Ports(Vec<(Listener, Closed)>);

/// Ports where whoever connects waits to be taken in.
#[derive(Debug)]
pub(super) struct Doors(Vec<(Listener, Opened)>);

impl Ports {
    pub(super) async fn take(env: &Env, config: &BrokerConfig) -> Result<Ports, StartError> {
        let backlog = u32::try_from(config.values.net.socket_listen_backlog_size).unwrap_or(1);
        let mut ports = Vec::new();
        for listener in &config.listeners.all {
            let kind = match listener.is_controller {
                true => ListenerKind::Controller,
                false => ListenerKind::Client,
            };
            let at =
                Endpoint { host: listener.bind.host.clone(), port: listener.bind.port, backlog };
            let bound = bind(env, &listener.name, kind, &at).await;
            let bound = bound.map_err(|error| StartError::Listen(shown(listener), error))?;
            ports.push((listener.clone(), bound));
        }
        Ok(Ports(ports))
    }

    /// Each listener's name and bound address.
    pub(super) fn addresses(&self) -> Vec<(String, SocketAddr)> {
        let address = |(listener, port): &(Listener, Closed)| {
            Some((listener.name.clone(), port.address().ok()?))
        };
        self.0.iter().filter_map(address).collect()
    }

    /// What others are told of each listener, of the controller or of the broker: name, host and
    /// port; a port that was free is the one that was bound.
    pub(super) fn advertised(&self, of_controller: bool) -> Vec<(String, String, u16)> {
        let told = self.0.iter().filter(|(listener, _)| listener.is_controller == of_controller);
        let told = told.filter_map(|(listener, bound)| {
            let at = listener.advertised.as_ref()?;
            let port = if at.port == 0 { bound.address().ok()?.port() } else { at.port };
            Some((listener.name.clone(), at.host.clone(), port))
        });
        told.collect()
    }

    /// All of them, or none for long: an error ends the start.
    pub(super) fn open(self, metrics: &Metrics) -> Result<Doors, StartError> {
        let open = |(listener, port): (Listener, Closed)| match port.open(metrics) {
            Ok(opened) => Ok((listener, opened)),
            Err(error) => Err(StartError::Listen(shown(&listener), error)),
        };
        Ok(Doors(self.0.into_iter().map(open).collect::<Result<_, _>>()?))
    }
}

impl Doors {
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(listener, _)| listener.name.clone())
    }

    /// Lets clients in at every listener.
    pub(super) fn accept(self, config: &BrokerConfig, ctx: &Ctx, limited: &Limited) -> JoinSet<()> {
        let budget = usize::try_from(config.request_memory_bytes()).unwrap_or(usize::MAX);
        let budget = Budget::new(budget);
        let gateways = Gateways::new(&ctx.env);
        let mut accepting = JoinSet::new();
        for (listener, opened) in self.0 {
            let limits = limited.of_listener(&listener.name);
            let telling = Telling { listener, gateways: Arc::clone(&gateways) };
            say_awaiting(&opened, &telling);
            accepting.spawn(opened.accept(Accepting {
                service: Arc::new(ctx.clone()),
                metrics: Arc::clone(&ctx.metrics),
                limits,
                roster: Arc::clone(limited.roster()),
                budget: Arc::clone(&budget),
                telling: Arc::new(telling),
            }));
        }
        accepting
    }
}

fn shown(listener: &Listener) -> String {
    format!("{}://{}", listener.name, listener.bind)
}

fn say_awaiting(opened: &Opened, telling: &Telling) {
    if let Ok(address) = opened.address() {
        info!(
            target: "kafka.network.DataPlaneAcceptor",
            "Awaiting socket connections on {}:{}.",
            address.ip(),
            address.port()
        );
        let told = telling.in_words(address.port());
        info!(target: "kafka.network.DataPlaneAcceptor", "{told}");
    }
}
