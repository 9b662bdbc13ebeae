//! The first half of a pass: the last offset of each dirty key.

use super::buffers::Buffers;
use super::cleanable::Cleanable;
use super::error::CleanError;
use super::offset_map::OffsetMap;
use super::pass::{CleanOptions, Pass};
use super::records::taken_together;
use super::transactions::Transactions;
use super::walk::{Step, opened};
use crate::log::validate::end_marker;
use crate::segment::Located;
use protocol::records::batch::BatchHeader;

impl Pass<'_> {
    /// Notes the last offset of each dirty key, and up to which offset that is known.
    pub(super) fn fill_map(
        &mut self,
        cleanable: &Cleanable,
    ) -> Result<(OffsetMap, i64), CleanError> {
        let Cleanable { first_dirty, upto, .. } = *cleanable;
        let CleanOptions { map_bytes, load_factor, secret, .. } = *self.options;
        let keys_max = u64::try_from(upto - first_dirty).unwrap_or(0);
        let mut map = OffsetMap::new(map_bytes, load_factor, keys_max, secret);
        let mut transactions = Transactions::default();
        transactions.add(self.log.aborted_transactions(first_dirty, upto)?);
        let bytes_max = self.log.config().max_decompressed_bytes;
        for segment in self.log.segments_between(first_dirty, upto) {
            let position = match segment.locate(&self.log.home, first_dirty)? {
                Located::At { position, .. } => position,
                Located::Damaged(it) => {
                    return Err(CleanError::unreadable(it.offset, &"it is damaged"));
                }
                Located::Behind => continue,
            };
            let mut full_at = None;
            self.walk(&segment, position, |pass, found, bytes| {
                if upto <= found.base_offset {
                    return Ok(Step::Enough);
                }
                pass.done.mapped_bytes += found.size;
                let Some(header) = &found.header else { return Ok(Step::GoOn) };
                if header.is_control() {
                    transactions.is_of_nothing(header, end_marker(header, bytes));
                } else if !transactions.is_aborted(header) {
                    let Buffers { contexts, opened: into, .. } = &mut pass.buffers;
                    let records = opened(contexts, header, bytes, into, bytes_max)?;
                    full_at = note_keys(&mut map, header, records, first_dirty)?;
                }
                Ok(if full_at.is_some() { Step::Enough } else { Step::GoOn })
            })?;
            if let Some(full_at) = full_at {
                return Ok((map, full_at - 1));
            }
        }
        Ok((map, upto - 1))
    }
}

/// Notes the keys of a batch from `first_dirty` on. Some: the map is full, at this offset.
fn note_keys(
    map: &mut OffsetMap,
    header: &BatchHeader,
    mut records: &[u8],
    first_dirty: i64,
) -> Result<Option<i64>, CleanError> {
    let mut left = header.record_count;
    while 0 < left {
        for (record, hash) in taken_together(map, &mut records, header, &mut left)? {
            let offset = header.base_offset.wrapping_add(record.offset_delta.into());
            if record.key.is_some() && first_dirty <= offset && !map.put(hash, offset) {
                return Ok(Some(offset));
            }
        }
    }
    Ok(None)
}
