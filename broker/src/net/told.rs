//! What each connection of a listener is told of this broker, and the gateways that decide it.

use crate::config::Endpoint;
use crate::config::Listener;
use crate::config::listeners::{Seen, in_words, told};
use kraft::env::Env;
use parking_lot::Mutex;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What is known of the gateways is asked anew after this time, when somebody connects: a
/// container may be put on another network while it runs.
const FRESH: Duration = Duration::from_secs(1);

/// What Docker and Podman put into each container. Where neither is, a gateway is a router, and
/// who comes from it is not known.
const MARKS: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];

/// The default gateways of the container that this process runs in; none outside of one.
#[derive(Debug)]
pub struct Gateways {
    env: Env,
    in_container: bool,
    /// When they were asked for, and what was said.
    known: Mutex<Option<(Duration, Arc<[IpAddr]>)>>,
}

impl Gateways {
    pub fn new(env: &Env) -> Arc<Gateways> {
        let in_container =
            MARKS.iter().any(|mark| env.disk.exists(Path::new(mark)).unwrap_or(false));
        Arc::new(Gateways { env: env.clone(), in_container, known: Mutex::default() })
    }

    pub fn now(&self) -> Arc<[IpAddr]> {
        if !self.in_container {
            return Arc::default();
        }
        let now = self.env.clock.monotonic();
        let mut known = self.known.lock();
        if let Some((asked, gateways)) = &*known
            && now.saturating_sub(*asked) < FRESH
        {
            return Arc::clone(gateways);
        }
        let gateways: Arc<[IpAddr]> = self.env.net.gateways().into();
        *known = Some((now, Arc::clone(&gateways)));
        gateways
    }
}

/// What one listener tells.
#[derive(Clone, Debug)]
pub struct Telling {
    pub listener: Listener,
    pub gateways: Arc<Gateways>,
}

impl Telling {
    /// What the peer of a connection is told of this broker; None: what stands in the metadata.
    pub(super) fn to(&self, peer: IpAddr, local: Option<SocketAddr>) -> Option<Arc<Endpoint>> {
        let gateways = self.gateways.now();
        told(&self.listener, Seen { peer, local: local?, gateways: &gateways }).map(Arc::new)
    }

    /// The same in words; `port` is the one bound.
    pub fn in_words(&self, port: u16) -> String {
        in_words(&self.listener, port, &self.gateways.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kraft::env::{Bound, Boxed, Clock, Endpoint as At, Net, Stream, os};
    use std::io;
    use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
    use storage::disk::Disk;
    use storage::disk::sim::SimDisk;

    /// A network whose gateway is `10.0.0.N`, and a clock, both set by hand.
    #[derive(Debug, Default)]
    struct Hand {
        gateway: AtomicU8,
        seconds: AtomicU64,
    }

    impl Net for Hand {
        fn bind<'a>(&'a self, _: &'a At) -> Boxed<'a, io::Result<Box<dyn Bound>>> {
            Box::pin(async { Err(io::ErrorKind::Unsupported.into()) })
        }
        fn connect<'a>(&'a self, _: &'a str, _: u16) -> Boxed<'a, io::Result<Box<dyn Stream>>> {
            Box::pin(async { Err(io::ErrorKind::Unsupported.into()) })
        }
        fn gateways(&self) -> Vec<IpAddr> {
            vec![[10, 0, 0, self.gateway.load(Ordering::Relaxed)].into()]
        }
    }

    impl Clock for Hand {
        fn wall_ms(&self) -> i64 {
            0
        }
        fn monotonic(&self) -> Duration {
            Duration::from_secs(self.seconds.load(Ordering::Relaxed))
        }
    }

    fn gateways(mark: Option<&str>) -> (Arc<Hand>, Arc<Gateways>) {
        let (hand, disk) = (Arc::new(Hand::default()), SimDisk::default());
        disk.mkdir(Path::new("/run")).unwrap();
        mark.map(|mark| disk.create(Path::new(mark)).unwrap());
        let (clock, net) = (Arc::clone(&hand) as _, Arc::clone(&hand) as _);
        (hand, Gateways::new(&Env { clock, net, disk: Arc::new(disk), ..os::env() }))
    }

    #[test]
    fn a_container_that_changes_its_network_is_followed() {
        for mark in MARKS {
            let (hand, gateways) = gateways(Some(mark));
            let [first, second] = [0, 9].map(|last| IpAddr::from([10, 0, 0, last]));
            assert_eq!(*gateways.now(), [first]);
            hand.gateway.store(9, Ordering::Relaxed);
            assert_eq!(*gateways.now(), [first], "it is not asked for each connection");
            hand.seconds.store(1, Ordering::Relaxed);
            assert_eq!(*gateways.now(), [second]);
        }
    }

    #[test]
    fn outside_of_a_container_there_is_none() {
        assert!(gateways(None).1.now().is_empty());
    }
}
