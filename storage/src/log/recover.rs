//! Recovery: from the files in a folder to segments that can be trusted.

use super::append;
use super::config::Open;
use super::outcome::{Cut, Recovery};
use super::validate;
use crate::disk::{Entry, sync_dir};
use crate::epoch::LeaderEpochs;
use crate::error::Error;
use crate::last_stop::LastStop;
use crate::producer::{EndedTxn, Producers};
use crate::segment::name::{Fate, Kind, Name, OF_A_SEGMENT};
use crate::segment::recent::Mark;
use crate::segment::scan::{Found, ScanError};
use crate::segment::{Home, Located, Segment, Trust};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What stands in the folder, once leftovers are gone and a torn tail is cut.
#[derive(Debug)]
pub(super) struct Loaded {
    pub segments: Vec<Arc<Segment>>,
    /// Offsets of the snapshots of the producers, oldest first.
    pub snapshots: Vec<i64>,
    pub log_start: i64,
    pub log_end: i64,
}

/// `listed` is what stands in the folder.
pub(super) fn segments(
    home: &Home,
    open: &Open,
    listed: &[Entry],
    recovery: &mut Recovery,
) -> Result<Loaded, Error> {
    let names = tidy_up(home, names_of(listed), recovery)?;
    let bases: Vec<i64> = of_kind(&names, Kind::Log);
    let mut segments = open_all(home, open, &bases)?;
    let mut log_end = recover_tail(home, open, &mut segments, recovery)?;
    for segment in &mut segments {
        let has = |kind| names.contains(&(segment.base(), kind));
        if !has(Kind::TxnIndex) {
            segment.has_no_aborted();
        }
        // What was listed is from before the tail was recovered.
        let has_indexes = segment.has_indexes() || has(Kind::OffsetIndex) && has(Kind::TimeIndex);
        if segment.is_sealed() && !has_indexes {
            segment.rebuild_indexes(home)?;
            recovery.rebuilt_indexes.push(segment.base());
        }
    }
    let first = segments.first().map_or(open.log_start_offset, Segment::base);
    let log_start = open.log_start_offset.max(first).max(0);
    if log_end < log_start {
        // All that is left was deleted before the crash, or never counted.
        for segment in segments.drain(..) {
            remove_files(home, segment.base())?;
        }
    }
    if segments.is_empty() {
        segments.push(Segment::create(home, log_start, open.now_ms)?);
        log_end = log_start;
    }
    let segments = segments.into_iter().map(Arc::new).collect();
    Ok(Loaded { segments, snapshots: of_kind(&names, Kind::Snapshot), log_start, log_end })
}

type Names = BTreeSet<(i64, Kind)>;

fn of_kind(names: &Names, kind: Kind) -> Vec<i64> {
    names.iter().filter(|(_, other)| *other == kind).map(|(base, _)| *base).collect()
}

fn names_of(listed: &[Entry]) -> Vec<Name> {
    let name = |entry: &Entry| if entry.is_dir { None } else { Name::parse(&entry.name) };
    listed.iter().filter_map(name).collect()
}

/// Finishes what a deletion or a cleaner had begun, and returns the files that then stand there.
fn tidy_up(home: &Home, found: Vec<Name>, recovery: &mut Recovery) -> Result<Names, Error> {
    if found.iter().all(|name| name.fate == Fate::Live) {
        return without_orphans(home, found, recovery);
    }
    // A cleaner that was still writing had not begun to swap; swaps at or above are void too.
    let cleaned = found.iter().filter(|it| it.fate == Fate::Cleaned).map(|it| it.offset).min();
    let is_void = |name: &Name| match name.fate {
        Fate::Live => false,
        Fate::Deleted | Fate::Cleaned => true,
        Fate::Swap => cleaned.is_some_and(|cleaned| cleaned <= name.offset),
    };
    // What tells that others are void goes last.
    let (cleaned, others): (Vec<&Name>, Vec<&Name>) =
        found.iter().filter(|name| is_void(name)).partition(|it| it.fate == Fate::Cleaned);
    for name in others.into_iter().chain(cleaned) {
        gone(home.disk.remove(&path_of(home, name)))?;
        recovery.leftovers += 1;
    }
    let swaps: Vec<&Name> =
        found.iter().filter(|it| it.fate == Fate::Swap && !is_void(it)).collect();
    let (logs, beside): (Vec<&Name>, Vec<&Name>) =
        swaps.into_iter().partition(|it| it.kind == Kind::Log);
    for swap in &logs {
        // It stands for all segments from its base up to where it ends.
        let end = last_offset(home, swap)?.map_or(swap.offset, |last| last.saturating_add(1));
        for base in found.iter().filter(|it| it.fate == Fate::Live && it.kind == Kind::Log) {
            if (swap.offset..end.max(swap.offset + 1)).contains(&base.offset) {
                remove_files(home, base.offset)?;
            }
        }
    }
    // The logs last: one that stands in its place has all beside it.
    for swap in beside.into_iter().chain(logs.iter().copied()) {
        let has_log = logs.iter().any(|log| log.offset == swap.offset);
        // Indexes can be made again, and one without its log would mislead. Not so what is known of
        // transactions: Apache Kafka renames the log first.
        let is_of_live_log = swap.kind == Kind::TxnIndex
            && found
                .iter()
                .any(|it| (it.offset, it.kind, it.fate) == (swap.offset, Kind::Log, Fate::Live));
        if has_log || is_of_live_log {
            home.disk.rename(&path_of(home, swap), &home.path(swap.kind, swap.offset))?;
        } else {
            gone(home.disk.remove(&path_of(home, swap)))?;
        }
        recovery.leftovers += 1;
    }
    sync_dir(&*home.disk, &home.dir())?;
    without_orphans(home, names_of(&home.disk.list(&home.dir())?), recovery)
}

/// Removes indexes whose log is gone.
fn without_orphans(home: &Home, found: Vec<Name>, recovery: &mut Recovery) -> Result<Names, Error> {
    let mut names: Names = found
        .into_iter()
        .filter(|name| name.fate == Fate::Live)
        .map(|name| (name.offset, name.kind))
        .collect();
    let logs: BTreeSet<i64> = of_kind(&names, Kind::Log).into_iter().collect();
    let is_orphan = |(base, kind): &(i64, Kind)| *kind != Kind::Snapshot && !logs.contains(base);
    for (base, kind) in names.extract_if(.., is_orphan) {
        gone(home.disk.remove(&home.path(kind, base)))?;
        recovery.leftovers += 1;
    }
    Ok(names)
}

fn path_of(home: &Home, name: &Name) -> std::path::PathBuf {
    name.fate.path(&home.path(name.kind, name.offset))
}

fn last_offset(home: &Home, swap: &Name) -> Result<Option<i64>, Error> {
    let file = home.disk.open(&path_of(home, swap))?;
    let end = Mark { relative: u32::MAX, position: position(file.size()?)? };
    let segment = Segment::open(swap.offset, file, end, 0);
    let mut last = None;
    segment.visit(0, |found| {
        last = Some(found.last_offset);
        Ok(())
    })?;
    Ok(last)
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Unlinks the files of a segment.
pub(super) fn remove_files(home: &Home, base: i64) -> io::Result<()> {
    for kind in OF_A_SEGMENT {
        gone(home.disk.remove(&home.path(kind, base)))?;
    }
    Ok(())
}

fn position(size: u64) -> io::Result<u32> {
    u32::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge.into())
}

/// All segments, each ending where the next one begins.
fn open_all(home: &Home, open: &Open, bases: &[i64]) -> Result<Vec<Segment>, Error> {
    let mut segments = Vec::with_capacity(bases.len());
    for (index, base) in bases.iter().enumerate() {
        let file = home.disk.open(&home.path(Kind::Log, *base))?;
        let next = bases.get(index + 1).map(|next| next - base);
        let relative = next.and_then(|next| u32::try_from(next).ok()).unwrap_or(u32::MAX);
        let end = Mark { relative, position: position(file.size()?)? };
        segments.push(Segment::open(*base, file, end, open.now_ms));
    }
    Ok(segments)
}

/// Checks what may not have reached the disk, and cuts what did not. Returns the log's end.
fn recover_tail(
    home: &Home,
    open: &Open,
    segments: &mut Vec<Segment>,
    recovery: &mut Recovery,
) -> Result<i64, Error> {
    let Some(last) = segments.len().checked_sub(1) else { return Ok(open.log_start_offset) };
    // The segment that holds what is below the recovery point, and all behind it: one that ends there
    // may have been sealed behind the flush, and its indexes are not synced then.
    let holds = segments.partition_point(|it| it.base() < open.recovery_point).saturating_sub(1);
    let is_clean = open.last_stop == LastStop::Clean;
    let mut first = if is_clean { last } else { holds };
    // What is empty may be there in vain, see below: the one before says so.
    while !is_clean && 0 < first && segments.get(first).is_some_and(|it| it.size() == 0) {
        first -= 1;
    }
    let trust = match (is_clean, open.config.compact || open.may_have_gaps) {
        (true, _) => Trust::All,
        (false, true) => Trust::Offsets,
        (false, false) => Trust::Nothing,
    };
    // A batch reaches the file before the index, so what that tells was written whole. But who knows
    // which of them a crash has kept?
    let indexed = match open.last_stop {
        LastStop::Killed => i64::MAX,
        LastStop::Clean | LastStop::Crashed => open.recovery_point,
    };
    let mut end = 0;
    for index in first..=last {
        let Some(segment) = segments.get_mut(index) else { break };
        let found = segment.recover(home, (open.recovery_point, indexed), trust)?;
        recovery.scanned_bytes += found.scanned;
        end = found.next_offset;
        recovery.leftovers += drop_overtaken(home, segments, index, end)?;
        // The next one begins where this one ended, unless a cleaner was here. So what is missing
        // between them at or above the recovery point was written, and is lost.
        let next = segments.get(index + 1).map(Segment::base);
        let has_gap = next.is_some_and(|next| end < next)
            && open.recovery_point <= end
            && trust == Trust::Nothing;
        if found.flaw.is_some() || has_gap {
            let Some((segment, behind)) = segments.get(index..).and_then(<[_]>::split_first) else {
                break;
            };
            let seen = last_seen(segment, behind, found.cut_bytes)?;
            // First those behind: after the cut they would stand behind a gap, and nothing tells a
            // gap from what a cleaner leaves.
            let bytes = found.cut_bytes + drop_behind(home, segments, index)?;
            segments.get(index).map_or(Ok(()), Segment::cut)?;
            recovery.cut = Some(Cut { log_end: end, bytes, last_seen_offset: seen });
            break;
        }
        if index + 1 < segments.len()
            && let Some(segment) = segments.get(index)
        {
            segment.seal(home)?;
        }
    }
    Ok(end)
}

/// Unlinks empty segments that the one before them has outgrown: there was no room to begin them
/// for good, and a crash brought them back.
fn drop_overtaken(
    home: &Home,
    segments: &mut Vec<Segment>,
    index: usize,
    end: i64,
) -> io::Result<usize> {
    let mut count = 0;
    while let Some(next) = segments.get(index + 1)
        && next.base() < end
        && next.size() == 0
    {
        remove_files(home, next.base())?;
        segments.remove(index + 1);
        count += 1;
    }
    Ok(count)
}

/// The highest offset that a header behind the cut still tells, for the operator.
fn last_seen(segment: &Segment, behind: &[Segment], cut_bytes: u64) -> Result<Option<i64>, Error> {
    let (end, size) = segment.end();
    let mut seen = None;
    let mut note = |found: &Found| {
        seen = seen.max((end <= found.last_offset).then_some(found.last_offset));
        Ok::<(), ScanError>(())
    };
    segment.visit_behind(size, size + cut_bytes, &mut note)?;
    for segment in behind {
        segment.visit_behind(0, segment.size(), &mut note)?;
    }
    Ok(seen)
}

/// Unlinks the segments behind one, the last one first, so that a crash leaves no gap.
fn drop_behind(home: &Home, segments: &mut Vec<Segment>, index: usize) -> io::Result<u64> {
    let mut bytes = 0;
    while index + 1 < segments.len() {
        let Some(segment) = segments.pop() else { break };
        bytes += segment.file().size()?;
        remove_files(home, segment.base())?;
    }
    sync_dir(&*home.disk, &home.dir())?;
    Ok(bytes)
}

/// What was found by [`replay`].
#[derive(Debug, Default)]
pub(super) struct Replayed {
    /// Aborted transactions, with the base of the segment that their marker stands in.
    pub aborted: Vec<(i64, EndedTxn)>,
    /// Bytes of the batches that the producers' state had not seen.
    pub bytes: u64,
}

/// Takes the batches from `from` on into what is known of producers and epochs.
pub(super) fn replay(
    home: &Home,
    segments: &[Arc<Segment>],
    from: i64,
    (producers, epochs): (&mut Producers, &mut LeaderEpochs),
) -> Result<Replayed, Error> {
    let mut replayed = Replayed::default();
    let applied = producers.end();
    for segment in segments {
        let (end, _) = segment.end();
        if end <= from {
            continue;
        }
        let position = match segment.locate(home, from.max(segment.base()))? {
            Located::At { position, .. } => position,
            Located::Damaged(damage) => damage.end_position,
            Located::Behind => continue,
        };
        segment.visit(position, |found| {
            let Some(header) = &found.header else { return Ok(()) };
            if epochs.latest().is_none_or(|(latest, _)| latest < header.leader_epoch) {
                epochs.assign(header.leader_epoch, header.base_offset);
            }
            if applied <= header.base_offset {
                replayed.bytes += found.size;
                let marker = if header.is_control() && header.has_producer_id() {
                    let mut batch = vec![0; usize::try_from(found.size.min(4096)).unwrap_or(0)];
                    segment.file().read_exact_at(found.position, &mut batch)?;
                    validate::end_marker(header, &batch)
                } else {
                    None
                };
                let ended = producers.apply(header, marker);
                replayed
                    .aborted
                    .extend(ended.filter(|it| it.is_abort).map(|it| (segment.base(), it)));
            }
            Ok(())
        })?;
    }
    Ok(replayed)
}

/// Makes the indexes of aborted transactions say of what stands at or above `border`, and of what
/// below they have lost, what the batches say.
pub(super) fn mend_aborted(
    home: &Home,
    segments: &[Arc<Segment>],
    border: i64,
    aborted: &[(i64, EndedTxn)],
) -> Result<(), Error> {
    for segment in segments.iter().filter(|segment| border < segment.end().0) {
        let from = segment.mend_aborted(home, border)?;
        let of_it =
            aborted.iter().filter(|(base, it)| *base == segment.base() && from <= it.last_offset);
        for (_, ended) in of_it {
            segment.append_aborted(home, append::aborted(ended))?.sync()?;
            home.names_unsynced.store(true, Ordering::Release);
        }
    }
    Ok(())
}
