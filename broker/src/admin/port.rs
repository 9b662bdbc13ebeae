//! The port itself: connections, their limits, and the stop.

use super::desk::Desk;
use super::route;
use super::stream::Unstalled;
use super::ticking;
use crate::api::Ctx;
use crate::config::{AdminConfig, Endpoint};
use crate::metrics::Metrics;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use kraft::env::{self, Env, Listener, Stream};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tracing::{debug, info, warn};

/// Connections at a time; more wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 64;
const BACKLOG: u32 = 64;
/// Bytes and lines of a request's head.
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 64;
/// How long a connection may say nothing, or not end its head.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);
/// The same where seats run short.
const HEAD_PATIENCE_SHORT: Duration = Duration::from_millis(500);
/// How long a peer may take nothing of its answer.
const WRITE_PATIENCE: Duration = Duration::from_secs(15);
/// How long a stop waits for answers that are under way.
const STOP_PATIENCE: Duration = Duration::from_millis(500);
/// After a failed accept, as when file descriptors have run out.
const PAUSE: Duration = Duration::from_millis(100);

/// The admin port of a broker.
#[expect(missing_debug_implementations, reason = "a doorway has nothing of its own to show")]
pub struct Admin {
    desk: Arc<Desk>,
    /// None where there is no port.
    open: Option<Open>,
    /// Keeps what the pages tell of the last minutes, once there is a broker to tell of.
    ticking: Option<JoinHandle<()>>,
}

struct Open {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Admin {
    /// Opens the port, if there is to be one. An error is the system's, with the address that was
    /// asked for; one that the broker can do without is no error.
    pub async fn start(
        env: &Env,
        config: AdminConfig,
        metrics: Arc<Metrics>,
    ) -> Result<Admin, (Endpoint, io::Error)> {
        let (wanted, is_required) = (config.listener.clone(), config.is_required);
        if let Some(name) = &config.gives_way_to {
            warn!(
                "There is no admin port, since the listener {name} has it: set \
                 highwater.admin.listener to another, or to nothing"
            );
        }
        let desk = Arc::new(Desk::new(config, metrics, env));
        let Some(at) = wanted else { return Ok(Admin { desk, open: None, ticking: None }) };
        let endpoint = env::Endpoint { host: at.host.clone(), port: at.port, backlog: BACKLOG };
        let opened = async {
            let listener = env.net.listen(&endpoint).await?;
            let address = listener.address()?;
            Ok((listener, address))
        };
        match opened.await {
            Ok((listener, address)) => {
                info!("Health and metrics are on http://{at}", at = shown(&at, address));
                let (stop, stopped) = watch::channel(false);
                let accepting = tokio::spawn(accept(listener, Arc::clone(&desk), stopped));
                let open = Some(Open { address, stop, accepting });
                Ok(Admin { desk, open, ticking: None })
            }
            Err(error) if is_required => Err((at, error)),
            Err(error) => {
                warn!(
                    "There is no admin port, since {at} cannot be had ({error}): set \
                     highwater.admin.listener to another, or to nothing"
                );
                Ok(Admin { desk, open: None, ticking: None })
            }
        }
    }

    /// Where it is, if it is.
    pub fn address(&self) -> Option<SocketAddr> {
        self.open.as_ref().map(|open| open.address)
    }

    /// From now on the pages tell of this broker.
    pub fn show(&mut self, broker: Ctx) {
        let broker = Arc::new(broker);
        self.desk.set_broker(Some(Arc::clone(&broker)));
        if self.open.is_some() {
            self.ticking = Some(tokio::spawn(ticking::run(Arc::clone(&self.desk), broker)));
        }
    }

    /// Closes the port. When it comes back, nothing here holds anything of the broker.
    pub async fn stop(self) {
        self.desk.set_broker(None);
        if let Some(ticking) = self.ticking {
            ticking.abort();
            // However it has ended, it is over.
            drop(ticking.await);
        }
        let Some(open) = self.open else { return };
        open.stop.send_replace(true);
        // Whatever ended it, it is over.
        drop(open.accepting.await);
    }
}

/// What was asked for, with the port that was had.
fn shown(at: &Endpoint, address: SocketAddr) -> Endpoint {
    let host = if at.host.is_empty() { address.ip().to_string() } else { at.host.clone() };
    Endpoint { host, port: address.port() }
}

async fn accept(listener: Box<dyn Listener>, desk: Arc<Desk>, stopped: watch::Receiver<bool>) {
    let (mut stopping, mut open) = (stopped.clone(), JoinSet::new());
    tokio::select! {
        biased;
        _ = stopping.wait_for(|is_over| *is_over) => {}
        () = take_in(&*listener, &desk, &stopped, &mut open) => {}
    }
    drop(listener);
    let answered = async { while open.join_next().await.is_some() {} };
    if timeout(STOP_PATIENCE, answered).await.is_err() {
        open.shutdown().await;
    }
}

async fn take_in(
    listener: &dyn Listener,
    desk: &Arc<Desk>,
    stopped: &watch::Receiver<bool>,
    open: &mut JoinSet<()>,
) {
    let seats = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    // It is never closed.
    while let Ok(seat) = Arc::clone(&seats).acquire_owned().await {
        while open.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, peer)) => {
                let (desk, stopped) = (Arc::clone(desk), stopped.clone());
                // Where seats run short nobody keeps one long, nor for a next request.
                let may_stay = CONNECTIONS_MAX / 2 < seats.available_permits();
                open.spawn(async move {
                    serve((stream, peer), desk, stopped, may_stay).await;
                    drop(seat);
                });
            }
            Err(error) => {
                warn!("The admin port cannot take a connection: {error}");
                sleep(PAUSE).await;
            }
        }
    }
}

async fn serve(
    (stream, peer): (Box<dyn Stream>, SocketAddr),
    desk: Arc<Desk>,
    mut stopped: watch::Receiver<bool>,
    may_stay: bool,
) {
    let service = service_fn(|request| {
        let desk = Arc::clone(&desk);
        async move {
            let (head, _body) = hyper::Request::into_parts(request);
            Ok::<_, Infallible>(route::answer(&desk, &head).await)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(may_stay)
        .header_read_timeout(if may_stay { HEAD_PATIENCE } else { HEAD_PATIENCE_SHORT })
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(Unstalled::new(stream, WRITE_PATIENCE)), service);
    tokio::pin!(connection);
    let stopping = async { drop(stopped.wait_for(|is_over| *is_over).await) };
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = stopping => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        debug!("the connection of {peer} to the admin port has ended: {error}");
    }
}
