//! A caller of the admin port, by hand, so that it may misbehave.

use crate::world::World;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The admin port on any free one.
pub(crate) const LISTENER: &str = "highwater.admin.listener=localhost:0";

impl World {
    /// With an admin port.
    pub(crate) async fn with_admin(overrides: &[&str]) -> World {
        let all: Vec<_> = [LISTENER].iter().chain(overrides).copied().collect();
        World::new(&all).await
    }

    pub(crate) fn admin(&self) -> SocketAddr {
        self.broker.admin.address().unwrap()
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// Sends `bytes` as they are, and reads to the end of the connection. None: there is no answer.
pub(crate) async fn raw(address: SocketAddr, bytes: &[u8]) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server that has seen enough may close before it has read all.
    let _sent = stream.write_all(bytes).await.is_ok();
    read(&mut stream).await
}

/// Reads an answer that the end of the connection ends.
pub(crate) async fn read(stream: &mut TcpStream) -> Option<Answer> {
    let mut text = Vec::new();
    // A reset behind the answer is no matter.
    let _ended = stream.read_to_end(&mut text).await.is_ok();
    let text = String::from_utf8(text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let head = head.to_ascii_lowercase();
    let body = if head.contains("transfer-encoding: chunked") { joined(body) } else { body.into() };
    Some(Answer { status, head, body })
}

/// The chunks of a body as one.
fn joined(mut chunks: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = chunks.split_once("\r\n") {
        let (chunk, rest) = rest.split_at(usize::from_str_radix(size, 16).unwrap());
        whole.push_str(chunk);
        chunks = rest.strip_prefix("\r\n").unwrap();
    }
    whole
}

pub(crate) async fn get(address: SocketAddr, path: &str) -> Answer {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    raw(address, request.as_bytes()).await.unwrap()
}
