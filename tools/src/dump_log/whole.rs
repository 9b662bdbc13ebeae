//! The small files that are read whole: producer states and indexes of transactions.

use crate::failure::Failure;
use crate::output::{Output, complain};
use std::path::Path;
use storage::disk::{Disk, read_whole};
use storage::producer::snapshot;
use storage::txn_index;

/// Bytes of a snapshot that are read.
const SNAPSHOT_BYTES_MAX: usize = 512 << 20;

/// The producers of a `.snapshot`, in the order in which they stand there.
pub(super) fn dump_producers(
    path: &Path,
    disk: &dyn Disk,
    out: &mut Output,
) -> Result<(), Failure> {
    let told = |why| Failure::told(format_args!("{}: {why}", path.display()));
    let file = disk.open_input(path).map_err(|error| told(error.to_string()))?;
    let bytes = read_whole(&*file, SNAPSHOT_BYTES_MAX).map_err(|error| told(error.to_string()))?;
    let producers = match snapshot::decode(&bytes) {
        Ok(producers) => producers,
        Err(why) => {
            out.flush()?;
            complain(&format!("{}: {why}", path.display()));
            return Ok(());
        }
    };
    for producer in producers {
        let txn = producer.current_txn_first_offset;
        let mut line = format!(
            "producerId: {} producerEpoch: {} coordinatorEpoch: {} currentTxnFirstOffset: {} \
             lastTimestamp: {}",
            producer.producer_id,
            producer.epoch,
            producer.coordinator_epoch,
            txn.map_or("OptionalLong.empty".to_owned(), |it| format!("OptionalLong[{it}]")),
            producer.last_timestamp_ms
        );
        if let Some(mark) = producer.marks().last() {
            line += &format!(
                " firstSequence: {} lastSequence: {} lastOffset: {} offsetDelta: {} timestamp: {}",
                mark.first_sequence(),
                mark.last_sequence,
                mark.last_offset,
                mark.offset_delta,
                mark.timestamp_ms
            );
        }
        out.line(line)?;
    }
    Ok(())
}

/// The aborted transactions of a `.txnindex`.
pub(super) fn dump_transactions(
    path: &Path,
    disk: &dyn Disk,
    out: &mut Output,
) -> Result<(), Failure> {
    let opened = disk.open_input(path);
    let file =
        opened.map_err(|error| Failure::told(format_args!("{}: {error}", path.display())))?;
    for aborted in txn_index::decode(&*file, path).map_err(Failure::told)? {
        out.line(format_args!(
            "version: 0 producerId: {} firstOffset: {} lastOffset: {} lastStableOffset: {}",
            aborted.producer_id,
            aborted.first_offset,
            aborted.last_offset,
            aborted.last_stable_offset
        ))?;
    }
    Ok(())
}
