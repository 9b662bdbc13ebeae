//! A consumer under `read_committed`, as clients are: aborted transactions are theirs to pass over.

use protocol::records::batch::{Batch, batches};
use protocol::records::control::ControlKind;
use protocol::records::records;
use std::collections::{BTreeMap, BTreeSet};
use storage::log::Log;

/// A record as it was read: key, value, and how many headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) key: Vec<u8>,
    pub(crate) value: Option<Vec<u8>>,
    pub(crate) headers: usize,
    pub(crate) timestamp_ms: i64,
}

/// Every batch from `offset` on, each above the one before.
pub(crate) fn all_batches(log: &Log, mut offset: i64) -> Vec<Batch> {
    let mut all: Vec<Batch> = Vec::new();
    while offset < log.log_end() {
        let slice = log.read(offset, 900, log.log_end(), true).unwrap();
        let before = all.len();
        for batch in batches(slice.read().unwrap()).map_while(Result::ok) {
            batch.check_crc().unwrap();
            let floor = all.last().map_or(i64::MIN, |last: &Batch| last.header.next_offset());
            assert!(floor <= batch.header.base_offset, "{floor} {:?}", batch.header);
            assert!(offset <= batch.header.last_offset());
            all.push(batch);
        }
        if all.len() == before {
            break; // What was last is gone, and the log's end is known by the next segment.
        }
        offset = all.last().unwrap().header.next_offset();
    }
    all
}

/// What a consumer is given from `offset` on, by offset.
pub(crate) fn consume(log: &Log, offset: i64) -> BTreeMap<i64, Seen> {
    let end = log.log_end();
    let aborted = log.aborted_transactions(offset, end).unwrap();
    let mut coming: BTreeMap<i64, i64> =
        aborted.iter().map(|it| (it.first_offset, it.producer_id)).collect();
    let mut passed_over = BTreeSet::new();
    let mut seen = BTreeMap::new();
    for batch in all_batches(log, offset) {
        let header = batch.header;
        let later = coming.split_off(&(header.last_offset() + 1));
        passed_over.extend(std::mem::replace(&mut coming, later).into_values());
        let mut walk = records(&batch.bytes, 1 << 20).unwrap();
        if header.is_control() {
            if let Some(record) = walk.next() {
                let kind = ControlKind::from_key(record.unwrap().key.unwrap());
                if kind == Some(ControlKind::Abort) {
                    passed_over.remove(&header.producer_id);
                }
            }
            continue;
        }
        let is_aborted = header.is_transactional() && passed_over.contains(&header.producer_id);
        let mut last = None;
        let mut count = 0;
        while let Some(record) = walk.next() {
            let record = record.unwrap();
            let at = record.offset(&header);
            assert!(last < Some(at) && at <= header.last_offset());
            last = Some(at);
            count += 1;
            if !is_aborted && offset <= at {
                let it = Seen {
                    key: record.key.unwrap().to_vec(),
                    value: record.value.map(<[u8]>::to_vec),
                    headers: record.headers.count(),
                    timestamp_ms: record.timestamp_ms(&header),
                };
                seen.insert(at, it);
            }
        }
        assert_eq!(count, header.record_count);
    }
    seen
}
