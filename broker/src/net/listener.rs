//! A listener: takes connections in, up to the limits, and gives each its task.

use super::budget::Budget;
use super::connection::Connection;
use super::limits::Limits;
use super::pace::Pace;
use super::roster::{Full, Roster, Seat};
use super::service::Service;
use super::told::Telling;
use crate::api::{ListenerKind, RequestContext};
use crate::metrics::{ListenerConnections, Metrics, Open, Said};
use arc_swap::ArcSwap;
use kraft::env::{Bound, Endpoint, Env, Listener, Stream};
use socket2::SockRef;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;
use tracing::{debug, info, warn};

/// After a failed accept, as when file descriptors have run out.
const PAUSE: Duration = Duration::from_millis(100);

/// A listener that has its port; whoever connects is refused.
#[derive(Debug)]
pub struct Closed {
    name: Arc<str>,
    kind: ListenerKind,
    port: Box<dyn Bound>,
}

/// Binds. An error is the system's, as that the port is taken.
pub async fn bind(env: &Env, name: &str, kind: ListenerKind, at: &Endpoint) -> io::Result<Closed> {
    Ok(Closed { name: name.into(), kind, port: env.net.bind(at).await? })
}

impl Closed {
    /// The port, where 0 was asked for.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.port.address()
    }

    /// From now on whoever connects waits to be taken in. An error is the system's.
    pub fn open(self, metrics: &Metrics) -> io::Result<Opened> {
        let connections = metrics.connections.of(&self.name);
        let (anonymous, socket) = ("User:ANONYMOUS".into(), self.port.listen()?);
        Ok(Opened { name: self.name, kind: self.kind, anonymous, socket, connections })
    }
}

/// A listener that listens, and takes nobody in yet.
#[derive(Debug)]
pub struct Opened {
    name: Arc<str>,
    kind: ListenerKind,
    /// Who a client is that did not say.
    anonymous: Arc<str>,
    socket: Box<dyn Listener>,
    connections: Arc<ListenerConnections>,
}

/// What the connections of a listener share.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "a doorway has nothing of its own to show")]
pub struct Accepting {
    pub service: Arc<dyn Service>,
    pub metrics: Arc<Metrics>,
    /// Exchanged when the config changes; a connection keeps what it began with.
    pub limits: Arc<ArcSwap<Limits>>,
    pub roster: Arc<Roster>,
    pub budget: Arc<Budget>,
    pub telling: Arc<Telling>,
}

impl Opened {
    /// The port, where 0 was asked for.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.address()
    }

    /// Takes connections in until the roster stops.
    pub async fn accept(self, shared: Accepting) {
        let roster = Arc::clone(&shared.roster);
        tokio::select! {
            biased;
            () = roster.stopped() => {}
            () = self.accept_on(shared) => {}
        }
    }

    async fn accept_on(&self, shared: Accepting) {
        let Accepting { limits, roster, .. } = &shared;
        let pace = Pace::default();
        loop {
            // As Apache Kafka: whoever is too many waits in the kernel's queue.
            if roster.is_full(&self.name, limits) {
                self.wait_for_room(&shared).await;
            }
            let (stream, peer) = match self.socket.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    warn!(target: "kafka.network.Acceptor", "Error while accepting connection: {error}");
                    sleep(PAUSE).await;
                    continue;
                }
            };
            pace.pass(|| limits.load().connections_per_second_max).await;
            roster.paced().await;
            match self.seat(peer.ip(), &shared).await {
                Ok(seat) => self.serve(stream, peer, seat, &shared),
                Err(most) => info!(
                    target: "kafka.network.Acceptor",
                    "Rejected connection from {}, address already has the configured maximum of \
                     {most} connections.",
                    peer.ip()
                ),
            }
        }
    }

    /// Waits until there is room for one that was taken out of the kernel's queue: another
    /// listener may have been quicker, or fewer are allowed by now. Fails with the limit of its
    /// address.
    async fn seat(&self, ip: IpAddr, shared: &Accepting) -> Result<Seat, usize> {
        loop {
            let seat = shared.roster.seat(&self.name, ip, &shared.limits.load());
            match seat {
                Ok(seat) => return Ok(seat),
                Err(Full::OfIp(most)) => return Err(most),
                Err(Full::Connections) => self.wait_for_room(shared).await,
            }
        }
    }

    async fn wait_for_room(&self, Accepting { roster, limits, .. }: &Accepting) {
        let _waits = self.connections.is_blocked();
        roster.has_room(&self.name, limits).await;
    }

    fn serve(&self, stream: Box<dyn Stream>, peer: SocketAddr, seat: Seat, shared: &Accepting) {
        let Accepting { service, metrics, budget, telling, .. } = shared;
        let limits = shared.limits.load_full();
        if let Err(error) = set_options(&*stream, &limits) {
            debug!("no options for the connection from {peer}: {error}"); // It is gone already.
            return;
        }
        let open = Open::new(&self.connections);
        let local = stream.socket().and_then(|socket| socket.local_addr().ok());
        let from = RequestContext {
            listener: Arc::clone(&self.name),
            listener_kind: self.kind,
            peer,
            told: telling.to(peer.ip(), local),
            principal: Arc::clone(&self.anonymous),
            client_id: Arc::default(),
            software: Arc::new(Said::nothing(&self.connections.software)),
            correlation_id: 0,
        };
        let asked = (Arc::clone(service), Arc::clone(metrics), from);
        let connection = Connection::new(stream, asked, seat, (limits, Arc::clone(budget)));
        // A panic ends the task, and with it this connection alone.
        tokio::spawn(async move {
            let end = connection.run().await;
            drop(open);
            if end.is_refusal() {
                warn!(target: "kafka.network.Processor", "Closed the connection from {peer}: {end}");
            } else {
                debug!("the connection from {peer} is closed: {end}");
            }
        });
    }
}

fn set_options(stream: &dyn Stream, limits: &Limits) -> io::Result<()> {
    let Some(socket) = stream.socket() else { return Ok(()) };
    let socket = SockRef::from(socket);
    // As Apache Kafka: so a client that is gone without a word is found out, though it is waited on.
    socket.set_keepalive(true)?;
    limits.send_buffer_bytes.map_or(Ok(()), |bytes| socket.set_send_buffer_size(bytes))?;
    limits.receive_buffer_bytes.map_or(Ok(()), |bytes| socket.set_recv_buffer_size(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kraft::env::os;

    #[tokio::test]
    async fn a_socket_is_asked_whether_its_client_is_still_there() {
        let net = os::env().net;
        let at = Endpoint { host: "127.0.0.1".to_owned(), port: 0, backlog: 1 };
        let listener = net.listen(&at).await.unwrap();
        let port = listener.address().unwrap().port();
        let (accepted, _client) = tokio::join!(listener.accept(), net.connect("127.0.0.1", port));
        let (stream, _) = accepted.unwrap();
        set_options(&*stream, &Limits::default()).unwrap();
        let socket = SockRef::from(stream.socket().unwrap());
        assert!(socket.keepalive().unwrap());
    }
}
