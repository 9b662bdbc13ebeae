//! What the checkpoints of a log directory say: where each of its logs stands, for the next start.

use crate::partition::checkpoints::Checkpoint;
use crate::partition::dir::Dir;
use crate::partition::replica::Partition;
use crate::partition::table::Table;
use std::io;
use std::sync::Arc;
use storage::checkpoint::{Offsets, read_offsets};
use storage::error::{Error, is_shortage};

/// Says whether they are on disk now.
pub(super) fn recovery_points(dir: &Arc<Dir>, table: &Table) -> bool {
    let has_unnamed = dir.take_unnamed();
    let point = |it: &Partition| Some(it.log().recovery_point());
    let is_written = write(dir, table, Checkpoint::RecoveryPoints, point);
    if !is_written && has_unnamed {
        dir.has_new_log();
    }
    is_written
}

/// Only those that are not 0, which is what a reader takes for the others. Says whether they are on
/// disk now.
pub(super) fn log_starts(dir: &Arc<Dir>, table: &Table) -> bool {
    let start = |it: &Partition| Some(it.log().log_start()).filter(|start| 0 < *start);
    write(dir, table, Checkpoint::LogStarts, start)
}

pub(super) fn watermarks(dir: &Arc<Dir>, table: &Table) {
    write(dir, table, Checkpoint::Watermarks, |it| Some(it.log().high_watermark()));
}

/// Only those that were ever cleaned.
pub(super) fn clean_offsets(
    dir: &Arc<Dir>,
    table: &Table,
    clean_to: impl Fn(&Partition) -> Option<i64>,
) {
    write(dir, table, Checkpoint::CleanOffsets, clean_to);
}

/// What [`clean_offsets`] has written. None: there is nothing that could be used.
pub(super) fn read_clean_offsets(dir: &Dir) -> Option<Offsets> {
    if dir.failure().is_some() {
        return None;
    }
    let read = dir.checkpoints.read((&*dir.disk, &dir.path), Checkpoint::CleanOffsets);
    let name = Checkpoint::CleanOffsets.name();
    read.inspect_err(|error| tracing::warn!("{name} in {}: {error}", dir.path.display())).ok()
}

/// Says whether the file tells now what is so.
fn write(
    dir: &Arc<Dir>,
    table: &Table,
    which: Checkpoint,
    offset: impl Fn(&Partition) -> Option<i64>,
) -> bool {
    if dir.failure().is_some() {
        return false;
    }
    let offsets = || {
        let mut offsets = of_unopened(dir, table, which)?;
        let open = table.partitions_in(dir);
        // What was deleted a moment ago has an heir by its name, perhaps.
        let open = open.iter().filter(|it| !it.is_gone());
        offsets.extend(open.filter_map(|it| Some((it.name(), offset(it)?))));
        Ok(offsets)
    };
    match dir.checkpoints.write((&*dir.disk, &dir.path), which, offsets) {
        Ok(()) => true,
        // A full disk is not a broken one: the file of before stands, and is true enough.
        Err(error) if is_shortage(&error) => {
            let (name, path) = (which.name(), dir.path.display());
            tracing::warn!("Could not write {name} in {path}: {error}");
            false
        }
        Err(error) => {
            dir.fail(&format!("writing {}: {error}", which.name()));
            false
        }
    }
}

/// What the file says of partitions that could not be opened yet: they will need it.
fn of_unopened(dir: &Arc<Dir>, table: &Table, which: Checkpoint) -> io::Result<Offsets> {
    let unopened = table.unopened_in(dir);
    if unopened.is_empty() {
        return Ok(Offsets::new());
    }
    let mut offsets = match read_offsets(&*dir.disk, &dir.path.join(which.name())) {
        Ok(offsets) => offsets,
        Err(Error::Disk(error) | Error::Full(error)) => return Err(error),
        // Nothing that a start could use.
        Err(Error::Missing | Error::Malformed { .. } | Error::Corrupt { .. }) => Offsets::new(),
    };
    offsets.retain(|at, _| unopened.contains(at));
    Ok(offsets)
}
