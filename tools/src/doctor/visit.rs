//! Goes to an address as a client does: its name, a connection, what is served, who else there is.

use super::seen::{Cluster, End, Seen, Visit};
use crate::client::{Address, Client, Connection, Node};
use kraft::env::{Env, Stream};
use protocol::error::ErrorCode;
use protocol::messages::describe_configs_request::DescribeConfigsResource;
use protocol::messages::{
    ApiKey, ApiVersionsRequest, DescribeConfigsRequest, MetadataRequest, Request, StrBytes,
};
use std::io::{self, ErrorKind};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// Among kinds of resources, a broker.
const BROKER: i8 = 4;

/// How long a stranger may take for each of the languages that are tried.
const BRIEF: Duration = Duration::from_secs(2);

/// What a web server answers.
const HTTP: &[u8] = b"GET / HTTP/1.0\r\n\r\n";

/// A greeting of TLS 1.2 with one cipher suite and zeros for chance: whoever speaks TLS answers
/// it, be it with an alert.
const TLS: &[u8; 50] = b"\x16\x03\x01\x00\x2d\x01\x00\x00\x29\x03\x03\
    \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
    \x00\x00\x02\xc0\x2f\x01\x00";

/// Visits the bootstrap addresses, and then each address that a client would be sent to.
pub(super) async fn look(
    env: &Env,
    client: &Client,
    places: Vec<Address>,
    limit: Duration,
) -> Seen {
    let mut bootstrap = Vec::new();
    for address in places {
        bootstrap.push(visit(env, client, address, None, limit).await);
    }
    let mut seen = Seen { bootstrap, told: Vec::new() };
    let nodes = seen.teller().map(|(_, cluster)| cluster.nodes.clone()).unwrap_or_default();
    for node in nodes {
        let there = visit(env, client, node.address.clone(), Some(&node), limit).await;
        seen.told.push((node, there));
    }
    seen
}

async fn visit(
    env: &Env,
    client: &Client,
    address: Address,
    expected: Option<&Node>,
    limit: Duration,
) -> Visit {
    let late = || io::Error::from(ErrorKind::TimedOut);
    let found = timeout(limit, env.net.resolve(&address.host)).await;
    let ips = match found.unwrap_or_else(|_| Err(late())) {
        Ok(ips) => ips,
        Err(error) => {
            return Visit { address, ips: Vec::new(), end: End::Unknown(error.to_string()) };
        }
    };
    let end = match timeout(limit, env.net.connect(&address.host, address.port)).await {
        Err(_) => End::Late,
        Ok(Err(error)) => unreached(&error),
        Ok(Ok(stream)) => {
            // Whoever serves one at a time is free for the next.
            drop(stream);
            match timeout(limit, client.connect(&address)).await {
                Ok(Ok(connection)) => speak(connection, expected, limit).await,
                Ok(Err(_)) | Err(_) => recognise(env, &address, limit.min(BRIEF)).await,
            }
        }
    };
    Visit { address, ips, end }
}

fn unreached(error: &io::Error) -> End {
    let no_route = [ErrorKind::HostUnreachable, ErrorKind::NetworkUnreachable];
    let kind = error.kind();
    if kind == ErrorKind::ConnectionRefused {
        End::Refused
    } else if kind == ErrorKind::TimedOut {
        End::Late
    } else if no_route.contains(&kind) {
        End::NoRoute(error.to_string())
    } else {
        End::Failed(error.to_string())
    }
}

/// Asks a broker who is in its cluster, and whether it is `expected`.
async fn speak(mut connection: Connection, expected: Option<&Node>, limit: Duration) -> End {
    if connection.versions(ApiKey::Metadata).is_none() {
        let serves = |key: ApiKey| {
            connection.announced.api_keys.iter().any(|served| served.api_key == key.code())
        };
        return if serves(ApiKey::Metadata) { End::Old } else { End::Controller };
    }
    let request = MetadataRequest::default().with_topics(Some(Vec::new()));
    let answer = match timeout(limit, connection.ask_here(&request)).await {
        Err(_) => return End::Silent,
        Ok(Err(refused)) if refused.code == ErrorCode::NetworkException => return End::Dismissed,
        Ok(Err(_)) => return End::Garbage,
        Ok(Ok(answer)) => answer,
    };
    let node = |id: i32, host: &str, port: i32| {
        let address = Address { host: host.to_owned(), port: u16::try_from(port).ok()? };
        Some(Node { id, address, rack: None, is_fenced: false })
    };
    let nodes = answer.brokers.iter().filter_map(|it| node(it.node_id.0, &it.host, it.port));
    let (id, nodes) = (answer.cluster_id.map(|id| id.to_string()), nodes.collect());
    let mistaken = match expected {
        Some(node) => mistaken(&mut connection, node.id, limit).await,
        None => None,
    };
    End::Kafka(Cluster { id, nodes, mistaken })
}

/// What the broker says where it is not this node: only the node itself tells of its config.
async fn mistaken(connection: &mut Connection, id: i32, limit: Duration) -> Option<String> {
    let resource = DescribeConfigsResource::default()
        .with_resource_type(BROKER)
        .with_resource_name(StrBytes::from_string(id.to_string()))
        .with_configuration_keys(Some(vec![StrBytes::from_static_str("node.id")]));
    let request = DescribeConfigsRequest::default().with_resources(vec![resource]);
    // Who may not ask, or asks too old a broker, does not know.
    let answer = timeout(limit, connection.ask_here(&request)).await.ok()?.ok()?;
    let result = answer.results.into_iter().next()?;
    let is_other = result.error_code == ErrorCode::InvalidRequest.code();
    is_other.then(|| result.error_message.unwrap_or_default().to_string())
}

/// What listens where no broker answers.
async fn recognise(env: &Env, address: &Address, limit: Duration) -> End {
    let hello = ApiVersionsRequest::default().frame(0, 1, "highwater-doctor").unwrap_or_default();
    let mut first = None;
    for words in [hello.as_ref(), HTTP, TLS] {
        let open = env.net.connect(&address.host, address.port);
        let Ok(Ok(mut stream)) = timeout(limit, open).await else { break };
        let answer = timeout(limit, answer_to(&mut *stream, words)).await;
        let end = match answer.as_deref() {
            Ok([b'H', b'T', b'T', b'P', ..]) => return End::Http,
            // A greeting or an alert, of TLS 1.x.
            Ok([0x15 | 0x16, 3, ..]) => return End::Tls,
            Ok([]) => End::Closed,
            Ok(_) => End::Garbage,
            Err(_) => End::Silent,
        };
        first.get_or_insert(end);
    }
    first.unwrap_or(End::Closed)
}

/// The first bytes that come back; none where the connection ends.
async fn answer_to(stream: &mut dyn Stream, words: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 16];
    let count = match stream.write_all(words).await {
        Ok(()) => stream.read(&mut bytes).await.unwrap_or(0),
        Err(_) => 0,
    };
    bytes.truncate(count);
    bytes
}
