//! Record batches: the unit that is produced, stored, replicated and fetched.

pub mod batch;

pub use batch::{Batch, BatchError, BatchHeader, HEADER_LEN, LOG_OVERHEAD, batches};
