//! Why a partition does not do what it was asked.

use crate::error::ToCode;
use protocol::error::ErrorCode;
use storage::log::{Reason, RecordError, Refusal};

/// Why a partition does not do what it was asked, as a client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub code: ErrorCode,
    /// For people, where the code alone does not say enough.
    pub message: Option<String>,
    /// The records at fault, where it is some of a batch.
    pub record_errors: Vec<RecordError>,
}

impl Fault {
    /// Whether Apache Kafka counts it as a produce that failed: it leaves out what a client is to
    /// blame for, or gets over by asking again.
    pub fn is_unexpected(&self) -> bool {
        !matches!(
            self.code,
            ErrorCode::NotLeaderOrFollower
                | ErrorCode::MessageTooLarge
                | ErrorCode::RecordListTooLarge
                | ErrorCode::CorruptMessage
                | ErrorCode::KafkaStorageError
                | ErrorCode::UnsupportedCompressionType
        )
    }
}

impl From<ErrorCode> for Fault {
    fn from(code: ErrorCode) -> Fault {
        Fault { code, message: None, record_errors: Vec::new() }
    }
}

/// Where there is no place for words.
impl From<Fault> for ErrorCode {
    fn from(fault: Fault) -> ErrorCode {
        fault.code
    }
}

impl From<Refusal> for Fault {
    fn from(Refusal { reason, message, record_errors }: Refusal) -> Fault {
        // As in Apache Kafka, only the answer that lists records has a text beside it.
        let message = (!record_errors.is_empty()).then_some(message);
        Fault { code: reason.code(), message, record_errors }
    }
}

impl ToCode for Reason {
    fn code(&self) -> ErrorCode {
        match self {
            Reason::CorruptMessage => ErrorCode::CorruptMessage,
            Reason::InvalidRecord => ErrorCode::InvalidRecord,
            Reason::InvalidTimestamp => ErrorCode::InvalidTimestamp,
            Reason::MessageTooLarge => ErrorCode::MessageTooLarge,
            Reason::RecordListTooLarge => ErrorCode::RecordListTooLarge,
            Reason::UnsupportedForMessageFormat => ErrorCode::UnsupportedForMessageFormat,
            Reason::UnsupportedCompressionType => ErrorCode::UnsupportedCompressionType,
            Reason::OutOfOrderSequenceNumber => ErrorCode::OutOfOrderSequenceNumber,
            Reason::InvalidProducerEpoch => ErrorCode::InvalidProducerEpoch,
            Reason::InvalidTxnState => ErrorCode::InvalidTxnState,
            Reason::TransactionCoordinatorFenced => ErrorCode::TransactionCoordinatorFenced,
            // A client's offsets are not looked at: only a replica's can be out of order.
            Reason::OffsetsNotInOrder => ErrorCode::UnknownServerError,
        }
    }
}
