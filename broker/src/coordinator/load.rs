//! Loading: a machine is brought to where its log ends. Blocks: not for a runtime's thread.

use super::machine::Machine;
use super::record::Record;
use super::scene::Scene;
use bytes::Bytes;
use kraft::image::Image;
use protocol::error::ErrorCode;
use protocol::records::batch::{Batch, BatchError, BatchHeader, batches};
use protocol::records::control::ControlKind;
use protocol::records::record::records;
use std::collections::BTreeMap;
use std::fmt::Display;

/// Why a machine could not be loaded.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The shard ended meanwhile.
    Unwanted,
    /// It can no more be read or written here, or not in this epoch, whatever may come.
    Over(ErrorCode),
    /// What stands in the log cannot be made sense of, or not be read.
    Unreadable(String),
}

/// The machine, and the exclusive end of what it has applied: all that is in the log. Nobody else
/// appends to it in this epoch.
pub(super) fn load<M: Machine>(
    scene: &Scene,
    image: &Image,
    is_wanted: impl Fn() -> bool,
) -> Result<(M, i64), Failure> {
    let log = scene.partition.log();
    let (mut at, end) = (log.log_start(), log.log_end());
    scene.partition.leader_epoch(scene.epoch).map_err(Failure::Over)?;
    let mut loading = Loading::<M> {
        scene,
        image,
        machine: M::default(),
        open: BTreeMap::new(),
        bytes_max: log.config().max_decompressed_bytes,
    };
    let bytes = M::tuning(&scene.config.load()).load_bytes;
    while at < end {
        if !is_wanted() {
            return Err(Failure::Unwanted);
        }
        let slice = log.read(at, bytes, end, true).map_err(|error| {
            let why = unreadable(at, format_args!("{:?}", scene.partition.unreadable(error)));
            // A disk that failed takes its directory off.
            scene.partition.leader_epoch(scene.epoch).map_or_else(Failure::Over, |_| why)
        })?;
        if slice.len == 0 {
            break; // A gap: the last batches were compacted away.
        }
        let bytes = slice.read().map_err(|error| unreadable(at, error))?;
        at = loading.slice(at, bytes)?;
    }
    loading.leave_open();
    Ok((loading.machine, end))
}

/// A machine that has seen a part of its log.
struct Loading<'a, M: Machine> {
    scene: &'a Scene,
    image: &'a Image,
    machine: M,
    /// Records of transactions that have not ended, by producer.
    open: BTreeMap<i64, Vec<M::Record>>,
    bytes_max: usize,
}

impl<M: Machine> Loading<'_, M> {
    /// Applies whole batches from `from` on; where the next one begins.
    fn slice(&mut self, from: i64, bytes: Bytes) -> Result<i64, Failure> {
        let mut next = from;
        for batch in batches(bytes) {
            let batch = match batch.and_then(|it| it.check_crc().map(|()| it)) {
                // The last one of a slice may be cut off, but not the only one.
                Err(BatchError::Truncated) if from < next => break,
                batch => batch.map_err(|error| unreadable(next, error))?,
            };
            self.batch(&batch)?;
            next = batch.header.next_offset();
        }
        Ok(next)
    }

    fn batch(&mut self, batch: &Batch) -> Result<(), Failure> {
        let header = &batch.header;
        if header.is_control() {
            return self.marker(batch);
        }
        let mut found = Vec::new();
        self.each(batch, |key, value| {
            found.extend(
                M::Record::read(key.unwrap_or_default(), value)
                    .map_err(|error| unreadable(header.base_offset, error))?,
            );
            Ok(())
        })?;
        if header.is_transactional() {
            self.open.entry(header.producer_id).or_default().extend(found);
        } else {
            self.apply(found);
        }
        Ok(())
    }

    /// A transaction's records count from its marker on, or not at all.
    fn marker(&mut self, batch: &Batch) -> Result<(), Failure> {
        let mut kind = None;
        self.each(batch, |key, _| {
            kind = key.and_then(ControlKind::from_key);
            Ok(())
        })?;
        let ended = |open: &mut BTreeMap<_, _>| open.remove(&batch.header.producer_id);
        match kind {
            Some(ControlKind::Commit) => {
                let records = ended(&mut self.open).unwrap_or_default();
                self.apply(records);
            }
            Some(ControlKind::Abort) => drop(ended(&mut self.open)),
            _ => {}
        }
        Ok(())
    }

    fn each(
        &self,
        batch: &Batch,
        mut take: impl FnMut(Option<&[u8]>, Option<&[u8]>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let BatchHeader { base_offset, .. } = batch.header;
        let at_fault = |error| unreadable(base_offset, error);
        let mut records = records(&batch.bytes, self.bytes_max).map_err(at_fault)?;
        while let Some(record) = records.next() {
            let record = record.map_err(at_fault)?;
            take(record.key, record.value)?;
        }
        Ok(())
    }

    fn apply(&mut self, records: Vec<M::Record>) {
        let config = self.scene.config.load();
        let moment = self.scene.moment(self.image, &config);
        for record in records {
            self.machine.apply(&moment, record);
        }
    }

    /// Nothing here ends a transaction, so what these records say stays open.
    fn leave_open(&mut self) {
        let open = std::mem::take(&mut self.open);
        if !open.is_empty() {
            let (name, count) = (self.scene.partition.name(), open.len());
            tracing::warn!("{name} holds {count} transactions that nobody has ended");
        }
        open.into_values().flatten().for_each(|record| self.machine.undecided(record));
    }
}

fn unreadable(at: i64, error: impl Display) -> Failure {
    Failure::Unreadable(format!("the batch at offset {at}: {error}"))
}
