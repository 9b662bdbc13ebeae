//! What is known of a segment's index of aborted transactions.

use crate::txn_index::AbortedTxn;
use parking_lot::Mutex;

/// Held while the file is changed, and never while it is read: whoever appends waits for no reader.
#[derive(Debug, Default)]
pub(super) struct Aborted(pub(super) Mutex<Known>);

#[derive(Debug, Default)]
pub(super) struct Known {
    /// All that stands in the file; None: it is not known, or too much.
    pub(super) entries: Option<Vec<AbortedTxn>>,
    /// How often the file was changed: what was read before says nothing of it now.
    pub(super) changes: u64,
}
