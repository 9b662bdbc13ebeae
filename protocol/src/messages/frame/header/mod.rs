//! The header of a request.

use crate::messages::frame::malformed::Malformed;
use crate::messages::table::ApiKey;
use bytes::{Buf, Bytes};
use kafka_protocol::protocol::StrBytes;

/// What every request says before its body.
///
/// Own code, because the codec's reader panics on a frame of less than four bytes, and keeps
/// tagged fields that nobody asks for at sixteen times their size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub key: ApiKey,
    /// Any number: whether it is served is for the table of handlers to say.
    pub version: i16,
    pub correlation_id: i32,
    /// A slice of the frame: copy it before it outlives the request. Null is told as empty, as
    /// Apache Kafka does.
    pub client_id: StrBytes,
}

impl Header {
    /// Takes the header off the front of a frame (which has already lost its length).
    pub fn read(frame: &mut Bytes) -> Result<Header, Malformed> {
        let short = || Malformed("the frame ends within its header".to_owned());
        let key = frame.try_get_i16().map_err(|_| short())?;
        let version = frame.try_get_i16().map_err(|_| short())?;
        let correlation_id = frame.try_get_i32().map_err(|_| short())?;
        let key = ApiKey::from_code(key)
            .ok_or_else(|| Malformed(format!("{key} is the number of no known request")))?;
        let len = frame.try_get_i16().map_err(|_| short())?;
        let client_id = match usize::try_from(len) {
            Ok(len) if len <= frame.len() => StrBytes::from_utf8(frame.split_to(len))
                .map_err(|_| Malformed("the client id is not UTF-8".to_owned()))?,
            Ok(_) => return Err(short()),
            Err(_) if len == -1 => StrBytes::new(),
            Err(_) => return Err(Malformed(format!("a client id has no length {len}"))),
        };
        if key.request_header_version(version) >= 2 {
            skip_tagged_fields(frame).ok_or_else(short)?;
        }
        Ok(Header { key, version, correlation_id, client_id })
    }
}

fn skip_tagged_fields(frame: &mut Bytes) -> Option<()> {
    for _ in 0..unsigned_varint(frame)? {
        unsigned_varint(frame)?;
        let len = usize::try_from(unsigned_varint(frame)?).ok()?;
        if frame.len() < len {
            return None;
        }
        frame.advance(len);
    }
    Some(())
}

fn unsigned_varint(frame: &mut Bytes) -> Option<u32> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let byte = frame.try_get_u8().ok()?;
        value |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests;
