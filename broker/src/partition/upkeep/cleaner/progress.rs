//! How far each log is clean, which are being cleaned, and which cannot be.

use crate::partition::replica::Partition;
use protocol::ids::Uuid;
use std::collections::{BTreeMap, BTreeSet};
use storage::checkpoint::Offsets;

/// A partition of this life of its topic: one that is made again begins anew.
type Of = (Uuid, i32);

fn of(partition: &Partition) -> Of {
    (partition.topic_id, partition.number)
}

#[derive(Debug, Default)]
pub(super) struct Progress {
    clean_to: BTreeMap<Of, i64>,
    busy: BTreeSet<Of>,
    unreadable: BTreeSet<Of>,
    /// Those that could not be cleaned in this round.
    passed_over: BTreeSet<Of>,
}

impl Progress {
    /// Takes over what a checkpoint says of a partition.
    pub(super) fn load(&mut self, partition: &Partition, checkpoint: &Offsets) {
        if let Some(offset) = checkpoint.get(&partition.name()) {
            self.clean_to.entry(of(partition)).or_insert(*offset);
        }
    }

    /// Up to where it is clean; None: it never was.
    pub(super) fn clean_to(&self, partition: &Partition) -> Option<i64> {
        self.clean_to.get(&of(partition)).copied()
    }

    pub(super) fn set_clean_to(&mut self, partition: &Partition, offset: i64) {
        self.clean_to.insert(of(partition), offset);
    }

    /// Whether somebody may clean it now.
    pub(super) fn is_free(&self, partition: &Partition) -> bool {
        let of = of(partition);
        ![&self.busy, &self.unreadable, &self.passed_over].iter().any(|it| it.contains(&of))
    }

    /// False: somebody else has it.
    pub(super) fn claim(&mut self, partition: &Partition) -> bool {
        self.is_free(partition) && self.busy.insert(of(partition))
    }

    pub(super) fn release(&mut self, partition: &Partition) {
        self.busy.remove(&of(partition));
    }

    /// It is left alone until the process starts again.
    pub(super) fn give_up(&mut self, partition: &Partition) {
        self.unreadable.insert(of(partition));
    }

    /// It is left alone until the next round.
    pub(super) fn pass_over(&mut self, partition: &Partition) {
        self.passed_over.insert(of(partition));
    }

    /// All that was left to be tried has been.
    pub(super) fn begin_round(&mut self) {
        self.passed_over.clear();
    }

    /// Forgets all but these partitions.
    pub(super) fn keep<'a>(&mut self, open: impl Iterator<Item = &'a Partition>) {
        let open: BTreeSet<Of> = open.map(of).collect();
        self.clean_to.retain(|it, _| open.contains(it));
        self.unreadable.retain(|it| open.contains(it));
    }
}
