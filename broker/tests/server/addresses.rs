//! What a client is told to connect to: over real sockets, and over ones whose far end and
//! gateways are made up.

use crate::world::{Client, World};
use broker::config::{BrokerConfig, Given};
use broker::server::Broker;
use kraft::env::{Bound, Boxed, Endpoint, Env, Listener, Net, Stream, os};
use protocol::messages::{
    DescribeClusterRequest, FindCoordinatorRequest, MetadataRequest, StrBytes,
};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use storage::disk::Disk;
use storage::disk::sim::SimDisk;

/// The topic of groups is made quickly.
const QUICK: &str = "offsets.topic.num.partitions=1";

/// What each answer that names this broker says, each once.
async fn told(client: &mut Client) -> Vec<String> {
    let mut told = Vec::new();
    for broker in client.ask(&MetadataRequest::default(), 9).await.brokers {
        told.push(format!("{}:{}", broker.host, broker.port));
    }
    let cluster = DescribeClusterRequest::default().with_endpoint_type(1);
    for broker in client.ask(&cluster, 1).await.brokers {
        told.push(format!("{}:{}", broker.host, broker.port));
    }
    let keys = vec![StrBytes::from_static_str("readers")];
    let coordinator = FindCoordinatorRequest::default().with_coordinator_keys(keys);
    for it in client.ask(&coordinator, 4).await.coordinators {
        told.push(format!("{}:{}", it.host, it.port));
    }
    assert_eq!(told.len(), 3, "{told:?}");
    told.dedup();
    told
}

#[tokio::test]
async fn clients_on_this_machine_are_told_localhost() {
    for bind in ["", "0.0.0.0", "[::]"] {
        let listeners = format!("listeners=PLAINTEXT://{bind}:0");
        let world = World::new(&[&listeners, QUICK]).await;
        let port = world.address().port();
        for to in ["127.0.0.1", "::1"] {
            let to: IpAddr = to.parse().unwrap();
            let mut client = Client::connect((to, port).into()).await;
            assert_eq!(told(&mut client).await, [format!("localhost:{port}")], "{bind} over {to}");
        }
        world.broker.stop().await;
    }
}

#[tokio::test]
async fn advertised_listeners_are_told_to_everybody() {
    let advertised = "advertised.listeners=PLAINTEXT://kafka.test:29092";
    let world = World::new(&["listeners=PLAINTEXT://:0", advertised, QUICK]).await;
    assert_eq!(told(&mut world.connect().await).await, ["kafka.test:29092"]);
    world.broker.stop().await;
}

#[tokio::test]
async fn a_client_of_another_machine_is_told_the_address_that_it_reached() {
    let world = Elsewhere::new("10.9.9.9", false).await;
    assert_eq!(world.told().await, [format!("127.0.0.1:{}", world.port)]);
    // Clients of other brokers are told a name that stays.
    let image = world.broker.ctx.image();
    let at = &image.broker(1).unwrap().end_points[0];
    assert_eq!((at.host.as_str(), at.port), ("box", world.port));
    world.broker.stop().await;
}

#[tokio::test]
async fn a_client_behind_the_containers_gateway_is_told_localhost() {
    let world = Elsewhere::new(GATEWAY, true).await;
    assert_eq!(world.told().await, [format!("localhost:{}", world.port)]);
    world.broker.stop().await;
    let world = Elsewhere::new("10.9.9.9", true).await;
    assert_eq!(world.told().await, [format!("127.0.0.1:{}", world.port)]);
    world.broker.stop().await;
}

#[tokio::test]
async fn outside_of_a_container_a_gateway_is_like_anybody() {
    let world = Elsewhere::new(GATEWAY, false).await;
    assert_eq!(world.told().await, [format!("127.0.0.1:{}", world.port)]);
    world.broker.stop().await;
}

const GATEWAY: &str = "172.17.0.1";

/// A broker whose clients all come from one address.
struct Elsewhere {
    broker: Broker,
    port: u16,
}

impl Elsewhere {
    async fn new(peer: &str, in_container: bool) -> Elsewhere {
        let disk = SimDisk::default();
        if in_container {
            drop(disk.create(Path::new("/.dockerenv")).unwrap());
        }
        let net = Arc::new(Made { os: os::env().net, peer: peer.parse().unwrap() });
        let env = Env { disk: Arc::new(disk), net, ..os::env() };
        let mut given = Given::standalone();
        for text in ["listeners=PLAINTEXT://:0", "log.dirs=/data", QUICK] {
            given = given.with_override(text).unwrap();
        }
        let broker = Broker::start(BrokerConfig::of(given, "box").unwrap(), env).await.unwrap();
        let port = broker.addresses[0].1.port();
        Elsewhere { broker, port }
    }

    async fn told(&self) -> Vec<String> {
        told(&mut Client::connect(([127, 0, 0, 1], self.port).into()).await).await
    }
}

/// The system's network, but for who connects and for the gateway.
#[derive(Debug)]
struct Made {
    os: Arc<dyn Net>,
    peer: IpAddr,
}

impl Net for Made {
    fn bind<'a>(&'a self, at: &'a Endpoint) -> Boxed<'a, io::Result<Box<dyn Bound>>> {
        Box::pin(async move {
            let bound = self.os.bind(at).await?;
            Ok(Box::new(Held { bound, peer: self.peer }) as _)
        })
    }
    fn connect<'a>(&'a self, host: &'a str, port: u16) -> Boxed<'a, io::Result<Box<dyn Stream>>> {
        self.os.connect(host, port)
    }
    fn gateways(&self) -> Vec<IpAddr> {
        vec![GATEWAY.parse().unwrap()]
    }
}

#[derive(Debug)]
struct Held {
    bound: Box<dyn Bound>,
    peer: IpAddr,
}

impl Bound for Held {
    fn address(&self) -> io::Result<SocketAddr> {
        self.bound.address()
    }
    fn listen(self: Box<Self>) -> io::Result<Box<dyn Listener>> {
        Ok(Box::new(Masked { listener: self.bound.listen()?, peer: self.peer }))
    }
}

#[derive(Debug)]
struct Masked {
    listener: Box<dyn Listener>,
    peer: IpAddr,
}

impl Listener for Masked {
    fn accept(&self) -> Boxed<'_, io::Result<(Box<dyn Stream>, SocketAddr)>> {
        Box::pin(async {
            let (stream, peer) = self.listener.accept().await?;
            Ok((stream, SocketAddr::new(self.peer, peer.port())))
        })
    }
    fn address(&self) -> io::Result<SocketAddr> {
        self.listener.address()
    }
}
