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

    /// The directory that the metadata names; where it names none, or the partition is older than
    /// such names, the one with the fewest partitions, as in Apache Kafka. Or why there is none: one
    /// that is not `new` may lie in a directory that is not online, and is not made once more beside
    /// it.
    pub(super) fn choose(
        &mut self,
        dirs: &[Arc<Dir>],
        assigned: Uuid,
        new: bool,
    ) -> Result<Arc<Dir>, String> {
        let is_anywhere = [Uuid::ZERO, Uuid::MIGRATING].contains(&assigned);
        let offline = dirs.iter().find(|dir| dir.log_dir().is_none());
        if let Some(offline) = offline.filter(|_| is_anywhere && !new) {
            let why = offline.refusal().unwrap_or_default();
            return Err(format!("it may lie in a log directory that is not online: {why}"));
        }
        let mut online = dirs.iter().zip(&mut self.0).filter(|(dir, _)| dir.log_dir().is_some());
        let chosen = if is_anywhere {
            online.min_by_key(|(_, count)| **count)
        } else {
            online.find(|(dir, _)| dir.id == assigned)
        };
        let Some((dir, count)) = chosen else {
            return Err(format!("it lies in log directory {assigned}, which is not online here"));
        };
        *count += 1;
        Ok(Arc::clone(dir))
    }
}
