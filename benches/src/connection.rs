//! A blocking connection: whole frames out, frames in, one buffer for all of them.

use crate::{Failure, Outcome};
use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::messages::Request;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A broker that is silent for that long has failed the step.
const PATIENCE: Duration = Duration::from_secs(120);
const FRAME_BYTES_MAX: usize = 1 << 30;

pub(crate) struct Sender(TcpStream);

pub(crate) struct Receiver {
    stream: BufReader<TcpStream>,
    frame: Vec<u8>,
}

pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
}

impl Sender {
    pub(crate) fn send(&mut self, frame: &[u8]) -> Outcome<()> {
        Ok(self.0.write_all(frame)?)
    }
}

impl Receiver {
    /// The next frame, without its length.
    pub(crate) fn receive(&mut self) -> Outcome<&[u8]> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let length = usize::try_from(i32::from_be_bytes(length))?;
        if FRAME_BYTES_MAX < length {
            return Err(format!("an answer of {length} bytes").into());
        }
        self.frame.resize(length, 0);
        self.stream.read_exact(&mut self.frame)?;
        Ok(&self.frame)
    }
}

impl Connection {
    pub(crate) fn open(port: u16) -> Outcome<Connection> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let sender = Sender(stream.try_clone()?);
        let receiver = Receiver { stream: BufReader::new(stream), frame: Vec::new() };
        Ok(Connection { sender, receiver })
    }

    /// Asks and waits for the answer: for what is not measured by the request.
    pub(crate) fn ask<Q: Request>(&mut self, request: &Q, version: i16) -> Outcome<Q::Response> {
        self.sender.send(&request.frame(version, 1, "benches")?)?;
        let frame = Bytes::copy_from_slice(self.receiver.receive()?);
        Ok(Q::read_response(version, frame)?.1)
    }
}

/// An error code of an answer as a failure.
pub(crate) fn accepted(what: &str, code: i16) -> Outcome<()> {
    match ErrorCode::from_code(code) {
        Some(ErrorCode::None) => Ok(()),
        known => Err(refused(what, code, known)),
    }
}

fn refused(what: &str, code: i16, known: Option<ErrorCode>) -> Failure {
    let name = known.map_or_else(|| "an unknown code".to_owned(), |code| code.to_string());
    format!("{what}: answered {code}, {name}").into()
}
