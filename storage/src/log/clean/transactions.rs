//! What a walk in the order of offsets knows of transactions: which batches were aborted, and which
//! markers nobody needs any more. The rules of Kafka's `CleanedTransactionMetadata` (KIP-98).

use crate::producer::EndMarker;
use crate::txn_index::AbortedTxn;
use protocol::records::batch::BatchHeader;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(super) struct Transactions {
    /// Aborted ones that the walk has not come to, by first offset and producer.
    coming: BTreeMap<(i64, i64), AbortedTxn>,
    /// Aborted ones that it is in, by producer; whether a batch of theirs was seen.
    aborted: BTreeMap<i64, (AbortedTxn, bool)>,
    /// Producers of which batches were seen that are not aborted.
    others: BTreeSet<i64>,
    /// Aborted ones of which something is left, in the order of their markers.
    left: Vec<AbortedTxn>,
}

impl Transactions {
    /// Adds aborted transactions that overlap with what comes; some may be known.
    pub(super) fn add(&mut self, aborted: impl IntoIterator<Item = AbortedTxn>) {
        self.coming.extend(aborted.into_iter().map(|it| ((it.first_offset, it.producer_id), it)));
    }

    /// A batch of records comes: whether its transaction was aborted.
    pub(super) fn is_aborted(&mut self, header: &BatchHeader) -> bool {
        self.come_to(header.last_offset());
        if !header.is_transactional() {
            return false;
        }
        match self.aborted.get_mut(&header.producer_id) {
            Some((_, is_seen)) => {
                *is_seen = true;
                true
            }
            None => {
                self.others.insert(header.producer_id);
                false
            }
        }
    }

    /// A control batch comes: whether it ends a transaction of which nothing was seen. None as
    /// `marker`: its record is gone, or it is of another kind.
    pub(super) fn is_of_nothing(
        &mut self,
        header: &BatchHeader,
        marker: Option<EndMarker>,
    ) -> bool {
        self.come_to(header.last_offset());
        let Some(marker) = marker else { return header.record_count == 0 };
        if !marker.is_abort {
            return !self.others.remove(&header.producer_id);
        }
        match self.aborted.remove(&header.producer_id) {
            Some((aborted, true)) => {
                self.left.push(aborted);
                false
            }
            Some((_, false)) | None => true,
        }
    }

    /// What the index of the segment says that the walk has just come through.
    pub(super) fn take_left(&mut self) -> Vec<AbortedTxn> {
        std::mem::take(&mut self.left)
    }

    fn come_to(&mut self, offset: i64) {
        while let Some(first) = self.coming.first_entry() {
            if offset < first.key().0 {
                return;
            }
            let aborted = first.remove();
            self.aborted.entry(aborted.producer_id).or_insert((aborted, false));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::records::BatchBuilder;
    use protocol::records::batch::{CONTROL, TRANSACTIONAL};

    fn header(offset: i64, producer: i64, bits: i16) -> BatchHeader {
        let batch = BatchBuilder::new(offset).producer(producer, 0, 0).attributes(bits);
        BatchHeader::read(&batch.key_value(0, b"k", b"v").build().unwrap()).unwrap()
    }

    fn aborted(producer_id: i64, first_offset: i64, last_offset: i64) -> AbortedTxn {
        AbortedTxn { producer_id, first_offset, last_offset, last_stable_offset: last_offset + 1 }
    }

    fn marker(is_abort: bool) -> Option<EndMarker> {
        Some(EndMarker { is_abort, coordinator_epoch: 0 })
    }

    #[test]
    fn batches_of_aborted_transactions_are_known_until_their_marker() {
        let mut known = Transactions::default();
        known.add([aborted(1, 10, 13), aborted(1, 20, 21)]);
        known.add([aborted(1, 10, 13)]);
        let check = |known: &mut Transactions, offset, producer, bits, want| {
            assert_eq!(known.is_aborted(&header(offset, producer, bits)), want, "{offset}");
        };
        check(&mut known, 9, 1, TRANSACTIONAL, false);
        assert!(!known.is_of_nothing(&header(9, 1, CONTROL), marker(false)));
        check(&mut known, 10, 1, TRANSACTIONAL, true);
        check(&mut known, 11, 2, TRANSACTIONAL, false);
        check(&mut known, 12, 1, 0, false);
        assert!(!known.is_of_nothing(&header(13, 1, CONTROL), marker(true)));
        check(&mut known, 14, 1, TRANSACTIONAL, false);
        assert_eq!(known.take_left(), [aborted(1, 10, 13)]);
        // Of the second one nothing is left.
        assert!(known.is_of_nothing(&header(21, 1, CONTROL), marker(true)));
        assert_eq!(known.take_left(), []);
    }

    #[test]
    fn a_marker_without_anything_before_it_is_of_nothing() {
        let mut known = Transactions::default();
        let it = header(5, 1, CONTROL);
        assert!(known.is_of_nothing(&it, marker(false)));
        assert!(known.is_of_nothing(&it, marker(true)));
        assert!(!known.is_of_nothing(&it, None), "another kind of control record");
        assert!(known.is_of_nothing(&BatchHeader { record_count: 0, ..it }, None));
    }
}
