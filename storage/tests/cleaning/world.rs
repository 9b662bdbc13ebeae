//! One compacted log, what was sent to it, and what must still be found.

use crate::consumer::{Seen, all_batches, consume};
use protocol::compression::Codec;
use protocol::records::batch::TRANSACTIONAL;
use protocol::records::builder::{BatchBuilder, NewRecord};
use protocol::records::control::{ControlKind, end_of_transaction};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use storage::disk::Disk;
use storage::disk::sim::SimDisk;
use storage::error::Error;
use storage::log::clean::{CleanError, CleanOptions, Cleaned, Supervisor};
use storage::log::{AppendContext, Doomed, Log, LogConfig, Open, Origin, Recovery};

pub(crate) const RETENTION_MS: i64 = 1000;
const START_MS: i64 = 1_000_000;
/// Producers from this one on are transactional.
pub(crate) const TRANSACTIONAL_FROM: i64 = 2;

pub(crate) fn dir() -> PathBuf {
    PathBuf::from("/t-0")
}

pub(crate) fn config() -> LogConfig {
    LogConfig {
        segment_bytes: 1500,
        index_interval_bytes: 200,
        compact: true,
        delete: false,
        delete_retention_ms: RETENTION_MS,
        ..LogConfig::default()
    }
}

/// A record as it was sent.
#[derive(Clone, Debug)]
struct Sent {
    seen: Seen,
    producer: i64,
    /// None while its transaction is open.
    is_committed: Option<bool>,
}

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) disk: SimDisk,
    pub(crate) log: Log,
    pub(crate) now_ms: i64,
    /// Up to where it was cleaned.
    pub(crate) clean_to: i64,
    sent: BTreeMap<i64, Sent>,
    sequences: BTreeMap<i64, i32>,
    open: BTreeSet<i64>,
}

/// Lets all be done, and unlinks at once.
#[derive(Debug)]
pub(crate) struct Unlinks(pub(crate) SimDisk);

impl Supervisor for Unlinks {
    fn may_go_on(&mut self, _bytes: u64) -> bool {
        true
    }

    fn replaced(&mut self, doomed: Doomed) {
        // A disk that lost its power does not remove anything any more.
        doomed.paths.iter().for_each(|path| drop(self.0.remove(path)));
    }
}

/// A record to be sent: a key, and the length of a value.
pub(crate) type Record = (u8, Option<usize>);

pub(crate) fn open(disk: &SimDisk, recovery_point: i64) -> Result<(Log, Recovery), Error> {
    let at: Arc<dyn Disk> = Arc::new(disk.clone());
    let open = Open::new(at, dir(), Arc::new(config()), START_MS);
    Log::open(Open { recovery_point, ..open })
}

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let disk = SimDisk::new(seed);
        let (log, _) = open(&disk, 0).unwrap();
        World {
            disk,
            log,
            now_ms: START_MS,
            clean_to: 0,
            sent: BTreeMap::new(),
            sequences: BTreeMap::new(),
            open: BTreeSet::new(),
        }
    }

    fn context(&self, origin: Origin) -> AppendContext {
        AppendContext { leader_epoch: 3, now_ms: self.now_ms, origin }
    }

    /// -1: no producer.
    pub(crate) fn send(&mut self, producer: i64, codec: Codec, records: &[Record]) {
        self.now_ms += 3;
        let mut batch = BatchBuilder::new(0).codec(codec, None);
        if 0 <= producer {
            let sequence = self.sequences.entry(producer).or_default();
            batch = batch.producer(producer, 0, *sequence);
            *sequence += i32::try_from(records.len()).unwrap();
        }
        let is_in_txn = TRANSACTIONAL_FROM <= producer;
        if is_in_txn {
            batch = batch.attributes(TRANSACTIONAL);
            self.open.insert(producer);
        }
        let end = self.log.log_end();
        for (index, (key, size)) in records.iter().enumerate() {
            let offset = end + i64::try_from(index).unwrap();
            let value = size.map(|size| vec![offset.to_be_bytes()[7]; size]);
            let headers: &[(&[u8], Option<&[u8]>)] = &[(b"h", None), (b"h", Some(&[*key]))];
            let seen = Seen {
                key: vec![b'k', *key],
                value,
                headers: usize::from(key % 3),
                timestamp_ms: self.now_ms - i64::from(*key),
            };
            let key = Some(&seen.key[..]);
            let (value, headers) = (seen.value.as_deref(), &headers[..seen.headers]);
            batch =
                batch.record(NewRecord { timestamp_ms: seen.timestamp_ms, key, value, headers });
            let is_committed = (!is_in_txn).then_some(true);
            self.sent.insert(offset, Sent { seen, producer, is_committed });
        }
        let bytes = batch.build().unwrap();
        let appended = self.log.append(bytes, &self.context(Origin::Client)).unwrap();
        assert_eq!(appended.base_offset, end);
    }

    /// Ends the transaction of a producer, if one is open.
    pub(crate) fn end_txn(&mut self, producer: i64, is_committed: bool) {
        if !self.open.remove(&producer) {
            return;
        }
        let kind = if is_committed { ControlKind::Commit } else { ControlKind::Abort };
        let marker = BatchBuilder::new(0)
            .producer(producer, 0, -1)
            .attributes(TRANSACTIONAL)
            .control(self.now_ms, kind, &end_of_transaction(0))
            .build()
            .unwrap();
        self.log.append(marker, &self.context(Origin::Coordinator)).unwrap();
        for sent in self.sent.values_mut().filter(|it| it.producer == producer) {
            sent.is_committed.get_or_insert(is_committed);
        }
    }

    pub(crate) fn end_all(&mut self) {
        for producer in self.open.clone() {
            self.end_txn(producer, producer % 2 == 0);
        }
    }

    /// A pass with a map of so many bytes.
    pub(crate) fn clean(&mut self, map_bytes: usize) -> Result<Cleaned, CleanError> {
        self.log.set_high_watermark(self.log.log_end());
        let cleanable = self.log.cleanable(Some(self.clean_to), self.now_ms).unwrap();
        let options = CleanOptions {
            now_ms: self.now_ms,
            map_bytes,
            load_factor: 0.9,
            buffer_bytes: 700,
            secret: [7, 8],
        };
        let cleaned = self.log.clean(&cleanable, &options, &mut Unlinks(self.disk.clone()))?;
        self.clean_to = cleaned.end;
        Ok(cleaned)
    }

    /// All that is known is lost but for the files, or but for the batches.
    pub(crate) fn restart(&mut self, loses_snapshots: bool) {
        let recovery_point = self.log.flush(self.log.log_end()).unwrap();
        self.disk = self.disk.fork();
        if loses_snapshots {
            for entry in self.disk.list(&dir()).unwrap() {
                if entry.name.ends_with(".snapshot") {
                    self.disk.remove(&dir().join(entry.name)).unwrap();
                }
            }
        }
        let (log, recovery) = open(&self.disk, recovery_point).unwrap();
        assert_eq!((recovery.cut, recovery.damaged), (None, Vec::new()));
        assert_eq!(log.log_end(), self.log.log_end());
        self.log = log;
    }

    /// What each key was last, for a consumer that came in time.
    fn last_of_keys(&self) -> BTreeMap<&[u8], (i64, &Seen)> {
        let committed = self.sent.iter().filter(|(_, it)| it.is_committed == Some(true));
        committed.map(|(offset, it)| (&it.seen.key[..], (*offset, &it.seen))).collect()
    }

    /// Holds what a consumer reads against what was sent.
    pub(crate) fn check(&self, log: &Log) {
        let found = consume(log, 0);
        for (offset, seen) in &found {
            let sent = &self.sent[offset];
            assert_eq!((offset, &sent.seen), (offset, seen));
            assert_ne!(sent.is_committed, Some(false), "{offset} was aborted");
        }
        for (key, (offset, last)) in self.last_of_keys() {
            let is_there = found.contains_key(&offset);
            if last.value.is_some() || self.now_ms <= last.timestamp_ms + RETENTION_MS {
                assert!(is_there, "the last record of {key:?}, {offset}, is gone");
            } else if !is_there {
                let open = |at: &i64| self.sent[at].is_committed.is_none();
                let older = found.iter().find(|(at, it)| it.key == key && !open(at));
                assert_eq!(older, None, "the tombstone at {offset} went before them");
            }
        }
        for offset in (0..log.log_end()).step_by(7) {
            let all = all_batches(log, offset);
            assert!(all.first().is_none_or(|it| offset <= it.header.last_offset()));
        }
    }

    /// Holds what is below the clean offset against what may be there.
    pub(crate) fn check_clean(&self) {
        let mut keys = BTreeSet::new();
        for (offset, seen) in consume(&self.log, 0).range(..self.clean_to) {
            assert!(keys.insert(seen.key.clone()), "{:?} is there twice, at {offset}", seen.key);
        }
        for batch in all_batches(&self.log, 0) {
            let header = batch.header;
            let is_below = header.base_offset < self.clean_to && !header.is_control();
            let sent = self.sent.range(header.base_offset..=header.last_offset());
            let is_aborted = sent.map(|it| it.1).any(|it| it.is_committed == Some(false));
            assert!(!is_below || !is_aborted || header.record_count == 0, "{header:?}");
        }
    }

    /// The sequence numbers go on where they were.
    pub(crate) fn check_producers(&self) {
        let known: BTreeMap<i64, i32> =
            self.log.producers().iter().map(|it| (it.producer_id, it.last_sequence())).collect();
        for (producer, next) in &self.sequences {
            assert_eq!(known.get(producer), Some(&(next - 1)), "producer {producer}");
        }
    }
}

/// Names in the partition's folder that hold `part`.
pub(crate) fn names(disk: &SimDisk, part: &str) -> Vec<String> {
    let entries = disk.list(Path::new("/t-0")).unwrap().into_iter();
    entries.map(|it| it.name).filter(|name| name.contains(part)).collect()
}
