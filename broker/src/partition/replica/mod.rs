//! One partition on this broker: its log, what this broker is to it, and who waits for it.

mod append;
pub mod read;
mod role;
mod sync;
mod trouble;
mod unsynced;

use super::dir::Dir;
use super::leader::{Effects, Event, Leader, Rules, Term};
use super::waiters::{PLENTY, Waiters, Wakeup};
use crate::metrics::{PartitionTraffic, Traffic};
use parking_lot::Mutex;
use protocol::error::ErrorCode;
use protocol::ids::{TopicName, TopicPartition, Uuid};
use role::Role;
use std::sync::Arc;
use storage::log::{Log, LogConfig};
use unsynced::Unsynced;

/// The hot object. Cheap when nothing happens; nothing in it is held across an await.
#[derive(Debug)]
pub struct Partition {
    pub topic: TopicName,
    pub topic_id: Uuid,
    pub number: i32,
    pub dir: Arc<Dir>,
    log: Arc<Log>,
    /// Under a lock, because appends, the flusher and `reconcile` all move it; the watermark is
    /// published while it is held, so that it never falls.
    role: Mutex<Role>,
    waiters: Waiters,
    pub traffic: PartitionTraffic,
    unsynced: Unsynced,
}

impl Partition {
    pub fn new(at: TopicPartition, topic_id: Uuid, dir: Arc<Dir>, log: Arc<Log>) -> Partition {
        Partition {
            topic: at.topic,
            topic_id,
            number: at.partition,
            dir,
            log,
            role: Mutex::default(),
            waiters: Waiters::default(),
            traffic: PartitionTraffic::default(),
            unsynced: Unsynced::default(),
        }
    }

    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    pub fn name(&self) -> TopicPartition {
        TopicPartition { topic: self.topic.clone(), partition: self.number }
    }

    /// Begins or goes on to lead it.
    ///
    /// The epoch goes into the log's list of epochs with its first batch: one without any leaves
    /// nothing to find out, and a start with many partitions writes no file for each.
    pub fn lead(self: &Arc<Partition>, term: Term, rules: Rules) {
        let effects = {
            let mut role = self.role.lock();
            if !role.takes_part() {
                return;
            }
            if let Some(leader) = role.leader_mut() {
                self.stepped(leader, Event::Decided(term, rules))
            } else {
                let (end, synced) = (self.log.log_end(), self.log.synced());
                let watermark = self.log.high_watermark();
                let mut leader = Leader::new(term, rules, end, synced, watermark);
                let effects = self.stepped(&mut leader, Event::Appended { end });
                role.move_to(Role::Leader(leader));
                effects
            }
        };
        self.tell(effects);
        self.want_sync(effects.wants_sync);
    }

    /// Stops to lead it. Whoever waits is told.
    pub fn resign(&self) {
        self.give_up(Role::Follower);
    }

    /// Takes no part in anything any more: its topic was deleted, or it moved to another broker.
    pub fn retire(&self) {
        self.give_up(Role::Gone);
        self.log.fail("the partition is no longer here");
        self.dir.synced(self.unsynced.take());
    }

    /// Whoever comes from now on is sent elsewhere, and a failure is no longer the disk's.
    pub(super) fn leave(&self) {
        self.give_up(Role::Left);
    }

    fn give_up(&self, for_role: Role) {
        self.role.lock().move_to(for_role);
        self.wake_all();
    }

    /// Whether it was retired: its name may be another's.
    pub(super) fn is_gone(&self) -> bool {
        self.role.lock().is_gone()
    }

    fn takes_part(&self) -> bool {
        self.role.lock().takes_part()
    }

    pub fn configure(self: &Arc<Partition>, config: Arc<LogConfig>, rules: Rules) {
        let effects = {
            let mut role = self.role.lock();
            // While nobody moves the leader: both know the durable mode, or neither.
            self.log.update_config(config);
            let Some(leader) = role.leader_mut() else { return };
            self.stepped(leader, Event::Configured(rules))
        };
        self.tell(effects);
        self.want_sync(effects.wants_sync);
    }

    /// The leader's epoch, if this broker leads and `claimed` is that epoch or none.
    pub fn leader_epoch(&self, claimed: i32) -> Result<i32, ErrorCode> {
        self.check_usable()?;
        let role = self.role.lock();
        let leader = role.leader()?;
        leader.check_epoch(claimed)?;
        Ok(leader.epoch())
    }

    /// Whether the controller has put a replica on that node.
    pub fn has_replica(&self, node: i32) -> bool {
        self.role.lock().leader().is_ok_and(|leader| leader.is_replica(node))
    }

    /// Counts for this partition and for all.
    pub fn count(&self, more: Traffic) {
        self.traffic.add(more);
        self.dir.traffic.add(more);
    }

    /// Moves `leader`, which is locked: so two raises of the watermark cannot overtake each other.
    fn stepped(&self, leader: &mut Leader, event: Event) -> Effects {
        let effects = leader.step(event);
        // Not only when it rises: the log may have held it back at what was synced then.
        self.log.raise_high_watermark(leader.watermark());
        effects
    }

    /// Tells whoever waited for `effects`. How much more readers see is not known: when the durable
    /// mode begins, what is synced stands below the watermark, and they see no further.
    fn tell(&self, effects: Effects) {
        let sees_more = effects.watermark.is_some() || effects.kept.is_some();
        let bytes = if sees_more { PLENTY } else { 0 };
        self.waiters.advanced(effects, bytes);
    }

    /// Whoever waits for bytes must look again: the log was cut at its start, or the broker stops.
    pub fn wake_readers(&self) {
        self.waiters.wake_readers();
    }

    /// Whoever waits for anything must look again, because it will not come.
    pub(super) fn wake_all(&self) {
        self.waiters.wake_all();
    }

    pub fn forget(&self, wakeup: &Arc<Wakeup>) {
        self.waiters.remove(wakeup);
    }
}

#[cfg(test)]
pub(in crate::partition) mod tests;
