//! The records of a batch one by one, and in groups whose keys are looked up together.

use super::error::CleanError;
use super::offset_map::{Hash, OffsetMap, TOGETHER};
use protocol::records::RawRecord;
use protocol::records::batch::BatchHeader;

/// Takes the next of a batch's records.
pub(super) fn taken<'a>(
    rest: &mut &'a [u8],
    header: &BatchHeader,
) -> Result<RawRecord<'a>, CleanError> {
    RawRecord::take(rest).map_err(|fault| CleanError::unreadable(header.base_offset, &fault))
}

/// Takes the next few of the `left` records of a batch, each with the hash of its key.
#[inline]
pub(super) fn taken_together<'a>(
    map: &OffsetMap,
    rest: &mut &'a [u8],
    header: &BatchHeader,
    left: &mut i32,
) -> Result<impl Iterator<Item = (RawRecord<'a>, Hash)> + use<'a>, CleanError> {
    let mut records = [None; TOGETHER];
    for record in &mut records {
        if *left <= 0 {
            break;
        }
        *record = Some(taken(rest, header)?);
        *left -= 1;
    }
    let hashes = map.hashes(records.map(|it| it.and_then(|it| it.key).unwrap_or_default()));
    Ok(records.into_iter().flatten().zip(hashes))
}
