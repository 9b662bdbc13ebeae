//! Compaction: of each key the last record is kept, at its offset.
//!
//! A pass reads what is dirty and notes the last offset of each key in an offset map; then it reads
//! all from the log's start on and writes anew what the map does not supersede, group by group of
//! segments. The rules are those of Kafka's `Cleaner` (KIP-58, KIP-354, KIP-534):
//!
//! - Offsets stay. A batch that loses records keeps its base offset, its last offset and with them
//!   its sequence numbers.
//! - A tombstone stays `delete.retention.ms` from the pass on that first met it as the last record
//!   of its key; the batch says until when.
//! - Records of aborted transactions go whatever their keys are; a marker goes when nothing of its
//!   transaction is left, and as late as a tombstone.
//! - The last batch of each producer stays, if need be empty, and so does the last one of the pass.
//!
//! Messages of the formats before Kafka 0.11 are kept as they stand.

mod batch;
mod buffers;
mod cleanable;
mod error;
mod groups;
mod keys;
mod offset_map;
mod output;
mod pass;
mod records;
mod rewrite;
mod swap;
mod transactions;
mod walk;

pub use cleanable::Cleanable;
pub use error::CleanError;
pub use pass::{CleanOptions, Cleaned, Supervisor};

use super::Log;
use crate::segment::Segment;
use batch::{LastBatches, Rules};
use pass::Pass;
use std::sync::Arc;
use transactions::Transactions;

impl Log {
    /// Cleans what is clean already and what of `cleanable` finds room in the offset map. One pass at
    /// a time; appends and reads go on. What is in place when it fails stays, and is no loss.
    pub fn clean(
        &self,
        cleanable: &Cleanable,
        options: &CleanOptions,
        supervisor: &mut dyn Supervisor,
    ) -> Result<Cleaned, CleanError> {
        let mut pass = Pass::new(self, options, supervisor);
        let (map, latest) = pass.fill_map(cleanable)?;
        pass.done.keys = map.len();
        let config = self.config();
        let rules = Rules {
            map: &map,
            latest,
            upto: cleanable.upto,
            now_ms: options.now_ms,
            delete_retention_ms: config.delete_retention_ms,
            decompressed_bytes_max: config.max_decompressed_bytes,
            producers: LastBatches::of(self.writer.lock().producers.iter()),
        };
        let mut transactions = Transactions::default();
        let segments = self.segments_between(i64::MIN, latest + 1);
        for group in groups::groups(&segments, &config, &self.home)? {
            pass.clean_group(&group, &rules, &mut transactions)?;
        }
        pass.done.end = latest + 1;
        Ok(pass.done)
    }

    /// The segments that hold offsets from `from` up to `to`.
    fn segments_between(&self, from: i64, to: i64) -> Vec<Arc<Segment>> {
        let segments = self.segments.load_full();
        let first = Log::segment_of(&segments, from).map_or(0, |(index, _)| index);
        let rest = segments.iter().skip(first);
        rest.take_while(|it| it.base() < to).cloned().collect()
    }
}
