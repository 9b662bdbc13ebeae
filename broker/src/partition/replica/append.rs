//! Appends to a partition, and when they may be answered.

use super::Partition;
use crate::metrics::Traffic;
use crate::partition::fault::Fault;
use crate::partition::leader::{ACKS_ALL, Event, Leader};
use crate::partition::waiters::{PLENTY, Wakeup};
use bytes::Bytes;
use protocol::error::ErrorCode;
use std::sync::Arc;
use storage::log::{AppendContext, Appended, Origin};

/// Who appends what, and when.
struct Batch {
    records: Bytes,
    origin: Origin,
    now_ms: i64,
}

impl Partition {
    /// Appends one batch of a client as its leader.
    pub fn append(
        self: &Arc<Partition>,
        records: Bytes,
        acks: i16,
        now_ms: i64,
    ) -> Result<Appended, Fault> {
        let batch = Batch { records, origin: Origin::Client, now_ms };
        self.append_if(batch, |leader| leader.accepts(acks))
    }

    /// Appends one batch of a coordinator of this broker, which believes that it leads in `epoch`.
    /// Only whole batches with a right checksum.
    pub fn append_own(
        self: &Arc<Partition>,
        records: Bytes,
        epoch: i32,
        now_ms: i64,
    ) -> Result<Appended, Fault> {
        let batch = Batch { records, origin: Origin::Coordinator, now_ms };
        self.append_if(batch, |leader| match leader.epoch() == epoch {
            true => leader.accepts(ACKS_ALL),
            false => Err(ErrorCode::NotLeaderOrFollower),
        })
    }

    fn append_if(
        self: &Arc<Partition>,
        batch: Batch,
        accepts: impl FnOnce(&Leader) -> Result<(), ErrorCode>,
    ) -> Result<Appended, Fault> {
        let bytes = batch.records.len() as u64;
        let appended = self.try_append(batch, accepts);
        self.count_append(bytes, &appended);
        if let Ok(appended) = &appended
            && !appended.duplicate
        {
            self.moved(bytes, appended.last_offset + 1);
        }
        appended
    }

    fn try_append(
        &self,
        Batch { records, origin, now_ms }: Batch,
        accepts: impl FnOnce(&Leader) -> Result<(), ErrorCode>,
    ) -> Result<Appended, Fault> {
        self.check_usable()?;
        let leader_epoch = {
            let role = self.role.lock();
            let leader = role.leader()?;
            accepts(leader)?;
            leader.epoch()
        };
        if !self.dir.has_room(records.len() as u64, origin) {
            return Err(self.no_room());
        }
        let context = AppendContext { leader_epoch, now_ms, origin };
        self.log.append(records, &context).map_err(|error| self.refused(error))
    }

    fn count_append(&self, bytes: u64, appended: &Result<Appended, Fault>) {
        let mut more = Traffic { produce_requests: 1, ..Traffic::default() };
        match appended {
            Ok(it) if it.duplicate => {}
            Ok(it) => {
                let messages = it.last_offset - it.base_offset + 1;
                more.messages_in = u64::try_from(messages).unwrap_or(0);
                more.bytes_in = bytes;
            }
            Err(fault) => {
                let is_too_large = [ErrorCode::MessageTooLarge, ErrorCode::RecordListTooLarge];
                more.bytes_rejected = if is_too_large.contains(&fault.code) { bytes } else { 0 };
                more.failed_produce_requests = u64::from(fault.is_unexpected());
            }
        }
        self.count(more);
    }

    /// The log has grown by `bytes`, to `end`, and perhaps beyond.
    pub(super) fn moved(self: &Arc<Partition>, bytes: u64, end: i64) {
        if self.dir.appended(bytes, || self.unsynced.add(bytes)) {
            self.dir.write_back(Arc::clone(self) as _);
        }
        let (effects, is_visible) = {
            let mut role = self.role.lock();
            let Some(leader) = role.leader_mut() else {
                // Whoever retired it may have looked before there was anything to give back.
                if role.is_gone() {
                    self.dir.synced(self.unsynced.take());
                }
                return;
            };
            let effects = self.stepped(leader, Event::Appended { end: self.log.log_end() });
            (effects, end <= leader.watermark())
        };
        // By whom the watermark was raised past it, by this append or by a later one, is the same.
        let gained = if is_visible { self.gained(bytes) } else { 0 };
        self.waiters.advanced(effects, gained);
        self.want_sync(effects.wants_sync);
    }

    /// What a waiting reader gains when the watermark passes `bytes`. While a transaction is
    /// open or just ended, more may become visible than was appended.
    fn gained(&self, bytes: u64) -> i64 {
        let held_back = self.log.last_stable_offset() < self.log.high_watermark();
        let bytes = if held_back { PLENTY } else { i64::try_from(bytes).unwrap_or(0) };
        bytes.max(1)
    }

    /// Whether an append with these `acks` that ends before `end` may be answered: None while it
    /// may not yet.
    pub fn acknowledged(&self, end: i64, acks: i16) -> Option<Result<(), ErrorCode>> {
        // What had begun when the disk failed may be there or not.
        if self.dir.failure().is_some() {
            return Some(Err(ErrorCode::RequestTimedOut));
        }
        match self.role.lock().leader() {
            Ok(leader) => (end <= leader.promised(acks)).then(|| leader.accepted(acks)),
            Err(code) => Some(Err(code)),
        }
    }

    /// Wakes `wakeup` once when an append with these `acks` that ends before `end` may be answered,
    /// which it may already.
    pub fn await_promise(&self, end: i64, acks: i16, wakeup: &Arc<Wakeup>) {
        self.waiters.add_writer(acks, end, wakeup);
        if self.acknowledged(end, acks).is_some() {
            self.waiters.promised(acks, end);
        }
    }
}
