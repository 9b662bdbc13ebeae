//! Why the records of a batch cannot be read.

use super::batch::BatchError;
use std::fmt;

/// Why the records of a batch cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// The bytes are no whole batch.
    Batch(BatchError),
    /// The attributes name no codec.
    Codec(i16),
    /// The codec refuses the bytes.
    Decompression(String),
    /// More bytes come out than may.
    Limit(usize),
    /// The batch claims that many records.
    Count(i32),
    /// The record at that place contradicts itself, the batch or the order of offsets.
    Record { index: i32, fault: Fault },
    /// Bytes follow the last record.
    Trailing,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::Batch(error) => error.fmt(f),
            RecordError::Codec(codec) => write!(f, "no codec has the number {codec}"),
            RecordError::Decompression(cause) => write!(f, "decompression failed: {cause}"),
            RecordError::Limit(limit) => write!(f, "the records are of more than {limit} bytes"),
            RecordError::Count(count) => write!(f, "a batch does not hold {count} records"),
            RecordError::Record { index, fault } => write!(f, "record {index}: {fault}"),
            RecordError::Trailing => f.write_str("bytes follow the last record of the batch"),
        }
    }
}

impl std::error::Error for RecordError {}

impl From<BatchError> for RecordError {
    fn from(error: BatchError) -> RecordError {
        RecordError::Batch(error)
    }
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The batch ends before, or within, the record.
    Cut,
    /// Its length is negative, or not that of its fields.
    Length,
    /// A number that has no end, or too many bits.
    Number,
    /// A key, value or header ends beyond the record, or has a negative length.
    Field,
    /// Fewer headers than it claims, or a negative number.
    Headers,
    /// Its offset is not one above that of the record before it.
    OffsetDelta(i32),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Cut => f.write_str("the batch ends before it does"),
            Fault::Length => f.write_str("its length is not that of its fields"),
            Fault::Number => f.write_str("a number in it is no number"),
            Fault::Field => f.write_str("a field of it ends beyond it"),
            Fault::Headers => f.write_str("it has not the headers that it claims"),
            Fault::OffsetDelta(delta) => write!(f, "the offset delta {delta} is out of order"),
        }
    }
}
