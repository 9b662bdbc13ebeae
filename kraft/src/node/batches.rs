//! How the records of a decision are cut into batches.

use crate::image::Image;
use crate::raft::batch::{BATCH_BYTES_MAX, BATCH_RECORDS_MAX, data};
use crate::record::{BeginTransactionRecord, EndTransactionRecord, Record};
use bytes::Bytes;

/// A batch to be proposed.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) bytes: Bytes,
    pub(super) records: Vec<Record>,
}

/// The batches of a decision: one where it fits the limits, else as few as can be, and then in a
/// transaction where they shall only count together.
pub(super) fn of(
    mut records: Vec<Record>,
    is_atomic: bool,
    image: &Image,
    now_ms: i64,
) -> Result<Vec<Batch>, String> {
    let level = image.metadata_version();
    let mut values: Vec<Vec<u8>> = records.iter().map(|record| record.to_value(level)).collect();
    let brackets = matches!(records.first(), Some(Record::BeginTransaction(_)));
    if is_atomic && !brackets && !fits(&values) {
        let begin = Record::from(BeginTransactionRecord::default());
        let end = Record::from(EndTransactionRecord::default());
        values.insert(0, begin.to_value(level));
        values.push(end.to_value(level));
        records.insert(0, begin);
        records.push(end);
    }
    let mut batches = Vec::new();
    let mut records = records.into_iter();
    let mut rest = values.as_slice();
    while !rest.is_empty() {
        let (now, later) = rest.split_at(count_of_first(rest));
        let bytes = data(now, now_ms)?;
        batches.push(Batch { bytes, records: records.by_ref().take(now.len()).collect() });
        rest = later;
    }
    Ok(batches)
}

fn fits(values: &[Vec<u8>]) -> bool {
    count_of_first(values) == values.len()
}

/// How many records the first batch takes: at least one, however large.
fn count_of_first(values: &[Vec<u8>]) -> usize {
    let mut bytes = 0;
    let within = values.iter().take(BATCH_RECORDS_MAX).take_while(|value| {
        bytes += value.len();
        bytes <= BATCH_BYTES_MAX
    });
    within.count().max(1).min(values.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ConfigRecord, NoOpRecord};

    #[track_caller]
    fn check(records: Vec<Record>, is_atomic: bool, want: &[usize]) {
        let batches = of(records, is_atomic, &Image::default(), 0).unwrap();
        let counts: Vec<_> = batches.iter().map(|batch| batch.records.len()).collect();
        assert_eq!(counts, want);
        let header = |batch: &Batch| protocol::records::BatchHeader::read(&batch.bytes).unwrap();
        let written: Vec<_> = batches.iter().map(header).map(|it| it.record_count).collect();
        let want = want.iter().map(|count| i32::try_from(*count).unwrap());
        assert_eq!(written, want.collect::<Vec<_>>());
    }

    fn small(count: usize) -> Vec<Record> {
        vec![NoOpRecord::default().into(); count]
    }

    fn large(count: usize) -> Vec<Record> {
        let value = Some("x".repeat(BATCH_BYTES_MAX / 2));
        vec![ConfigRecord { value, ..ConfigRecord::default() }.into(); count]
    }

    #[test]
    fn a_batch_holds_what_kafka_lets_it_hold() {
        check(Vec::new(), true, &[]);
        check(small(10_000), true, &[10_000]);
        check(small(10_001), false, &[10_000, 1]);
        check(large(2), false, &[1, 1]);
    }

    #[test]
    fn what_counts_together_and_does_not_fit_is_a_transaction() {
        check(small(10_001), true, &[10_000, 3]);
        check(large(2), true, &[2, 2]);
    }
}
