//! Appending: offsets are given under the lock, and a header of 61 bytes is all that is copied.

use super::checked::Checked;
use super::outcome::{AppendContext, AppendError, Appended, Origin, Reason, Refusal};
use super::validate;
use super::writer::Writer;
use super::{Log, LogConfig};
use crate::error::Error;
use crate::producer::{self, EndedTxn, Verdict};
use crate::segment::scan::Found;
use crate::txn_index::AbortedTxn;
use bytes::Bytes;
use protocol::records::HEADER_LEN;
use protocol::records::batch::BatchHeader;
use std::io::{self, ErrorKind, IoSlice};
use std::sync::atomic::Ordering;

/// Segments smaller than this get no blocks ahead.
const RESERVE_FROM: u64 = 1 << 20;
/// The most that is reserved at once.
const RESERVE_MAX: u64 = 32 << 20;

/// A batch with its offsets, ready to be written.
struct Ready {
    header: [u8; HEADER_LEN],
    checked: Checked,
}

/// Batches admitted but not written yet, and what became of earlier ones of the same call.
#[derive(Default)]
struct Run {
    ready: Vec<Ready>,
    next_offset: Option<i64>,
    bytes: u64,
    /// Requests whose batches were admitted, and then not written.
    failed: Vec<(usize, Failure)>,
}

/// Why a run was not written.
#[derive(Clone, Debug)]
enum Failure {
    Full(String),
    PartWay(ErrorKind, String),
}

type Outcome = Result<Appended, AppendError>;

impl Log {
    /// Appends one batch of a client or a coordinator, or any number of a leader's.
    pub fn append(&self, records: Bytes, context: &AppendContext) -> Outcome {
        let mut outcomes = self.append_many(std::iter::once(records), context);
        outcomes.pop().unwrap_or_else(|| Err(no_batch()))
    }

    /// Appends what several requests bring, each judged for itself, in one write where it goes.
    /// The outcomes come in the order of the requests.
    pub fn append_many(
        &self,
        requests: impl IntoIterator<Item = Bytes>,
        context: &AppendContext,
    ) -> Vec<Outcome> {
        let config = self.config.load();
        let requests = requests.into_iter();
        let mut batches = Vec::with_capacity(requests.size_hint().0);
        let mut outcomes: Vec<Option<Outcome>> = Vec::with_capacity(requests.size_hint().0);
        // All that can be judged without the lock is judged before it is taken.
        for (request, records) in requests.enumerate() {
            let checked = validate::check(records, request, (&config, context), &mut batches);
            outcomes.push(checked.err().map(Err));
        }
        let mut run = Run { ready: Vec::with_capacity(batches.len()), ..Run::default() };
        let mut writer = self.writer.lock();
        for checked in batches {
            let request = checked.request;
            let Some(outcome) = outcomes.get_mut(request) else { continue };
            let before = match outcome {
                Some(Err(_)) => continue, // An earlier batch of the same request was refused.
                Some(Ok(before)) => Some(before.base_offset),
                None => None,
            };
            let admitted = self.admit(&mut writer, &mut run, checked, (&config, context));
            *outcome = Some(
                admitted.map(|it| Appended { base_offset: before.unwrap_or(it.base_offset), ..it }),
            );
        }
        self.write(&mut writer, &mut run, context);
        drop(writer);
        for (request, failure) in run.failed {
            if let Some(outcome) = outcomes.get_mut(request) {
                *outcome = Some(Err(failure.into()));
            }
        }
        outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(|| Err(no_batch()))).collect()
    }

    /// Judges one batch and gives it its offsets; it is written with the run.
    fn admit(
        &self,
        writer: &mut Writer,
        run: &mut Run,
        mut checked: Checked,
        (config, context): (&LogConfig, &AppendContext),
    ) -> Outcome {
        if let Some(reason) = self.failure() {
            return Err(AppendError::Offline(reason));
        }
        let is_replica = context.origin == Origin::Replica;
        let has_time = config.log_append_time && !is_replica;
        let done = |base_offset, last_offset, timestamp, duplicate| Appended {
            base_offset,
            last_offset,
            log_append_time_ms: if has_time || duplicate { timestamp } else { -1 },
            log_start_offset: self.log_start(),
            duplicate,
        };
        if context.origin == Origin::Client && checked.header.has_producer_id() {
            let follows = run.follows(&checked.header);
            if follows == Some(false) {
                // Judged by what is written, so that comes first.
                self.write(writer, run, context);
            }
            if follows != Some(true) {
                match writer.producers.check(&checked.header) {
                    Ok(Verdict::Append) => {}
                    Ok(Verdict::Duplicate { first_offset, last_offset, timestamp_ms }) => {
                        return Ok(done(first_offset, last_offset, timestamp_ms, true));
                    }
                    Err(refusal) => return Err(refused(refusal)),
                }
            }
        }
        let expected = run.next_offset.unwrap_or_else(|| self.log_end());
        let header = &mut checked.header;
        if !is_replica {
            header.base_offset = expected;
            header.leader_epoch = context.leader_epoch;
        } else if header.base_offset < expected {
            let message =
                format!("a batch at {} comes where {expected} is next", header.base_offset);
            return Err(Refusal::new(Reason::OffsetsNotInOrder, message).into());
        }
        let (base_offset, last_offset) = (header.base_offset, header.last_offset());
        if last_offset < base_offset || last_offset == i64::MAX {
            return Err(Refusal::new(Reason::InvalidRecord, "the offsets are used up").into());
        }
        if self.is_roll_due(writer, run.bytes, &checked, (config, context.now_ms))? {
            let failures = run.failed.len();
            self.write(writer, run, context);
            if let Some((_, failure)) = run.failed.get(failures) {
                return Err(failure.clone().into());
            }
            self.roll_to(writer, base_offset, context.now_ms)?;
        }
        let appended = done(base_offset, last_offset, checked.header.max_timestamp, false);
        run.next_offset = Some(last_offset + 1);
        run.bytes += checked.size();
        run.ready.push(Ready { header: checked.header.write(), checked });
        Ok(appended)
    }

    /// Writes what has been admitted, in one call, and makes it visible.
    fn write(&self, writer: &mut Writer, run: &mut Run, context: &AppendContext) {
        let ready = std::mem::take(&mut run.ready);
        run.next_offset = None;
        run.bytes = 0;
        let Some(last) = ready.last() else { return };
        let next_offset = last.checked.header.next_offset();
        let was_clean = self.recovery_point() == self.log_end();
        self.assign_epochs(&ready);
        let written = self
            .write_batches(writer, &ready)
            .and_then(|position| self.note_batches(writer, &ready, position));
        match written {
            Ok(()) => {
                if was_clean {
                    self.unflushed_since_ms.store(context.now_ms, Ordering::Relaxed);
                }
                self.log_end.store(next_offset, Ordering::Release);
            }
            Err(failure) => {
                let requests = ready.iter().map(|it| it.checked.request);
                run.failed.extend(requests.map(|request| (request, failure.clone())));
            }
        }
    }

    fn assign_epochs(&self, ready: &[Ready]) {
        for Ready { checked, .. } in ready {
            self.assign_epoch(checked.header.leader_epoch, checked.header.base_offset);
        }
    }

    /// Returns where the first batch stands.
    fn write_batches(&self, writer: &mut Writer, ready: &[Ready]) -> Result<u64, Failure> {
        let position = writer.active.size();
        let bytes: u64 = ready.iter().map(|it| it.checked.size()).sum();
        self.reserve(writer, position, position + bytes);
        let mut parts = Vec::with_capacity(ready.len() * 2);
        for Ready { header, checked } in ready {
            parts.push(IoSlice::new(header));
            parts.push(IoSlice::new(checked.records()));
        }
        let file = writer.active.file();
        let Err(error) = file.write_at(position, &mut parts) else { return Ok(position) };
        let is_full = matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
        // What fitted goes again, before anybody could read it: then this was only a refusal.
        if is_full && file.truncate(position).is_ok() {
            writer.reserved_to = 0;
            return Err(Failure::Full(error.to_string()));
        }
        self.fail(format!("a write failed part-way: {error}"));
        Err(Failure::PartWay(error.kind(), error.to_string()))
    }

    fn note_batches(
        &self,
        writer: &mut Writer,
        ready: &[Ready],
        mut position: u64,
    ) -> Result<(), Failure> {
        let mut next_offset = self.log_end();
        for Ready { checked, .. } in ready {
            let header = checked.header;
            let found = Found {
                position,
                size: checked.size(),
                base_offset: header.base_offset,
                last_offset: header.last_offset(),
                max_timestamp: header.max_timestamp,
                header: Some(header),
            };
            if position == 0 {
                writer.first_timestamp = Some(header.max_timestamp);
            }
            let part_way = |error: Error| {
                let text = self.disk_failed(error).to_string();
                Failure::PartWay(ErrorKind::Other, text)
            };
            writer.active.note(&self.home, &found).map_err(|it| part_way(it.into()))?;
            let marker = validate::end_marker(&header, &checked.batch);
            if let Some(ended) = writer.producers.apply(&header, marker)
                && ended.is_abort
            {
                let appended = writer.active.append_aborted(&self.home, aborted(&ended));
                appended.map_err(|it| part_way(it.into()))?;
                writer.active.aborted_is_noted();
                self.home.names_unsynced.store(true, Ordering::Release);
            }
            position = found.end();
            next_offset = header.next_offset();
        }
        self.note_unstable(writer);
        let bytes: u64 = ready.iter().map(|it| it.checked.size()).sum();
        self.unsnapshotted_bytes.fetch_add(bytes, Ordering::Relaxed);
        writer.active.extend(next_offset, position);
        Ok(())
    }

    pub(super) fn note_unstable(&self, writer: &Writer) {
        let unstable = writer.producers.first_unstable_offset().unwrap_or(i64::MAX);
        self.first_unstable.store(unstable, Ordering::Release);
    }

    /// Takes blocks ahead of a segment that has shown that it grows.
    fn reserve(&self, writer: &mut Writer, from: u64, to: u64) {
        if to <= writer.reserved_to
            || writer.cannot_reserve
            || !self.may_reserve.load(Ordering::Relaxed)
        {
            return;
        }
        let config = self.config.load();
        let whole = u64::from(config.segment_bytes);
        let ahead = if config.preallocate {
            whole.max(to)
        } else if RESERVE_FROM <= from {
            // No more than it holds already, and not beyond where it will end.
            (from + from.min(RESERVE_MAX)).min(whole).max(to)
        } else {
            return;
        };
        // Where there is no room for all of them, it holds some.
        writer.active.blocks_are_held();
        writer.reserved_to = ahead;
        if let Err(error) = writer.active.file().reserve(from, ahead - from) {
            // It only would have been faster; and where it was no room, there may be some later.
            writer.cannot_reserve = error.kind() == ErrorKind::Unsupported;
        }
    }

    /// Forgets producers that were silent for too long; says how many.
    pub fn expire_producers(&self, now_ms: i64, expiration_ms: i64) -> usize {
        self.writer.lock().producers.expire(now_ms, expiration_ms)
    }

    /// How many producers are known; while somebody appends, how many were a moment ago.
    pub fn producer_count(&self) -> usize {
        if let Some(writer) = self.writer.try_lock() {
            self.producers_seen.store(writer.producers.len(), Ordering::Relaxed);
        }
        self.producers_seen.load(Ordering::Relaxed)
    }

    /// What is known of the producers, by id.
    pub fn producers(&self) -> Vec<producer::Producer> {
        self.writer.lock().producers.iter().cloned().collect()
    }
}

impl Run {
    /// Whether a producer's batch follows its last one of this run. None: it has none here.
    fn follows(&self, header: &BatchHeader) -> Option<bool> {
        let of_it = |it: &&Ready| it.checked.header.producer_id == header.producer_id;
        let last = self.ready.iter().rev().find(of_it)?.checked.header;
        let next = last.last_sequence().checked_add(1).unwrap_or(0);
        Some(
            last.producer_epoch == header.producer_epoch
                && last.is_transactional() == header.is_transactional()
                && next == header.base_sequence,
        )
    }
}

impl From<Failure> for AppendError {
    fn from(failure: Failure) -> AppendError {
        match failure {
            Failure::Full(reason) => AppendError::DiskFull(reason),
            Failure::PartWay(kind, reason) => AppendError::PartWay(io::Error::new(kind, reason)),
        }
    }
}

/// As the index of aborted transactions has it.
pub(super) fn aborted(ended: &EndedTxn) -> AbortedTxn {
    AbortedTxn {
        producer_id: ended.producer_id,
        first_offset: ended.first_offset,
        last_offset: ended.last_offset,
        last_stable_offset: ended.last_stable_offset,
    }
}

fn no_batch() -> AppendError {
    Refusal::new(Reason::InvalidRecord, "no record batch to append").into()
}

fn refused(refusal: producer::Refusal) -> AppendError {
    let reason = match refusal {
        producer::Refusal::OutOfOrder { .. } | producer::Refusal::NewEpochNotAtZero { .. } => {
            Reason::OutOfOrderSequenceNumber
        }
        producer::Refusal::OldEpoch { .. } => Reason::InvalidProducerEpoch,
        producer::Refusal::NotTransactional { .. } => Reason::InvalidTxnState,
    };
    Refusal::new(reason, refusal.to_string()).into()
}
