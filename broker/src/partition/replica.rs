//! One partition on this broker: its log, what its leader may promise, and who waits for it.

use super::dir::{Dir, LOG_BEHIND_BYTES, Lags, Syncs};
use super::fault::Fault;
use super::leader::{ACKS_ALL, Effects, Event, Leader, Rules, Term};
use super::waiters::{Waiters, Wakeup};
use crate::error::ToCode;
use crate::metrics::{PartitionTraffic, Traffic};
use bytes::Bytes;
use parking_lot::Mutex;
use protocol::error::ErrorCode;
use protocol::ids::{TopicName, TopicPartition, Uuid};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use storage::error::{Error, is_out_of_files};
use storage::log::{
    AppendContext, AppendError, Appended, EpochEnd, Log, LogConfig, Origin, ReadError, Slice,
};
use tokio::time::Instant;

/// The hot object. Cheap when nothing happens; nothing in it is held across an await.
#[derive(Debug)]
pub struct Partition {
    pub topic: TopicName,
    pub topic_id: Uuid,
    pub number: i32,
    pub dir: Arc<Dir>,
    log: Arc<Log>,
    /// None: this broker does not lead it. A lock, because appends, the flusher and `reconcile`
    /// all move it; the watermark is published while it is held, so that it never falls.
    leader: Mutex<Option<Leader>>,
    waiters: Waiters,
    pub traffic: PartitionTraffic,
    /// Bytes appended but not yet synced.
    behind: AtomicU64,
    /// It stands in the flusher's queue.
    is_queued: AtomicBool,
    /// It takes part in nothing any more: what fails on it says nothing of the disk.
    is_retired: AtomicBool,
    /// Its folder is on its way out.
    is_gone: AtomicBool,
}

/// How far a reader may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Followers, and whoever says it is one.
    LogEnd,
    HighWatermark,
    /// `read_committed`.
    LastStable,
}

/// What to read.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub offset: i64,
    pub bytes_max: usize,
    /// The first batch is returned whole even above `bytes_max`.
    pub at_least_one: bool,
    pub isolation: Isolation,
    /// The leader epoch that the reader believes in; -1: none.
    pub leader_epoch: i32,
    /// The epoch of the last record it has; -1: it does not say.
    pub last_epoch: i32,
}

/// What was read, and the offsets as they were before.
#[derive(Debug)]
pub struct Read {
    pub high_watermark: i64,
    pub last_stable_offset: i64,
    pub log_start_offset: i64,
    pub slice: Option<Slice>,
    /// Aborted transactions in the slice, as (producer id, first offset): only under
    /// `read_committed`.
    pub aborted: Option<Vec<(i64, i64)>>,
    /// The reader has records that this leader has not: where the two part.
    pub diverging: Option<EpochEnd>,
}

impl Partition {
    pub fn new(at: TopicPartition, topic_id: Uuid, dir: Arc<Dir>, log: Arc<Log>) -> Partition {
        Partition {
            topic: at.topic,
            topic_id,
            number: at.partition,
            dir,
            log,
            leader: Mutex::default(),
            waiters: Waiters::default(),
            traffic: PartitionTraffic::default(),
            behind: AtomicU64::new(0),
            is_queued: AtomicBool::new(false),
            is_retired: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
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
        let mut leader = self.leader.lock();
        let effects = match leader.as_mut() {
            Some(leader) => {
                leader.step(Event::Configured(rules));
                leader.step(Event::Decided(term))
            }
            None => {
                let (end, synced) = (self.log.log_end(), self.log.synced());
                let watermark = self.log.high_watermark();
                let mut new = Leader::new(term, rules, end, synced, watermark);
                let effects = new.step(Event::Appended { end });
                *leader = Some(new);
                effects
            }
        };
        self.publish(effects);
        drop(leader);
        self.after(effects);
    }

    /// Stops to lead it. Whoever waits is told.
    pub fn resign(&self) {
        *self.leader.lock() = None;
        self.waiters.wake_all();
    }

    /// Takes no part in anything any more: its topic was deleted, or it moved to another broker.
    pub fn retire(&self) {
        self.is_gone.store(true, Ordering::Release);
        self.leave();
        self.log.fail("the partition is no longer here");
        self.dir.synced(self.behind.swap(0, Ordering::AcqRel));
    }

    /// Whoever comes from now on is sent elsewhere, and a failure is no longer the disk's.
    pub(super) fn leave(&self) {
        self.is_retired.store(true, Ordering::Release);
        self.resign();
    }

    /// Whether it was retired: its name may be another's.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }

    fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Acquire)
    }

    pub fn configure(self: &Arc<Partition>, config: Arc<LogConfig>, rules: Rules) {
        self.log.update_config(config);
        let mut leader = self.leader.lock();
        let Some(it) = leader.as_mut() else { return };
        let effects = it.step(Event::Configured(rules));
        self.publish(effects);
        drop(leader);
        self.after(effects);
    }

    /// Whoever waits must look again: the directory failed, or the log was cut at its start.
    pub fn wake_all(&self) {
        self.waiters.wake_all();
    }

    /// The leader's epoch, if this broker leads and `claimed` is that epoch or none.
    pub fn leader_epoch(&self, claimed: i32) -> Result<i32, ErrorCode> {
        self.check_usable()?;
        let leader = self.leader.lock();
        let leader = leader.as_ref().ok_or(ErrorCode::NotLeaderOrFollower)?;
        leader.check_epoch(claimed)?;
        Ok(leader.epoch())
    }

    /// Whether the controller has put a replica on that node.
    pub fn has_replica(&self, node: i32) -> bool {
        self.leader.lock().as_ref().is_some_and(|leader| leader.is_replica(node))
    }

    /// Appends one batch as its leader.
    pub fn append(
        self: &Arc<Partition>,
        records: Bytes,
        acks: i16,
        now_ms: i64,
    ) -> Result<Appended, Fault> {
        let bytes = records.len() as u64;
        let appended = self.try_append(records, acks, now_ms);
        self.count_append(bytes, &appended);
        appended
    }

    fn try_append(
        self: &Arc<Partition>,
        records: Bytes,
        acks: i16,
        now_ms: i64,
    ) -> Result<Appended, Fault> {
        self.check_usable()?;
        let leader_epoch = {
            let leader = self.leader.lock();
            let leader = leader.as_ref().ok_or(ErrorCode::NotLeaderOrFollower)?;
            leader.accepts(acks)?;
            leader.epoch()
        };
        let bytes = records.len() as u64;
        if !self.dir.has_room(bytes, Origin::Client) {
            return Err(self.no_room());
        }
        let context = AppendContext { leader_epoch, now_ms, origin: Origin::Client };
        let appended = self.log.append(records, &context).map_err(|error| self.refused(error))?;
        if !appended.duplicate {
            self.moved(bytes);
        }
        Ok(appended)
    }

    /// Appends one batch of a coordinator of this broker, which believes that it leads in `epoch`.
    /// Only whole batches with a right checksum.
    pub fn append_own(
        self: &Arc<Partition>,
        records: Bytes,
        epoch: i32,
        now_ms: i64,
    ) -> Result<Appended, Fault> {
        self.check_usable()?;
        {
            let leader = self.leader.lock();
            let leader = leader.as_ref().filter(|leader| leader.epoch() == epoch);
            leader.ok_or(ErrorCode::NotLeaderOrFollower)?.accepts(ACKS_ALL)?;
        }
        let bytes = records.len() as u64;
        if !self.dir.has_room(bytes, Origin::Coordinator) {
            return Err(self.no_room());
        }
        let context = AppendContext { leader_epoch: epoch, now_ms, origin: Origin::Coordinator };
        let appended = self.log.append(records, &context).map_err(|error| self.refused(error));
        self.count_append(bytes, &appended);
        let appended = appended?;
        self.moved(bytes);
        Ok(appended)
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

    /// Counts for this partition and for all.
    pub fn count(&self, more: Traffic) {
        self.traffic.add(more);
        self.dir.traffic.add(more);
    }

    /// The log has grown by `bytes`.
    fn moved(self: &Arc<Partition>, bytes: u64) {
        let effects = {
            let mut leader = self.leader.lock();
            let Some(leader) = leader.as_mut() else { return };
            let effects = leader.step(Event::Appended { end: self.log.log_end() });
            self.publish(effects);
            effects
        };
        if let Some(watermark) = effects.watermark {
            self.waiters.advanced(watermark, self.gained(bytes));
        }
        let behind = self.behind.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if self.dir.appended(bytes, behind) {
            self.dir.write_back(Arc::clone(self) as _);
        }
        self.want_sync(effects);
    }

    /// What a waiting reader gains when the watermark passes `bytes`. While a transaction is
    /// open or just ended, more may become visible than was appended.
    fn gained(&self, bytes: u64) -> i64 {
        let held_back = self.log.last_stable_offset() < self.log.high_watermark();
        let bytes = if held_back { i64::MAX / 4 } else { i64::try_from(bytes).unwrap_or(0) };
        bytes.max(1)
    }

    /// Called with the leader locked: two raises cannot overtake each other.
    fn publish(&self, effects: Effects) {
        if let Some(watermark) = effects.watermark {
            self.log.raise_high_watermark(watermark);
        }
    }

    fn after(self: &Arc<Partition>, effects: Effects) {
        if effects.watermark.is_some() {
            self.waiters.wake_all();
        }
        self.want_sync(effects);
    }

    fn want_sync(self: &Arc<Partition>, effects: Effects) {
        let wants_sync = effects.wants_sync || self.log.is_flush_due_by_count();
        if wants_sync && !self.is_queued.swap(true, Ordering::AcqRel) {
            self.dir.sync_soon(Arc::clone(self) as _);
        }
    }

    fn check_usable(&self) -> Result<(), ErrorCode> {
        if self.dir.failure().is_some() { Err(ErrorCode::KafkaStorageError) } else { Ok(()) }
    }

    fn no_room(&self) -> Fault {
        let path = self.dir.path.display();
        let message = format!("{path} is full, nothing was appended; retry when it has space");
        Fault { message: Some(message), ..ErrorCode::KafkaStorageError.into() }
    }

    fn refused(&self, error: AppendError) -> Fault {
        match error {
            AppendError::Refused(refusal) => refusal.into(),
            AppendError::DiskFull(reason) => {
                self.dir.lacks_room(&reason);
                self.no_room()
            }
            AppendError::Offline(_) | AppendError::PartWay(_) if self.is_retired() => {
                ErrorCode::NotLeaderOrFollower.into()
            }
            AppendError::Offline(reason) => {
                self.dir.fail(&format!("appending to {}: {reason}", self.name()));
                Fault { message: Some(reason), ..ErrorCode::KafkaStorageError.into() }
            }
            // Nobody knows what reached the disk, so the client must not believe "not appended".
            AppendError::PartWay(error) => {
                self.dir.fail(&format!("appending to {}: {error}", self.name()));
                ErrorCode::RequestTimedOut.into()
            }
        }
    }

    /// Whether an append with these `acks` that ends before `end` may be answered: None while it
    /// may not yet.
    pub fn acknowledged(&self, end: i64, acks: i16) -> Option<Result<(), ErrorCode>> {
        // What had begun when the disk failed may be there or not.
        if self.dir.failure().is_some() {
            return Some(Err(ErrorCode::RequestTimedOut));
        }
        let leader = self.leader.lock();
        let Some(leader) = leader.as_ref() else {
            return Some(Err(ErrorCode::NotLeaderOrFollower));
        };
        (end <= leader.promised(acks)).then(|| leader.accepted(acks))
    }

    /// Wakes `wakeup` once when the watermark reaches `end`, which it may have already. Whoever
    /// leads alone in sync, as every leader here does, has synced as much then.
    pub fn await_watermark(&self, end: i64, wakeup: &Arc<Wakeup>) {
        self.waiters.add_writer(end, wakeup);
        match self.acknowledged(end, ACKS_ALL) {
            None => {}
            Some(Ok(())) => self.waiters.advanced(self.log.high_watermark(), 1),
            Some(Err(_)) => self.waiters.wake_all(),
        }
    }

    pub fn await_bytes(&self, wakeup: &Arc<Wakeup>) {
        self.waiters.add_reader(wakeup);
    }

    pub fn forget(&self, wakeup: &Arc<Wakeup>) {
        self.waiters.remove(wakeup);
    }

    /// The exclusive end of what a reader may see.
    pub fn visible_end(&self, isolation: Isolation) -> i64 {
        match isolation {
            Isolation::LogEnd => self.log.log_end(),
            Isolation::HighWatermark => self.log.high_watermark(),
            Isolation::LastStable => self.log.last_stable_offset(),
        }
    }

    pub fn read(&self, ask: &Ask) -> Result<Read, Fault> {
        self.leader_epoch(ask.leader_epoch)?;
        // Taken before the read: what arrives during it is for the next one.
        let mut read = Read {
            high_watermark: self.log.high_watermark(),
            last_stable_offset: self.log.last_stable_offset(),
            log_start_offset: self.log.log_start(),
            slice: None,
            aborted: (ask.isolation == Isolation::LastStable).then(Vec::new),
            diverging: None,
        };
        if 0 <= ask.last_epoch {
            read.diverging = self.divergence(ask)?;
            if read.diverging.is_some() {
                return Ok(read);
            }
        }
        let end = match ask.isolation {
            Isolation::LogEnd => self.log.log_end(),
            Isolation::HighWatermark => read.high_watermark,
            Isolation::LastStable => read.last_stable_offset,
        };
        // What is told of aborted transactions is of the very segment that was read.
        let _held = read.aborted.is_some().then(|| self.log.hold_segments());
        let slice = self.log.read(ask.offset, ask.bytes_max, end, ask.at_least_one);
        let slice = slice.map_err(|error| self.unreadable(error))?;
        if let Some(aborted) = read.aborted.as_mut()
            && 0 < slice.len
        {
            let found = self.log.aborted_transactions(ask.offset, end);
            let found = found.map_err(|error| self.broken(&error))?;
            aborted.extend(found.into_iter().map(|it| (it.producer_id, it.first_offset)));
        }
        read.slice = (0 < slice.len).then_some(slice);
        Ok(read)
    }

    /// Where the records of an epoch end; None: there is no such epoch, or it is still to come.
    pub fn epoch_end(&self, epoch: i32) -> Option<EpochEnd> {
        let current = self.leader.lock().as_ref().map(Leader::epoch);
        if current == Some(epoch) {
            return Some(EpochEnd { epoch, end_offset: self.log.log_end() });
        }
        self.log.end_offset_for_epoch(epoch)
    }

    /// The epoch in which the first record was written, or the next one will be.
    pub fn first_epoch(&self) -> i32 {
        let start = self.log.log_start();
        let known = self.log.epoch_of(start).filter(|_| start < self.log.log_end());
        let current = || self.leader.lock().as_ref().map(Leader::epoch);
        known.or_else(current).unwrap_or(-1)
    }

    /// Whether `flush.ms` or `flush.messages` ask for a sync.
    pub fn flush_is_due(&self, now_ms: i64) -> bool {
        self.log.is_flush_due(now_ms)
    }

    /// Where the reader's log and this one part, if they do (KIP-320).
    fn divergence(&self, ask: &Ask) -> Result<Option<EpochEnd>, Fault> {
        let ours = self.epoch_end(ask.last_epoch);
        let Some(ours) = ours.filter(|ours| 0 <= ours.epoch && 0 <= ours.end_offset) else {
            return Err(ErrorCode::OffsetOutOfRange.into());
        };
        if ask.offset < self.log.log_start() {
            return Err(ErrorCode::OffsetOutOfRange.into());
        }
        let parts = ours.epoch < ask.last_epoch || ours.end_offset < ask.offset;
        Ok(parts.then_some(ours))
    }

    pub fn unreadable(&self, error: ReadError) -> Fault {
        match error {
            ReadError::OutOfRange { .. } => ErrorCode::OffsetOutOfRange.into(),
            ReadError::Corrupt { .. } => ErrorCode::CorruptMessage.into(),
            ReadError::Disk(_) if self.is_retired() => ErrorCode::NotLeaderOrFollower.into(),
            ReadError::Disk(error) if is_out_of_files(&error) => {
                Fault { message: Some(error.to_string()), ..ErrorCode::KafkaStorageError.into() }
            }
            ReadError::Disk(error) => {
                self.dir.fail(&format!("reading {}: {error}", self.name()));
                ErrorCode::KafkaStorageError.into()
            }
        }
    }

    /// The answer after a storage error of any other call; a failed disk takes its directory off.
    pub fn broken(&self, error: &Error) -> Fault {
        if self.is_retired() {
            return ErrorCode::NotLeaderOrFollower.into();
        }
        if matches!(error, Error::Disk(_)) {
            self.dir.fail(&format!("{}: {error}", self.name()));
        }
        Fault { message: Some(error.to_string()), ..error.code().into() }
    }

    /// Bytes that a crash of the machine could take.
    pub fn behind_bytes(&self) -> u64 {
        self.behind.load(Ordering::Relaxed)
    }
}

impl Syncs for Partition {
    fn sync(&self) -> bool {
        // First out of the queue, then look at the end: an append in between queues it again.
        self.is_queued.store(false, Ordering::Release);
        let behind = self.behind.swap(0, Ordering::AcqRel);
        self.dir.synced(behind);
        if self.dir.failure().is_some() || self.is_retired() {
            self.wake_all();
            return true;
        }
        let upto = self.log.log_end();
        let began = Instant::now();
        let synced = self.log.flush(upto);
        self.dir.syncs.record(0, began.elapsed());
        if let Err(error) = synced {
            // After a failed sync nobody knows what is on the disk; a folder that was renamed
            // under the sync says nothing of it, and one that lacked room has not begun.
            let is_untried = matches!(error, Error::Full(_)) && self.log.failure().is_none();
            if is_untried && !self.is_retired() {
                self.behind.fetch_add(behind, Ordering::AcqRel);
                self.dir.not_synced(behind);
                return false;
            }
            if !self.is_retired() {
                self.dir.fail(&format!("syncing {}: {error}", self.name()));
            }
            self.wake_all();
            return true;
        }
        let mut leader = self.leader.lock();
        let Some(it) = leader.as_mut() else { return true };
        let effects = it.step(Event::Synced { upto });
        self.publish(effects);
        drop(leader);
        if let Some(watermark) = effects.watermark {
            self.waiters.advanced(watermark, i64::MAX / 4);
        }
        true
    }
}

impl Lags for Partition {
    fn write_back(&self) {
        if LOG_BEHIND_BYTES <= self.behind_bytes() {
            // What lacks something is asked again when it has grown.
            let _is_done = self.sync();
            return;
        }
        if self.dir.failure().is_some() || self.is_retired() {
            return;
        }
        if let Err(error) = self.log.write_back()
            && !self.is_retired()
        {
            self.dir.fail(&format!("writing {} back: {error}", self.name()));
        }
    }
}
