//! A plain connection: frames in, frames out, for what no client library would send.

use bytes::Bytes;
use protocol::messages::{MetadataRequest, Request};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// One TCP connection to a broker on this machine.
#[derive(Debug)]
pub struct Connection(pub TcpStream);

impl Connection {
    /// # Errors
    /// Nobody listens on the port.
    pub fn open(port: u16) -> io::Result<Connection> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.set_write_timeout(Some(Duration::from_secs(30)))?;
        Ok(Connection(stream))
    }

    /// Sends a whole frame, its length included.
    ///
    /// # Errors
    /// The connection is gone.
    pub fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.0.write_all(frame)
    }

    /// Reads one frame, without its length.
    ///
    /// # Errors
    /// The connection is gone, or nothing came for 10 seconds.
    pub fn receive(&mut self) -> io::Result<Bytes> {
        let mut length = [0; 4];
        self.0.read_exact(&mut length)?;
        let length = usize::try_from(i32::from_be_bytes(length)).map_err(io::Error::other)?;
        let mut frame = vec![0; length];
        self.0.read_exact(&mut frame)?;
        Ok(frame.into())
    }

    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// The connection is gone, or the answer cannot be read.
    pub fn ask<Q: Request>(&mut self, request: &Q, version: i16) -> io::Result<Q::Response> {
        let frame =
            request.frame(version, 1, "compat").map_err(|error| io::Error::other(error.0))?;
        self.send(&frame)?;
        let (_, response) = Q::read_response(version, self.receive()?)
            .map_err(|error| io::Error::other(error.0))?;
        Ok(response)
    }

    /// How many brokers the cluster says that it has.
    ///
    /// # Errors
    /// There is no answer.
    pub fn brokers(&mut self) -> io::Result<usize> {
        Ok(self.ask(&MetadataRequest::default().with_topics(Some(Vec::new())), 9)?.brokers.len())
    }
}
