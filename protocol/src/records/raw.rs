//! Records as they stand in a batch that is not compressed any more, kept or dropped whole.

use super::error::Fault;
use super::record::take_nullable;
use crate::varint;

/// A record, of which only what decides about its fate is read. Its headers are not walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRecord<'a> {
    /// All of it, its length in front. Under the same base offset and base timestamp it may stand
    /// in any batch.
    pub bytes: &'a [u8],
    /// Milliseconds after the base timestamp of the batch, or before it.
    pub timestamp_delta: i64,
    pub offset_delta: i32,
    pub key: Option<&'a [u8]>,
    /// It has no value: its key is deleted.
    pub is_tombstone: bool,
    attributes: u8,
    /// What stands behind the timestamp.
    behind_time: &'a [u8],
}

impl<'a> RawRecord<'a> {
    /// Takes the record at the front of `bytes`.
    #[inline]
    pub fn take(bytes: &mut &'a [u8]) -> Result<RawRecord<'a>, Fault> {
        let all = *bytes;
        if all.is_empty() {
            return Err(Fault::Cut);
        }
        let mut rest = all;
        let len = varint::take(&mut rest).ok_or(Fault::Number)?;
        let len = usize::try_from(len).map_err(|_| Fault::Length)?;
        let (mut body, rest) = rest.split_at_checked(len).ok_or(Fault::Cut)?;
        let attributes = *body.split_off_first().ok_or(Fault::Length)?;
        let timestamp_delta = varint::take_i64(&mut body).ok_or(Fault::Number)?;
        let behind_time = body;
        let offset_delta = varint::take(&mut body).ok_or(Fault::Number)?;
        let key = take_nullable(&mut body)?;
        let is_tombstone = take_nullable(&mut body)?.is_none();
        *bytes = rest;
        let bytes = all.get(..all.len() - rest.len()).unwrap_or_default();
        Ok(RawRecord {
            bytes,
            timestamp_delta,
            offset_delta,
            key,
            is_tombstone,
            attributes,
            behind_time,
        })
    }

    /// Appends the record as it stands in a batch of another base timestamp. None: with a longer
    /// number it would be larger than a record may be.
    pub fn put_with_timestamp_delta(&self, delta: i64, into: &mut Vec<u8>) -> Option<()> {
        let mut time = Vec::with_capacity(10);
        varint::put_i64(&mut time, delta);
        let len = i32::try_from(1 + time.len() + self.behind_time.len()).ok()?;
        varint::put(into, len);
        into.push(self.attributes);
        into.extend_from_slice(&time);
        into.extend_from_slice(self.behind_time);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{BatchBuilder, HEADER_LEN, NewRecord, records};
    use bytes::Bytes;

    fn batch() -> Bytes {
        let headers: &[(&[u8], Option<&[u8]>)] = &[(b"h", Some(b"1")), (b"h", None)];
        let full = NewRecord { timestamp_ms: 100, key: Some(b"k"), value: Some(b"v"), headers };
        let tombstone = NewRecord { timestamp_ms: 90, value: None, ..full };
        let bare = NewRecord { timestamp_ms: 1 << 40, key: None, headers: &[], ..full };
        BatchBuilder::new(5).record(full).record(tombstone).record(bare).build().unwrap()
    }

    #[test]
    fn a_record_says_its_fate_and_stays_whole() {
        let batch = batch();
        let mut rest = &batch[HEADER_LEN..];
        let mut seen = Vec::new();
        let mut all = Vec::new();
        while !rest.is_empty() {
            let record = RawRecord::take(&mut rest).unwrap();
            seen.push((record.timestamp_delta, record.offset_delta, record.key));
            seen.last().inspect(|_| assert_eq!(record.is_tombstone, record.offset_delta == 1));
            all.extend_from_slice(record.bytes);
        }
        let key = Some(&b"k"[..]);
        assert_eq!(seen, [(0, 0, key), (-10, 1, key), ((1 << 40) - 100, 2, None)]);
        assert_eq!(all, batch[HEADER_LEN..]);
    }

    #[test]
    fn another_base_timestamp_changes_nothing_else() {
        let batch = batch();
        let mut rest = &batch[HEADER_LEN..];
        let mut moved = batch[..HEADER_LEN].to_vec();
        while !rest.is_empty() {
            let record = RawRecord::take(&mut rest).unwrap();
            record
                .put_with_timestamp_delta(record.timestamp_delta - 1_000_000, &mut moved)
                .unwrap();
        }
        let length = i32::try_from(moved.len() - 12).unwrap();
        moved[8..12].copy_from_slice(&length.to_be_bytes());
        let (mut before, mut after) =
            (records(&batch, 1000).unwrap(), records(&moved, 1000).unwrap());
        while let Some(record) = before.next() {
            let (record, other) = (record.unwrap(), after.next().unwrap().unwrap());
            assert_eq!(record.timestamp_delta - 1_000_000, other.timestamp_delta);
            assert_eq!(record.headers, other.headers);
            assert_eq!((record.key, record.value), (other.key, other.value));
        }
    }

    #[test]
    fn bytes_that_are_no_record_are_refused() {
        let batch = batch();
        let first = RawRecord::take(&mut &batch[HEADER_LEN..]).unwrap().bytes;
        for len in 0..first.len() {
            assert!(RawRecord::take(&mut &first[..len]).is_err(), "{len}");
        }
        assert_eq!(RawRecord::take(&mut &[1][..]), Err(Fault::Length));
    }
}
