//! What must hold of a log that is opened after a power failure.

use crate::model::{Model, Sent};
use crate::world::{Opened, World, folder};
use protocol::records::batch::{Batch, batches};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use storage::disk::sim::SimDisk;
use storage::disk::{Disk, read_whole};
use storage::last_stop::LastStop;
use storage::log::{AppendContext, Log, LogConfig, Origin, ReadError};

/// What a failure took from the log's memory and from the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The process died; the kernel lives on.
    Process,
    Power,
}

/// Bytes from the recovery point back to the index entry before it, in these tests.
const GAP: u64 = 1400;
/// A segment's size: the active one's index is not synced, so a power failure may take it.
const SEGMENT: u64 = 2000;

/// Every batch, from the start of the log to its end.
fn read_all(log: &Log, context: &str) -> Vec<Batch> {
    let mut all: Vec<Batch> = Vec::new();
    let mut offset = log.log_start();
    while offset < log.log_end() {
        let slice = log.read(offset, 700, log.log_end(), true);
        let slice = slice.unwrap_or_else(|error| panic!("{context}: read {offset}: {error:?}"));
        let bytes = slice.read().unwrap();
        // The last one may be cut off.
        for batch in batches(bytes).map_while(Result::ok) {
            batch.check_crc().unwrap_or_else(|error| panic!("{context}: {error}"));
            let expected = all.last().map(|last| last.header.next_offset());
            assert!(
                expected.is_none_or(|expected| expected == batch.header.base_offset),
                "{context}: {} does not follow {expected:?}",
                batch.header.base_offset
            );
            all.push(batch);
        }
        let next = all.last().map_or(offset, |last| last.header.next_offset());
        assert!(offset < next, "{context}: nothing at {offset}, the log ends at {}", log.log_end());
        offset = next;
    }
    all
}

fn is_same(batch: &Batch, sent: &Sent) -> bool {
    batch.header.base_offset == sent.base
        && batch.header.producer_id == sent.producer_id
        && batch.bytes[61..] == sent.bytes[61..]
}

/// The log holds exactly what the model says, from its start on.
pub(crate) fn whole(world: &World) {
    let (log, model) = (world.log(), &world.model);
    assert_eq!(log.log_end(), model.end());
    compare(&read_all(log, "whole"), &model.batches, log, "whole");
}

fn compare(found: &[Batch], sent: &[Sent], log: &Log, context: &str) {
    let (start, end) = (log.log_start(), log.log_end());
    // An empty log may start inside of what was a batch.
    let is_there = |sent: &&Sent| start < sent.end() && sent.base < end && start < end;
    let expected: Vec<&Sent> = sent.iter().filter(is_there).collect();
    assert_eq!(found.len(), expected.len(), "{context}");
    for (batch, sent) in found.iter().zip(expected) {
        assert!(is_same(batch, sent), "{context}: {:?} is not {sent:?}", batch.header);
    }
}

/// Opens what a failure left, and holds it against what was promised; then goes on. Returns what
/// the start took the failure for.
pub(crate) fn after(
    model: &Model,
    (lost, left): (Lost, &SimDisk),
    config: &Arc<LogConfig>,
    context: &str,
) -> LastStop {
    let (opened, recovery) = World::open(left, config.clone())
        .unwrap_or_else(|error| panic!("{context}: cannot open: {error}"));
    let log = &opened.log;
    let (start, end) = (log.log_start(), log.log_end());
    assert_eq!(recovery.damaged, [], "{context}");
    let possible = model.possible();

    // Nothing synced is lost, and nothing is there that was not sent.
    let highest = possible.last().map_or(0, Sent::end).max(model.end());
    // Nor, as long as the kernel lives, anything that was acknowledged.
    let kept = if lost == Lost::Process { model.end() } else { model.synced };
    let lowest = kept.min(model.cutting_to.unwrap_or(i64::MAX));
    assert!((lowest..=highest).contains(&end), "{context}: {end} not in {lowest}..={highest}");
    let (least, most) = model.log_start;
    assert!(
        (least..=most.max(least)).contains(&start),
        "{context}: {start} not in {least}..={most}"
    );
    let found = read_all(log, context);
    compare(&found, &possible, log, context);
    // The epochs are what the batches say, whatever of their file was lost. Where a deletion was
    // interrupted they may begin where it was to end.
    for Batch { header, .. } in found.iter().filter(|it| most <= it.header.base_offset) {
        let (at, epoch) = (header.base_offset, header.leader_epoch);
        assert_eq!(log.epoch_of(at), Some(epoch), "{context}: the epoch at {at}");
    }

    // Only while the kernel lives on may the start rely on what was not synced.
    let is_killed = opened.last_stop == LastStop::Killed;
    assert!(!is_killed || lost == Lost::Process, "{context}: {:?}", opened.last_stop);

    // Recovery reads what follows the recovery point, not the log.
    let since = possible.iter().filter(|sent| opened.recovery_point < sent.end());
    let since: u64 = since.map(|sent| sent.bytes.len() as u64).sum();
    let scanned = recovery.scanned_bytes;
    let before = if lost == Lost::Process { GAP } else { SEGMENT };
    assert!(scanned <= since + before, "{context}: scanned {scanned}, {since} follow the point");

    go_on(model, &opened, context);
    opened.last_stop
}

/// The producers send again what they have no answer to, as they do; nothing is there twice.
fn go_on(model: &Model, opened: &Opened, context: &str) {
    let log = &opened.log;
    let (start, end) = (log.log_start(), log.log_end());
    let append = |sent: &Sent| {
        let append = AppendContext { leader_epoch: 9, now_ms: 2000, origin: Origin::Client };
        log.append(sent.bytes.clone(), &append)
            .unwrap_or_else(|error| panic!("{context}: {sent:?} again: {error:?}"))
    };
    let possible = model.possible();
    for producer_id in 0..4 {
        let of_it = possible.iter().filter(|sent| sent.producer_id == producer_id);
        let (kept, lost): (Vec<&Sent>, Vec<&Sent>) = of_it.partition(|sent| sent.end() <= end);
        if let Some(last) = kept.last().filter(|last| start <= last.base) {
            let again = append(last);
            assert!(again.duplicate, "{context}: {last:?} is there twice");
            assert_eq!(again.base_offset, last.base, "{context}");
        }
        for sent in lost {
            assert!(!append(sent).duplicate, "{context}: {sent:?} was lost");
        }
    }
    log.flush(log.log_end()).unwrap_or_else(|error| panic!("{context}: {error}"));
    let mut next: BTreeMap<i64, i32> = BTreeMap::new();
    for Batch { header, .. } in read_all(log, context) {
        if header.has_producer_id() {
            let expected = next.insert(header.producer_id, header.last_sequence() + 1);
            assert!(expected.is_none_or(|it| it == header.base_sequence), "{context}: {header:?}");
        }
    }
}

/// The log files and their sizes.
pub(crate) fn log_sizes(disk: &SimDisk) -> BTreeMap<String, u64> {
    let entries = disk.list(&folder()).unwrap().into_iter();
    let logs = entries.filter(|entry| entry.name.ends_with(".log"));
    logs.map(|entry| {
        let path = folder().join(entry.name);
        let size = disk.open(&path).unwrap().size().unwrap();
        (path.to_str().unwrap().to_owned(), size)
    })
    .collect()
}

/// Which batch a byte of a log file belongs to, and which byte of it that is.
pub(crate) fn byte_at(disk: &SimDisk, path: &str, at: u64) -> (Batch, u64) {
    let file = disk.open(Path::new(path)).unwrap();
    let bytes = read_whole(&*file, 1 << 20).unwrap();
    let mut position = 0;
    for batch in batches(bytes.into()).map_while(Result::ok) {
        let end = position + batch.bytes.len() as u64;
        if at < end {
            return (batch, at - position);
        }
        position = end;
    }
    panic!("no batch holds byte {at} of {path}");
}

/// The batches that cannot be read: a read says so, or their checksums do not match.
pub(crate) fn unreadable(opened: &Opened, model: &Model, context: &str) -> Vec<i64> {
    let log = &opened.log;
    let is_bad = |sent: &&Sent| match log.read(sent.base, 1, log.log_end(), true) {
        Ok(slice) => !batches(slice.read().unwrap()).next().is_some_and(|batch| {
            batch.is_ok_and(|batch| batch.check_crc().is_ok() && is_same(&batch, sent))
        }),
        Err(ReadError::Corrupt { .. }) => true,
        Err(other) => panic!("{context}: {}: {other:?}", sent.base),
    };
    model.batches.iter().filter(is_bad).map(|sent| sent.base).collect()
}
