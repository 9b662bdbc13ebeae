//! What is said of a producer's batch, and what a control record says of its transaction.

use std::fmt;

/// The batch may be appended, or was already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Append,
    /// One of the producer's last five batches: it is answered as it was then.
    Duplicate {
        first_offset: i64,
        last_offset: i64,
        timestamp_ms: i64,
    },
}

/// Why a producer's batch is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// OUT_OF_ORDER_SEQUENCE_NUMBER.
    OutOfOrder { producer_id: i64, epoch: i16, sequence: i32, last_sequence: i32 },
    /// OUT_OF_ORDER_SEQUENCE_NUMBER too: a new epoch starts at 0.
    NewEpochNotAtZero { producer_id: i64, epoch: i16, sequence: i32, current_epoch: i16 },
    /// INVALID_PRODUCER_EPOCH.
    OldEpoch { producer_id: i64, epoch: i16, current_epoch: i16 },
    /// INVALID_TXN_STATE: a plain batch while the producer's transaction is open.
    NotTransactional { producer_id: i64 },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::OutOfOrder { producer_id, epoch, sequence, last_sequence } => write!(
                f,
                "Out of order sequence number for producer {producer_id} (epoch {epoch}): \
                 {sequence} (incoming seq. number), {last_sequence} (current end sequence number)"
            ),
            Refusal::NewEpochNotAtZero { producer_id, epoch, sequence, current_epoch } => write!(
                f,
                "Invalid sequence number for new epoch of producer {producer_id}: \
                 {epoch} (request epoch), {sequence} (seq. number), {current_epoch} (current epoch)"
            ),
            Refusal::OldEpoch { producer_id, epoch, current_epoch } => write!(
                f,
                "Epoch of producer {producer_id} is {epoch}, which is smaller than the last seen \
                 epoch {current_epoch}"
            ),
            Refusal::NotTransactional { producer_id } => {
                write!(f, "Expected a transactional write from producer {producer_id}")
            }
        }
    }
}

/// The control record that ends a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndMarker {
    pub coordinator_epoch: i32,
    pub is_abort: bool,
}

impl EndMarker {
    /// Reads key and value of a control record; None for any that ends no transaction.
    pub fn read(key: &[u8], value: &[u8]) -> Option<EndMarker> {
        let (&[_, _, high, low], _) = key.split_first_chunk()?;
        let (&[_, _, epoch @ ..], _) = value.split_first_chunk::<6>()?;
        let is_abort = match i16::from_be_bytes([high, low]) {
            0 => true,
            1 => false,
            _ => return None,
        };
        Some(EndMarker { coordinator_epoch: i32::from_be_bytes(epoch), is_abort })
    }
}
