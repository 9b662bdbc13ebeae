//! Record: what a coordinator's records are as keys and values of its topic, and as a batch.

use protocol::compression::Codec;
use protocol::coordinator::{Malformed, TooLong};
use protocol::error::ErrorCode;
use protocol::records::builder::{BatchBuilder, BuildError, NewRecord};
use std::fmt::Debug;

/// A record of an internal topic.
pub trait Record: Debug + Send + Sized + 'static {
    fn key(&self) -> Result<Vec<u8>, TooLong>;
    /// None: a tombstone.
    fn value(&self) -> Result<Option<Vec<u8>>, TooLong>;
    /// None: of a type that is not known here, which is passed over, as Kafka does: it may be left
    /// from a newer broker.
    fn read(key: &[u8], value: Option<&[u8]>) -> Result<Option<Self>, Malformed>;
}

/// One batch of all `records`, as they are in the log.
pub(super) fn batch<R: Record>(
    records: &[R],
    codec: Codec,
    wall_ms: i64,
) -> Result<bytes::Bytes, ErrorCode> {
    // A name of more than 32767 bytes, which newer requests can say and no key can hold.
    let too_long = |_: TooLong| ErrorCode::InvalidRequest;
    let mut batch = BatchBuilder::new(0).codec(codec, None);
    for record in records {
        let (key, value) = (record.key().map_err(too_long)?, record.value().map_err(too_long)?);
        batch.push(NewRecord {
            timestamp_ms: wall_ms,
            key: Some(&key),
            value: value.as_deref(),
            headers: &[],
        });
    }
    batch.build().map_err(|error| match error {
        BuildError::TooLarge | BuildError::Offset => ErrorCode::RecordListTooLarge,
        BuildError::Compression(_) => ErrorCode::UnknownServerError,
    })
}
