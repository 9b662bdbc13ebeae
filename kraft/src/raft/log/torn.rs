//! Whether a bad batch is what a crash leaves, or something that had been promised.
//!
//! A crash loses whole writes, and tears the others at sector borders: what is missing reads as
//! zeros. Batches that stand behind such a hole were in flight together with it, so nobody was
//! told of any of them. A bad batch without a hole, with good ones behind it, was whole once.

use protocol::records::{BatchHeader, HEADER_LEN, batch::crc_matches};

/// What a disk writes whole or not at all, in bytes.
pub(super) const SECTOR: usize = 512;

/// What stands from a bad batch on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// No good batch: a torn tail.
    Nothing,
    /// A good batch behind a hole: both were in flight.
    BehindHole,
    /// A good batch, at this distance, behind bytes that were written whole: corruption.
    Good(usize),
}

/// Bytes at the front of a batch that are never all zeros: its offset and its length.
const TELLING: usize = 12;

/// Judges the bytes from a bad batch to the end of the file. `at` is where in the file they stand,
/// `expected` the offset the bad batch should have had.
pub(super) fn judge(bytes: &[u8], at: u64, expected: i64) -> Tail {
    let next_good = (1..bytes.len().saturating_sub(HEADER_LEN - 1))
        .find(|from| bytes.get(*from..).is_some_and(|rest| is_batch_after(rest, expected)));
    let Some(distance) = next_good else { return Tail::Nothing };
    let bad = bytes.get(..distance).unwrap_or_default();
    if has_hole(bad, at) || has_lost_head(bad, at, expected) {
        Tail::BehindHole
    } else {
        Tail::Good(distance)
    }
}

fn is_batch_after(bytes: &[u8], expected: i64) -> bool {
    let Ok(header) = BatchHeader::read(bytes) else { return false };
    let whole = bytes.get(..header.size());
    // An offset far beyond what so few bytes can hold is chance, and a checksum is not cheap.
    expected <= header.base_offset && whole.is_some_and(crc_matches)
}

/// Whether the sector in which a batch begins was lost with the batch's first bytes, though what
/// follows them may be whole. Offset and epoch lie outside the checksum, which then still matches.
pub(super) fn has_lost_head(batch: &[u8], at: u64, expected: i64) -> bool {
    let head = batch.get(..to_border(at)).unwrap_or(batch);
    let should_tell = |head: &[u8]| {
        let offset = expected.to_be_bytes();
        TELLING <= head.len() || offset.iter().zip(head).any(|(should, _)| *should != 0)
    };
    should_tell(head) && is_zero(head)
}

/// Bytes up to the next sector.
fn to_border(at: u64) -> usize {
    usize::try_from(at.next_multiple_of(SECTOR as u64) - at).unwrap_or(0)
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

fn has_hole(bad: &[u8], at: u64) -> bool {
    let zeros_at_end = bad.iter().rev().take_while(|byte| **byte == 0).count();
    let sectors = bad.get(to_border(at)..).unwrap_or_default().chunks_exact(SECTOR);
    is_zero(bad) || SECTOR <= zeros_at_end || sectors.into_iter().any(is_zero)
}
