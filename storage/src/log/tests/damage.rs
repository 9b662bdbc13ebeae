//! Rot that is found while the log is open.

use super::*;
use std::path::Path;

#[test]
fn a_batch_found_bad_by_a_look_up_is_never_sent_again() {
    let (log, disk) = log(LogConfig::default());
    for step in 0..5 {
        log.append(batch(1, 100, NOW + step * 10), &CLIENT).unwrap();
    }
    let size = log.size_bytes() / 5;
    disk.rot(Path::new("/t-0/00000000000000000000.log"), size * 2 + 100, 1).unwrap();
    // Nobody has looked: it is sent as it is, and the client sees.
    assert_eq!(read(&log, 0, 10_000).len(), 5);
    let got = log.offset_for_timestamp(NOW + 20);
    assert!(matches!(got, Err(ReadError::Corrupt { next_offset: 3, .. })), "{got:?}");
    assert_eq!(read(&log, 0, 10_000).len(), 2);
    let got = log.read(2, 10_000, 5, true);
    assert!(matches!(got, Err(ReadError::Corrupt { offset: 2, next_offset: 3 })), "{got:?}");
    assert_eq!(read(&log, 3, 10_000).len(), 2);
}
