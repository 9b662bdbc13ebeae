//! Record batches: the unit that is produced, stored, replicated and fetched.

pub mod batch;
pub mod builder;
pub mod control;
mod error;
pub mod raw;
pub mod record;
mod window;

pub use batch::{
    Batch, BatchError, BatchHeader, HEADER_LEN, LOG_OVERHEAD, batches, crc_matches, crc_of,
};
pub use builder::{BatchBuilder, NewRecord};
pub use control::ControlKind;
pub use raw::RawRecord;
pub use record::{Record, RecordError, RecordIter, Walk, records, walk};
