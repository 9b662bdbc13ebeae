//! A batch that passed what is asked of it, on its way into the log.

use super::outcome::{AppendError, Reason, Refusal};
use bytes::Bytes;
use protocol::records::batch::{BatchHeader, HEADER_LEN};
use protocol::records::record;

/// A batch that may be appended. Its header says all but, from a client, its offsets and epoch.
#[derive(Debug)]
pub(super) struct Checked {
    /// Its place among the requests of the call.
    pub request: usize,
    pub header: BatchHeader,
    /// As it came; only what stands behind the header is written from here.
    pub batch: Bytes,
}

impl Checked {
    /// Bytes in the log.
    pub(super) fn size(&self) -> u64 {
        self.batch.len() as u64
    }

    /// What stands behind the header.
    pub(super) fn records(&self) -> &[u8] {
        self.batch.get(HEADER_LEN..).unwrap_or_default()
    }
}

/// Records that cannot be read are refused.
pub(super) fn unreadable(error: record::RecordError) -> AppendError {
    let reason = match error {
        record::RecordError::Limit(_) => Reason::MessageTooLarge,
        record::RecordError::Batch(_)
        | record::RecordError::Codec(_)
        | record::RecordError::Decompression(_)
        | record::RecordError::Count(_)
        | record::RecordError::Record { .. }
        | record::RecordError::Trailing => Reason::InvalidRecord,
    };
    Refusal::new(reason, error.to_string()).into()
}
