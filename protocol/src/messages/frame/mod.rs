//! A frame: what stands around the body of a request or of a response.

mod header;
mod rope;

pub use header::Header;
pub(super) use rope::write;
pub use rope::{HOLE_MAX, hole};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::messages::ResponseHeader;
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion};
use std::fmt;

/// Bytes that the codec refuses, or a message that its version cannot carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl Malformed {
    pub(super) fn of(error: impl fmt::Display) -> Malformed {
        Malformed(error.to_string())
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

/// A stretch of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Bytes(Bytes),
    /// So many bytes come from elsewhere.
    Hole(usize),
}

/// See [`super::Request::frame`].
pub(super) fn request<R: Encodable>(
    body: &R,
    header: &Header,
    header_version: i16,
) -> Result<Bytes, Malformed> {
    let mut frame = BytesMut::new();
    frame.put_i32(0); // The length, known at the end.
    header.write(&mut frame, header_version)?;
    body.encode(&mut frame, header.version).map_err(Malformed::of)?;
    let len = i32::try_from(frame.len() - 4).map_err(|_| too_long())?;
    frame.iter_mut().zip(len.to_be_bytes()).for_each(|(to, from)| *to = from);
    Ok(frame.freeze())
}

/// See [`super::Request::read_response`].
pub(super) fn response<R: Decodable + HeaderVersion>(
    mut frame: Bytes,
    version: i16,
) -> Result<(i32, R), Malformed> {
    if frame.remaining() < 4 {
        return Err(Malformed("a response is at least its correlation id".to_owned()));
    }
    let header =
        ResponseHeader::decode(&mut frame, R::header_version(version)).map_err(Malformed::of)?;
    let body = R::decode(&mut frame, version).map_err(Malformed::of)?;
    Ok((header.correlation_id, body))
}

fn too_long() -> Malformed {
    Malformed("a frame is at most 2 GiB".to_owned())
}
