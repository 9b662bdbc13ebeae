//! A topic and its partitions, as the metadata log has them.

use super::map::Map;
use crate::record::{NO_LEADER_CHANGE, PartitionChangeRecord, PartitionRecord, Unknown};
use protocol::ids::{TopicName, Uuid};
use std::sync::Arc;

/// In place of a leader: there is none.
pub const NO_LEADER: i32 = -1;

/// `leader_recovery_state` of a partition whose leader has all that was acknowledged.
pub const RECOVERED: i8 = 0;
/// `leader_recovery_state` of a partition whose leader was elected uncleanly, until it has healed.
pub const RECOVERING: i8 = 1;

#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    pub name: TopicName,
    pub id: Uuid,
    /// By number; there are no gaps once a topic's creation is applied.
    pub partitions: Map<i32, Arc<Partition>>,
}

impl Topic {
    pub fn partition(&self, number: i32) -> Option<&Arc<Partition>> {
        self.partitions.get(&number)
    }
}

/// Slices in boxes, because there are many thousand partitions, and most lists are empty or short.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// The first is the preferred leader.
    pub replicas: Box<[i32]>,
    pub isr: Box<[i32]>,
    pub removing_replicas: Box<[i32]>,
    pub adding_replicas: Box<[i32]>,
    /// The log directory of each replica, in their order; zero where it is not assigned, and
    /// [`Uuid::MIGRATING`] where nobody was asked yet.
    pub directories: Box<[Uuid]>,
    /// Out of the ISR, and known to have all that was acknowledged (KIP-966).
    pub eligible_leader_replicas: Box<[i32]>,
    /// The leader that was last, where neither ISR nor eligible replicas are left.
    pub last_known_elr: Box<[i32]>,
    /// Or [`NO_LEADER`].
    pub leader: i32,
    /// Raised with every election, and with every change that fences the old view of the leader.
    pub leader_epoch: i32,
    /// Raised with every change.
    pub partition_epoch: i32,
    pub leader_recovery_state: i8,
    pub(super) unknown: Unknown,
}

impl From<&PartitionRecord> for Partition {
    fn from(record: &PartitionRecord) -> Partition {
        // Records before version 1 name no directories.
        let directories = if record.directories.is_empty() {
            vec![Uuid::MIGRATING; record.replicas.len()]
        } else {
            record.directories.clone()
        };
        Partition {
            replicas: record.replicas.as_slice().into(),
            isr: record.isr.as_slice().into(),
            removing_replicas: record.removing_replicas.as_slice().into(),
            adding_replicas: record.adding_replicas.as_slice().into(),
            directories: directories.into(),
            eligible_leader_replicas: record
                .eligible_leader_replicas
                .as_deref()
                .unwrap_or(&[])
                .into(),
            last_known_elr: record.last_known_elr.as_deref().unwrap_or(&[]).into(),
            leader: record.leader,
            leader_epoch: record.leader_epoch,
            partition_epoch: record.partition_epoch,
            leader_recovery_state: record.leader_recovery_state,
            unknown: record.unknown.clone(),
        }
    }
}

impl Partition {
    /// The record that states this partition whole.
    pub fn to_record(&self, topic_id: Uuid, partition_id: i32) -> PartitionRecord {
        let some = |list: &[i32]| (!list.is_empty()).then(|| list.to_vec());
        PartitionRecord {
            partition_id,
            topic_id,
            replicas: self.replicas.to_vec(),
            isr: self.isr.to_vec(),
            removing_replicas: self.removing_replicas.to_vec(),
            adding_replicas: self.adding_replicas.to_vec(),
            leader: self.leader,
            leader_epoch: self.leader_epoch,
            partition_epoch: self.partition_epoch,
            directories: self.directories.to_vec(),
            leader_recovery_state: self.leader_recovery_state,
            eligible_leader_replicas: some(&self.eligible_leader_replicas),
            last_known_elr: some(&self.last_known_elr),
            unknown: self.unknown.clone(),
        }
    }

    /// Whether a broker holds, or is about to hold, a replica.
    pub fn has_replica(&self, broker: i32) -> bool {
        self.replicas.contains(&broker)
    }

    /// The directory of a broker's replica; zero where it is not assigned.
    pub fn directory_of(&self, broker: i32) -> Option<Uuid> {
        let at = self.replicas.iter().position(|replica| *replica == broker)?;
        Some(self.directories.get(at).copied().unwrap_or(Uuid::ZERO))
    }

    /// Every change raises the partition epoch; one that names a leader, even the same, raises
    /// the leader epoch.
    pub(super) fn merge(&mut self, change: &PartitionChangeRecord) {
        fn set<T: Clone>(list: &mut Box<[T]>, new: Option<&Vec<T>>) {
            if let Some(new) = new {
                *list = new.as_slice().into();
            }
        }
        set(&mut self.isr, change.isr.as_ref());
        set(&mut self.replicas, change.replicas.as_ref());
        set(&mut self.removing_replicas, change.removing_replicas.as_ref());
        set(&mut self.adding_replicas, change.adding_replicas.as_ref());
        set(&mut self.directories, change.directories.as_ref());
        set(&mut self.eligible_leader_replicas, change.eligible_leader_replicas.as_ref());
        set(&mut self.last_known_elr, change.last_known_elr.as_ref());
        if change.leader != NO_LEADER_CHANGE {
            self.leader = change.leader;
            self.leader_epoch = self.leader_epoch.saturating_add(1);
        }
        if change.leader_recovery_state != -1 {
            self.leader_recovery_state = change.leader_recovery_state;
        }
        self.partition_epoch = self.partition_epoch.saturating_add(1);
    }
}
