//! Which log directory a new partition goes to.

use crate::partition::{Dir, Table};
use protocol::ids::Uuid;
use std::sync::Arc;

/// How many partitions each directory holds, in the order of the directories.
#[derive(Debug)]
pub(super) struct Load(Vec<usize>);

impl Load {
    pub(super) fn of(table: &Table, dirs: &[Arc<Dir>]) -> Load {
        let mut load = vec![0; dirs.len()];
        for partition in table.partitions() {
            let at = dirs.iter().position(|dir| Arc::ptr_eq(dir, &partition.dir));
            if let Some(count) = at.and_then(|at| load.get_mut(at)) {
                *count += 1;
            }
        }
        Load(load)
    }

    /// The directory that the metadata names; where it names none, the one with the fewest
    /// partitions, as in Apache Kafka. None: it is not online.
    pub(super) fn choose(&mut self, dirs: &[Arc<Dir>], assigned: Uuid) -> Option<Arc<Dir>> {
        let online = dirs.iter().zip(&mut self.0).filter(|(dir, _)| dir.log_dir().is_some());
        let (dir, count) = if assigned.is_zero() {
            online.min_by_key(|(_, count)| **count)?
        } else {
            online.into_iter().find(|(dir, _)| dir.id == assigned)?
        };
        *count += 1;
        Some(Arc::clone(dir))
    }
}
