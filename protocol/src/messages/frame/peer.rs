//! The other side of a connection: a request as a client writes it, a response as it reads it.

use super::malformed::Malformed;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::messages::ResponseHeader;
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion};

/// What the header of a request says, beside the key.
#[derive(Clone, Copy)]
pub(crate) struct Labels<'a> {
    pub(crate) version: i16,
    pub(crate) correlation_id: i32,
    pub(crate) client_id: &'a str,
}

/// See [`crate::messages::Request::frame`].
pub(crate) fn request<R: Encodable + HeaderVersion>(
    body: &R,
    key: i16,
    labels: Labels<'_>,
) -> Result<Bytes, Malformed> {
    let Labels { version, correlation_id, client_id } = labels;
    let client_len = i16::try_from(client_id.len())
        .map_err(|_| Malformed("a client id is at most 32 KiB".to_owned()))?;
    let mut frame = BytesMut::new();
    frame.put_i32(0); // The length, known at the end.
    frame.put_i16(key);
    frame.put_i16(version);
    frame.put_i32(correlation_id);
    frame.put_i16(client_len);
    frame.put_slice(client_id.as_bytes());
    if R::header_version(version) >= 2 {
        frame.put_u8(0); // No tagged fields.
    }
    body.encode(&mut frame, version).map_err(Malformed::of)?;
    let len = i32::try_from(frame.len() - 4).map_err(|_| Malformed::too_long())?;
    frame.iter_mut().zip(len.to_be_bytes()).for_each(|(to, from)| *to = from);
    Ok(frame.freeze())
}

/// See [`crate::messages::Request::read_response`].
pub(crate) fn response<R: Decodable + HeaderVersion>(
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
