//! Memory that goes from batch to batch, so that it need not be got, and cleared, for each.

use protocol::compression::Contexts;

#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) contexts: Contexts,
    /// Records as they came out of their codec.
    pub(super) opened: Vec<u8>,
    /// Those of them that are kept.
    pub(super) records: Vec<u8>,
    /// The same with other times.
    pub(super) moved: Vec<u8>,
    pub(super) compressed: Vec<u8>,
    /// A batch that is written anew.
    pub(super) batch: Vec<u8>,
}
