//! What an append gives back, and what a reader then finds.

use super::*;

#[test]
fn records_get_offsets_one_after_the_other_and_are_read_from_their_batch_on() {
    let (log, _) = log(LogConfig::default());
    assert_eq!([append(&log, 3), append(&log, 1), append(&log, 2)], [0, 3, 4]);
    assert_eq!(log.log_end(), 6);
    let base = |offset: i64| read(&log, offset, 1).first().map(|it| it.header.base_offset);
    assert_eq!([0, 2, 3, 4, 5].map(base), [Some(0), Some(0), Some(3), Some(4), Some(4)]);
    assert_eq!(bases(&log), [0, 3, 4]);
    assert!(read(&log, 6, 1000).is_empty());
    assert!(matches!(log.read(7, 1, 9, true), Err(ReadError::OutOfRange { log_end: 6, .. })));
}

#[test]
fn a_closed_log_opens_as_it_was() {
    let (log, disk) = log(LogConfig { segment_bytes: 400, ..LogConfig::default() });
    let want: Vec<i64> = (0..20).map(|_| append(&log, 2)).collect();
    assert_eq!(bases(&log), want);
    assert!(4 < log.segment_count());
    log.close().unwrap();
    let config = LogConfig { segment_bytes: 400, ..LogConfig::default() };
    let again = Open { clean: true, ..open_with(&disk, config) };
    let (log, recovery) = Log::open(again).unwrap();
    assert_eq!((bases(&log), log.log_end()), (want, 40));
    assert_eq!((recovery.cut, recovery.rebuilt_indexes), (None, Vec::new()));
    assert_eq!(append(&log, 1), 40);
}
